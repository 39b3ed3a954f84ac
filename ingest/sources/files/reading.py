"""From a file to its rows, as a stream: lists of cells of a table as mappings, or objects of JSON."""

from __future__ import annotations

import codecs
import csv
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, cast

import ijson
import openpyxl

from ingest.sources.base import SourceError
from ingest.sources.files.formats import (
    DAMAGED_WORKBOOK,
    LONGEST,
    MOST_COLUMNS,
    guess_delimiter,
    guess_encoding,
    guess_format,
)
from ingest.sources.files.rows import Rejected
from ingest.sources.files.surrogates import WholeCharacters

Told = Mapping[str, Any] | Rejected

#: So many files may be in a zip.
MOST_MEMBERS = 10_000
OBJECTS = (".json", ".jsonl", ".ndjson")
NO_OBJECT = "it is no JSON object."
#: So many brackets of JSON may be open at a time.
DEEPEST = 1000
FEW = 16
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
#: What comes of a workbook with a damaged part: of its zip, its XML (a SyntaxError) or what that says.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, SyntaxError, LookupError, ValueError)
#: Lists under these keys hold the issues of a JSON object that wraps them.
_WRAPPERS = ("issues", "items", "results", "nodes")


def read_header(path: Path) -> tuple[str, ...]:
    """Return the header of a table; empty for JSON, which needs none."""
    if guess_format(path) not in ("csv", "tsv", "xlsx"):
        return ()
    with _cells(path) as rows:
        header = [cell.strip() for cell in next(rows, [])]
    while header and not header[-1]:
        header.pop()
    if len(header) > MOST_COLUMNS:
        reason = f"The table has {len(header):,} columns, {MOST_COLUMNS} at most can be read. Leave some out."
        raise SourceError(reason, permanent=True)
    if not header or "" in header:
        raise SourceError("A column has no name. The first row must name every column.", permanent=True)
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise SourceError(f"Two columns are called “{twice}”. Rename one of them.", permanent=True)
    return tuple(header)


def read_rows(path: Path) -> Iterator[tuple[int, Told]]:
    """Give number and content of every row that is not blank."""
    kind = guess_format(path)
    if kind in ("csv", "tsv", "xlsx"):
        return _table(path)
    if kind == "zip":
        return zip(count(1), _zip(path), strict=False)
    objects = _lines(path) if kind == "jsonl" else _objects(path)
    return zip(count(1), objects, strict=False)


