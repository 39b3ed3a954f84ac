r"""CSV as RFC 4180 has it, with ``\n`` between lines: the same rows give the same bytes everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

BOM = b"\xef\xbb\xbf"
CHUNK = 16 * 1024
# The csv module leaves a lone carriage return bare, which readers then take for the end of a line.
NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$')
FORMULA = re.compile(r"^[=+\-@\t\r]")


@dataclass(frozen=True, slots=True)
class Format:
    """``spreadsheet_safe`` puts an apostrophe before texts a spreadsheet would run; ``bom`` marks UTF-8."""

    spreadsheet_safe: bool = False
    bom: bool = False


def write_rows(header: Iterable[str], rows: Iterable[Iterable[Any]], form: Format) -> Iterator[bytes]:
    """Yield a file in pieces of about 16 kB, its header first."""
    piece = bytearray(BOM if form.bom else b"")
    piece += _line(header, form)
    for row in rows:
        piece += _line(row, form)
        if len(piece) >= CHUNK:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _line(cells: Iterable[Any], form: Format) -> bytes:
    return (",".join(_cell(value, form) for value in cells) + "\n").encode()


def _cell(value: Any, form: Format) -> str:
    text = as_text(value)
    if form.spreadsheet_safe and isinstance(value, str) and FORMULA.match(text):
        text = f"'{text}"
    if NEEDS_QUOTES.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def as_text(value: Any) -> str:
    """Print a value: nothing for None, true and false, UTC times to the second, numbers in full precision."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return repr(value) if isinstance(value, float) else str(value)
