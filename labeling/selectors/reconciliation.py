"""What is to be decided, with everything the coders said about it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from labeling.models import (
    UNIT,
    Annotation,
    Assignment,
    Decision,
    DecisionProposal,
    Evidence,
    Membership,
    Round,
    RoundUnit,
    Submission,
)
from labeling.models.decision import DecisionQuerySet

Type = Decision.Type
QUEUED = (Type.DISAGREED, Type.ONE_SIDED, Type.EXCLUDED, Type.WAITING)
BY_PEOPLE = (Decision.How.DISCUSSED, Decision.How.ADJUDICATED)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    document: str
    start: int
    end: int
    quote: str
    category: str | None


@dataclass(frozen=True, slots=True)
class CoderAnswer:
    """What one coder said, with the memo and confidence of their whole submission."""

    letter: str
    coder: str
    member: int
    categories: tuple[str, ...]
    state: str
    text: str
    excluded: bool
    exclude_reason: str
    memo: str
    confidence: str
    evidence: tuple[ShownEvidence, ...]


@dataclass(frozen=True, slots=True)
class ShownProposal:
    by: str
    member: int
    categories: tuple[str, ...]
    state: str
    text: str
    excluded: bool | None
    exclude_reason: str
    rationale: str
    disagreement_reason: str
    escalate: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One queued dimension of one unit. ``version`` is what a decision must be based on."""

    decision: Decision
    answers: tuple[CoderAnswer, ...]
    proposals: tuple[ShownProposal, ...]

    @property
    def round_unit(self) -> RoundUnit:
        return self.decision.round_unit

    @property
    def dimension(self) -> str:
        return self.decision.dimension

    @property
    def type(self) -> str:
        return self.decision.type

    @property
    def waits_for(self) -> str:
        return self.decision.waits_for

    @property
    def version(self) -> int:
        return self.decision.version

    @property
    def letters(self) -> dict[int, str]:
        return {each.member: each.letter for each in self.answers}

    @property
    def shared(self) -> tuple[str, ...]:
        """Categories that all who answered chose."""
        sets = self._sets
        return tuple(sorted(set.intersection(*sets.values()))) if sets else ()

    @property
    def contested(self) -> dict[str, tuple[str, ...]]:
        """Categories that only some chose, with the letters of those who did."""
        sets = self._sets
        named = sorted(set().union(*sets.values()) - set(self.shared))
        return {code: tuple(letter for letter, codes in sets.items() if code in codes) for code in named}

    @property
    def _sets(self) -> dict[str, set[str]]:
        asked = (each for each in self.answers if each.state and not each.excluded)
        return {
            each.letter: set(each.categories) for each in asked if each.state != Annotation.State.NOT_ASKED
        }


def open_decisions(coding_round: Round) -> "DecisionQuerySet":
    """What still has to be decided before the round can be finished."""
    return Decision.objects.filter(round_unit__round=coding_round, how="")


def coders_of(round_unit: RoundUnit) -> list[Membership]:
    """Who coded the unit, or was to, or the whole it is a part of: their proposals decide together."""
    assignments = Assignment.objects.active().filter(
        round_unit__round=round_unit.round_id,
        round_unit__unit__in=[round_unit.unit_id, round_unit.unit.split_from_id],
        purpose=Assignment.Purpose.CODING,
    )
    coders = Membership.objects.filter(pk__in=assignments.values("coder")).select_related("user")
    return list(coders.exclude(kind=Membership.Kind.REFERENCE).order_by("number"))


def latest_proposals(decision: Decision, coders: Iterable[Membership]) -> dict[int, DecisionProposal]:
    """What each coder proposed last since the last reopening; a group speaks through its people."""
    ids = {each.pk for each in coders}
    rows = DecisionProposal.objects.filter(round_unit=decision.round_unit_id, dimension=decision.dimension)
    reopened = decision.versions.order_by("-version").values_list("created_at", flat=True).first()
    if reopened is not None:
        rows = rows.filter(at__gt=reopened)
    rows = rows.select_related("by").prefetch_related("categories", "category_proposals")
    return {
        coder: proposal
        for proposal in rows.order_by("at", "pk")
        for coder in proposal.by.coder_ids
        if coder in ids
    }


def is_queued(at: str = "") -> Q:
    """Decisions that stand in the queue: what the answers left open, and what people decided or opened again.

    ``at`` is the path to the decision.
    """
    return Q((f"{at}type__in", QUEUED)) | Q((f"{at}how__in", ("", *BY_PEOPLE)))


