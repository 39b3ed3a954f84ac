"""What workers do: run an import page by page, and prepare a sample with its diffs.

Everything here can be repeated: each page is stored together with the place to go on from, under a lease,
so that a killed worker loses one page of reading and a doubled message changes nothing.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingest.models import ImportRun
from ingest.normalise import normalise_issue
from ingest.services import path_of
from ingest.sources.base import Page, SourceError, SourceQuery, Waiting
from ingest.sources.files import read_pages
from ingest.sources.github import Pacing, fetch_issues, fetch_patches
from labeling.models import Issue, Job, Sample, Unit
from labeling.records import FixRecord, IssueRecord
from labeling.services import jobs
from labeling.services.corpus import apply_rules
from labeling.services.events import record
from labeling.services.issues import AddResult, add_issues
from labeling.services.samples import pin_sample
from labeling.services.tokens import token_for

logger = logging.getLogger(__name__)

State = ImportRun.State

#: After so long a worker lets others have a turn: an import must not keep an export waiting for hours.
TURN = 60.0
#: What fails for a passing reason is tried again after this long, so many times without any progress.
RETRY_AFTER = timedelta(minutes=2)
RETRIES = 8
#: Sentences kept of one run; the rest is counted.
MOST_PROBLEMS = 200
#: Diffs of so many fixes of one issue are fetched, the best evidence first.
MOST_FIXES = 5

OnPage = Callable[[ImportRun], None]


class LeaseLostError(Exception):
    """Somebody paused or cancelled the work, or another worker has it."""


def run_import(
    run_id: int,
    *,
    lease: jobs.Lease | None = None,
    turn: float | None = TURN,
    on_page: OnPage | None = None,
) -> ImportRun | None:
    """Work on an import until it is done, has to wait, or its turn is over; None if others have it."""
    lease = lease or jobs.take_lease(ImportRun, run_id, _new_holder())
    if lease is None:
        return None
    run = ImportRun.objects.get(pk=run_id)
    started = time.monotonic()
    try:
        for page in _pages(run, _keep_alive(lease)):
            _store(lease, page)
            run.refresh_from_db()
            if on_page:
                on_page(run)
            if turn is not None and time.monotonic() - started > turn:
                return _end_turn(lease)
    except LeaseLostError:
        logger.info("Import %s was stopped or taken over.", run_id)
    except Waiting as waiting:
        _note(lease, waiting.reason)
        jobs.release(lease, State.WAITING, waiting_until=waiting.until)
    except SourceError as error:
        _stop(lease, error)
    except Exception:
        logger.exception("Import %s broke off.", run_id)
        sentence = "Intercoder met an error of its own; the worker's log has it. Resume the import to go on."
        jobs.release(lease, State.FAILED, error=sentence)
    else:
        _finish(lease)
    return ImportRun.objects.get(pk=run_id)


def prepare_sample(job_id: int) -> None:
    """Refresh the drawn issues, fetch the diffs of their fixes, then pin and freeze the sample."""
    lease = jobs.take_lease(Job, job_id, _new_holder())
    if lease is None:
        return
    job = Job.objects.select_related("sample", "study", "by").get(pk=job_id)
    sample = job.sample
    assert sample is not None  # noqa: S101 (a job of this kind has one)
    try:
        _complete_all(lease, job, sample)
        pin_sample(sample=sample, by=job.by)
        jobs.release(lease, Job.State.DONE)
    except LeaseLostError:
        logger.info("Job %s was taken over.", job_id)
    except Waiting as waiting:
        jobs.release(lease, Job.State.WAITING, waiting_until=waiting.until)


def fetch_fix(job_id: int) -> None:
    """Refresh one issue and fetch the diffs of its fixes."""
    lease = jobs.take_lease(Job, job_id, _new_holder())
    if lease is None:
        return
    job = Job.objects.select_related("study", "by").get(pk=job_id)
    issue = job.study.issues.select_related("latest").get(pk=job.options["issue"]) if job.study else None
    try:
        problems = _complete(job, [issue], _keep_alive(lease)) if issue else []
        jobs.release(lease, Job.State.DONE, error=" ".join(problems))
    except LeaseLostError:
        logger.info("Job %s was taken over.", job_id)
    except Waiting as waiting:
        jobs.release(lease, Job.State.WAITING, waiting_until=waiting.until)
    except SourceError as error:
        jobs.release(lease, Job.State.FAILED, error=error.sentence)


# --- an import ----------------------------------------------------------------------------------------------


def _pages(run: ImportRun, keep_alive: Callable[[], None]) -> Iterator[Page]:
    if run.source == ImportRun.Source.FILE:
        return read_pages(path_of(run), run.query.get("mapping") or None, run.checkpoint)
    return fetch_issues(
        SourceQuery.from_json(run.query),
        run.checkpoint,
        token=token_for(run.by.user if run.by else None, run.query["api_base"]),
        api_base=run.query["api_base"],
        pacing=_pacing(run.query["api_base"], keep_alive),
    )


def _store(lease: jobs.Lease, page: Page) -> AddResult:
    """Keep a page and its checkpoint in one transaction, if the lease is still ours."""
    clean = [_cleaned(each) for each in page.records]
    with transaction.atomic():
        run = _locked(lease)
        result = add_issues(study=run.study, records=clean, run_id=run.pk)
        apply_rules(study=run.study, issue_ids=result.issue_ids)
        if run.checkpoint != page.checkpoint:
            run.attempts = 0  # it gets on: it may fail as often again
        run.checkpoint = page.checkpoint
        run.total = page.total if page.total is not None else run.total
        run.fetched += len(page.records)
        run.added += result.new
        run.changed += result.changed
        run.same += result.same
        run.rejected += result.rejected + page.rejected
        run.requests += page.requests
        run.problems = _more_problems(run.problems, page.problems)
        run.progress = {}
        run.lease_until = timezone.now() + jobs.LEASE
        run.save()
    return result


def _cleaned(told: IssueRecord) -> IssueRecord:
    clean, notes = normalise_issue(told)
    return replace(clean, notes=(*clean.notes, *notes))


def _locked(lease: jobs.Lease) -> ImportRun:
    run = (
        ImportRun.objects.select_for_update(of=("self",))
        .select_related("study")
        .filter(pk=lease.row.pk, lease_holder=lease.holder, state=State.RUNNING)
        .first()
    )
    if run is None:
        raise LeaseLostError
    return run


def _end_turn(lease: jobs.Lease) -> ImportRun:
    """Give the row back to the end of the queue."""
    run = ImportRun.objects.get(pk=lease.row.pk)
    if jobs.release(lease, State.QUEUED):
        jobs.ring(run)
    run.refresh_from_db()
    return run


def _finish(lease: jobs.Lease) -> None:
    if not jobs.release(lease, State.DONE):
        return
    run = ImportRun.objects.select_related("study", "by").get(pk=lease.row.pk)
    if run.source == ImportRun.Source.FILE and run.total is None:
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
    run = ImportRun.objects.get(pk=lease.row.pk)
    if not error.permanent and run.attempts < RETRIES:
        _note(lease, error.sentence)
        jobs.release(lease, State.WAITING, waiting_until=timezone.now() + RETRY_AFTER)
    elif error.permanent and run.fetched:
        run.problems = _more_problems(run.problems, [error.sentence])
        run.save(update_fields=["problems"])
        _finish(lease)
    else:
        jobs.release(lease, State.FAILED, error=error.sentence)


def _note(lease: jobs.Lease, reason: str) -> None:
    """Say for the page why the run waits."""
    mine = ImportRun.objects.filter(pk=lease.row.pk, lease_holder=lease.holder)
    mine.update(progress={"reason": reason})


def _more_problems(known: Sequence[str], new: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys([*known, *new]))
    return every[:MOST_PROBLEMS]


# --- diffs --------------------------------------------------------------------------------------------------


def _complete_all(lease: jobs.Lease, job: Job, sample: Sample) -> None:
    """Complete the drawn issues one by one, remembering how far it came.

    A source that refuses or stays away does not hold the sample up for ever: what could not be refreshed
    is named with the sample, and what the import brought is pinned.
    """
    done = int(job.progress.get("done") or 0)
    units = list(sample.units.select_related("issue__latest", "snapshot").order_by("pk"))
    for at, unit in enumerate(units):
        if at < done:
            continue
        try:
            problems = _complete(job, [unit.issue], _keep_alive(lease)) if _is_waiting(unit) else []
        except SourceError as error:
            if not error.permanent and job.attempts < RETRIES:
                raise Waiting(timezone.now() + RETRY_AFTER, error.sentence) from error
            problems = [f"{unit.ref} was not refreshed. {error.sentence}"]
        with transaction.atomic():
            if not lease.renew():
                raise LeaseLostError
            job.progress = {"done": at + 1, "total": len(units)}
            Job.objects.filter(pk=job.pk).update(progress=job.progress, attempts=0)
            sample.problems = _more_problems(sample.problems, problems)
            Sample.objects.filter(pk=sample.pk).update(prepared=at + 1, problems=sample.problems)


def _is_waiting(unit: Unit) -> bool:
    """Whether there is more to fetch: from GitHub, and not prepared for another sample before."""
    issue, pin = unit.issue, unit.snapshot
    is_from_github = bool((issue.node_id or issue.rest_id) and issue.repository and issue.number)
    return is_from_github and not (pin is not None and "patches" in pin.carries)


def _complete(job: Job, issues: Sequence[Issue], keep_alive: Callable[[], None]) -> list[str]:
    """Fetch issues anew with the diffs of their fixes; return what could not be had."""
    problems: list[str] = []
    for issue in issues:
        run_id = issue.latest.run_id if issue.latest else None
        api_base = _api_base_of(run_id)
        access: dict[str, Any] = {
            "token": token_for(job.by.user if job.by else None, api_base),
            "api_base": api_base,
            "pacing": _pacing(api_base, keep_alive),
        }
        query = SourceQuery(
            issues=(f"{issue.repository}#{issue.number}",), unit_kinds=("issue", "pull_request")
        )
        for page in fetch_issues(query, **access):
            problems += page.problems
            told = [_told_of(issue, each, problems, access) for each in page.records]
            result = add_issues(study=issue.study, records=told, run_id=run_id)
            apply_rules(study=issue.study, issue_ids=result.issue_ids)
    return problems


def _told_of(issue: Issue, told: IssueRecord, problems: list[str], access: dict[str, Any]) -> IssueRecord:
    """Return what to keep of an issue: with diffs, or that it is no longer where it was."""
    if told.gone or told.transferred_to:
        return replace(told, host=issue.host, repository=issue.repository, number=issue.number)
    return _cleaned(_with_patches(told, problems, access))


def _with_patches(told: IssueRecord, problems: list[str], access: dict[str, Any]) -> IssueRecord:
    """Add the diffs of what fixed the issue."""
    wanted = [fix.key for fix in told.fixes if fix.is_fix][:MOST_FIXES]
    fixes: list[FixRecord] = []
    for fix in told.fixes:
        if fix.key not in wanted:
            fixes.append(fix)
            continue
        try:
            fixes.append(fetch_patches(fix, **access))
        except SourceError as error:
            if not error.permanent:
                raise
            problems.append(f"The diff of {fix.key} could not be fetched. {error.sentence}")
            fixes.append(fix)
    return replace(told, fixes=tuple(fixes), carries=told.carries | {"patches"})


def _api_base_of(run_id: int | None) -> str:
    """The server an issue came from, if it may still be asked."""
    run = ImportRun.objects.filter(pk=run_id).first() if run_id else None
    base = run.query.get("api_base") if run else None
    return str(base) if base in settings.GITHUB_API_URLS else str(settings.GITHUB_API_URLS[0])


# --- leases -------------------------------------------------------------------------------------------------


def _keep_alive(lease: jobs.Lease) -> Callable[[], None]:
    """Return what renews the lease, at most every few seconds, and stops the work when it is lost."""
    renewed = time.monotonic()

    def keep_alive() -> None:
        nonlocal renewed
        if time.monotonic() - renewed < jobs.RENEW_EVERY.total_seconds() / 2:
            return
        if not lease.renew():
            raise LeaseLostError
        renewed = time.monotonic()

    return keep_alive


def _pacing(api_base: str, keep_alive: Callable[[], None]) -> Pacing:
    """GitHub's pace; a stand-in on this machine need not be spared."""
    if urlsplit(api_base).hostname in ("127.0.0.1", "localhost"):
        return Pacing(spacing={}, backoff=0.01, keep_alive=keep_alive)
    return Pacing(keep_alive=keep_alive)


def _new_holder() -> str:
    return secrets.token_hex(8)
