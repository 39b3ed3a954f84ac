"""``codebook.csv``: a row for each category, in the columns of the exported file. Pure."""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import StringIO
from typing import Any

from labeling.codebook_edits import Data, find_dimension
from labeling.codebook_input import read_codebook
from labeling.codebook_lines import FileError, at_lines
from labeling.errors import InvalidInputError
from labeling.export.columns import cells_of, columns_of
from labeling.export.rows import CodebookRow
from labeling.export.writer import Format, write_rows

LOST = (
    "Questions, help, conditions, reserved states, examples and keys of categories are not in a CSV file. "
    "What the draft has keeps its own, what is new gets the usual ones."
)
COLUMNS = [each.name for each in columns_of(CodebookRow)]
TAKEN = ("name", "definition", "include", "exclude", "precedence")
FLAGS = {"": False, "false": False, "true": True, "0": False, "1": True}


def write_csv(data: Data) -> bytes:
    """Print a version."""
    frozen_at: datetime | None = data.get("frozen_at")
    rows = (
        _row(data.get("version") or 0, frozen_at, dimension, category)
        for dimension in data["dimensions"]
        for category in dimension["categories"] or (None,)
    )
    return b"".join(write_rows(COLUMNS, map(cells_of, rows), Format()))


def _row(version: int, frozen_at: datetime | None, dimension: Data, category: Data | None) -> CodebookRow:
    said = category or {}
    return CodebookRow(
        version=version,
        frozen_at=frozen_at,
        dimension=dimension["key"],
        dimension_name=dimension["name"],
        kind=dimension["kind"],
        category=said.get("code", ""),
        category_path="/".join(_path(dimension, category)) if category else "",
        name=said.get("name", ""),
        concept=said.get("concept") or "",
        definition=said.get("definition", ""),
        include=said.get("include", ""),
        exclude=said.get("exclude", ""),
        precedence=said.get("precedence", ""),
        order=said.get("order"),
        archived=said.get("archived"),
    )


def _path(dimension: Data, category: Data) -> list[str]:
    parents = {each["code"]: each["parent"] for each in dimension["categories"]}
    path = [category["code"]]
    while parents.get(path[0]):
        path.insert(0, parents[path[0]])
    return path


def read_csv(content: bytes, draft: Data) -> tuple[Data, list[str]]:
    """Read a file over the draft it is for, and list what was left out.

    Raises FileError with line and reason. Of a file with several versions the newest counts.
    """
    rows, lost = _rows(content)
    newest = max((_version(line, row) for line, row in rows), default=0)
    dimensions: dict[str, Data] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        if _version(line, row) == newest:
            _take(line, row, draft, dimensions, lines)
    if any(_version(line, row) != newest for line, row in rows):
        lost.append(f"Only version {newest} is read.")
    data = {"dimensions": list(dimensions.values())}
    try:
        read_codebook(data)
    except InvalidInputError as error:
        raise at_lines(error, lines) from error
    return data, [LOST, *lost]


def _rows(content: bytes) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(content[: error.start].count(b"\n") + 1, "This is no UTF-8.") from error
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return _table(reader)
    except csv.Error as error:
        raise FileError(reader.line_num, f"This is no CSV: {error}.") from error


def _table(reader: Any) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    header = [each.strip() for each in next(reader, [])]
    missing = [each for each in ("dimension", "category") if each not in header]
    if missing:
        raise FileError(1, f"The column {missing[0]} is missing. Download codebook.csv to see the columns.")
    lost = [f"The column {each} is left out." for each in header if each not in {*COLUMNS, "parent"}]
    rows = []
    for cells in reader:
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise FileError(
                reader.line_num, f"This row has {len(cells)} cells; the header has {len(header)}."
            )
        rows.append((reader.line_num, dict(zip(header, (each.strip() for each in cells), strict=True))))
    return rows, lost


def _version(line: int, row: dict[str, str]) -> int:
    value = row.get("version", "")
    if value and not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise FileError(line, f"{value} is no version.")
    return int(value or 0)


def _take(
    line: int, row: dict[str, str], draft: Data, dimensions: dict[str, Data], lines: dict[str, int]
) -> None:
    key = row["dimension"]
    if key not in dimensions:
        lines[f"dimensions[{len(dimensions)}]"] = line
        dimensions[key] = _dimension(row, find_dimension(draft, key))
    book = dimensions[key]
    if not row["category"]:
        return
    at = list(dimensions).index(key)
    lines[f"dimensions[{at}].categories[{len(book['categories'])}]"] = line
    book["categories"].append(_category(line, row, find_dimension(draft, key)))


def _dimension(row: dict[str, str], known: Data | None) -> Data:
    kept = {name: value for name, value in (known or {}).items() if name not in ("order", "categories")}
    said = {"key": row["dimension"], "name": row.get("dimension_name"), "kind": row.get("kind")}
    return kept | {name: value for name, value in said.items() if value} | {"categories": []}


def _category(line: int, row: dict[str, str], known: Data | None) -> Data:
    archived = row.get("archived", "").lower()
    if archived not in FLAGS:
        raise FileError(line, f"archived is true or false, not {archived}.")
    code, concept = row["category"], row.get("concept") or None
    same = _same(known["categories"] if known else (), code, concept)
    kept = {name: same[name] for name in ("hotkey", "examples") if same}
    if FLAGS[archived]:
        kept.pop("hotkey", None)
    return kept | {
        "code": code,
        "concept": concept,
        "parent": row.get("parent") or _parent(row.get("category_path", "")),
        "archived": FLAGS[archived],
        **{name: row[name] for name in TAKEN if name in row},
    }


def _same(categories: Iterable[Data], code: str, concept: str | None) -> Data | None:
    found: Iterator[Data] = (
        each for each in categories if (each["concept"] == concept if concept else each["code"] == code)
    )
    return next(found, None)


def _parent(path: str) -> str | None:
    parts = path.split("/")
    return parts[-2] if len(parts) > 1 else None
