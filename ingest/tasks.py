"""Background work of this app. A task takes an id and calls one function; the row knows the rest."""

from celery import shared_task

from ingest import dry_run, pipeline
from labeling.services import word_index


@shared_task(name="ingest.tasks.run_import", acks_late=True, ignore_result=True)
def run_import(run_id: int) -> None:
    pipeline.run_import(run_id)


@shared_task(name="ingest.tasks.try_file", acks_late=True, ignore_result=True)
def try_file(upload_id: int) -> None:
    dry_run.try_file(upload_id)


@shared_task(name="ingest.tasks.prepare_sample", acks_late=True, ignore_result=True)
def prepare_sample(job_id: int) -> None:
    pipeline.prepare_sample(job_id)


@shared_task(name="ingest.tasks.fetch_fix", acks_late=True, ignore_result=True)
def fetch_fix(job_id: int) -> None:
    pipeline.fetch_fix(job_id)


@shared_task(name="ingest.tasks.index_texts", acks_late=True, ignore_result=True)
def index_texts(job_id: int) -> None:
    word_index.index_texts(job_id)


@shared_task(name="ingest.tasks.find_near_duplicates", acks_late=True, ignore_result=True)
def find_near_duplicates(job_id: int) -> None:
    # Here, because scikit-learn takes memory that a worker needs only for this.
    from labeling.services import similar_issues

    similar_issues.find_near_duplicates(job_id)
