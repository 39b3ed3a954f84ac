"""From frozen answers to what agreement is computed from. Refuses a round that is still open."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from labeling.agreement.dimension import GOAL, DimensionData
from labeling.models import (
    AgreementReport,
    Annotation,
    Category,
    Codebook,
    Dimension,
    Membership,
    Round,
    Study,
)
from labeling.selectors.frozen import FrozenRound, FrozenUnit, Handed, Said, frozen_round
from labeling.selectors.mapping import dimensions_in, mapped_names

ELIGIBILITY = "eligibility"
KEPT, EXCLUDED = "kept", "excluded"
CONSENSUS = (
    "The units of this study are coded by a group that agrees on each answer, so there are no independent "
    "answers to compare."
)
COUNTED_STATES = (Annotation.State.UNCLEAR, Annotation.State.NOT_APPLICABLE)
OTHER = "(any other)"
CODER = re.compile(r"\bcoder (\d+)\b")

Value = str | frozenset[str]


@dataclass(frozen=True, slots=True)
class Rated:
    """A unit with the answers that are compared: who it was dealt to, and who handed in what."""

    unit: FrozenUnit
    dealt: tuple[str, ...]
    handed: Mapping[str, Handed]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Coders whose answers are compared with one another, in the order of the report."""

    coders: tuple[str, ...]
    units: tuple[Rated, ...]


def coder_token(member: Membership) -> str:
    """What a stored report calls a coder: it outlives a change of name, and names nobody."""
    return f"coder {member.number}"


def coding_pairs(
    coding_round: Round, *, count_states: str | None = None, codebook: Codebook | None = None
) -> list[DimensionData]:
    """What the agreement of a closed round is computed from: eligibility first, then each dimension.

    Training compares each coder with the reference and a retest each coder with themself: there every
    comparison has an eligibility and dimensions of its own. ``codebook``: values mapped to a later version.
    """
    return _all_data(_frozen(coding_round, codebook), count_states)


def frozen_pairs(frozen: FrozenRound) -> list[DimensionData]:
    """The same for a round that was read already, in whatever words; states count as the study says."""
    return _all_data(frozen, None)


def _frozen(coding_round: Round, codebook: Codebook | None) -> FrozenRound:
    if codebook is None or codebook.pk == coding_round.codebook_id:
        return frozen_round(coding_round)
    names, dimensions = mapped_names(coding_round, codebook), dimensions_in(codebook, coding_round)
    return frozen_round(coding_round, names=names, dimensions=dimensions)


def pooled_pairs(rounds: Sequence[Round], codebook: Codebook) -> list[DimensionData]:
    """Several closed rounds as one: each unit once, from the newest of them, in the words of one version."""
    parts = [_frozen(each, codebook) for each in sorted(rounds, key=lambda each: -each.number)]
    coders = sorted({each for part in parts for each in part.coders}, key=lambda each: each.number)
    tokens = {each.pk: coder_token(each) for each in coders}
    units: dict[str, Rated] = {}
    for part in parts:
        for rated in _compare(part, part.coders, tokens).units:
            units.setdefault(rated.unit.ref, rated)
    newest = parts[0]
    pooled = replace(newest, dimensions=tuple(codebook.dimensions.all()))
    comparison = Comparison(tuple(tokens.values()), tuple(units[ref] for ref in sorted(units)))
    return _compared_data(comparison, pooled, newest.coding_round.study.count_states)


def grouped_pairs(
    coding_round: Round,
    scope: str,
    *,
    count_states: str | None = None,
    codebook: Codebook | None = None,
) -> list[tuple[str, list[DimensionData]]]:
    """The same, broken down: the name of each group and its data."""
    frozen = _frozen(coding_round, codebook)
    data = _all_data(frozen, count_states)
    if scope == AgreementReport.Scope.PAIR:
        return list(_by_pair(data))
    if scope == AgreementReport.Scope.CATEGORY:
        return list(_by_category(data))
    if scope == AgreementReport.Scope.LEVEL:
        return list(_by_level(data, frozen))
    field = "repository" if scope == AgreementReport.Scope.REPOSITORY else "stratum"
    members: dict[str, set[str]] = defaultdict(set)
    for unit in frozen.units:
        members[getattr(unit, field)].add(unit.ref)
    return [(name, [_only_units(each, members[name]) for each in data]) for name in sorted(members)]


def _all_data(frozen: FrozenRound, count_states: str | None) -> list[DimensionData]:
    choice = count_states or frozen.coding_round.study.count_states
    return [data for each in _comparisons(frozen) for data in _compared_data(each, frozen, choice)]


