"""Units that may hold several categories: distances of sets, and who is a member of what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from labeling.agreement.ratings import NOT_CODED, FloatArray, IntArray, Ratings
from labeling.agreement.ratio import ratio

Chosen = frozenset[str]
Distance = Callable[[Chosen, Chosen], float]


def jaccard_distance(first: Chosen, second: Chosen) -> float:
    """One minus shared over all categories; two empty sets are the same."""
    union = len(first | second)
    return 1 - len(first & second) / union if union else 0.0


def masi_distance(first: Chosen, second: Chosen) -> float:
    """Jaccard similarity times 1, 2/3, 1/3 or 0 for equal, nested, overlapping, disjoint sets, from 1.

    Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC. The fractions are exact.
    """
    if first == second:
        return 0.0
    if first <= second or second <= first:
        return 1 - 2 / 3 * (1 - jaccard_distance(first, second))
    return 1 - 1 / 3 * (1 - jaccard_distance(first, second))


def set_distance(first: Chosen, second: Chosen) -> float:
    """0 for identical sets, 1 otherwise."""
    return float(first != second)


def distance_table(sets: Sequence[Chosen], distance: Distance) -> FloatArray:
    """Give the V x V distances of V distinct sets."""
    table = np.zeros((len(sets), len(sets)))
    for i, first in enumerate(sets):
        for j in range(i):
            table[i, j] = table[j, i] = distance(first, sets[j])
    return table


def set_codes(rows: Iterable[Sequence[Chosen | None]], coders: int) -> tuple[IntArray, list[Chosen]]:
    """Number the distinct sets, so that a set is a category; give N x m positions, the sets in number order.

    ``rows`` has one sequence per unit with one set per coder: None is not coded, the empty set is an answer.
    """
    grid = [list(row) for row in rows]
    sets = sorted(
        {chosen for row in grid for chosen in row if chosen is not None},
        key=lambda one: (len(one), sorted(one)),
    )
    number = {chosen: position for position, chosen in enumerate(sets)}
    codes = [[NOT_CODED if chosen is None else number[chosen] for chosen in row] for row in grid]
    return np.array(codes, dtype=np.int64).reshape(len(grid), coders), sets


def set_ratings(rows: Iterable[Sequence[Chosen | None]], coders: int) -> tuple[Ratings, list[Chosen]]:
    """Group the units by the sets they were given."""
    codes, sets = set_codes(rows, coders)
    return Ratings.from_codes(codes, len(sets)), sets


def membership(sets: Sequence[Chosen], categories: Sequence[str]) -> FloatArray:
    """Give 1 where set v holds category j: V x L."""
    return np.array([[category in one for category in categories] for one in sets], dtype=float).reshape(
        len(sets), len(categories)
    )


class MeanDistance:
    """Mean distance over all coder pairs within units, ready for any number of resampled sizes."""

    def __init__(self, ratings: Ratings, distances: FloatArray) -> None:
        uses = ratings.unit_counts()
        answers = uses.sum(axis=1)
        self._apart = ((uses @ distances) * uses).sum(axis=1) / 2
        self._pairs = answers * (answers - 1) / 2

    def __call__(self, sizes: FloatArray) -> FloatArray:
        """Give the mean distance for sizes of shape (..., U)."""
        return ratio(sizes @ self._apart, sizes @ self._pairs)

    def pairs(self, sizes: FloatArray) -> int:
        """Give the number of coder pairs within units."""
        return int(sizes @ self._pairs)
