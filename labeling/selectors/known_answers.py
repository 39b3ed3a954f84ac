"""Known answers of a training round beside a coder's own: what matched, and why the known ones are so.

Everything is read through ``visible_to``: a coder finds a known answer after their own submission.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from labeling.models import (
    UNIT,
    Annotation,
    Assignment,
    Category,
    CategoryProposal,
    Dimension,
    Membership,
    Round,
    RoundUnit,
    Submission,
)
from labeling.selectors.answer_names import BELOW, CODED, STATES
from labeling.selectors.frozen import FrozenRound, Handed, round_dimensions
from labeling.selectors.issues import shown_refs

Chosen = Category | CategoryProposal
NOT_ASKED = Annotation.State.NOT_ASKED


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What one side said in one dimension."""

    state: str
    chosen: tuple[Chosen, ...] = ()
    text: str = ""

    @property
    def words(self) -> str:
        if self.state != CODED:
            return STATES[self.state]
        return self.text or ", ".join(_full_name(each) for each in self.chosen) or "None of these"

    @property
    def data(self) -> dict[str, Any]:
        """In the shape in which annotations are written."""
        return {"categories": [each.code for each in self.chosen], "state": self.state, "text": self.text}

    @property
    def _meant(self) -> tuple[str, frozenset[Any]]:
        return self.state, frozenset(each.concept for each in self.chosen)

    def says_the_same(self, other: "GivenAnswer") -> bool:
        return self._meant == other._meant


def _full_name(chosen: Chosen) -> str:
    return f"{chosen.parent.name}{BELOW}{chosen.name}" if chosen.parent is not None else chosen.name


@dataclass(frozen=True, slots=True)
class GivenUnit:
    """What one side handed in last for a unit; of an excluded unit no answers."""

    submission: Submission
    answers: Mapping[str, GivenAnswer] = field(default_factory=dict)

    @property
    def excluded(self) -> bool:
        return bool(self.submission.exclude_reason)

    @property
    def words(self) -> str:
        return f"Excluded: {self.submission.exclude_reason}" if self.excluded else "Kept"

    @property
    def data(self) -> dict[str, Any]:
        reason, note = self.submission.exclude_reason, self.submission.exclude_note
        return {
            "annotations": {key: each.data for key, each in self.answers.items() if each.state != NOT_ASKED},
            "exclude": {"reason": reason, "note": note} if reason else None,
            "memo": self.submission.memo,
        }


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One dimension of a unit; ``dimension`` is None where it is kept or excluded as a whole.

    ``matches`` is None where nothing can be compared: free text, or not asked of or not answered by both.
    """

    dimension: Dimension | None
    mine: str
    known: str
    matches: bool | None
    meanings: tuple[Chosen, ...] = ()

    @property
    def key(self) -> str:
        return self.dimension.key if self.dimension is not None else UNIT


@dataclass(frozen=True, slots=True)
class UnitFeedback:
    """A coder's answer for a unit beside the known one; ``ref`` as the reader may know it."""

    assignment: Assignment
    ref: str
    mine: GivenUnit
    known: GivenUnit
    compared: tuple[ComparedAnswer, ...]

    @property
    def why(self) -> str:
        return self.known.submission.memo

    @property
    def matched(self) -> int:
        return sum(each.matches is True for each in self.compared)

    @property
    def of(self) -> int:
        return sum(each.matches is not None for each in self.compared)


@dataclass(frozen=True, slots=True)
class Matches:
    """How often a coder said what is known, in one dimension or as to keeping units."""

    key: str
    name: str
    matched: int
    of: int


def known_answers(coding_round: Round, member: Membership) -> dict[int, GivenUnit]:
    """The known answers that the member may read, by the id of their RoundUnit."""
    given = _given(coding_round, member, Q(assignment__coder__kind=Membership.Kind.REFERENCE))
    return {each.submission.assignment.round_unit_id: each for each in given}


def given_count(coding_round: Round) -> int:
    """Of how many units the answer is known."""
    return (
        Assignment.objects.active()
        .filter(round_unit__round=coding_round, round_unit__left_out=False)
        .filter(coder__kind=Membership.Kind.REFERENCE)
        .count()
    )


def own_feedback(
    coding_round: Round, member: Membership, only: RoundUnit | None = None
) -> list[UnitFeedback]:
    """The units the member handed in, in the order of their queue, beside what is known of them."""
    return feedback_by_coder(coding_round, member, coders=member.coder_ids, only=only).get(member.pk, [])


def feedback_by_coder(
    coding_round: Round,
    member: Membership,
    *,
    coders: Collection[int] | None = None,
    only: RoundUnit | None = None,
) -> dict[int, list[UnitFeedback]]:
    """What the coders named, else all whom the member may read, said beside what is known, by coder.

    What a group handed in stands under the member that asks.
    """
    known = known_answers(coding_round, member)
    of_coders = ~Q(assignment__coder__kind=Membership.Kind.REFERENCE)
    if coders is not None:
        of_coders &= Q(assignment__coder__in=coders)
    if only is not None:
        of_coders &= Q(assignment__round_unit=only)
    given = [each for each in _given(coding_round, member, of_coders) if _place(each) in known]
    given.sort(key=lambda each: each.submission.assignment.position)
    refs = shown_refs((each.submission.assignment for each in given), member)
    dimensions = round_dimensions(coding_round)
    found: defaultdict[int, list[UnitFeedback]] = defaultdict(list)
    for each in given:
        assignment = each.submission.assignment
        reference = known[_place(each)]
        coder = member.pk if assignment.coder_id in member.coder_ids else assignment.coder_id
        compared = tuple(_compared(dimensions, each, reference))
        found[coder].append(UnitFeedback(assignment, refs[assignment.pk], each, reference, compared))
    return dict(found)