def _compared_data(comparison: Comparison, frozen: FrozenRound, count_states: str) -> list[DimensionData]:
    dimensions = [_dimension_data(each, comparison, frozen, count_states) for each in frozen.dimensions]
    return [_eligibility(comparison, frozen), *dimensions]


def _comparisons(frozen: FrozenRound) -> list[Comparison]:
    kind, tokens = frozen.coding_round.kind, {each.pk: coder_token(each) for each in frozen.coders}
    if kind == Round.Kind.TRAINING:
        return [_compare(frozen, pair, tokens) for pair in _with_reference(frozen.coders)]
    if kind == Round.Kind.RETEST and frozen.coding_round.based_on is not None:
        return list(_with_themselves(frozen, frozen_round(frozen.coding_round.based_on, names=frozen.names)))
    return [_compare(frozen, frozen.coders, tokens)]


def _with_reference(coders: Sequence[Membership]) -> list[tuple[Membership, Membership]]:
    reference = [each for each in coders if each.kind == Membership.Kind.REFERENCE]
    others = [each for each in coders if each.kind != Membership.Kind.REFERENCE]
    return [(known, coder) for known in reference for coder in others]


def _compare(frozen: FrozenRound, coders: Sequence[Membership], tokens: Mapping[int, str]) -> Comparison:
    wanted = {each.pk for each in coders}
    units = tuple(
        Rated(
            unit,
            tuple(tokens[pk] for pk in unit.coders if pk in wanted),
            {tokens[each.coder]: each for each in unit.handed if each.coder in wanted},
        )
        for unit in frozen.units
        if wanted & set(unit.coders)
    )
    return Comparison(tuple(tokens[each.pk] for each in coders), units)


def _with_themselves(now: FrozenRound, before: FrozenRound) -> Iterator[Comparison]:
    """Each coder of a retest: A is the earlier round, whoever has the lower number."""
    earlier = {unit.ref: unit for unit in before.units}
    for member in now.coders:
        first = f"{coder_token(member)} in round {before.coding_round.number}"
        second = f"{coder_token(member)} in round {now.coding_round.number}"
        units = []
        for unit in (each for each in now.units if member.pk in each.coders):
            answers = {first: _handed_by(member, earlier.get(unit.ref)), second: _handed_by(member, unit)}
            handed = {token: answer for token, answer in answers.items() if answer is not None}
            units.append(Rated(unit, (first, second), handed))
        yield Comparison((first, second), tuple(units))


def _handed_by(member: Membership, unit: FrozenUnit | None) -> Handed | None:
    return next((each for each in unit.handed if each.coder == member.pk), None) if unit else None


def _eligibility(comparison: Comparison, frozen: FrozenRound) -> DimensionData:
    values: dict[tuple[str, str], Value] = {}
    left_out: dict[str, list[str]] = defaultdict(list)
    for rated in comparison.units:
        if len(rated.handed) < 2:
            left_out["single" if len(rated.dealt) < 2 else "missing"].append(rated.unit.ref)
            continue
        for coder, handed in rated.handed.items():
            values[rated.unit.ref, coder] = EXCLUDED if handed.excluded else KEPT
    return DimensionData(
        key=ELIGIBILITY,
        kind="single",
        categories=(KEPT, EXCLUDED),
        states=(),
        coders=comparison.coders,
        units=_refs(comparison),
        values=values,
        parents={},
        left_out=_frozen_lists(left_out),
        conditional=False,
        seed=_seed(frozen.coding_round),
        clusters=_repositories(comparison),
    )


def _dimension_data(
    dimension: Dimension, comparison: Comparison, frozen: FrozenRound, count_states: str
) -> DimensionData:
    leave_out = count_states == Study.CountStates.LEAVE_OUT
    values: dict[tuple[str, str], Value] = {}
    left_out: dict[str, list[str]] = defaultdict(list)
    for rated in comparison.units:
        answers, reason = _compared(dimension.key, rated, leave_out=leave_out)
        if reason:
            left_out[reason].append(rated.unit.ref)
        for coder, said in answers.items():
            values[rated.unit.ref, coder] = _value(dimension, said)
    rows = list(dimension.categories.select_related("parent"))
    states = () if leave_out else tuple(_states(dimension, values.values()))
    return DimensionData(
        key=dimension.key,
        kind=Dimension.Kind(dimension.kind).value,  # type: ignore[arg-type]
        categories=tuple(_categories(dimension, rows, values.values(), states)),
        states=states,
        coders=comparison.coders,
        units=_refs(comparison),
        values=values,
        parents=frozen.names.parents.get(dimension.key, {}),
        left_out=_frozen_lists(left_out),
        conditional=bool(dimension.asked_if),
        seed=_seed(frozen.coding_round),
        clusters=_repositories(comparison),
        names=_spoken_names(rows),
        goal=GOAL if frozen.coding_round.goal is None else frozen.coding_round.goal,
    )


