"""The second step of deleting a study: thirty days later everything of it goes, files included."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import rmtree

from django.db import transaction
from django.utils import timezone

from labeling.models import Job, Study
from labeling.services.export_jobs import export_folder
from labeling.services.jobs import release, ring, take_lease

logger = logging.getLogger(__name__)

KeptFiles = Callable[[Study], Iterable[Path]]
_KEPT: list[KeptFiles] = []


def register_files(kept: KeptFiles) -> None:
    """Say which files another app keeps for a study, so that they go with it."""
    _KEPT.append(kept)


def plan_purge(study: Study) -> Job:
    """Have a worker purge the deleted study when its time has come. The job must outlive the study."""
    job = Job.objects.create(
        kind=Job.Kind.PURGE,
        state=Job.State.WAITING,
        waiting_until=study.purge_at,
        options={"study": study.pk},
    )
    ring(job)
    return job


def purge(job_id: int) -> None:
    """Purge the study of a job, unless somebody brought it back in time."""
    lease = take_lease(Job, job_id)
    if lease is None:
        return
    study = Study.objects.filter(
        pk=Job.objects.get(pk=job_id).options["study"],
        deleted_at__isnull=False,
        purge_at__lte=timezone.now(),
    ).first()
    if study is not None:
        purge_study(study)
    release(lease, Job.State.DONE)


def purge_study(study: Study) -> None:
    """Delete every row and file of a study; triggers take its issues out of the search index."""
    files = [*_export_folders(study), *(path for kept in _KEPT for path in kept(study))]
    name = study.slug
    with transaction.atomic():
        study.delete()
    for path in files:
        if path.is_dir():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    logger.info("Purged the study %s.", name)


def _export_folders(study: Study) -> list[Path]:
    return [export_folder() / str(pk) for pk in study.export_jobs.values_list("pk", flat=True)]
