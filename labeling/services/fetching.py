"""Asking a worker for what an import does not bring: the diffs of a fix, or those of a whole sample."""

from django.db import transaction
from django.db.models import QuerySet

from labeling.errors import CorpusError, SampleError
from labeling.models import Issue, Job, Membership, Sample
from labeling.services import jobs
from labeling.services.events import record

AT_WORK = (Job.State.QUEUED, Job.State.RUNNING, Job.State.WAITING)


def can_fetch_fix(issue: Issue) -> bool:
    """Whether GitHub knows a fix of the issue whose diff is not here yet."""
    latest = issue.latest
    is_from_github = bool(issue.node_id or issue.rest_id)
    if not is_from_github or issue.gone or latest is None or "patches" in latest.carries:
        return False
    return any(fix.get("evidence") != "mentioned" for fix in latest.fixes)


def fetch_fix(*, issue: Issue, by: Membership) -> Job:
    """Fetch the diffs of one issue's fixes. Asking again while it is being done changes nothing."""
    if not can_fetch_fix(issue):
        raise CorpusError(f"There is no diff left to fetch for {issue.ref}.")
    with transaction.atomic():
        Issue.objects.select_for_update().get(pk=issue.pk)
        at_work = fix_jobs(issue).filter(state__in=AT_WORK).first()
        if at_work is not None:
            return at_work
        job = Job.objects.create(kind=Job.Kind.FETCH_FIX, study=by.study, by=by, options={"issue": issue.pk})
        record(study=by.study, verb="issue.fix_asked", by=by, object=f"issue:{issue.pk}")
        jobs.ring(job)
    return job


def fix_jobs(issue: Issue) -> "QuerySet[Job]":
    """Jobs that fetch the diffs of this issue, newest first."""
    return Job.objects.filter(
        kind=Job.Kind.FETCH_FIX, study=issue.study_id, options__issue=issue.pk
    ).order_by("-pk")


def prepare_again(*, sample: Sample, by: Membership) -> Job:
    """Go on with a preparation that stopped; what is prepared already is not fetched again."""
    with transaction.atomic():
        locked = Sample.objects.select_for_update().get(pk=sample.pk)
        stopped = locked.jobs.filter(kind=Job.Kind.PREPARE_SAMPLE).order_by("-pk").first()
        if locked.state != Sample.State.PREPARING or stopped is None or stopped.state in AT_WORK:
            raise SampleError("This sample is prepared already, or a worker is still at it.")
        job = Job.objects.create(
            kind=Job.Kind.PREPARE_SAMPLE, study=locked.study, sample=locked, by=by, progress=stopped.progress
        )
        record(study=locked.study, verb="sample.prepared_again", by=by, object=f"sample:{locked.pk}")
        jobs.ring(job)
    return job
