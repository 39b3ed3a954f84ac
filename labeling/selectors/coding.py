"""What a coder reads: their queue, what comes next, how far they are, and the issue in front of them."""

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When

from labeling.models import Annotation, Assignment, Membership, Round, Submission
from labeling.selectors.issues import hidden_fields, issue_view, shown_ref, shown_refs

__all__ = [
    "hidden_fields",
    "issue_view",
    "neighbours",
    "next_assignment",
    "own_annotations",
    "own_progress",
    "queue",
    "shown_ref",
    "shown_refs",
]

Status = Assignment.Status
#: Who comes first in ``next_assignment``.
TURN = {Status.RETURNED: 0, Status.TODO: 1, Status.DRAFT: 2, Status.SKIPPED: 3}


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
) -> "QuerySet[Assignment]":
    """List the member's assignments in their order; categories are looked up in what they may read."""
    mine = own_assignments(member, coding_round).select_related(
        "round_unit__round__study", "round_unit__unit__issue", "round_unit__unit__snapshot"
    )
    if status:
        mine = mine.filter(status=status)
    if dimension or category:
        said = Annotation.objects.visible_to(member).filter(
            submission__in=Submission.objects.last(), submission__assignment=OuterRef("pk")
        )
        if dimension:
            said = said.filter(dimension__key=dimension)
        if category:
            said = said.filter(Q(chosen__category__code=category) | Q(chosen__proposal__code=category))
        mine = mine.filter(Exists(said))
    return mine


def next_assignment(
    member: Membership, coding_round: Round, after: Assignment | None = None
) -> Assignment | None:
    """Give what to code next: returned, to do, draft, then each skipped unit once."""
    waiting = own_assignments(member, coding_round).filter(status__in=TURN)
    # Put off a second time, a unit is found in the queue, but not offered again.
    waiting = waiting.filter(~Q(status=Status.SKIPPED) | Q(draft__isnull=True) | Q(draft__skips__lte=1))
    if after is not None:
        waiting = waiting.exclude(pk=after.pk)
    turn = Case(
        *(When(status=status, then=Value(place)) for status, place in TURN.items()),
        output_field=IntegerField(),
    )
    return (
        waiting.order_by(turn, "position", "pk")
        .select_related(
            "coder",
            "round_unit__round__study",
            "round_unit__round__codebook",
            "round_unit__unit__issue",
            "round_unit__unit__snapshot",
        )
        .first()
    )


def neighbours(assignment: Assignment) -> tuple[Assignment | None, Assignment | None]:
    """Give the assignments before and after this one in its coder's order."""
    beside = (
        Assignment.objects.active()
        .filter(coder=assignment.coder_id, round_unit__round=assignment.round_unit.round_id)
        .select_related("round_unit__unit")
    )
    before = beside.filter(position__lt=assignment.position).order_by("-position").first()
    after = beside.filter(position__gt=assignment.position).order_by("position").first()
    return before, after


def own_progress(member: Membership, coding_round: Round) -> dict[str, int]:
    """Count the member's own units: in all, handed in (``submitted``), and by status where not."""
    handed_in = Exists(Submission.objects.filter(assignment=OuterRef("pk")))
    counted: dict[str, int] = (
        own_assignments(member, coding_round)
        .order_by()
        .annotate(handed_in=handed_in)
        .aggregate(
            total=Count("pk"),
            submitted=Count("pk", filter=Q(handed_in=True)),
            changed=Count("pk", filter=Q(handed_in=True, status__in=(Status.DRAFT, Status.SKIPPED))),
            returned=Count("pk", filter=Q(status=Status.RETURNED)),
            todo=Count("pk", filter=Q(status=Status.TODO)),
            draft=Count("pk", filter=Q(status=Status.DRAFT, handed_in=False)),
            skipped=Count("pk", filter=Q(status=Status.SKIPPED, handed_in=False)),
        )
    )
    return counted


def own_annotations(member: Membership, coding_round: Round | None = None) -> "QuerySet[Annotation]":
    """Give the member's own last answers, of a round or of all, as far as they are not sealed."""
    mine: QuerySet[Annotation] = Annotation.objects.visible_to(member).filter(
        submission__in=Submission.objects.last(), submission__assignment__coder__in=member.coder_ids
    )
    if coding_round is not None:
        mine = mine.filter(submission__assignment__round_unit__round=coding_round)
    return mine.select_related("dimension", "submission__assignment__round_unit__unit").order_by(
        "submission__assignment__round_unit__round__number",
        "submission__assignment__round_unit__unit__ref",
        "dimension__order",
        "dimension__key",
    )