def _place(given: GivenUnit) -> int:
    return given.submission.assignment.round_unit_id


def _given(coding_round: Round, member: Membership, whose: Q) -> list[GivenUnit]:
    """Last submissions with their answers, as far as the member may read them."""
    rows = list(
        Submission.objects.visible_to(member)
        .last()
        .filter(whose, assignment__round_unit__round=coding_round, assignment__round_unit__left_out=False)
        .exclude(assignment__status=Assignment.Status.WITHDRAWN)
        .select_related(
            "assignment__coder__user",
            "assignment__round_unit__round__study",
            "assignment__round_unit__unit__issue",
            "assignment__round_unit__unit__snapshot",
        )
    )
    answers: defaultdict[int, dict[str, GivenAnswer]] = defaultdict(dict)
    told = (
        Annotation.objects.visible_to(member)
        .filter(submission__in=[row.pk for row in rows])
        .select_related("dimension")
        .prefetch_related("chosen__category__parent", "chosen__proposal__parent")
    )
    for each in told:
        answers[each.submission_id][each.dimension.key] = GivenAnswer(each.state, _in_order(each), each.text)
    return [GivenUnit(row, answers[row.pk]) for row in rows]


def _in_order(annotation: Annotation) -> tuple[Chosen, ...]:
    """The chosen categories in the order of the codebook, own proposals last."""
    sources = (each.category or each.proposal for each in annotation.chosen.all())
    return tuple(
        sorted(
            (each for each in sources if each is not None),
            key=lambda each: (getattr(each, "order", float("inf")), each.code),
        )
    )


def _compared(dimensions: Sequence[Dimension], mine: GivenUnit, known: GivenUnit) -> Iterable[ComparedAnswer]:
    if mine.excluded or known.excluded:
        yield ComparedAnswer(None, mine.words, known.words, mine.excluded == known.excluded)
    for dimension in dimensions:
        own, right = mine.answers.get(dimension.key), known.answers.get(dimension.key)
        if _is_said(own) or _is_said(right):
            yield _of_dimension(dimension, own, right)


def matches_in(frozen: FrozenRound) -> list[Matches]:
    """Count over all coders of a closed training; empty for every other kind of round."""
    references = {each.pk for each in frozen.coders if each.kind == Membership.Kind.REFERENCE}
    pairs = [
        (mine, known)
        for unit in frozen.units
        for known in unit.handed
        for mine in unit.handed
        if known.coder in references and mine.coder not in references
    ]
    excluding = [each for each in pairs if each[0].excluded or each[1].excluded]
    alike = {UNIT: ("Kept or excluded", [mine.excluded == known.excluded for mine, known in excluding])}
    for dimension in frozen.dimensions:
        if dimension.kind != Dimension.Kind.TEXT:
            alike[dimension.key] = (dimension.name, list(_alike(pairs, dimension.key)))
    return [Matches(key, name, sum(told), len(told)) for key, (name, told) in alike.items() if told]


def _alike(pairs: Iterable[tuple[Handed, Handed]], dimension: str) -> Iterable[bool]:
    """Whether both said the same, of those who both answered."""
    for mine, known in pairs:
        own, right = mine.answers.get(dimension), known.answers.get(dimension)
        if own is not None and right is not None and own.was_asked and right.was_asked:
            yield (own.state, own.labels) == (right.state, right.labels)


def _is_said(answer: GivenAnswer | None) -> bool:
    return answer is not None and answer.state != NOT_ASKED


def _of_dimension(dimension: Dimension, own: GivenAnswer | None, right: GivenAnswer | None) -> ComparedAnswer:
    matches = None
    if own is not None and right is not None and NOT_ASKED not in (own.state, right.state):
        matches = own.says_the_same(right) if dimension.kind != Dimension.Kind.TEXT else None
    meanings = {each.concept: each for side in (right, own) if side is not None for each in side.chosen}
    return ComparedAnswer(
        dimension,
        own.words if own is not None else "",
        right.words if right is not None else "",
        matches,
        tuple(meanings.values()),
    )


def matches_by_dimension(coding_round: Round, units: Sequence[UnitFeedback]) -> list[Matches]:
    """Count over units; keeping or leaving out comes first, where anybody left a unit out."""
    told = [each for unit in units for each in unit.compared]
    names = {UNIT: "Kept or excluded"} | {each.key: each.name for each in round_dimensions(coding_round)}
    counted = [
        Matches(
            key,
            name,
            sum(each.key == key and each.matches is True for each in told),
            sum(each.key == key and each.matches is not None for each in told),
        )
        for key, name in names.items()
    ]
    return [each for each in counted if each.of]
