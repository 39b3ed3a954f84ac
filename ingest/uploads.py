"""An uploaded file before its import: its columns are chosen, it is tried, then it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO

from django.db import transaction
from django.utils import timezone

from ingest.dry_run import AT_ONCE, try_file
from ingest.models import ImportRun, Upload
from ingest.services import file_of, keep_upload, refuse_mapping, start_import
from labeling.models import Membership, Study

State = Upload.State

#: What nobody imported is taken away after so long.
KEPT = timedelta(days=1)


def take_upload(
    *,
    study: Study,
    file: IO[bytes],
    name: str,
    mapping: Mapping[str, str] | None = None,
    by: Membership | None,
) -> Upload:
    """Keep a file to be looked at before it is imported."""
    forget_uploads(study)
    query = keep_upload(file, name, mapping=mapping)
    return Upload.objects.create(study=study, by=by, query=query, state=State.PAUSED)


def path_of_upload(upload: Upload) -> Path:
    """Where the file is kept."""
    return file_of(upload.query)


def try_upload(*, upload: Upload, mapping: Mapping[str, str] | None = None) -> Upload:
    """Find out what an import of the file would bring; a worker goes on with what takes long."""
    chosen = dict(mapping if mapping is not None else upload.query["mapping"])
    refuse_mapping(path_of_upload(upload), chosen)
    with transaction.atomic():
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        Upload.objects.filter(pk=locked.pk, run=None).update(
            query={**locked.query, "mapping": chosen},
            state=State.QUEUED,
            checkpoint={},
            problems=[],
            notes=[],
            lease_holder="",
            lease_until=None,
            finished_at=None,
            attempts=0,
            error="",
            **dict.fromkeys(("rows", "new", "changed", "same", "rejected", "noted"), 0),
        )
    try_file(upload.pk, turn=AT_ONCE)
    upload.refresh_from_db()
    return upload


def import_upload(
    *, upload: Upload, mapping: Mapping[str, str] | None = None, by: Membership | None
) -> ImportRun:
    """Import the file, once: whoever asks again gets the import that was started."""
    chosen = dict(mapping if mapping is not None else upload.query["mapping"])
    refuse_mapping(path_of_upload(upload), chosen)
    with transaction.atomic():
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        if locked.run is not None:
            return locked.run
        was_tried = locked.state == State.DONE and locked.query["mapping"] == chosen
        query = {**locked.query, "mapping": chosen}
        run = start_import(study=locked.study, source=ImportRun.Source.FILE, query=query, by=by)
        if was_tried:
            run.total = locked.rows
            run.save(update_fields=["total"])
        # Whoever tries it still finds the lease lost.
        Upload.objects.filter(pk=locked.pk).update(run=run, query=query, state=State.DONE, lease_holder="")
    return run


def forget_uploads(study: Study) -> None:
    """Take away files that were uploaded a day ago or earlier and never imported."""
    old = study.uploads.filter(run=None, created_at__lt=timezone.now() - KEPT)
    for upload in old:
        forget_upload(upload)


def forget_upload(upload: Upload) -> None:
    """Take away a file that was not imported."""
    deleted, _ = Upload.objects.filter(pk=upload.pk, run=None).delete()
    if deleted:
        path_of_upload(upload).unlink(missing_ok=True)
