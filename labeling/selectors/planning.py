"""What a lead looks at before a round opens: the work it will be, and three units as a coder sees them."""

from statistics import median
from typing import Any

from django.db.models import Exists, OuterRef, Q

from labeling.models import Assignment, Membership, Role, Round, RoundUnit, Submission, Unit
from labeling.selectors.issues import hidden_at, shown_issue
from labeling.selectors.masks import Masks

PREVIEWED = 3


def preview_units(coding_round: Round, member: Membership) -> list[dict[str, Any]]:
    """Show the first units under the round's masks; no assignment is made and nothing is answered.

    What another round hides from the member stays hidden here.
    """
    masks = Masks(member)
    units = (
        Unit.objects.filter(round_units__round=coding_round, round_units__left_out=False)
        .select_related("issue__latest", "snapshot")
        .order_by(masks.unit_order)[:PREVIEWED]
    )
    hidden, elsewhere = hidden_at(coding_round, 0), masks.of_issues([unit.issue_id for unit in units])
    return [shown_issue(unit, hidden | elsewhere.get(unit.issue_id, frozenset())) for unit in units]


def median_seconds(coding_round: Round) -> float | None:
    """Give the median time for a unit in the study's newest closed pilot, else in its newest closed round."""
    closed = coding_round.study.rounds.filter(state__in=Round.UNBLINDED).exclude(kind=Round.Kind.IMPORTED)
    for rounds in (closed.filter(kind=Round.Kind.PILOT), closed):
        newest = rounds.order_by("-number").first()
        if newest is not None:
            seconds = Assignment.objects.filter(
                Exists(Submission.objects.filter(assignment=OuterRef("pk"))),
                round_unit__round=newest,
                active_seconds__gt=0,
            ).values_list("active_seconds", flat=True)
            if seconds:
                return float(median(seconds))
    return None


def units_seen_before(coding_round: Round, member: Membership) -> list[str]:
    """Name, as the member may, the units whose answers in an earlier round one of the coders could read."""
    coders = list(coding_round.coders.all())
    earlier = RoundUnit.objects.filter(
        unit__issue=OuterRef("unit__issue"),
        round__study=coding_round.study_id,
        round__state__in=Round.UNBLINDED,
    ).exclude(round=coding_round.pk)
    if not any(coder.role in (Role.LEAD, Role.ADJUDICATOR) for coder in coders):
        ids = {pk for coder in coders for pk in coder.coder_ids}
        coded = Assignment.objects.active().filter(coder__in=ids, round_unit__round=OuterRef("round"))
        earlier = earlier.filter(Exists(coded))
    seen = coding_round.round_units.filter(Exists(earlier))
    names = Masks(member).names
    return sorted(names.get(ref, ref) for ref in seen.values_list("unit__ref", flat=True))


def could_read(coder: Membership, coding_round: Round) -> bool:
    """Whether the coder's role reaches the answers of a closed round that somebody has read already."""
    if coding_round.first_unblinded_read_at is None:
        return False
    if coder.role in (Role.LEAD, Role.ADJUDICATOR):
        return True
    mine = Q(coder__in=coder.coder_ids) | Q(coder__in=coder.people.values("pk"))
    return Assignment.objects.active().filter(mine, round_unit__round=coding_round).exists()
