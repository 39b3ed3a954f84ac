"""Rows of delimited text; one whose quotes do not match is rejected instead of swallowing what follows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain
from typing import IO

from ingest.sources.base import SourceError
from ingest.sources.files.formats import LONGEST, guess_delimiter
from ingest.sources.files.rows import Rejected

#: The first line some programs write for Excel: no row, but the delimiter.
_DELIMITER_LINE = re.compile(r'"?sep=(.)"?[\r\n]*')
_BREAK = re.compile(r"\r\n?|\n")


def read_delimited(file: IO[str], longest: int = LONGEST) -> Iterator[list[str] | Rejected]:
    """Give the cells of each row, the header first; ``file`` must be opened with ``newline=""``."""
    csv.field_size_limit(longest)
    first = file.readline()
    told = _DELIMITER_LINE.fullmatch(first)
    delimiter = told[1] if told else guess_delimiter(first)
    lines = _Lines(file if told else chain([first], file), before=1 if told else 0)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        lines.begin_row()
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                reason = (
                    f"A cell of the row that begins in line {lines.first:,} is longer than "
                    f"{longest // 1024**2} MB. Is a quote missing?"
                )
                raise SourceError(reason, permanent=True) from error
            yield _rejected(number, lines, delimiter)


class _Lines:
    """The lines of a file, with those of the row that is being read."""

    def __init__(self, lines: Iterable[str], *, before: int) -> None:
        self._lines = iter(lines)
        self.read = before
        self.begin_row()

    def begin_row(self) -> None:
        self.first = self.read + 1
        # No list: millions of short lines would need many times their size.
        self.row = StringIO(newline="")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.read += 1
        self.row.write(line)
        return line


def _rejected(number: int, lines: _Lines, delimiter: str) -> Rejected:
    """Name the line of the quote at which strict reading stopped, and keep what was read of the row."""
    text = lines.row.getvalue()
    opened, closed = _wrong_quote(text, delimiter)
    line, last = lines.first + len(_BREAK.findall(text, 0, opened)), lines.read
    reason = f"the quote opened in line {line:,} is "
    reason += "never closed" if closed is None else "closed in the middle of a text"
    if line < last:
        reason += f", and all to line {last:,} was taken for its text"
    cells = tuple(chain.from_iterable(csv.reader(StringIO(text, newline=""), delimiter=delimiter)))
    return Rejected(
        number, f"{reason}. Close it at the end of its cell, write quotes inside it twice.", cells
    )


def _wrong_quote(text: str, delimiter: str) -> tuple[int, int | None]:
    """Say where the quoted cell opens that is wrong, and where it closes, None if it never does."""
    mark = re.escape(delimiter)
    cell = re.compile(rf'(?:"((?:[^"]++|"")*+)("?)|[^{mark}\r\n]*+)({mark})?')
    at = 0
    while (found := cell.match(text, at)) and found[3]:
        at = found.end()
    return at, found.end(1) if found and found[2] else None
