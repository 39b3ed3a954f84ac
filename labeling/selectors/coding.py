"""What a coder reads: their queue, what comes next, how far they are, and the issue in front of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from django.db.models import Count, DateTimeField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotator.repeated import Given, RepeatedQuery
from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    Membership,
    Round,
    RoundUnit,
    Submission,
)
from labeling.selectors.issues import hidden_fields, issue_view, shown_ref, shown_refs

__all__ = [
    "hidden_fields",
    "issue_view",
    "narrowing",
    "neighbours",
    "next_assignment",
    "next_in_queue",
    "own_annotations",
    "own_pace",
    "own_progress",
    "own_quotes",
    "queue",
    "shown_ref",
    "shown_refs",
]

Status = Assignment.Status
FEWEST_FOR_PACE = 3
#: Handed in, changed since, and not handed in again: what a queue can be narrowed to beside the statuses.
CHANGED = "changed"
NARROWING = (*Status.values, CHANGED)
_HANDED_IN = Exists(Submission.objects.filter(assignment=OuterRef("pk")))
_SINCE = (Status.DRAFT, Status.SKIPPED)
_SHOWN = (
    "coder__user",
    "round_unit__round__study",
    "round_unit__round__codebook",
    "round_unit__unit__issue",
    "round_unit__unit__snapshot",
)
#: Orders of a queue beside the one in which it was dealt, each with its sign: by the date of the issue.
ORDERS = {"oldest": "", "newest": "-"}
_DATE = Coalesce(
    F("round_unit__unit__snapshot__opened_at"), Value(datetime(1, 1, 2, tzinfo=UTC), DateTimeField())
)
#: In this order ``next_assignment`` offers them.
TURN = (Status.RETURNED, Status.TODO, Status.DRAFT, Status.SKIPPED)


def own_assignments(member: Membership, coding_round: Round) -> "QuerySet[Assignment]":
    mine: QuerySet[Assignment] = (
        Assignment.objects.of_member(member).active().filter(round_unit__round=coding_round)
    )
    return mine.order_by("position", "pk")


def queue(
    member: Membership,
    coding_round: Round,
    *,
    status: str | None = None,
    dimension: str | None = None,
    category: str | None = None,
    order: str | None = None,
) -> "QuerySet[Assignment]":
    """List the member's assignments in an order; categories are looked up in what they may read."""
    mine = own_assignments(member, coding_round).select_related(
        "round_unit__round__study", "round_unit__unit__issue", "round_unit__unit__snapshot"
    )
    if status:
        mine = mine.filter(Q(_HANDED_IN, status__in=_SINCE) if status == CHANGED else Q(status=status))
    if dimension or category:
        said = Annotation.objects.visible_to(member).filter(
            submission__in=Submission.objects.last(), submission__assignment=OuterRef("pk")
        )
        if dimension:
            said = said.filter(dimension__key=dimension)
        if category:
            said = said.filter(Q(chosen__category__code=category) | Q(chosen__proposal__code=category))
        mine = mine.filter(Exists(said))
    return mine if order is None else mine.alias(date=_DATE).order_by(f"{ORDERS[order]}date", "position")


def next_assignment(
    member: Membership, coding_round: Round, after: Assignment | None = None
) -> Assignment | None:
    """Give what to code next: returned, to do, draft, then each skipped unit once."""
    # As a condition, not a join: SQLite would begin with all units of the round, and sort what it finds.
    of_round = Exists(RoundUnit.objects.filter(pk=OuterRef("round_unit"), round=coding_round))
    waiting = Assignment.objects.of_member(member).filter(of_round)
    if coding_round.state != Round.State.OPEN:
        # After the close only adjudicators answer who do so before they see the others.
        waiting = waiting.filter(purpose=Assignment.Purpose.ADJUDICATION)
    if after is not None:
        waiting = waiting.exclude(pk=after.pk)
    # One status after the other: each is read from the index and stops at its first row.
    for status in TURN:
        rows = waiting.filter(status=status)
        if status == Status.SKIPPED:
            # Put off a second time, a unit is found in the queue, but not offered again.
            rows = rows.filter(Q(draft__isnull=True) | Q(draft__skips__lte=1))
        for found in rows.order_by("position", "pk").values_list("pk", flat=True)[:1]:
            return _with_its_issue(found, member, coding_round)
    return None


_WITH_ITS_ISSUE = RepeatedQuery(
    lambda: (
        Assignment.objects.defer(None)
        .filter(pk=Given("pk"))
        .select_related("round_unit__unit__issue", "round_unit__unit__snapshot")
    )
)


def _with_its_issue(pk: int, member: Membership, coding_round: Round) -> Assignment:
    """Read one assignment with what its page shows; round and coder are known already."""
    (found,) = _WITH_ITS_ISSUE.all(pk=pk)
    found.round_unit.round = coding_round
    if found.coder_id == member.pk:
        found.coder = member
    return found


def narrowing(params: Mapping[str, str]) -> dict[str, str]:
    """Read from an address what a queue is narrowed to; a category may name its dimension ("fix:call")."""
    dimension, colon, category = params.get("category", "").rpartition(":")
    status = params.get("status", "")
    order = params.get("order", "")
    found = {
        "status": status if status in NARROWING else "",
        "dimension": dimension if colon else params.get("dimension", ""),
        "category": category,
        "order": order if order in ORDERS else "",
    }
    return {name: value for name, value in found.items() if value}


