"""Tasks of the workers: each takes an id, takes the row's lease and calls one function."""

from celery import shared_task

from labeling.agreement_check import check_round
from labeling.models import Job
from labeling.services.agreement import store_breakdowns
from labeling.services.jobs import release, take_lease


@shared_task
def check_agreement(job_id: int) -> None:
    """Compute the stored kappas of a round a second way."""
    lease = take_lease(Job, job_id)
    if lease is None:
        return
    job = Job.objects.select_related("round__study").get(pk=job_id)
    if job.round is not None:
        check_round(job.round)
    release(lease, Job.State.DONE)


@shared_task
def breakdowns(job_id: int) -> None:
    """Store the agreement of a round by repository, stratum and level."""
    lease = take_lease(Job, job_id)
    if lease is None:
        return
    job = Job.objects.select_related("round__study").get(pk=job_id)
    # A round that was opened again meanwhile has no agreement; its next close asks anew.
    if job.round is not None and job.round.is_unblinded:
        store_breakdowns(job.round)
    release(lease, Job.State.DONE)
