"""What workers do: run an import page by page, and prepare a sample with its diffs.

Everything here can be repeated: each page is stored together with the place to go on from, under a lease,
so that a killed worker loses one page of reading and a doubled message changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from django.db import transaction
from django.utils import timezone

from ingest.diffs import complete_issue, is_waiting
from ingest.known import StudyKnows
from ingest.leases import TURN, LeaseLostError, keep_alive, take, try_later, working
from ingest.models import ImportRun
from ingest.normalise import cleaned, row_notes
from ingest.servers import access_for
from ingest.services import path_of
from ingest.sources.base import Page, SourceError, SourceQuery
from ingest.sources.files import read_pages
from ingest.sources.github import fetch_issues
from labeling.models import Job, Sample, Study, Unit
from labeling.services import jobs
from labeling.services.corpus import apply_rules
from labeling.services.events import record
from labeling.services.issues import add_incoming, read_incoming
from labeling.services.samples import pin_sample
from labeling.services.word_index import ask_for_indexing

State = ImportRun.State

#: Sentences kept of one run.
MOST_PROBLEMS = 200

OnPage = Callable[[ImportRun], None]


def run_import(
    run_id: int,
    *,
    lease: jobs.Lease | None = None,
    turn: float | None = TURN,
    on_page: OnPage | None = None,
) -> ImportRun | None:
    """Work on an import until it is done, has to wait, or its turn is over; None if others have it."""
    lease = lease or take(ImportRun, run_id)
    if lease is None:
        return None
    with working(lease):
        try:
            if _read(lease, turn, on_page):
                _finish(lease)
            elif jobs.release(lease, State.QUEUED):
                jobs.ring(lease.row)
        except SourceError as error:
            _stop(lease, error)
    run = ImportRun.objects.select_related("study").get(pk=run_id)
    ask_for_indexing(run.study)
    return run


def prepare_sample(job_id: int) -> None:
    """Refresh the drawn issues, fetch the diffs of their fixes, then pin and freeze the sample."""
    lease = take(Job, job_id)
    if lease is None:
        return
    with working(lease):
        job = Job.objects.select_related("sample", "by").get(pk=job_id, sample__isnull=False)
        assert job.sample is not None  # noqa: S101 (for mypy: asked for above)
        units = job.sample.units.select_related("issue__latest", "issue__study", "snapshot").order_by("pk")
        for at, unit in enumerate(units):
            if at >= int(job.progress.get("done") or 0):
                problems = _complete(lease, job, unit)
                _remember(lease, job, job.sample, problems, done=at + 1, total=len(units))
        pin_sample(sample=job.sample, by=job.by)
        jobs.release(lease, State.DONE)
        ask_for_indexing(job.sample.study)


def fetch_fix(job_id: int) -> None:
    """Refresh one issue and fetch the diffs of its fixes."""
    lease = take(Job, job_id)
    if lease is None:
        return
    with working(lease):
        job = Job.objects.select_related("study", "by").get(pk=job_id, study__isnull=False)
        assert job.study is not None  # noqa: S101 (for mypy: asked for above)
        issue = job.study.issues.select_related("latest", "study").get(pk=job.options["issue"])
        try:
            problems = complete_issue(issue, by=job.by, keep_alive=keep_alive(lease))
        except SourceError as error:
            try_later(lease, error)
            raise
        jobs.release(lease, State.DONE, error=" ".join(problems))
        ask_for_indexing(job.study)


# An import


def _read(lease: jobs.Lease, turn: float | None, on_page: OnPage | None) -> bool:
    """Read and store page by page; false if the turn was over before the end."""
    started = None
    run = ImportRun.objects.select_related("by__user", "study").get(pk=lease.row.pk)
    for page in _pages(run, keep_alive(lease)):
        # Not before: in a large file it takes long to come to where it goes on.
        started = started or time.monotonic()
        stored = _store(lease, run.study, page)
        if on_page:
            on_page(stored)
        if turn is not None and time.monotonic() - started > turn:
            return False
    return True


def _pages(run: ImportRun, renew: Callable[[], None]) -> Iterator[Page]:
    if run.source == ImportRun.Source.FILE:
        return read_pages(path_of(run), run.query.get("mapping") or None, run.checkpoint, renew)
    query = SourceQuery.from_json(run.query)
    access = access_for(run.by, run.query["api_base"], renew)
    return fetch_issues(query, run.checkpoint, **access, knows=StudyKnows(run.study))


def _store(lease: jobs.Lease, study: Study, page: Page) -> ImportRun:
    """Keep a page and its checkpoint in one transaction, if the lease is still ours."""
    records = [cleaned(each) for each in page.records]
    incoming, notes = read_incoming(study, records), row_notes(page.rows, records)
    with transaction.atomic():
        run = _locked(lease)
        result = add_incoming(study=run.study, incoming=incoming, run_id=run.pk)
        apply_rules(study=run.study, issue_ids=result.issue_ids)
        if run.checkpoint != page.checkpoint:
            run.attempts = 0  # it gets on: it may fail as often again
        run.checkpoint = page.checkpoint
        run.total = page.total if page.total is not None else run.total
        run.fetched += len(page.records) + page.unchanged
        run.added += result.new
        run.changed += result.changed
        run.same += result.same + page.unchanged
        run.rejected += result.rejected + page.rejected
        run.requests += page.requests
        run.quota = {**run.quota, **page.quota}
        run.problems = _more_problems(run.problems, page.problems)
        run.noted += len(notes)
        run.notes = [*run.notes, *notes][:MOST_PROBLEMS]
        run.progress = {}
        run.lease_until = timezone.now() + jobs.LEASE
        run.save()
    return run


def _locked(lease: jobs.Lease) -> ImportRun:
    rows = ImportRun.objects.select_for_update(of=("self",)).select_related("study")
    run = rows.filter(pk=lease.row.pk, lease_holder=lease.holder, state=State.RUNNING).first()
    if run is None:
        raise LeaseLostError
    if run.study.deleted_at is not None:
        raise SourceError("The study was deleted while its import ran.", permanent=True)
    return run


def _finish(lease: jobs.Lease) -> None:
    fetched, problems = ImportRun.objects.values_list("fetched", "problems").get(pk=lease.row.pk)
    if problems and not fetched:
        raise SourceError(f"Nothing was imported. {problems[0]}", permanent=True)
    if not jobs.release(lease, State.DONE):
        return
    run = ImportRun.objects.select_related("study", "by").get(pk=lease.row.pk)
    if run.source == ImportRun.Source.FILE:
        run.total = run.fetched + run.rejected
        run.save(update_fields=["total"])
    record(
        study=run.study,
        verb="import.finished",
        by=run.by,
        object=f"import:{run.pk}",
        fetched=run.fetched,
        added=run.added,
        changed=run.changed,
    )


def _stop(lease: jobs.Lease, error: SourceError) -> None:
    """End a run that cannot go on: failed if it brought nothing, done with a problem if it brought a part."""
    try_later(lease, error)
    run = ImportRun.objects.get(pk=lease.row.pk)
    if not (error.permanent and run.fetched):
        raise error
    run.problems = _more_problems(run.problems, [error.sentence])
    run.save(update_fields=["problems"])
    _finish(lease)


def _more_problems(known: Sequence[str], new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*known, *new]))[:MOST_PROBLEMS]


# A sample


def _complete(lease: jobs.Lease, job: Job, unit: Unit) -> list[str]:
    """Complete one drawn issue; return what could not be had.

    A source that refuses or stays away does not hold the sample up for ever: the issue is named, and what
    the import brought is pinned.
    """
    if not is_waiting(unit):
        return []
    try:
        return complete_issue(unit.issue, by=job.by, keep_alive=keep_alive(lease))
    except SourceError as error:
        try_later(lease, error)
        return [f"{unit.ref} was not refreshed. {error.sentence}"]


def _remember(
    lease: jobs.Lease, job: Job, sample: Sample, problems: Sequence[str], *, done: int, total: int
) -> None:
    """Store how far it came; what was completed is not fetched again."""
    with transaction.atomic():
        if not lease.renew():
            raise LeaseLostError
        job.progress = {"done": done, "total": total}
        rows = Job.objects.filter(pk=job.pk)
        rows.update(progress=job.progress)
        if not problems:
            rows.update(attempts=0)  # it gets on: it may fail as often again
        sample.problems = _more_problems(sample.problems, problems)
        Sample.objects.filter(pk=sample.pk).update(prepared=done, problems=sample.problems)
