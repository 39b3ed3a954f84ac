"""The lock that every act on a round takes, and the line it leaves in the record."""

from typing import Any

from labeling.models import Membership, Round, Study
from labeling.services.events import record


def lock_round(coding_round: Round) -> Round:
    """Lock the study, then the round, so that no two rounds open on the same issue at once.

    The study's lock leaves its key free: a submission that holds the round's lock may still write its event.
    """
    Study.objects.select_for_update(no_key=True).get(pk=coding_round.study_id)
    return (
        Round.objects.select_for_update(of=("self",))
        .select_related("study", "codebook", "sample", "based_on")
        .get(pk=coding_round.pk)
    )


def record_round(coding_round: Round, verb: str, by: Membership, **data: Any) -> None:
    record(
        study=coding_round.study,
        round=coding_round,
        by=by,
        verb=verb,
        object=f"round:{coding_round.number}",
        **data,
    )