def queued_decisions(
    coding_round: Round,
    member: Membership,
    *,
    type: str | None = None,  # noqa: A002 - named as the field
    dimension: str | None = None,
    pair: tuple[int, int] | None = None,
    cell: str | None = None,
    repository: str | None = None,
    decided: bool | None = None,
) -> "DecisionQuerySet":
    """What was or is in the queue of a closed round, as far as the member may see it, by unit."""
    rows = Decision.objects.filter(is_queued(), round_unit__round=coding_round).visible_to(member)
    if type is not None:
        rows = rows.filter(type=type)
    if dimension is not None:
        rows = rows.filter(dimension=dimension)
    if cell is not None:
        rows = rows.filter(cell=cell)
    if repository is not None:
        rows = rows.filter(round_unit__unit__issue__repository=repository)
    if decided is not None:
        rows = rows.exclude(how="") if decided else rows.filter(how="")
    for coder in pair or ():
        rows = rows.filter(round_unit__in=_coded_by(coding_round, coder))
    rows = rows.select_related(
        "round_unit__round__study", "round_unit__unit__issue", "decided_by__user", "recorded_by__user"
    )
    return rows.prefetch_related("categories", "category_proposals").order_by("round_unit__unit__ref", "pk")


def _coded_by(coding_round: Round, coder: int) -> "QuerySet[RoundUnit]":
    return RoundUnit.objects.filter(
        round=coding_round,
        assignments__coder__pk=coder,
        assignments__purpose=Assignment.Purpose.CODING,
        assignments__submissions__isnull=False,
    )


def disagreements(coding_round: Round, member: Membership, **filters: Any) -> list[Disagreement]:
    """The queue with what every coder said. Filters are those of ``queued_decisions``."""
    return with_answers(list(queued_decisions(coding_round, member, **filters)), member)


def hidden_units(coding_round: Round, member: Membership) -> int:
    """How many units of a closed round the member cannot see now, because they code them again."""
    units = RoundUnit.objects.filter(round=coding_round, decisions__type__in=QUEUED).distinct()
    seen = Decision.objects.filter(round_unit__round=coding_round, type__in=QUEUED).visible_to(member)
    return units.exclude(pk__in=seen.values("round_unit")).count()


