"""From a file to its rows, as a stream: lists of cells of a table as mappings, or objects of JSON."""

from __future__ import annotations

import codecs
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, NoReturn, cast

import ijson
import openpyxl

from ingest.sources.base import SourceError
from ingest.sources.files.delimited import read_delimited
from ingest.sources.files.formats import (
    DAMAGED_WORKBOOK,
    LONGEST,
    MOST_COLUMNS,
    guess_encoding,
    guess_format,
)
from ingest.sources.files.rows import Rejected
from ingest.sources.files.surrogates import WholeCharacters

Told = Mapping[str, Any] | Rejected

#: So many files may be in a zip.
MOST_MEMBERS = 10_000
OBJECTS = (".json", ".jsonl", ".ndjson")
#: What may hold issues too, but is not read inside a zip; so many are named.
OTHERS = (".csv", ".tsv", ".xlsx", ".xls", ".zip", ".gz")
NAMED = 5
NO_OBJECT = "it is no JSON object."
NO_CONSTANT = "NaN or Infinity, which JSON does not know. Write null instead."
_CONSTANT = re.compile(r"[:\[,]\s*-?(?:NaN|Infinity)\b")
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
        first = next(rows, [])
    if isinstance(first, Rejected):
        raise SourceError(f"The first row must name every column, but {first.reason}", permanent=True)
    header = [cell.strip() for cell in first]
    while header and not header[-1]:
        header.pop()
    if len(header) > MOST_COLUMNS:
        reason = f"The table has {len(header):,} columns, {MOST_COLUMNS} at most can be read. Leave some out."
        raise SourceError(reason, permanent=True)
    if not header:
        reason = "The first row is empty. It must name every column (in a workbook, on its first sheet)."
        raise SourceError(reason, permanent=True)
    if "" in header:
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
            if isinstance(cells, Rejected):
                yield number, cells
                continue
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                reason = f"it has {len(cells)} cells, the header {len(header)}. Is a quote missing?"
                yield number, Rejected(number, reason, tuple(cells))
                continue
            padded = [*cells, *[""] * (len(header) - len(cells))]
            yield number, dict(zip(header, padded, strict=False))


@contextmanager
def _cells(path: Path) -> Iterator[Iterator[list[str] | Rejected]]:
    """Open a table and give its rows as lists of text, or why one cannot be read."""
    if guess_format(path) == "xlsx":
        # Opened by us: openpyxl judges a path by its ending.
        with path.open("rb") as raw:
            yield _sheet(raw)
        return
    # A byte that is no character spoils itself alone.
    with path.open(encoding=guess_encoding(path), errors="replace", newline="") as file:
        yield read_delimited(file, LONGEST)


def _sheet(workbook: IO[bytes]) -> Iterator[list[str]]:
    try:
        sheet = openpyxl.load_workbook(workbook, read_only=True, data_only=True).worksheets[0]
        for row in sheet.iter_rows(values_only=True):
            yield [_cell(value) for value in row]
    except _DAMAGE as error:
        raise SourceError(DAMAGED_WORKBOOK, permanent=True) from error


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
                value, reason = _parsed(line)
                for told in _unwrapped(value):
                    number += 1
                    yield told if isinstance(told, dict) else Rejected(number, reason, (line.strip(),))


def _parsed(line: str) -> tuple[Any, str]:
    """Return what a line says, or None, and why it is no object: no JSON, or nested deeper than any issue."""
    try:
        return _DECODER.decode(line), NO_OBJECT
    except _ConstantError:
        return None, f"it holds {NO_CONSTANT}"
    except (ValueError, RecursionError):
        return None, NO_OBJECT


class _ConstantError(ValueError):
    """A number of Python or JavaScript that is none of JSON."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


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
        raise SourceError(_why_it_ends(number, str(error)), permanent=True) from error


def _why_it_ends(number: int, said: str) -> str:
    after = f"{number:,} issue{'' if number == 1 else 's'}"
    if "overflow" in said:
        return f"After {after} there is a number that is too large. Leave that issue out."
    if _CONSTANT.search(said):
        return f"After {after} there is {NO_CONSTANT} What follows was not read."
    return f"The JSON breaks off after {after}. Is the file complete?"


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
        inside = [each for each in archive.infolist() if not each.filename.startswith("__MACOSX/")]
        members = [each for each in inside if each.filename.lower().endswith(OBJECTS)]
        others = [each.filename for each in inside if each.filename.lower().endswith(OTHERS)]
        if not members:
            raise SourceError(
                "The zip holds no .json, .jsonl or .ndjson file. Upload tables as they are.", permanent=True
            )
        if len(members) > MOST_MEMBERS:
            reason = f"The zip holds more than {MOST_MEMBERS:,} files. Split it into smaller ones."
            raise SourceError(reason, permanent=True)
        readers = (_member(archive, each) for each in sorted(members, key=lambda each: each.filename))
        yield from chain.from_iterable(readers)
    if others:
        more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
        names = ", ".join(sorted(others)[:NAMED]) + more
        reason = f"The zip holds files that are not read inside one: {names}. Upload each by itself."
        raise SourceError(reason, permanent=True)


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
