"""Issues from files: tables (CSV, TSV, XLSX) and GitHub objects (JSON, JSON lines, zips of them).

Everything is read as a stream: a file of a gigabyte needs the memory of its largest issue.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingest.normalise import REPLACEMENT
from ingest.sources.base import Checkpoint, Page, SourceError
from ingest.sources.files.checks import reason_against
from ingest.sources.files.formats import guess_format
from ingest.sources.files.mapping import FIELDS, guess_mapping
from ingest.sources.files.objects import read_object
from ingest.sources.files.reading import read_header, read_rows
from ingest.sources.files.repeats import FirstRows
from ingest.sources.files.rows import Rejected, Row
from ingest.sources.files.tables import read_cells
from labeling.records import IssueRecord

__all__ = [
    "FIELDS",
    "Rejected",
    "Row",
    "guess_format",
    "guess_mapping",
    "read_issues",
    "read_pages",
]

#: A page ends after so many rows, or after so much text: it is one transaction, and others wait for it.
BATCH = 300
BATCH_TEXT = 2 * 1024**2


def read_issues(path: Path, mapping: Mapping[str, str] | None = None) -> Iterator[Row]:
    """Give each issue of the file with its row number, or why the row was rejected.

    ``mapping`` names, for columns of a table or keys of objects, what they hold (see ``FIELDS``); without it
    their names decide. An issue that comes again without a date of change is rejected: nobody could say
    which of its rows is meant. Raises ``SourceError`` where the rest of the file cannot be read.
    """
    header = read_header(path)
    chosen = dict(mapping) if mapping else guess_mapping(header)
    with closing(FirstRows()) as first_rows:
        for number, told in read_rows(path):
            if isinstance(told, Rejected):
                yield Row(number, told)
                continue
            read = read_cells(number, told, chosen) if header else read_object(number, told, mapping)
            if isinstance(read, IssueRecord) and (reason := _reason_against(read, number, first_rows)):
                read = Rejected(number, reason)
            yield Row(number, _finished(read, told, is_table=bool(header)))


def _reason_against(record: IssueRecord, number: int, first_rows: FirstRows) -> str | None:
    """Say why the record cannot be stored."""
    if reason := reason_against(record):
        return reason
    if record.updated_at is not None:
        return None  # dumps that go on for months hold an issue as often as it changed: the last one stands
    first = first_rows.before(record.key, number)
    return None if first is None else f"it is the issue of row {first} again. Keep one of the two."


def _finished(
    read: IssueRecord | Rejected, told: Mapping[str, Any], *, is_table: bool
) -> IssueRecord | Rejected:
    """Note the damaged characters of an issue; keep what stands in a rejected row, to be put right."""
    if isinstance(read, IssueRecord):
        texts = (read.title, read.body, *(comment.body for comment in read.comments))
        damaged = sum(text.count(REPLACEMENT) for text in texts)
        note = f"Damaged characters, shown as {REPLACEMENT}: {damaged}."
        return replace(read, notes=(*read.notes, note)) if damaged else read
    whole = json.dumps(told, ensure_ascii=False, default=str)
    content = tuple(map(str, told.values())) if is_table else (whole,)
    return replace(read, content=content)


def read_pages(
    path: Path,
    mapping: Mapping[str, str] | None = None,
    checkpoint: Checkpoint | None = None,
    keep_alive: Callable[[], None] = lambda: None,
) -> Iterator[Page]:
    """Give the issues of the file in pages, going on behind the row of the checkpoint.

    ``keep_alive`` is called for every row: to come to where it goes on can take longer than a lease.
    """
    if not path.is_file():
        raise SourceError("The file is no longer kept. Upload it again.", permanent=True)
    done = int((checkpoint or {}).get("row") or 0)
    batch: list[Row] = []
    size = 0
    try:
        for row in read_issues(path, mapping):
            keep_alive()
            if row.number <= done:
                continue
            batch.append(row)
            size += _size(row.told)
            if len(batch) == BATCH or size > BATCH_TEXT:
                yield _page(batch)
                batch, size = [], 0
    except SourceError:
        # What came before a damage is good.
        if batch:
            yield _page(batch)
        raise
    if batch:
        yield _page(batch)


def _size(told: IssueRecord | Rejected) -> int:
    """Characters of text of a row."""
    if isinstance(told, Rejected):
        return 0
    return len(told.body) + sum(len(comment.body) for comment in told.comments)


def _page(batch: Sequence[Row]) -> Page:
    rejected = [row.told for row in batch if isinstance(row.told, Rejected)]
    issues = [(row.number, row.told) for row in batch if isinstance(row.told, IssueRecord)]
    return Page(
        records=tuple(record for _, record in issues),
        rows=tuple(number for number, _ in issues),
        checkpoint={"row": batch[-1].number},
        problems=tuple(f"Row {each.row}: {each.reason}" for each in rejected),
        rejected=len(rejected),
    )
