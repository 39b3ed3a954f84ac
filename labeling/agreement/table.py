"""Contingency tables of two coders, and the margins every two-coder coefficient needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeling.agreement.ratings import FloatArray, IntArray, Ratings


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """What two coders share and what each used, per category, for one table or for many resampled ones.

    ``both``, ``first`` and ``second`` have shape (..., k) and hold numbers of units; ``n`` has shape (...).
    Every entry is a whole number in a float, so sums and products stay exact far beyond any study. Where a
    unit may hold several categories the same numbers describe each category against its absence.
    """

    both: FloatArray
    first: FloatArray
    second: FloatArray
    n: FloatArray

    @property
    def k(self) -> int:
        return int(self.both.shape[-1])

    def pooled(self) -> Margins:
        """Count every (unit, category) decision as one unit with one category, present or absent."""
        both, first, second = (
            part.sum(axis=-1, keepdims=True) for part in (self.both, self.first, self.second)
        )
        return Margins(both, first, second, self.n * self.k)


class PairMargins:
    """Margins of one pair of coders, ready to be asked for any number of resampled sizes.

    ``members[c, j]`` is 1 where category position c implies category j: the identity for single choice, set
    membership for multiple choice.
    """

    def __init__(self, ratings: Ratings, first: int, second: int, members: FloatArray | None = None) -> None:
        self.k = ratings.k if members is None else members.shape[1]
        table = np.eye(ratings.k) if members is None else members
        none = np.zeros((1, self.k))
        lookup = np.vstack([table, none])  # position -1, not coded, is the last row
        codes = ratings.patterns[:, [first, second]]
        self.complete = np.asarray((codes >= 0).all(axis=1))
        a, b = (lookup[codes[:, side]] * self.complete[:, None] for side in (0, 1))
        self._columns = np.hstack([a * b, a, b, self.complete[:, None].astype(float)])

    def __call__(self, sizes: FloatArray) -> Margins:
        """Give the margins for sizes of shape (..., U)."""
        sums = sizes @ self._columns
        both, first, second = (sums[..., side * self.k : (side + 1) * self.k] for side in range(3))
        return Margins(both, first, second, sums[..., -1])


def cross_table(ratings: Ratings, first: int = 0, second: int = 1) -> IntArray:
    """Count the units of each pair of categories, k x k, on units both coded: rows first, columns second."""
    pair = ratings.pair(first, second)
    table = np.zeros((ratings.k, ratings.k), dtype=np.int64)
    np.add.at(table, (pair.patterns[:, 0], pair.patterns[:, 1]), pair.sizes)
    return table