def next_in_queue(
    member: Membership, assignment: Assignment, narrowed: Mapping[str, str]
) -> Assignment | None:
    """Give what follows in a narrowed queue; where nothing but its order was chosen, what waits there."""
    rows = queue(member, assignment.round_unit.round, **narrowed).select_related(*_SHOWN)
    if set(narrowed) != {"order"}:
        return _beside(rows, assignment, narrowed).first()
    waiting = rows.filter(status__in=TURN).exclude(pk=assignment.pk)
    return _beside(waiting, assignment, narrowed).first() or waiting.first()


def neighbours(
    member: Membership, assignment: Assignment, narrowed: Mapping[str, str]
) -> tuple[Assignment | None, Assignment | None]:
    """Give the assignments before and after this one in its coder's queue."""
    beside = queue(member, assignment.round_unit.round, **narrowed).select_related(None)
    beside = beside.select_related("round_unit")
    before = _beside(beside, assignment, narrowed, is_before=True).reverse().first()
    return before, _beside(beside, assignment, narrowed).first()


def _beside(
    rows: "QuerySet[Assignment]",
    assignment: Assignment,
    narrowed: Mapping[str, str],
    *,
    is_before: bool = False,
) -> "QuerySet[Assignment]":
    """Leave of a queue what comes after an assignment, or before it."""
    there = Q(position__lt=assignment.position) if is_before else Q(position__gt=assignment.position)
    if "order" not in narrowed:
        return rows.filter(there)
    date = Assignment.objects.filter(pk=assignment.pk).values_list(_DATE, flat=True).get()
    is_less = is_before == (narrowed["order"] == "oldest")
    return rows.filter(Q(**{"date__lt" if is_less else "date__gt": date}) | (Q(date=date) & there))


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast somebody codes: ``an_hour`` units; ``seconds`` is their median for one."""

    seconds: float
    left: int

    @property
    def an_hour(self) -> float:
        return 3600 / self.seconds

    @property
    def minutes_left(self) -> int:
        return max(1, round(self.seconds * self.left / 60)) if self.left else 0

    @property
    def hours_left(self) -> float:
        return self.seconds * self.left / 3600


def own_pace(member: Membership, coding_round: Round) -> Pace | None:
    """Tell from the time at work on the units handed in; None before there are three."""
    mine = own_assignments(member, coding_round).order_by()
    spent = list(
        mine.filter(status=Status.SUBMITTED, active_seconds__gt=0).values_list("active_seconds", flat=True)
    )
    if len(spent) < FEWEST_FOR_PACE:
        return None
    return Pace(seconds=median(spent), left=mine.filter(status__in=TURN).count())


def own_progress(member: Membership, coding_round: Round) -> dict[str, int]:
    """Count the member's own units: in all, handed in (``submitted``), and by status where not."""
    counted: dict[str, int] = (
        own_assignments(member, coding_round)
        .order_by()
        .annotate(handed_in=_HANDED_IN)
        .aggregate(
            total=Count("pk"),
            submitted=Count("pk", filter=Q(handed_in=True)),
            changed=Count("pk", filter=Q(handed_in=True, status__in=_SINCE)),
            returned=Count("pk", filter=Q(status=Status.RETURNED)),
            todo=Count("pk", filter=Q(status=Status.TODO)),
            draft=Count("pk", filter=Q(status=Status.DRAFT, handed_in=False)),
            skipped=Count("pk", filter=Q(status=Status.SKIPPED, handed_in=False)),
        )
    )
    return counted


def own_annotations(
    member: Membership, *, dimension: str = "", category: str = "", words: str = ""
) -> "QuerySet[Annotation]":
    """Give the member's own last answers in the study, as far as they are not sealed.

    ``words`` stand in the memo of the unit, in the answer or in the title of the issue.
    """
    mine: QuerySet[Annotation] = Annotation.objects.visible_to(member).filter(
        submission__in=Submission.objects.last(), submission__assignment__coder__in=member.coder_ids
    )
    if dimension:
        mine = mine.filter(dimension__key=dimension)
    if category:
        chosen = AnnotationCategory.objects.filter(annotation=OuterRef("pk"))
        mine = mine.filter(Exists(chosen.filter(Q(category__code=category) | Q(proposal__code=category))))
    if words:
        mine = mine.filter(
            Q(submission__memo__icontains=words)
            | Q(text__icontains=words)
            | Q(submission__assignment__round_unit__unit__snapshot__title__icontains=words)
        )
    at = "submission__assignment__round_unit"
    return (
        mine.exclude(state=Annotation.State.NOT_ASKED)
        .select_related("dimension", f"{at}__round__study", f"{at}__unit__issue", f"{at}__unit__snapshot")
        .prefetch_related("chosen__category", "chosen__proposal", "submission__evidence")
        .order_by("-submission__at", "pk")
    )


def own_quotes(annotation: Annotation) -> list[str]:
    """Give what the coder quoted for an answer of ``own_annotations``."""
    quotes = annotation.submission.evidence.all()
    return [each.quote for each in quotes if each.dimension_id == annotation.dimension_id]