def _compared(key: str, rated: Rated, *, leave_out: bool) -> tuple[Mapping[str, Said], str]:
    """The answers of a unit that take part, or the reason why none does."""
    if len(rated.dealt) < 2:
        return {}, "single"
    if len(rated.handed) < 2:
        return {}, "missing"
    kept = {coder: each for coder, each in rated.handed.items() if not each.excluded}
    if len(kept) < 2:
        return {}, "excluded_by_one" if kept else "excluded_by_all"
    said = {coder: each.answers[key] for coder, each in kept.items() if key in each.answers}
    asked = {coder: each for coder, each in said.items() if each.was_asked}
    if len(asked) < 2:
        return {}, _why_not_asked(said, asked)
    lost = [each.lost for each in asked.values() if each.lost]
    asked = {coder: each for coder, each in asked.items() if not each.lost}
    if lost and len(asked) < 2:
        return {}, lost[0]
    if leave_out:
        asked = {coder: each for coder, each in asked.items() if each.state not in COUNTED_STATES}
        if len(asked) < 2:
            return {}, "state"
    return asked, ""


def _why_not_asked(said: Mapping[str, Said], asked: Mapping[str, Said]) -> str:
    if len(said) == len(asked):
        return "missing"
    return "asked_of_one" if asked else "not_asked"


def _value(dimension: Dimension, said: Said) -> Value:
    if dimension.kind == Dimension.Kind.TEXT:
        return said.text
    if dimension.kind == Dimension.Kind.MULTIPLE:
        return said.labels if said.state == Annotation.State.CODED else frozenset({said.state})
    return said.in_words


def _used(values: Iterable[Value]) -> set[str]:
    used: set[str] = set()
    for value in values:
        used |= {value} if isinstance(value, str) else value
    return used


def _states(dimension: Dimension, values: Iterable[Value]) -> list[str]:
    """The states that count as categories: those allowed, and those an uploaded sheet used all the same."""
    used = _used(values)
    return [state for state in COUNTED_STATES if state in dimension.states or state in used]


def _categories(
    dimension: Dimension, rows: Sequence[Category], values: Iterable[Value], states: Sequence[str]
) -> list[str]:
    """The declared categories in their order, then what was used beside them: proposed or older ones."""
    if dimension.kind == Dimension.Kind.TEXT:
        return []
    headings = set() if dimension.parents_selectable else {each.parent_id for each in rows}
    declared = [each.code for each in rows if each.pk not in headings and not each.archived]
    return declared + sorted(_used(values) - set(declared) - set(states))


def _refs(comparison: Comparison) -> tuple[str, ...]:
    return tuple(rated.unit.ref for rated in comparison.units)


def _spoken_names(rows: Sequence[Category]) -> dict[str, str]:
    """What sentences call the categories; names that occur twice are told apart by the one above."""
    times = Counter(each.name for each in rows)
    names = {
        each.code: f"{each.parent.name}: {each.name}" if times[each.name] > 1 and each.parent else each.name
        for each in rows
    }
    return names | {state: state.replace("_", " ") for state in COUNTED_STATES}


def _repositories(comparison: Comparison) -> dict[str, str]:
    return {rated.unit.ref: rated.unit.repository for rated in comparison.units if rated.unit.repository}


