"""Files that take a worker: asked for, made once, kept below INTERCODER_DATA/exports."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shutil import rmtree

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from labeling.errors import RoundStateError
from labeling.models import ExportJob, Membership, Role, Round, Study
from labeling.selectors.export.records import EXPORTED
from labeling.services.agreement import mark_read, store_agreement
from labeling.services.events import record
from labeling.services.jobs import ring

FIGURES = "figures"
KEPT = timedelta(days=30)
"""So long a file can be fetched. It can be made again from the same answers."""


def export_folder() -> Path:
    """Where finished files lie."""
    folder: Path = settings.INTERCODER_DATA / "exports"
    return folder


def ask_for_figures(*, study: Study, by: Membership, pseudonyms: bool = False) -> ExportJob:
    """Have the figures of all closed rounds drawn. Whoever asks will have seen their numbers."""
    if by.role not in (Role.LEAD, Role.OBSERVER):
        raise PermissionDenied("Figures are for leads and observers, who read the agreement of every round.")
    rounds = study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True)
    if not rounds:
        raise RoundStateError("No round is closed yet: there is nothing to draw.")
    for coding_round in rounds:
        store_agreement(coding_round)
        mark_read(coding_round, by)
    job = ExportJob.objects.create(study=study, by=by, kind=FIGURES, options={"pseudonyms": pseudonyms})
    record(study=study, by=by, verb=EXPORTED, object=FIGURES)
    ring(job)
    return job


def keep_file(job: ExportJob, name: str, content: bytes) -> None:
    """Write the file of a job whole or not at all."""
    folder = export_folder() / str(job.pk)
    folder.mkdir(parents=True, exist_ok=True)
    partly = folder / f".{name}"
    partly.write_bytes(content)
    partly.replace(folder / name)
    job.file = f"{job.pk}/{name}"
    job.save(update_fields=["file"])


def remove_old_files() -> int:
    """Take away what was made more than thirty days ago, and what a worker left behind; give the number."""
    removed = 0
    for folder in _old_folders():
        rmtree(folder, ignore_errors=True)
        removed += 1
        job = ExportJob.objects.select_related("study").filter(pk=folder.name).exclude(file="").first()
        # Of two workers that sweep at the same time one records it.
        if job is not None and ExportJob.objects.filter(pk=job.pk, file=job.file).update(file=""):
            record(study=job.study, verb="export.removed", object=job.kind)
    return removed


def _old_folders() -> Iterator[Path]:
    oldest = (timezone.now() - KEPT).timestamp()
    for folder in export_folder().glob("*/"):
        if folder.name.isdecimal() and folder.stat().st_mtime < oldest:
            yield folder
