"""How a unit stands in each dimension, from what its coders handed in and what is decided already.

Pure: the service writes what this says when reconciliation opens, and again after each decision that others
wait for.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from labeling.models import UNIT, Annotation, Decision, Dimension
from labeling.selectors.frozen import FrozenUnit, Said

T = TypeVar("T")
Type, How = Decision.Type, Decision.How
NOT_ASKED = Said(state=Annotation.State.NOT_ASKED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A decision as it follows from the answers: open while ``how`` is empty, else with what was said."""

    type: Decision.Type
    how: str = ""
    said: Said | None = None
    excluded: bool | None = None
    exclude_reason: str = ""
    cell: str = ""
    waits_for: str = ""


def unit_standing(unit: FrozenUnit, *, majority: bool) -> Standing | None:
    """Whether the unit is excluded; None where nobody handed anything in."""
    if not unit.handed:
        return None
    verdicts = [each.excluded for each in unit.handed]
    if len(set(verdicts)) == 1:
        kind = Type.SINGLE if len(verdicts) == 1 else Type.AGREED
        return _unit_decided(unit, kind, How(kind.value), excluded=verdicts[0])
    winner = _majority(verdicts, len(unit.coders)) if majority else None
    if winner is not None:
        return _unit_decided(unit, Type.EXCLUDED, How.MAJORITY, excluded=winner)
    return Standing(Type.EXCLUDED, cell=_cell("excluded" if each else "kept" for each in verdicts))


def _unit_decided(unit: FrozenUnit, kind: Decision.Type, how: Decision.How, *, excluded: bool) -> Standing:
    reasons = {each.exclude_reason for each in unit.handed if each.excluded} if excluded else set()
    cell = _cell("excluded" if each.excluded else "kept" for each in unit.handed)
    return Standing(kind, how, excluded=excluded, exclude_reason="|".join(sorted(reasons)), cell=cell)


def dimension_standing(
    dimension: Dimension, unit: FrozenUnit, decided: Mapping[str, Standing], *, majority: bool
) -> Standing | None:
    """How one dimension stands; None where there is nothing to decide. ``decided`` holds the earlier ones."""
    whole = decided.get(UNIT)
    if dimension.kind == Dimension.Kind.TEXT:
        return _text_standing(dimension, unit, whole)
    if whole is not None and not whole.how:
        return Standing(Type.WAITING, waits_for=UNIT)
    if whole is not None and whole.excluded:
        return Standing(_follows(whole), How.EXCLUDED)
    standing = _by_answers(unit.said(dimension.key), unit, majority=majority)
    return _under_condition(dimension, unit, standing, decided)


def _text_standing(dimension: Dimension, unit: FrozenUnit, whole: Standing | None) -> Standing | None:
    """Free text waits for nothing and blocks nothing: it is final where one coder alone answered."""
    said = [each for each in unit.said(dimension.key).values() if each.was_asked]
    if len(said) != 1 or (whole is not None and whole.excluded):
        return None
    return Standing(Type.SINGLE, How.SINGLE, said[0])


def _by_answers(said: Mapping[int, Said], unit: FrozenUnit, *, majority: bool) -> Standing | None:
    answered = [each for each in said.values() if each.was_asked]
    if not answered:
        return None if unit.coders else Standing(Type.ONE_SIDED)
    cell = _cell(each.in_words for each in answered)
    if len(unit.coders) == 1:
        return Standing(Type.SINGLE, How.SINGLE, answered[0], cell=cell)
    complete, equal = len(answered) == len(unit.coders), len(set(answered)) == 1
    if complete and equal:
        return Standing(Type.AGREED, How.AGREED, answered[0], cell=cell)
    kind = Type.DISAGREED if complete else Type.ONE_SIDED
    winner = _majority(answered, len(unit.coders)) if majority else None
    if winner is not None:
        return Standing(kind, How.MAJORITY, winner, cell=cell)
    return Standing(kind, cell=cell)


def _under_condition(
    dimension: Dimension, unit: FrozenUnit, standing: Standing | None, decided: Mapping[str, Standing]
) -> Standing | None:
    condition = dimension.asked_if
    if not condition or condition["dimension"] not in decided:
        # The parent is not part of the round, or nobody answered it: the answers speak for themselves.
        return standing or _all_not_asked(dimension, unit)
    parent = decided[condition["dimension"]]
    if not parent.how:
        waits_for = parent.waits_for or condition["dimension"]
        kind = standing.type if standing is not None else Type.WAITING
        if kind in (Type.ONE_SIDED, Type.SINGLE):
            kind = Type.WAITING  # whether it was asked at all is not decided yet
        return Standing(kind, cell=standing.cell if standing else "", waits_for=waits_for)
    if not is_asked(dimension, parent.said):
        return Standing(standing.type if standing else _follows(parent), How.DERIVED, NOT_ASKED)
    if standing is None and _all_not_asked(dimension, unit) is not None:
        return Standing(Type.ONE_SIDED)
    return standing


def _follows(other: Standing) -> Decision.Type:
    """The type of what follows from another decision: as clear as that one was, or it had to wait."""
    return other.type if other.type in (Type.AGREED, Type.SINGLE) else Type.WAITING


def _all_not_asked(dimension: Dimension, unit: FrozenUnit) -> Standing | None:
    """What follows where every answer says that the question did not come up."""
    said = unit.said(dimension.key)
    if not said:
        return None
    kind = Type.SINGLE if len(unit.coders) == 1 else Type.AGREED
    return Standing(kind, How.DERIVED, NOT_ASKED)


def is_asked(dimension: Dimension, parent: Said | None) -> bool:
    """Whether the answer in the earlier dimension makes this one a question."""
    condition = dimension.asked_if or {}
    return parent is not None and bool(parent.labels & set(condition.get("any_of", ())))


def _majority(answers: Iterable[T], coders: int) -> T | None:
    """The answer of more than half of three or more coders."""
    ((winner, count),) = Counter(answers).most_common(1)
    return winner if coders >= 3 and count * 2 > coders else None


def _cell(answers: Iterable[str]) -> str:
    return "|".join(sorted(answers))
