"""Proposed categories as one member may know of them."""

from django.db.models import QuerySet

from labeling.models import CategoryProposal, Membership, Round
from labeling.selectors.rounds import reachable_rounds


def readable_proposals(coding_round: Round, member: Membership) -> "QuerySet[CategoryProposal]":
    """Give the member's own while the round is open; once it is closed all, if their role reaches it."""
    rows = CategoryProposal.objects.filter(round=coding_round).select_related(
        "by__user", "dimension", "parent", "target"
    )
    is_theirs = coding_round.is_unblinded and reachable_rounds(member).filter(pk=coding_round.pk).exists()
    return rows if is_theirs else rows.filter(by__in=member.coder_ids)
