"""What imports and tried files say of rows, once an issue is redacted."""

from collections.abc import Collection

from ingest.models import ImportRun, Upload
from ingest.normalise import lost
from labeling.models import Issue
from labeling.services.redaction import REDACTED


def redact_notes(issue: Issue) -> None:
    """Take what was noted of the issue out of every import and every tried file of its study.

    Notes name rows and no issues, so that they are found by what they say: every row that says the same is
    redacted with it.
    """
    # Locked before the issues are, as by an import: two that wait for each other would both fail.
    runs = list(
        issue.study.import_runs.select_for_update().filter(source=ImportRun.Source.FILE).order_by("pk")
    )
    uploads = list(issue.study.uploads.select_for_update().order_by("pk"))
    noted = issue.snapshots.exclude(notes=[]).values_list("notes", flat=True)
    told = {" ".join(losses) for notes in noted if (losses := lost(notes))}
    if not told:
        return
    rows: list[ImportRun | Upload] = [*runs, *uploads]
    for row in rows:
        _redact(row, told)


def _redact(row: ImportRun | Upload, told: Collection[str]) -> None:
    notes = [_without(note, told) for note in row.notes]
    if notes != row.notes:
        row.notes = notes
        row.save(update_fields=["notes"])


def _without(note: str, told: Collection[str]) -> str:
    row, _, said = note.partition(": ")
    return f"{row}: {REDACTED}" if said in told else note
