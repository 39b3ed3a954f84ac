"""How far a round is: of an open round all that anybody is shown, the one place that counts past blinding.

A lead sees of each coder what was dealt and finished, a coder sees their own, others the total: never what
was answered, skipped or excluded, and nothing of a single unit.
"""

from collections import defaultdict
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef

from labeling.models import Assignment, Membership, Round, Submission


class _Told(NamedTuple):
    """What is counted of one assignment."""

    is_finished: bool
    seconds: int
    last_active: datetime | None
    is_late: bool


def round_progress(coding_round: Round, member: Membership) -> dict[str, Any]:
    """Give ``dealt``, ``finished`` and the ``coders`` the member may see, by member number.

    Finished is what was submitted at least once, whatever was said. Of a closed round ``late`` says how many
    drafts came after the close.
    """
    rows = (
        Assignment.objects.active()
        .filter(round_unit__round=coding_round, purpose=Assignment.Purpose.CODING)
        .exclude(coder__kind=Membership.Kind.REFERENCE)
        .annotate(
            is_finished=Exists(Submission.objects.filter(assignment=OuterRef("pk"))),
            is_late=Exists(
                Assignment.objects.filter(pk=OuterRef("pk"), draft_at__gt=F("round_unit__round__closed_at"))
            ),
        )
        .values_list("coder", "is_finished", "active_seconds", "last_active_at", "is_late")
    )
    of_coder: defaultdict[int, list[_Told]] = defaultdict(list)
    for coder, is_finished, seconds, last_active, is_late in rows:
        of_coder[coder].append(_Told(is_finished, seconds, last_active, is_late))
    shown = coding_round.study.memberships.filter(pk__in=of_coder).select_related("user").order_by("number")
    if not member.is_lead:
        shown = shown.filter(pk__in=member.coder_ids)
    return {
        "round": coding_round.number,
        "state": coding_round.state,
        "dealt": sum(len(each) for each in of_coder.values()),
        "finished": sum(told.is_finished for each in of_coder.values() for told in each),
        "coders": [_coder(coder, of_coder[coder.pk], coding_round) for coder in shown],
    }


def _coder(coder: Membership, told: list[_Told], coding_round: Round) -> dict[str, Any]:
    seconds = [each.seconds for each in told if each.is_finished and each.seconds]
    line: dict[str, Any] = {
        "id": coder.pk,
        "name": coder.name,
        "dealt": len(told),
        "finished": sum(each.is_finished for each in told),
        "median_seconds": round(median(seconds)) if seconds else None,
        "last_active": max((each.last_active for each in told if each.last_active), default=None),
    }
    if coding_round.is_unblinded:
        line["late"] = sum(each.is_late for each in told)
    return line