def _frozen_lists(lists: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {reason: tuple(refs) for reason, refs in sorted(lists.items())}


def _seed(coding_round: Round) -> int:
    return coding_round.seed % 2**32  # all that numpy.random.RandomState takes


def _only_units(data: DimensionData, refs: set[str]) -> DimensionData:
    left_out = {reason: tuple(ref for ref in units if ref in refs) for reason, units in data.left_out.items()}
    return replace(
        data,
        units=tuple(ref for ref in data.units if ref in refs),
        values={(ref, coder): value for (ref, coder), value in data.values.items() if ref in refs},
        left_out={reason: units for reason, units in left_out.items() if units},
    )


def _by_pair(data: Sequence[DimensionData]) -> Iterator[tuple[str, list[DimensionData]]]:
    pairs = dict.fromkeys(pair for each in data for pair in combinations(each.coders, 2))
    for pair in pairs:
        chosen = [each for each in data if set(pair) <= set(each.coders)]
        yield " / ".join(pair), [_only_coders(each, pair) for each in chosen]


def _only_coders(data: DimensionData, pair: tuple[str, str]) -> DimensionData:
    values = {(ref, coder): value for (ref, coder), value in data.values.items() if coder in pair}
    both = {ref for ref, _ in values if all((ref, coder) in values for coder in pair)}
    return replace(
        data,
        coders=pair,
        units=tuple(ref for ref in data.units if ref in both),
        values={at: value for at, value in values.items() if at[0] in both},
        left_out={},
    )


def _by_category(data: Sequence[DimensionData]) -> Iterator[tuple[str, list[DimensionData]]]:
    """Each category against all others."""
    for each in data:
        for category in each.choices if each.key != ELIGIBILITY else ():
            yield f"{each.key}: {category}", [_one_against_rest(each, category)]


def _one_against_rest(data: DimensionData, category: str) -> DimensionData:
    values: dict[tuple[str, str], Value] = {
        at: category if category in ({value} if isinstance(value, str) else value) else OTHER
        for at, value in data.values.items()
    }
    return replace(data, kind="single", categories=(category, OTHER), states=(), values=values, parents={})


def _by_level(
    data: Sequence[DimensionData], frozen: FrozenRound
) -> Iterator[tuple[str, list[DimensionData]]]:
    """The upper level of every codebook tree, and the reasons below "excluded"."""
    upper = [_uppermost(each) for each in data if each.parents and each.key != ELIGIBILITY]
    if upper:
        yield "level 1", upper
    yield "reasons", [_with_reasons(each, frozen) for each in data if each.key == ELIGIBILITY]


def _uppermost(data: DimensionData) -> DimensionData:
    def top(category: str) -> str:
        while category in data.parents:
            category = data.parents[category]
        return category

    values: dict[tuple[str, str], Value] = {
        at: top(value) if isinstance(value, str) else frozenset(map(top, value))
        for at, value in data.values.items()
    }
    categories = tuple(dict.fromkeys(map(top, data.categories)))
    return replace(data, categories=categories, values=values, parents={})


def _with_reasons(data: DimensionData, frozen: FrozenRound) -> DimensionData:
    reasons = {
        (rated.unit.ref, coder): handed.exclude_reason
        for comparison in _comparisons(frozen)
        if comparison.coders == data.coders
        for rated in comparison.units
        for coder, handed in rated.handed.items()
        if handed.excluded
    }
    values: dict[tuple[str, str], Value] = {at: reasons.get(at, KEPT) for at in data.values}
    used = sorted(_used(values.values()) - {KEPT})
    parents = dict.fromkeys(used, EXCLUDED)
    return replace(data, categories=(KEPT, *used), values=values, parents=parents)


def readable_payload(report: AgreementReport, *, pseudonyms: bool = False) -> dict[str, Any]:
    """A stored report with coders under the names they have now, or their pseudonyms."""
    members = report.round.study.memberships.select_related("user")
    names = {str(each.number): each.pseudonym if pseudonyms else each.name for each in members}

    def named(text: str) -> str:
        return CODER.sub(lambda found: names.get(found[1], found[0]), text)

    payload = report.payload
    if "groups" in payload:
        by_pair = report.scope == AgreementReport.Scope.PAIR
        groups = [
            {**_with_names(group, named), "name": named(group["name"]) if by_pair else group["name"]}
            for group in payload["groups"]
        ]
        return {"groups": groups}
    return _with_names(payload, named)


def _with_names(payload: Mapping[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    eligibility = payload["eligibility"]
    return {
        **payload,
        "eligibility": eligibility and _dimension_with_names(eligibility, named),
        "dimensions": [_dimension_with_names(each, named) for each in payload["dimensions"]],
    }


def _dimension_with_names(row: Mapping[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    def of_pair(pair: Mapping[str, Any]) -> dict[str, Any]:
        return {**pair, "coder_a": named(pair["coder_a"]), "coder_b": named(pair["coder_b"])}

    return {
        **row,
        "coders": [named(each) for each in row["coders"]],
        "pairs": [of_pair(each) for each in row["pairs"]],
        "matrix": [of_pair(each) for each in row["matrix"]],
        "warnings": [{**each, "words": named(each["words"])} for each in row["warnings"]],
    }
