"""The index the search reads: kept for the newest snapshot of every issue, a while after it came."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import connection, transaction
from django.db.models import QuerySet

from labeling.models import Issue, Job, SnapshotDocument, Study
from labeling.services import jobs
from labeling.words import words_of

#: A transaction each: on SQLite whoever saves an answer waits for it.
BATCH = 100
AT_WORK = (Job.State.QUEUED, Job.State.RUNNING, Job.State.WAITING)


def ask_for_indexing(study: Study) -> Job | None:
    """Let a worker index what is new in the study, unless one is asked already or nothing is new."""
    with transaction.atomic():
        asked = Job.objects.filter(kind=Job.Kind.INDEX_TEXTS, study=study, state__in=AT_WORK)
        if asked.exists() or not unindexed(study).exists():
            return None
        job = Job.objects.create(kind=Job.Kind.INDEX_TEXTS, study=study)
        jobs.ring(job)
    return job


def index_texts(job_id: int) -> None:
    """Do that work; it may be broken off and done twice."""
    lease = jobs.take_lease(Job, job_id)
    if lease is None:
        return
    study = Study.objects.get(jobs=job_id)
    began = time.monotonic()
    while index_batch(study):
        if not lease.renew():
            return
        if connection.vendor == "sqlite":
            # It has one writer and no queue: without gaps whoever saves an answer waits for seconds.
            time.sleep(time.monotonic() - began)
        began = time.monotonic()
    jobs.release(lease, Job.State.DONE)


def unindexed(study: Study) -> QuerySet[Issue]:
    """Issues whose newest words the index does not hold yet."""
    return study.issues.filter(is_indexed=False)


def index_batch(study: Study) -> int:
    """Index some issues; give how many."""
    with transaction.atomic():
        rows = study.issues.select_for_update().filter(is_indexed=False).order_by("pk")
        issues = list(rows.only("study", "key", "source_id", "latest")[:BATCH])
        if issues:
            index_issues(issues)
    return len(issues)


def index_issues(issues: Sequence[Issue]) -> None:
    """Put the words of these issues in the place of what the index held of them."""
    texts = _texts([issue.latest_id for issue in issues if issue.latest_id])
    told = [
        (issue.pk, words_of([issue.key, issue.source_id, *texts.get(issue.latest_id or 0, ())]))
        for issue in issues
    ]
    Issue.objects.filter(pk__in=[pk for pk, _ in told]).update(is_indexed=True)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.executemany(
                "INSERT INTO labeling_issuewords (issue_id, words) VALUES (%s, array_to_tsvector(%s))"
                " ON CONFLICT (issue_id) DO UPDATE SET words = excluded.words",
                told,
            )
            return
        cursor.executemany("DELETE FROM labeling_issuewords WHERE rowid = %s", [(pk,) for pk, _ in told])
        cursor.executemany(
            "INSERT INTO labeling_issuewords (rowid, words) VALUES (%s, %s)",
            [(pk, " ".join(words)) for pk, words in told],
        )


def _texts(snapshots: Sequence[int]) -> Mapping[int, list[str]]:
    texts: defaultdict[int, list[str]] = defaultdict(list)
    rows = SnapshotDocument.objects.filter(snapshot__in=snapshots).order_by("snapshot", "pk")
    for snapshot, source in rows.values_list("snapshot_id", "source"):
        texts[snapshot].append(source)
    return texts
