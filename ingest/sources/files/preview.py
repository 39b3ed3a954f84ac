"""What a file looks like before it is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ingest.normalise import clean_text, cleaned
from ingest.sources.base import SourceError
from ingest.sources.files import Rejected, Row, guess_format, guess_mapping, read_issues
from ingest.sources.files.formats import MOST_COLUMNS
from ingest.sources.files.objects import SHAPES, shape_of
from ingest.sources.files.reading import read_header, read_rows

#: So many objects are looked at for their keys: not each has them all.
LOOKED_AT = 100
LONGEST_VALUE = 120


@dataclass(frozen=True, slots=True)
class Preview:
    """Columns of a table or keys of objects, what they become, and the first rows as they would be stored.

    ``written_by`` names the program whose objects these are; their mapping is fixed, and empty otherwise.
    ``first_values`` has what stands first in each column.
    """

    format: str
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    rows: tuple[Row, ...]
    written_by: str = ""
    first_values: tuple[str, ...] = ()


def preview(path: Path, mapping: Mapping[str, str] | None = None, *, rows: int = 5) -> Preview:
    """Read the first rows, to check the mapping before anything is stored.

    Raises ``SourceError`` where not even the first one can be read.
    """
    shown = tuple(map(_storable, _until_damage(islice(read_issues(path, mapping), rows))))
    header = read_header(path)
    shape, first = _glance(path)
    if header or shape is None:
        header = header or tuple(first)[:MOST_COLUMNS]
        written_by, chosen = "", dict(mapping or guess_mapping(header))
    else:
        written_by, known = SHAPES[shape]
        chosen = {key: field for key, field in known.items() if key in first}
        header = tuple(chosen)
    values = tuple(first.get(column, "") for column in header)
    return Preview(guess_format(path), header, chosen, shown, written_by, values)


def _until_damage(rows: Iterator[Row]) -> Iterator[Row]:
    """Give what comes before a damage; nothing before it is an error."""
    first = next(rows, None)
    if first is None:
        return
    yield first
    with suppress(SourceError):
        yield from rows


def _glance(path: Path) -> tuple[str | None, dict[str, str]]:
    """Say which program wrote the first objects, and what stands first under each key."""
    shape: str | None = None
    first: dict[str, str] = {}
    with suppress(SourceError):
        for _, told in islice(read_rows(path), LOOKED_AT):
            if isinstance(told, Mapping):
                shape = shape or shape_of(told)
                for key, value in (told["data"] if shape_of(told) == "perceval" else told).items():
                    if not first.get(key):
                        first[key] = _shown(value)
    return shape, first


def _shown(value: Any) -> str:
    """Write the beginning of a value; in a list of objects their names say enough."""
    if isinstance(value, list):
        value = ", ".join(_shown(each) for each in value[:5])
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("login", "name", "title", "body") if value.get(name)), "")
    return "" if value is None else clean_text(str(value)[:LONGEST_VALUE]).strip()


def _storable(row: Row) -> Row:
    if isinstance(row.told, Rejected):
        return replace(row, told=replace(row.told, reason=clean_text(row.told.reason)))
    return replace(row, told=cleaned(row.told))
