"""The work of a job that looks for near-duplicates. It loads scikit-learn, so only workers import it."""

from collections.abc import Iterator

from labeling.models import Job, SnapshotDocument, Study
from labeling.services import jobs
from labeling.services.near_duplicates import kept_apart
from labeling.similarity import near_pairs

#: How near two issues are to be shown, and how many pairs are kept.
THRESHOLD = 0.6
MOST_PAIRS = 500
#: What an issue is about stands at its beginning; logs follow.
READ = 4000
BATCH = 500


class _LeaseLostError(Exception):
    """Somebody else has the job now."""


def find_near_duplicates(job_id: int) -> None:
    """Store the nearest pairs of issues with the job."""
    lease = jobs.take_lease(Job, job_id)
    if lease is None:
        return

    def keep_alive() -> None:
        if not lease.renew():
            raise _LeaseLostError

    study = Study.objects.get(jobs=job_id)
    # The order of ids: the older issue stands first, and stays.
    rows = study.issues.filter(duplicate_of=None, gone=False).exclude(latest=None).order_by("pk")
    issues = list(rows.values_list("pk", "latest"))
    try:
        texts = _texts([latest or 0 for _, latest in issues])
        # What was told apart would take the place of pairs nobody saw yet.
        apart = kept_apart(study)
        most = MOST_PAIRS + len(apart)
        found = near_pairs(texts, threshold=THRESHOLD, most=most, keep_alive=keep_alive)
    except _LeaseLostError:
        return
    near = ((issues[one][0], issues[other][0], round(score, 3)) for one, other, score in found)
    pairs = [pair for pair in near if pair[:2] not in apart][:MOST_PAIRS]
    Job.objects.filter(pk=job_id).update(progress={"pairs": pairs, "compared": len(issues)})
    jobs.release(lease, Job.State.DONE)


def _texts(snapshots: list[int]) -> Iterator[str]:
    """Give title and beginning of the description of each snapshot, some at a time."""
    for start in range(0, len(snapshots), BATCH):
        asked = snapshots[start : start + BATCH]
        rows = SnapshotDocument.objects.filter(snapshot__in=asked, key__in=("title", "body"))
        told: dict[int, str] = {}
        for snapshot, source in rows.order_by("-key").values_list("snapshot_id", "source"):
            told[snapshot] = f"{told.get(snapshot, '')}\n{source[:READ]}"
        yield from (told.get(snapshot, "") for snapshot in asked)
