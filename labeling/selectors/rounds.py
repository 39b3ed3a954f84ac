"""Rounds of a study as one member comes across them."""

from django.db.models import Exists, OuterRef, QuerySet

from labeling.models import Assignment, Membership, Role, Round


def reachable_rounds(member: Membership) -> QuerySet[Round]:
    """Rounds that the member's role reaches: a coder's are those they coded in; drafts are a lead's."""
    rounds = Round.objects.filter(study=member.study_id, discarded_at__isnull=True)
    if member.role != Role.LEAD:
        rounds = rounds.exclude(state=Round.State.DRAFT)
    if member.role == Role.CODER:
        rounds = rounds.filter(Exists(_own(member)))
    return rounds


def rounds_to_code(member: Membership) -> QuerySet[Round]:
    """Open rounds that dealt the member units."""
    return (
        Round.objects.filter(study=member.study_id, state=Round.State.OPEN, discarded_at__isnull=True)
        .filter(Exists(_own(member)))
        .select_related("study", "codebook")
        .order_by("number")
    )


def _own(member: Membership) -> QuerySet[Assignment]:
    return Assignment.objects.of_member(member).active().filter(round_unit__round=OuterRef("pk"))
