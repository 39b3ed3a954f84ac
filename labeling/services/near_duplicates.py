"""Asking for near-duplicates, and what was found."""

from collections.abc import Iterable
from itertools import combinations

from django.db import transaction

from labeling.errors import CorpusError
from labeling.models import DistinctPair, Issue, Job, Membership, Study
from labeling.services import jobs
from labeling.services.events import record

AT_WORK = (Job.State.QUEUED, Job.State.RUNNING, Job.State.WAITING)


def look_for_duplicates(*, study: Study, by: Membership) -> Job:
    """Let a worker compare all issues; asking again while it does changes nothing."""
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        at_work = last_look(study)
        if at_work is not None and at_work.state in AT_WORK:
            return at_work
        job = Job.objects.create(kind=Job.Kind.DUPLICATES, study=study, by=by)
        record(study=study, verb="issues.compared", by=by, object=f"job:{job.pk}")
        jobs.ring(job)
    return job


def last_look(study: Study) -> Job | None:
    """The newest job that compared the issues, finished or not."""
    return Job.objects.filter(kind=Job.Kind.DUPLICATES, study=study).order_by("-pk").first()


def keep_apart(*, study: Study, issues: Iterable[Issue], by: Membership | None) -> int:
    """Say that none of these issues repeats another of them: no look offers such a pair again.

    Raises CorpusError where one is marked as a duplicate of another.
    """
    ids = sorted({issue.pk for issue in issues})
    pairs = [DistinctPair(first_id=one, second_id=other) for one, other in combinations(ids, 2)]
    with transaction.atomic():
        _refuse_marked(study, ids)
        DistinctPair.objects.bulk_create(pairs, ignore_conflicts=True)
        record(study=study, verb="issues.kept_apart", by=by, issues=ids)
    return len(pairs)


def _refuse_marked(study: Study, ids: Iterable[int]) -> None:
    rows = study.issues.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk")
    marked = {row.pk: row for row in rows}
    for row in marked.values():
        original = marked.get(row.duplicate_of_id) if row.duplicate_of_id else None
        if original is not None:
            raise CorpusError(
                f"{row.ref} is marked as a duplicate of {original.ref}. Take the mark back on its page first."
            )


def kept_apart(study: Study) -> set[tuple[int, int]]:
    """Pairs of ids, the smaller first, that a lead found to be no duplicates."""
    return set(DistinctPair.objects.filter(first__study=study).values_list("first", "second"))
