"""Everything of an installation in one file, and back: the same on SQLite and PostgreSQL, and across the two.

A zip of one JSON-lines file per table and the uploaded files. Left out: tokens, sessions and invitations,
which let somebody in; the log of failed sign-ins; and what can be made again (the index of the search,
finished exports).
"""

import base64
import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder

from labeling.errors import StudyRuleError
from labeling.models import Invitation, Issue, SourceToken, Study, User
from labeling.services.events import record
from labeling.services.word_index import index_batch
from labeling.snapshot import snapshot

APPS = ("labeling", "ingest")
LEFT_OUT = (SourceToken, Invitation)
MANIFEST = "manifest.json"
BATCH = 500

Model = type[models.Model]


class BackupError(StudyRuleError):
    """The file cannot be written or read back here."""


def write_backup(path: Path) -> int:
    """Write the backup; give the number of rows. The file appears when it is whole."""
    record(study=None, verb="backup.made")
    partly = path.with_name(path.name + ".part")
    rows = 0
    with snapshot() as alias, ZipFile(partly, "w", ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps({"migrations": _migrations(alias)}))
        for model in backed_up_models():
            with archive.open(f"tables/{model._meta.db_table}.jsonl", "w", force_zip64=True) as table:
                rows += _write_table(model, alias, table)
        for upload in _uploads():
            archive.write(upload, f"uploads/{upload.name}")
    partly.replace(path)
    return rows


def backed_up_models() -> list[Model]:
    """Every table of ours, those of many-to-many fields included."""
    ours = [
        model
        for label in APPS
        for model in apps.get_app_config(label).get_models(include_auto_created=True)
        if model not in LEFT_OUT
    ]
    # Groups and permissions are Django's own and not used here; their ids differ between databases.
    foreign = {User.groups.through, User.user_permissions.through}
    return sorted((model for model in ours if model not in foreign), key=lambda model: model._meta.db_table)


def _migrations(alias: str) -> list[list[str]]:
    applied = MigrationRecorder.Migration.objects.using(alias).filter(app__in=APPS)
    return sorted(map(list, applied.values_list("app", "name")))


def _uploads() -> list[Path]:
    folder = Path(settings.INTERCODER_DATA) / "uploads"
    return sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []


def _write_table(model: Model, alias: str, table: IO[bytes]) -> int:
    written = 0
    fields = model._meta.local_concrete_fields
    for row in model._base_manager.using(alias).order_by("pk").iterator(chunk_size=BATCH):
        said = {field.attname: _as_json(field.value_from_object(row)) for field in fields}
        table.write(json.dumps(said, ensure_ascii=False).encode() + b"\n")
        written += 1
    return written


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return value


def read_backup(path: Path) -> int:
    """Fill an empty, migrated database from a backup; all or nothing. Give the number of rows."""
    if User.objects.exists() or Study.objects.exists():
        raise BackupError("This installation holds accounts or studies. Restore into an empty one.")
    with closing(_opened(path)) as archive:
        _refuse_other_version(archive)
        try:
            with transaction.atomic():
                rows = sum(_read_table(model, archive) for model in backed_up_models())
                _reset_sequences()
        except (BadZipFile, KeyError, ValueError) as error:
            raise BackupError(f"{path} is damaged: {error}. Nothing was restored.") from error
        _read_uploads(archive)
    _index_again()
    return rows


def _opened(path: Path) -> ZipFile:
    try:
        archive = ZipFile(path)
        archive.getinfo(MANIFEST)
    except (OSError, BadZipFile, KeyError) as error:
        raise BackupError(f"{path} is no backup of Intercoder, or it is damaged.") from error
    return archive


def _refuse_other_version(archive: ZipFile) -> None:
    if json.loads(archive.read(MANIFEST))["migrations"] != _migrations(DEFAULT_DB_ALIAS):
        raise BackupError(
            "This backup was made by another version of Intercoder. Restore it with that one, then upgrade."
        )


def _read_table(model: Model, archive: ZipFile) -> int:
    fields = model._meta.local_concrete_fields
    rows = 0
    with archive.open(f"tables/{model._meta.db_table}.jsonl") as table:
        for batch in _batches(table):
            objects = [
                model(**{field.attname: _of_json(field, said[field.attname]) for field in fields})
                for said in batch
            ]
            # Raw: times that a row sets itself when it is created are those of the original.
            size = connection.ops.bulk_batch_size(fields, objects)
            for start in range(0, len(objects), size):
                part = objects[start : start + size]
                model._base_manager._insert(part, fields=fields, using=DEFAULT_DB_ALIAS, raw=True)  # type: ignore[attr-defined]
            rows += len(objects)
    return rows


def _of_json(field: Any, value: Any) -> Any:
    return value if isinstance(field, models.JSONField) else field.to_python(value)


def _batches(lines: Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for line in lines:
        batch.append(json.loads(line))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _reset_sequences() -> None:
    statements = connection.ops.sequence_reset_sql(no_style(), backed_up_models())
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _read_uploads(archive: ZipFile) -> None:
    folder = Path(settings.INTERCODER_DATA) / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    for entry in archive.infolist():
        where, _, name = entry.filename.partition("/")
        if where == "uploads" and name == Path(name).name:
            (folder / name).write_bytes(archive.read(entry))


def _index_again() -> None:
    """The index of the search is no table of rows: it is made anew for what it held."""
    held = Issue.objects.filter(is_indexed=True)
    studies = list(Study.objects.filter(issues__in=held).distinct())
    held.update(is_indexed=False)
    for study in studies:
        while index_batch(study):
            pass