def with_answers(decisions: list[Decision], member: Membership) -> list[Disagreement]:
    """Add the answers and proposals to one page of decisions, in a fixed number of queries."""
    units = {each.round_unit_id for each in decisions}
    handed = _handed(units, member)
    proposals = _proposals(units, member)
    return [
        Disagreement(
            decision,
            _answers(handed[decision.round_unit_id], decision),
            tuple(
                _shown_proposal(each, decision, _letters(handed[decision.round_unit_id], decision))
                for each in proposals[decision.round_unit_id, decision.dimension]
            ),
        )
        for decision in decisions
    ]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a decision said before it was reopened; ``said`` is as the service kept it."""

    version: int
    said: Mapping[str, Any]
    decided_by: str
    reopened_by: str
    reopened_at: datetime
    reason: str


def earlier_decisions(item: Disagreement) -> list[Earlier]:
    """What a decision said before, newest first; what changed with another decision has no reason."""
    if item.decision.pk is None:
        return []
    versions = list(item.decision.versions.select_related("by__user").order_by("-version"))
    ids = {each.said.get("decided_by") or each.said.get("recorded_by") for each in versions}
    deciders = Membership.objects.select_related("user").in_bulk([pk for pk in ids if pk])
    coding_round, letters = item.round_unit.round, item.letters

    def name(member: Membership | None) -> str:
        return called(member, coding_round, letters) if member is not None else ""

    return [
        Earlier(
            version=each.version,
            said=each.said,
            decided_by=name(deciders.get(each.said.get("decided_by") or each.said.get("recorded_by"))),
            reopened_by=name(each.by),
            reopened_at=each.created_at,
            reason=each.reason,
        )
        for each in versions
    ]


# Who is A, who is B


def lettered(round_unit: RoundUnit, coders: Iterable[int]) -> dict[int, str]:
    """Call the coders of a unit A, B, …; where names are kept out of it, in an order of the unit's own.

    Nobody can work that order out: it takes the secret key of the installation.
    """
    ids = list(coders)
    if round_unit.round.anonymous:
        ids.sort(key=lambda coder: salted_hmac("labeling.letters", f"{round_unit.pk}:{coder}").digest())
    return dict(zip(ids, LETTERS, strict=False))


def unit_letters(round_unit: RoundUnit) -> dict[int, str]:
    """Call the coders who answered a unit as its disagreements do."""
    answered = Assignment.objects.active().filter(
        round_unit=round_unit, purpose=Assignment.Purpose.CODING, submissions__isnull=False
    )
    coders = answered.distinct().order_by("coder__number").values_list("coder", "coder__number")
    return lettered(round_unit, [coder for coder, _ in coders])


def called(member: Membership, coding_round: Round, letters: Mapping[int, str]) -> str:
    """Call a member by name, or where names are kept out of it by letter, and who did not code by role."""
    if not coding_round.anonymous:
        return member.name
    letter = next((letters[coder] for coder in member.coder_ids if coder in letters), "")
    return f"Coder {letter}" if letter else str(member.get_role_display())


def _letters(handed: Iterable[Submission], decision: Decision) -> dict[int, str]:
    return lettered(decision.round_unit, [each.assignment.coder_id for each in handed])


def _answers(handed: Iterable[Submission], decision: Decision) -> tuple[CoderAnswer, ...]:
    """What the coders said in the order of their letters."""
    letters = _letters(handed, decision)
    said = (_answer(each, decision, letters) for each in handed if each.assignment.coder_id in letters)
    return tuple(sorted(said, key=lambda each: each.letter))


def own_answer(decision: Decision, member: Membership) -> CoderAnswer | None:
    """What an adjudicator answered before they saw the others, in the dimension of the decision."""
    rows = Submission.objects.filter(
        assignment__round_unit=decision.round_unit_id,
        assignment__coder__in=member.coder_ids,
        assignment__purpose=Assignment.Purpose.ADJUDICATION,
    )
    found = _with_what_was_said(rows.last().visible_to(member)).first()
    return _answer(found, decision, {}) if found is not None else None


def own_answers_due(coding_round: Round, member: Membership) -> "QuerySet[Assignment]":
    """Units that an adjudicator answers before they are shown what the coders said."""
    return (
        Assignment.objects.of_member(member)
        .active()
        .filter(
            round_unit__round=coding_round,
            purpose=Assignment.Purpose.ADJUDICATION,
            submissions__isnull=True,
            round_unit__round__state=Round.State.CLOSED,
        )
        .order_by("position")
    )


def _handed(units: set[int], member: Membership) -> Mapping[int, list[Submission]]:
    """The last submissions of each unit by its coders, in the order of their numbers."""
    rows = _with_what_was_said(
        Submission.objects.last()
        .visible_to(member)
        .filter(assignment__round_unit__in=units, assignment__purpose=Assignment.Purpose.CODING)
        .exclude(assignment__status=Assignment.Status.WITHDRAWN)
    )
    found: dict[int, list[Submission]] = defaultdict(list)
    for submission in rows.order_by("assignment__coder__number"):
        found[submission.assignment.round_unit_id].append(submission)
    return found


def _with_what_was_said(submissions: "QuerySet[Submission]") -> "QuerySet[Submission]":
    return submissions.select_related("assignment__coder__user").prefetch_related(
        "annotations__dimension",
        "annotations__chosen__category",
        "annotations__chosen__proposal",
        "evidence__dimension",
        "evidence__category",
    )


def _proposals(units: set[int], member: Membership) -> Mapping[tuple[int, str], list[DecisionProposal]]:
    rows = DecisionProposal.objects.filter(round_unit__in=units).visible_to(member)
    rows = rows.select_related("by__user").prefetch_related("categories", "category_proposals")
    found: dict[tuple[int, str], list[DecisionProposal]] = defaultdict(list)
    for proposal in rows.order_by("at", "pk"):
        found[proposal.round_unit_id, proposal.dimension].append(proposal)
    return found


def _answer(submission: Submission, decision: Decision, letters: Mapping[int, str]) -> CoderAnswer:
    annotations = [each for each in submission.annotations.all() if each.dimension.key == decision.dimension]
    said = annotations[0] if annotations else None
    coder = submission.assignment.coder
    return CoderAnswer(
        letter=letters.get(coder.pk, ""),
        coder=called(coder, decision.round_unit.round, letters),
        member=coder.pk,
        categories=_codes(said),
        state=said.state if said is not None else "",
        text=said.text if said is not None else "",
        excluded=bool(submission.exclude_reason),
        exclude_reason=submission.exclude_reason,
        memo=submission.memo,
        confidence=submission.confidence,
        evidence=tuple(
            _shown_evidence(each)
            for each in submission.evidence.all()
            if decision.dimension in (UNIT, each.dimension.key)
        ),
    )


def _codes(annotation: Annotation | None) -> tuple[str, ...]:
    chosen = annotation.chosen.all() if annotation is not None else ()
    return tuple(sorted((each.category or each.proposal).code for each in chosen))  # type: ignore[union-attr]


def _shown_evidence(evidence: Evidence) -> ShownEvidence:
    category = evidence.category.code if evidence.category is not None else None
    return ShownEvidence(evidence.document, evidence.start, evidence.end, evidence.quote, category)


def _shown_proposal(
    proposal: DecisionProposal, decision: Decision, letters: Mapping[int, str]
) -> ShownProposal:
    return ShownProposal(
        by=called(proposal.by, decision.round_unit.round, letters),
        member=proposal.by.pk,
        categories=decided_codes(proposal),
        state=proposal.state,
        text=proposal.text,
        excluded=proposal.excluded,
        exclude_reason=proposal.exclude_reason,
        rationale=proposal.rationale,
        disagreement_reason=proposal.disagreement_reason,
        escalate=proposal.escalate,
        at=proposal.at,
    )


def decided_codes(row: Decision | DecisionProposal) -> tuple[str, ...]:
    """Codes a decision or a proposal names."""
    codes = [each.code for each in row.categories.all()]
    return tuple(sorted(codes + [each.code for each in row.category_proposals.all()]))
