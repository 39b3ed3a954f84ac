"""Read the answers of coders from a CSV file with the columns unit, coder, category.

A column ``dimension`` separates several questions, a column ``status`` (as in ``annotations.csv``) marks
reserved states and answers that do not count. Names are stripped and NFC-normalised, so that two ways to type
the same letter are one category; upper and lower case stay different.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labeling.agreement.dimension import DimensionData, Kind

COLUMNS = ("unit", "coder", "category")
STATES = ("unclear", "not_applicable")
CODED = "coded"
SEPARATOR = "|"
LARGEST_CELL = 10_000_000


class FileError(ValueError):
    """The file cannot be used; the message is one sentence for whoever made it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the file; ``line`` is its number there."""

    line: int
    unit: str
    coder: str
    category: str
    dimension: str
    status: str


@dataclass(frozen=True, slots=True)
class Options:
    """How to read the file. Without ``categories`` they are those that occur, in alphabetical order."""

    dimension: str | None = None
    categories: tuple[str, ...] = ()
    ordinal: bool = False
    multiple: bool = False
    seed: int = 0

    @property
    def kind(self) -> Kind:
        if self.multiple:
            return "multiple"
        return "ordinal" if self.ordinal else "single"


@dataclass(slots=True)
class Answers:
    """The answers of one dimension while its rows are read."""

    units: dict[str, None] = field(default_factory=dict)
    coders: dict[str, None] = field(default_factory=dict)
    values: dict[tuple[str, str], str | frozenset[str]] = field(default_factory=dict)


def clean(text: str) -> str:
    """Strip and normalise a name, so that what looks the same is the same."""
    return unicodedata.normalize("NFC", text.strip())


def read_dimensions(path: Path, options: Options) -> list[DimensionData]:
    """Read the dimensions of a file, in order of appearance; raise FileError where it cannot be used."""
    by_dimension: dict[str, list[Row]] = {}
    for row in _rows(path):
        by_dimension.setdefault(row.dimension, []).append(row)
    if not by_dimension:
        raise FileError(f"{path} has no rows below its header.")
    if options.dimension is not None:
        wanted = clean(options.dimension)
        if wanted not in by_dimension:
            known = ", ".join(name for name in by_dimension if name) or "it has no column dimension"
            raise FileError(f"{path} has no dimension {wanted!r}: {known}.")
        by_dimension = {wanted: by_dimension[wanted]}
    elif len(by_dimension) > 1 and options.categories:
        raise FileError(f"{path} has {len(by_dimension)} dimensions: name the one meant with --dimension.")
    return [_dimension(name, rows, options) for name, rows in by_dimension.items()]


def similar_names(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Give the groups of names that differ only in case or spacing, and may be meant as one."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("".join(name.casefold().split()), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _rows(path: Path) -> Iterator[Row]:
    csv.field_size_limit(LARGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _parsed(path, csv.reader(file, strict=True))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not in UTF-8: save it as CSV UTF-8 and try again.") from error
    except csv.Error as error:
        raise FileError(f"{path} is not a CSV file: {error}.") from error


def _parsed(path: Path, reader: Iterator[list[str]]) -> Iterator[Row]:
    header = [clean(name).casefold() for name in next(reader, [])]
    for name in COLUMNS:
        if header.count(name) != 1:
            found = ", ".join(header) or "none"
            raise FileError(f"{path} needs one column {name!r} in its first line; it has: {found}.")
    for number, cells in enumerate(reader, start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise FileError(f"{path}, row {number}: {len(cells)} cells where the header has {len(header)}.")
        row = dict(zip(header, map(clean, cells), strict=True))
        for name in ("unit", "coder"):
            if not row[name]:
                raise FileError(f"{path}, row {number}: the {name} is empty.")
        yield _row(number, row)


def _row(number: int, cells: Mapping[str, str]) -> Row:
    status = cells.get("status", "").casefold()
    return Row(number, cells["unit"], cells["coder"], cells["category"], cells.get("dimension", ""), status)


def _dimension(name: str, rows: Sequence[Row], options: Options) -> DimensionData:
    answers = Answers()
    for row in rows:
        answers.units.setdefault(row.unit)
        answers.coders.setdefault(row.coder)
        if options.multiple:
            _add_choice(answers, row)
        else:
            _set_choice(answers, row, options)
    used = _used(answers)
    categories, states = _choices(used, options, name)
    return DimensionData(
        key=name or "category",
        kind=options.kind,
        categories=categories,
        states=states,
        coders=tuple(answers.coders),
        units=tuple(answers.units),
        values=answers.values,
        parents={},
        left_out={},
        conditional=False,
        seed=options.seed,
    )


def _answer(row: Row) -> str | None:
    """Give what the row says: a category or state, "" for an empty cell, None where it does not count."""
    if row.status in STATES:
        return row.status
    return row.category if row.status in ("", CODED) else None


def _set_choice(answers: Answers, row: Row, options: Options) -> None:
    answer = _answer(row)
    if not answer:
        return
    if SEPARATOR in answer and answer not in options.categories:
        raise FileError(f"Row {row.line}: {answer!r} looks like several categories: use --multiple.")
    if (row.unit, row.coder) in answers.values:
        where = f"Row {row.line}: {row.coder} already has an answer for unit {row.unit}"
        raise FileError(f"{where}; use --multiple if a unit may have several categories.")
    answers.values[row.unit, row.coder] = answer


def _add_choice(answers: Answers, row: Row) -> None:
    """Add the categories of a row to the coder's set; an empty cell is the empty set, no row is no answer."""
    answer = _answer(row)
    if answer is None:
        return
    chosen = frozenset(filter(None, map(clean, answer.split(SEPARATOR))))
    before = answers.values.get((row.unit, row.coder), frozenset())
    answers.values[row.unit, row.coder] = chosen.union(before)


def _used(answers: Answers) -> set[str]:
    sets = (one if isinstance(one, frozenset) else {one} for one in answers.values.values())
    return set().union(*sets)


def _choices(used: set[str], options: Options, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    declared = tuple(dict.fromkeys(map(clean, options.categories)))
    states = tuple(state for state in STATES if state in used and state not in declared)
    if not declared:
        return tuple(sorted(used - set(states))), states
    unknown = sorted(used - set(declared) - set(states))
    if unknown:
        where = f" in dimension {name}" if name else ""
        known = ", ".join(declared)
        raise FileError(f"{unknown[0]!r} occurs{where} but is not one of the given categories: {known}.")
    return declared, states
