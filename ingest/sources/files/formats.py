"""What kind of file it is and how its text is encoded, from its content alone: names lie."""

from __future__ import annotations

import codecs
import csv
import json
import re
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal

from ingest.sources.base import SourceError

Format = Literal["csv", "tsv", "xlsx", "json", "jsonl", "zip"]

DELIMITERS = (",", "\t", ";", "|")
SAMPLE = 64 * 1024
#: A line of JSON lines, and a cell of a table, may be so long.
LONGEST = 64 * 1024**2
#: A form of the page asks for each of them.
MOST_COLUMNS = 500
#: What may come out of a zip.
LARGEST_CONTENT = 8 * 1024**3
#: The texts of a workbook are read into memory at once.
LARGEST_WORKBOOK = 512 * 1024**2
NO_ISSUES = "The file holds no issues. Choose another one."
DAMAGED_WORKBOOK = "The workbook is damaged. Open it in a spreadsheet program and save it again as XLSX."

#: Without a mark: at which of four bytes most letters have zeros.
_ZEROS = {
    (1, 2, 3): "utf-32-le",
    (0, 1, 2): "utf-32-be",
    (1, 3): "utf-16-le",
    (0, 2): "utf-16-be",
}
#: How PDF, gzip, old Office files, SQLite and pictures begin.
_OTHERS = (
    b"%PDF",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
)
#: The longer ones first: that of UTF-32 begins as that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def guess_format(path: Path) -> Format:
    """Return the format, or refuse the file with a sentence."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    if not start.strip():
        raise SourceError("The file is empty. Choose another one.", permanent=True)
    if start.startswith(b"PK"):
        return _inside_zip(path)
    if start.startswith(_OTHERS):
        raise SourceError(
            "This kind of file cannot be read. Save it as CSV, XLSX, JSON or JSON lines, and unpack archives "
            "other than zip first.",
            permanent=True,
        )
    text = start.decode(guess_encoding(path), "ignore").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return "json"
    if text.startswith("{"):
        return "jsonl" if _is_lines(path) else "json"
    if "\x00" in text:
        reason = "This is no text file. Save it as CSV, XLSX, JSON or JSON lines, best in UTF-8."
        raise SourceError(reason, permanent=True)
    if _is_one_value(text):
        raise SourceError(f"{NO_ISSUES} All that stands in it is “{text.strip()[:40]}”.", permanent=True)
    return "tsv" if guess_delimiter(re.split(r"[\r\n]", text, maxsplit=1)[0]) == "\t" else "csv"


def guess_encoding(path: Path) -> str:
    """UTF-8, UTF-16, UTF-32, or cp1252, which older spreadsheets on Windows write."""
    about = path.stat()
    return _encoding(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=32)
def _encoding(path: Path, size: int, changed: int) -> str:
    """Read the whole file, so once for each state of it: a file of a gigabyte takes seconds."""
    with path.open("rb") as file:
        start = file.read(1024)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        quarters = [start[at:200:4] for at in range(4)]
        zeros = tuple(at for at, quarter in enumerate(quarters) if quarter.count(0) > len(quarter) // 2)
        if zeros in _ZEROS:
            return _ZEROS[zeros]
        file.seek(0)
        return "utf-8" if _is_utf8(file) else "cp1252"


def guess_delimiter(header: str) -> str:
    """Return the delimiter that cuts the header into the most cells, the comma if none does."""
    return max(DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def _is_utf8(file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(1024**2):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_lines(path: Path) -> bool:
    """Whether each line holds a whole object: no program that indents ends its first line with a brace.

    A single line is an object that may be cut off, and is read as one, so that it is missed.
    """
    with path.open(encoding=guess_encoding(path), errors="replace") as file:
        lines = iter(lambda: file.readline(LONGEST), "")
        first = next((line for line in lines if line.strip("\ufeff \t\r\n")), "")
        return first.rstrip().endswith("}") and bool(file.read(1))


def _is_one_value(text: str) -> bool:
    """Whether it is a single value of JSON (null, a number, a text), which would pass for a header."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _inside_zip(path: Path) -> Format:
    try:
        with zipfile.ZipFile(path) as archive:
            kind: Format = "xlsx" if "xl/workbook.xml" in archive.namelist() else "zip"
            limit = LARGEST_WORKBOOK if kind == "xlsx" else LARGEST_CONTENT
            if sum(each.file_size for each in archive.infolist()) > limit:
                reason = (
                    f"Unpacked, the file is larger than {limit // 1024**2:,} MB. Split it into smaller ones."
                )
                raise SourceError(reason, permanent=True)
            return kind
    except zipfile.BadZipFile as error:
        reason = DAMAGED_WORKBOOK if _begins_as_workbook(path) else "The zip is damaged. Make it again."
        raise SourceError(reason, permanent=True) from error


def _begins_as_workbook(path: Path) -> bool:
    """Whether a broken zip was a workbook: the names of its first parts stand in it as they are."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    return any(name in start for name in (b"[Content_Types].xml", b"xl/worksheets/"))
