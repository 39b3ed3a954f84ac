"""Tasks of the workers: each takes an id, takes the row's lease and calls one function."""

from celery import shared_task

from labeling.agreement_check import check_round
from labeling.figure_export import figures_archive
from labeling.models import ExportJob, Job
from labeling.services import mail
from labeling.services.agreement import store_breakdowns
from labeling.services.export_jobs import FIGURES, keep_file
from labeling.services.jobs import release, take_lease
from labeling.services.purging import purge

MAKERS = {FIGURES: ("figures.zip", figures_archive)}
"""Name of the file of each kind of export, and what makes it."""


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


@shared_task
def run_export(job_id: int) -> None:
    """Make a file that takes a worker."""
    lease = take_lease(ExportJob, job_id)
    if lease is None:
        return
    job = ExportJob.objects.select_related("study", "by").get(pk=job_id)
    if job.kind not in MAKERS:
        release(lease, Job.State.FAILED, error=f"This version makes no files of the kind {job.kind}.")
        return
    name, make = MAKERS[job.kind]
    try:
        content = make(job, lease.renew)
    except Exception:
        error = "The file could not be made. The log of the worker says why."
        release(lease, Job.State.FAILED, error=error)
        raise
    if content is not None:  # else another worker has the lease, or somebody cancelled it
        keep_file(job, name, content)
        release(lease, Job.State.DONE)


@shared_task
def send_mail(job_id: int) -> None:
    """Send notices by e-mail."""
    mail.send_mail(job_id)


@shared_task
def purge_study(job_id: int) -> None:
    """Purge a study whose thirty days are over."""
    purge(job_id)