def _table(path: Path) -> Iterator[tuple[int, Told]]:
    header = read_header(path)
    with _cells(path) as rows:
        next(rows, None)
        for number, cells in enumerate(rows, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                reason = f"it has {len(cells)} cells, the header {len(header)}. Is a quote missing?"
                yield number, Rejected(number, reason, tuple(cells))
                continue
            padded = [*cells, *[""] * (len(header) - len(cells))]
            yield number, dict(zip(header, padded, strict=False))


@contextmanager
def _cells(path: Path) -> Iterator[Iterator[list[str]]]:
    """Open a table and give its rows as lists of text."""
    if guess_format(path) == "xlsx":
        # Opened by us: openpyxl judges a path by its ending.
        with path.open("rb") as raw:
            yield _sheet(raw)
        return
    csv.field_size_limit(LONGEST)
    # A byte that is no character spoils itself alone.
    with path.open(encoding=guess_encoding(path), errors="replace", newline="") as file:
        delimiter = guess_delimiter(file.readline())
        file.seek(0)
        yield _checked(csv.reader(file, delimiter=delimiter))


def _sheet(workbook: IO[bytes]) -> Iterator[list[str]]:
    try:
        sheet = openpyxl.load_workbook(workbook, read_only=True, data_only=True).worksheets[0]
        for row in sheet.iter_rows(values_only=True):
            yield [_cell(value) for value in row]
    except _DAMAGE as error:
        raise SourceError(DAMAGED_WORKBOOK, permanent=True) from error


def _checked(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        if "field limit" in str(error):
            reason = f"A cell is longer than {LONGEST // 1024**2} MB. Is a quote missing?"
            raise SourceError(reason, permanent=True) from error
        raise SourceError(f"The table cannot be read further: {error}.", permanent=True) from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _lines(path: Path) -> Iterator[Told]:
    """Read JSON lines; a broken line spoils only itself."""
    number = 0
    with path.open(encoding=guess_encoding(path), errors="replace") as file:
        while line := file.readline(LONGEST):
            if len(line) == LONGEST:
                limit = LONGEST // 1024**2
                raise SourceError(
                    f"A line is longer than {limit} MB. Write one issue a line.", permanent=True
                )
            if line.strip():
                for told in _unwrapped(_parsed(line)):
                    number += 1
                    yield told if isinstance(told, dict) else Rejected(number, NO_OBJECT, (line.strip(),))


def _parsed(line: str) -> Any:
    """Return what a line says, None if it is no JSON, or nested deeper than any issue."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _objects(path: Path) -> Iterator[Told]:
    encoding = guess_encoding(path)
    with path.open("rb") as raw:
        yield from _json_values(_as_utf8(raw, encoding))


def _json_values(file: IO[bytes]) -> Iterator[Told]:
    """Read an array of objects, one object, or objects in a row."""
    start = file.read(1)
    while start and start in b" \t\r\n\xef\xbb\xbf":
        start = file.read(1)
    rejoined = _Rejoined(start, file)
    stream = cast(IO[bytes], WholeCharacters(cast(IO[bytes], rejoined)))
    prefix = "item" if start == b"[" else ""
    number = 0
    try:
        for value in ijson.items(stream, prefix, multiple_values=True, use_float=True):
            rejoined.begin()
            for told in _unwrapped(value):
                number += 1
                yield told if isinstance(told, dict) else Rejected(number, NO_OBJECT, (str(told),))
    except (ijson.JSONError, UnicodeError) as error:
        reason = f"The JSON breaks off after {number} issues. Is the file complete?"
        if "overflow" in str(error):
            reason = f"After {number} issues there is a number that is too large. Leave that issue out."
        raise SourceError(reason, permanent=True) from error


def _unwrapped(value: Any) -> Iterator[Any]:
    """Give the objects of a wrapper, or the object itself."""
    if isinstance(value, dict) and "title" not in value and "data" not in value:
        for name in _WRAPPERS:
            if isinstance(value.get(name), list):
                yield from value[name]
                return
    yield value


def _zip(path: Path) -> Iterator[Told]:
    """Read the JSON files of a zip where they lie: nothing is unpacked to the disk."""
    with zipfile.ZipFile(path) as archive:
        members = [each for each in archive.infolist() if each.filename.lower().endswith(OBJECTS)]
        members = [each for each in members if not each.filename.startswith("__MACOSX/")]
        if not members:
            raise SourceError(
                "The zip holds no .json, .jsonl or .ndjson file. Upload tables as they are.", permanent=True
            )
        if len(members) > MOST_MEMBERS:
            reason = f"The zip holds more than {MOST_MEMBERS:,} files. Split it into smaller ones."
            raise SourceError(reason, permanent=True)
        readers = (_member(archive, each) for each in sorted(members, key=lambda each: each.filename))
        yield from chain.from_iterable(readers)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[Told]:
    with archive.open(member) as file:
        yield from _json_values(file)


def _as_utf8(raw: IO[bytes], encoding: str) -> IO[bytes]:
    if encoding in ("utf-8", "utf-8-sig"):
        return raw
    return cast(IO[bytes], codecs.EncodedFile(raw, "utf-8", encoding, "replace"))


class _Rejoined:
    """A stream whose first byte was read already, and that ends where a value gets too long or too deep."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start = start
        self._rest = rest
        self.begin()

    def begin(self) -> None:
        """Count anew: the next value begins."""
        self._since = self._open = 0

    def read(self, size: int = -1) -> bytes:
        if self._start and size != 0:
            start, self._start = self._start, b""
            return start
        piece = self._rest.read(size)
        self._since += len(piece)
        if self._since > LONGEST:
            limit = LONGEST // 1024**2
            raise SourceError(f"One issue is longer than {limit} MB. Leave it out.", permanent=True)
        self._open += _opened(piece)
        if self._open > DEEPEST:
            raise SourceError(
                f"The JSON is nested more than {DEEPEST:,} levels deep: it holds no issues.", permanent=True
            )
        return piece


def _opened(piece: bytes) -> int:
    """How many brackets stay open; the parser keeps a longer name for each of them, until memory ends."""
    # Texts hold brackets too, and are looked at only where there are that many.
    return 0 if _balance(piece) <= FEW else _balance(_TEXT.sub(b"", piece))


def _balance(piece: bytes) -> int:
    return sum(sign * piece.count(mark) for mark, sign in ((b"[", 1), (b"{", 1), (b"]", -1), (b"}", -1)))
