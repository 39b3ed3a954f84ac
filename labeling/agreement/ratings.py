"""Who put which unit where, with units that were coded alike counted together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NOT_CODED = -1
# Up to this many possible patterns a plain count is cheaper than a sort.
DENSE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The answers of m coders on N units, grouped into U distinct patterns.

    ``patterns[u, c]`` is the position of the category coder c gave to the units of pattern u, or
    ``NOT_CODED``; ``sizes[u]`` says how many units have that pattern, so ``sizes.sum()`` is N. ``k`` is the
    number of categories that could have been given, used or not. No coefficient depends on the order of
    units, hence nothing is lost, and resampling units is drawing new ``sizes``.
    """

    patterns: IntArray
    sizes: IntArray
    k: int

    @classmethod
    def from_codes(cls, codes: ArrayLike, k: int) -> Self:
        """Group an N x m array of category positions in [0, k), ``NOT_CODED`` where a coder gave none."""
        grid = np.asarray(codes, dtype=np.int64)
        if grid.ndim != 2:
            raise ValueError("codes must be a table of units by coders.")
        if grid.size and (grid.min() < NOT_CODED or grid.max() >= k):
            raise ValueError(f"A category position lies outside 0 to {k - 1}.")
        patterns, sizes = _group(grid, k)
        return cls(patterns, sizes, k)

    @classmethod
    def from_table(cls, counts: ArrayLike) -> Self:
        """Read a k x k contingency table of two coders: rows the first, columns the second."""
        table = np.asarray(counts, dtype=np.int64)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError("A contingency table has as many rows as columns.")
        if (table < 0).any():
            raise ValueError("A contingency table holds no negative counts.")
        return cls(np.argwhere(table > 0).astype(np.int64), table[table > 0], len(table))

    @classmethod
    def from_unit_counts(cls, counts: ArrayLike) -> Self:
        """Read an N x k table of how often each unit got each category, from coders nobody can tell apart.

        The answers of a unit go to coder 1, 2, ... in the order of the categories. Coefficients that do not
        ask who said what are exact; the others are those of these stand-in coders.
        """
        table = np.asarray(counts, dtype=np.int64)
        if table.ndim != 2 or (table < 0).any():
            raise ValueError("Counts must be a table of units by categories without negative numbers.")
        width = max(2, int(table.sum(axis=1).max(initial=0)))
        codes = np.full((len(table), width), NOT_CODED, dtype=np.int64)
        for row, uses in zip(codes, table, strict=True):
            row[: uses.sum()] = np.repeat(np.arange(table.shape[1]), uses)
        return cls.from_codes(codes, table.shape[1])

    @property
    def coders(self) -> int:
        return int(self.patterns.shape[1])

    @property
    def answers(self) -> IntArray:
        """How many coders answered, per pattern."""
        answered: IntArray = (self.patterns != NOT_CODED).sum(axis=1)
        return answered

    def units_with(self, at_least: int) -> int:
        """Give the number of units with at least so many answers."""
        return int(self.sizes[self.answers >= at_least].sum())

    def only(self, rows: NDArray[np.bool_]) -> Ratings:
        """Keep the patterns where ``rows`` is true."""
        return Ratings(self.patterns[rows], self.sizes[rows], self.k)

    def pair(self, first: int, second: int) -> Ratings:
        """Keep the answers of two coders, on the units both coded."""
        columns = self.patterns[:, [first, second]]
        complete = (columns != NOT_CODED).all(axis=1)
        return Ratings(columns[complete], self.sizes[complete], self.k)

    def recoded(self, positions: ArrayLike, k: int) -> Ratings:
        """Replace category i by ``positions[i]`` in [0, k), or take it out where that is ``NOT_CODED``."""
        lookup = np.append(
            np.asarray(positions, dtype=np.int64), NOT_CODED
        )  # NOT_CODED is -1: it finds itself
        return Ratings(lookup[self.patterns], self.sizes, k)

    def unit_counts(self) -> FloatArray:
        """Count the coders per pattern and category: U x k."""
        counts = np.zeros((len(self.patterns), self.k))
        rows, columns = np.nonzero(self.patterns != NOT_CODED)
        np.add.at(counts, (rows, self.patterns[rows, columns]), 1)
        return counts


def _group(codes: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Give the distinct rows of ``codes`` and how often each occurs."""
    base, width = k + 1, codes.shape[1]
    if base**width >= 1 << 62:
        patterns, sizes = np.unique(codes, axis=0, return_counts=True)
        return patterns, sizes.astype(np.int64)
    # A row is one number in base k + 1, which groups a million units in milliseconds.
    places = np.array([base**place for place in reversed(range(width))], dtype=np.int64)
    numbers = (codes + 1) @ places
    if base**width <= DENSE_LIMIT:
        tally = np.bincount(numbers, minlength=1)
        numbers = np.flatnonzero(tally)
        sizes = tally[numbers]
    else:
        numbers, sizes = np.unique(numbers, return_counts=True)
    return numbers[:, None] // places % base - 1, sizes.astype(np.int64)
