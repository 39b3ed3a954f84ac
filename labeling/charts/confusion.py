"""Who chose what: the table of two coders, its heat, and the pairs of categories that meet most often."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import Any

from labeling.charts.names import CategoryName, category_name

# Lower bounds of the six steps of heat where no cell holds more than FULL units; larger tables stretch them.
STEPS = (1, 2, 3, 5, 8, 12)
FULL = 16


@dataclass(frozen=True, slots=True)
class Cell:
    """Units on which A chose ``first`` and B ``second``. ``name`` is what disagreements are filtered by."""

    first: CategoryName
    second: CategoryName
    count: int
    heat: int
    starts_group: bool

    @property
    def is_diagonal(self) -> bool:
        return self.first.code == self.second.code

    @property
    def name(self) -> str:
        return cell_name(self.first.code, self.second.code)


@dataclass(frozen=True, slots=True)
class Line:
    """One category of A. ``rows`` is the size of its group on the group's first line, else 0."""

    category: CategoryName
    cells: tuple[Cell, ...]
    total: int
    rows: int


@dataclass(frozen=True, slots=True)
class Head:
    """One category of B, at the head of its column."""

    category: CategoryName
    total: int
    starts_group: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A step of heat and the numbers of units it stands for."""

    heat: int
    words: str


@dataclass(frozen=True, slots=True)
class Confusion:
    """The table of two coders: lines by group, columns in the same order."""

    coder_a: str
    coder_b: str
    groups: tuple[tuple[Line, ...], ...]
    heads: tuple[Head, ...]
    total: int
    steps: tuple[Step, ...]

    @property
    def has_groups(self) -> bool:
        return any(line.category.group for group in self.groups for line in group)


@dataclass(frozen=True, slots=True)
class ConfusedPair:
    """Two categories that coders chose for the same unit, whichever coder chose which."""

    first: CategoryName
    second: CategoryName
    count: int

    @property
    def name(self) -> str:
        return cell_name(self.first.code, self.second.code)


def cell_name(first: str, second: str) -> str:
    """Name the cell of two answers as decisions do."""
    return "|".join(sorted((first, second)))


def confusion(matrix: Mapping[str, Any], names: Mapping[str, CategoryName]) -> Confusion:
    """Read one matrix of a payload."""
    categories = [category_name(code, names) for code in matrix["categories"]]
    counts: Sequence[Sequence[int]] = matrix["counts"]
    bounds = _bounds(max((count for row in counts for count in row), default=0))
    starts = _group_starts(categories)
    lines = _lines(categories, counts, bounds, starts)
    totals = [sum(column) for column in zip(*counts, strict=True)]
    return Confusion(
        coder_a=matrix["coder_a"],
        coder_b=matrix["coder_b"],
        groups=tuple(tuple(lines[start : start + size]) for start, size in starts.items()),
        heads=tuple(
            Head(category, total, place in starts)
            for place, (category, total) in enumerate(zip(categories, totals, strict=True))
        ),
        total=sum(totals),
        steps=_steps(bounds),
    )


def _lines(
    categories: Sequence[CategoryName],
    counts: Sequence[Sequence[int]],
    bounds: Sequence[int],
    starts: Mapping[int, int],
) -> list[Line]:
    lines = []
    for place, (category, row) in enumerate(zip(categories, counts, strict=True)):
        cells = tuple(
            Cell(category, second, count, sum(count >= bound for bound in bounds), column in starts)
            for column, (second, count) in enumerate(zip(categories, row, strict=True))
        )
        lines.append(Line(category, cells, sum(row), starts.get(place, 0)))
    return lines


def _group_starts(categories: Iterable[CategoryName]) -> dict[int, int]:
    """Give the place of the first category of each group, and the group's size."""
    starts, place = {}, 0
    for _, group in groupby(categories, key=lambda each: each.group):
        size = len(list(group))
        starts[place] = size
        place += size
    return starts


def _bounds(largest: int) -> tuple[int, ...]:
    factor = max(1.0, largest / FULL)
    return (1, *(ceil(step * factor) for step in STEPS[1:]))


def _steps(bounds: Sequence[int]) -> tuple[Step, ...]:
    words = []
    for low, following in zip(bounds, [*bounds[1:], None], strict=True):
        if following is None:
            words.append(f"{low}+")
        else:
            words.append(str(low) if following == low + 1 else f"{low}\N{EN DASH}{following - 1}")
    return tuple(Step(heat, text) for heat, text in enumerate(words, start=1))


def confused_pairs(
    matrices: Iterable[Mapping[str, Any]], names: Mapping[str, CategoryName], most: int = 6
) -> tuple[ConfusedPair, ...]:
    """Give the pairs of different categories that met most often, over all pairs of coders."""
    met: Counter[tuple[str, str]] = Counter()
    for matrix in matrices:
        codes = matrix["categories"]
        for first, row in zip(codes, matrix["counts"], strict=True):
            for second, count in zip(codes, row, strict=True):
                if first != second and count:
                    met[min(first, second), max(first, second)] += count
    ranked = sorted(met.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        ConfusedPair(category_name(first, names), category_name(second, names), count)
        for (first, second), count in ranked[:most]
    )


def differing(matrices: Iterable[Mapping[str, Any]]) -> int:
    """Count the pairs of answers off the diagonal."""
    return sum(
        count
        for matrix in matrices
        for place, row in enumerate(matrix["counts"])
        for column, count in enumerate(row)
        if place != column
    )
