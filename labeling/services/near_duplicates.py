"""Asking for near-duplicates, and what was found."""

from django.db import transaction

from labeling.models import Job, Membership, Study
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
