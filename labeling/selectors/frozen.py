"""What the coders of a round handed in, read whole once the round is closed.

Agreement and reconciliation both start here, so that they speak about the same answers: the last submission
of each coder, never a draft, a decision or an adjudicator's own answer.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from labeling.errors import RoundStateError
from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    Category,
    CategoryProposal,
    Dimension,
    Membership,
    Round,
    RoundUnit,
    Submission,
)

Label = str
"""What an answer is called in reports and cells: a category's code, or ``code~number`` of a proposed one."""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer of one coder in one dimension; an empty ``labels`` of a multiple choice is an answer too.

    ``lost`` says what was done to a category that has no name in the version asked for.
    """

    state: str = Annotation.State.CODED
    labels: frozenset[Label] = frozenset()
    text: str = ""
    lost: str = ""

    @property
    def was_asked(self) -> bool:
        return self.state != Annotation.State.NOT_ASKED

    @property
    def in_words(self) -> str:
        """As it stands in a cell. Codes hold no slash, so that sets cannot be mistaken for each other."""
        if self.state != Annotation.State.CODED:
            return self.state
        return self.text or "/".join(sorted(self.labels))


@dataclass(frozen=True, slots=True)
class Handed:
    """The last submission of one coder for one unit."""

    coder: int
    excluded: bool = False
    exclude_reason: str = ""
    answers: Mapping[str, Said] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrozenUnit:
    """A unit of the round, by the id of its RoundUnit: its coders by number, and what they handed in."""

    id: int
    ref: str
    repository: str
    stratum: str
    coders: tuple[int, ...]
    handed: tuple[Handed, ...]

    @property
    def kept(self) -> tuple[Handed, ...]:
        return tuple(each for each in self.handed if not each.excluded)

    def said(self, dimension: str) -> dict[int, Said]:
        """What was said about the unit in one dimension, by coder, of those who kept it."""
        return {each.coder: each.answers[dimension] for each in self.kept if dimension in each.answers}


@dataclass(frozen=True, slots=True)
class Names:
    """What the answers of a round are called, by dimension; concepts are the same thing in every version.

    ``lost`` holds, where a later version names them, the concepts it has no name for, with what was done.
    """

    of_concept: Mapping[str, Mapping[UUID, Label]]
    parents: Mapping[str, Mapping[Label, Label]]
    proposals: Mapping[UUID, Label]
    lost: Mapping[UUID, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrozenRound:
    coding_round: Round
    dimensions: tuple[Dimension, ...]
    coders: tuple[Membership, ...]
    units: tuple[FrozenUnit, ...]
    names: Names


def frozen_round(
    coding_round: Round,
    *,
    names: Names | None = None,
    dimensions: Sequence[Dimension] | None = None,
    only: RoundUnit | None = None,
) -> FrozenRound:
    """Read a closed round, or one unit of it, in a fixed number of queries.

    ``names`` and ``dimensions``: call categories as another round or version does.
    """
    if not coding_round.is_unblinded:
        raise RoundStateError(
            f"Round {coding_round.number} is not closed. Close it first: agreement is measured on answers "
            f"that can no longer change."
        )
    asked = tuple(round_dimensions(coding_round) if dimensions is None else dimensions)
    named = names or names_of(coding_round, asked)
    units = tuple(_units(coding_round, asked, named, only))
    seen = {coder for unit in units for coder in unit.coders}
    coders = Membership.objects.filter(pk__in=seen).select_related("user").order_by("number")
    return FrozenRound(coding_round, asked, tuple(coders), units, named)


def round_dimensions(coding_round: Round) -> list[Dimension]:
    """The dimensions the round asks, in the order of the codebook."""
    if coding_round.codebook_id is None:
        return []
    asked = Dimension.objects.using(coding_round._state.db).filter(codebook=coding_round.codebook_id)
    if coding_round.dimensions:
        asked = asked.filter(key__in=coding_round.dimensions)
    return list(asked)


def names_of(coding_round: Round, dimensions: tuple[Dimension, ...]) -> Names:
    keys = {dimension.pk: dimension.key for dimension in dimensions}
    of_concept: dict[str, dict[UUID, Label]] = {key: {} for key in keys.values()}
    parents: dict[str, dict[Label, Label]] = {key: {} for key in keys.values()}
    using = coding_round._state.db  # an export reads all of it from one state of the database
    categories = Category.objects.using(using).filter(dimension__in=keys)
    categories = categories.order_by("dimension", "order", "code")
    for pk, concept, code, parent in categories.values_list("dimension", "concept", "code", "parent__code"):
        of_concept[keys[pk]][concept] = code
        if parent is not None:
            parents[keys[pk]][code] = parent
    proposals: dict[UUID, Label] = {}
    proposed = CategoryProposal.objects.using(using).filter(round=coding_round)
    proposed = proposed.order_by("by__number", "code")
    for each in proposed.select_related("by", "dimension", "parent"):
        key = each.dimension.key
        taken = of_concept.setdefault(key, {})
        name = _free_name(f"{each.code}~{each.by.number}", set(taken.values()))
        proposals[each.pk] = name
        taken.setdefault(each.concept, name)  # an accepted one is a category of later versions
        if each.parent is not None:
            parents.setdefault(key, {})[name] = each.parent.code
    return Names(of_concept, parents, proposals)


def _free_name(name: str, taken: set[Label]) -> Label:
    while name in taken:
        name += "~"
    return name


def _units(
    coding_round: Round, dimensions: tuple[Dimension, ...], names: Names, only: RoundUnit | None
) -> Iterator[FrozenUnit]:
    rows = RoundUnit.objects.filter(round=coding_round, left_out=False).order_by("unit__ref")
    coding = Assignment.objects.active().filter(
        round_unit__round=coding_round, purpose=Assignment.Purpose.CODING
    )
    last = Submission.objects.last().filter(assignment__in=coding)
    if only is not None:
        rows, coding = rows.filter(pk=only.pk), coding.filter(round_unit=only)
        last = last.filter(assignment__round_unit=only)
    dealt: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pk, unit, coder in coding.order_by("coder__number").values_list("pk", "round_unit", "coder"):
        dealt[unit].append((pk, coder))
    handed = _handed(last, dimensions, names)
    for pk, ref, repository, stratum in rows.values_list(
        "pk", "unit__ref", "unit__issue__repository", "stratum"
    ):
        yield FrozenUnit(
            id=pk,
            ref=ref,
            repository=repository,
            stratum=stratum,
            coders=tuple(coder for _, coder in dealt[pk]),
            handed=tuple(handed[assignment] for assignment, _ in dealt[pk] if assignment in handed),
        )


def _handed(last: QuerySet[Submission], dimensions: tuple[Dimension, ...], names: Names) -> dict[int, Handed]:
    """The last submissions, by assignment."""
    answers = _answers(last, dimensions, names)
    rows = last.values_list("pk", "assignment", "assignment__coder", "exclude_reason")
    return {
        assignment: Handed(coder, bool(reason), reason, answers.get(pk, {}))
        for pk, assignment, coder, reason in rows
    }


def _answers(
    last: QuerySet[Submission], dimensions: tuple[Dimension, ...], names: Names
) -> dict[int, dict[str, Said]]:
    kinds = {dimension.key: dimension for dimension in dimensions}
    chosen: dict[int, set[Label]] = defaultdict(set)
    lost: dict[int, str] = {}
    of_concept: dict[UUID, Label] = {}
    for labels in names.of_concept.values():
        of_concept |= labels
    picks = AnnotationCategory.objects.filter(annotation__submission__in=last)
    picks = picks.annotate(concept=Coalesce("category__concept", "proposal__concept"))
    for annotation, concept, code in picks.values_list("annotation", "concept", "category__code"):
        chosen[annotation].add(of_concept.get(concept, code))
        if concept in names.lost:
            lost[annotation] = names.lost[concept]
    said: dict[int, dict[str, Said]] = defaultdict(dict)
    rows = Annotation.objects.filter(submission__in=last, dimension__key__in=kinds)
    for pk, submission, key, state, text in rows.values_list(
        "pk", "submission", "dimension__key", "state", "text"
    ):
        answer = Said(state, frozenset(chosen[pk]), text, lost.get(pk, ""))
        if _is_answer(kinds[key], answer):
            said[submission][key] = answer
    return said


def _is_answer(dimension: Dimension, said: Said) -> bool:
    """Whether something was said: an empty set is an answer where any number may be chosen, nowhere else."""
    if said.state != Annotation.State.CODED or dimension.kind == Dimension.Kind.MULTIPLE:
        return True
    return bool(said.text.strip() if dimension.kind == Dimension.Kind.TEXT else said.labels)
