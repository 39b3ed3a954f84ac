"""The rows of a file that bring no issue, to be put right and imported by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ingest.sources.base import SourceError
from ingest.sources.files import read_issues
from ingest.sources.files.reading import read_header
from ingest.sources.files.rows import Rejected

OTHER_KIND = "it is a pull request or an issue, and the study codes only the other."


def rejected_header(path: Path) -> tuple[str, ...]:
    """Give the columns of the rejected rows: place and reason before what the file has."""
    return ("row", "reason", *(read_header(path) or ("content",)))


def rejected_rows(
    path: Path, mapping: Mapping[str, str] | None, kinds: Collection[str]
) -> Iterator[tuple[str, ...]]:
    """Read the file again for the rows that were left out, and why.

    A damage in the file ends it with a row of its own: behind it nothing was read.
    """
    last = 0
    try:
        for row in read_issues(path, mapping):
            last = row.number
            if isinstance(row.told, Rejected):
                yield (str(row.number), row.told.reason, *row.told.content)
            elif row.told.kind not in kinds:
                yield (str(row.number), OTHER_KIND, row.told.title)
    except SourceError as error:
        yield (str(last + 1), error.sentence)
