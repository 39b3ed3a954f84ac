"""Krippendorff's alpha for any number of coders, missing answers and any distance between categories.

Krippendorff (2004), Content Analysis, 2nd ed., ch. 11; Krippendorff (2011), Computing Krippendorff's
alpha-reliability. Units with fewer than two answers tell nothing and are dropped.
"""

from __future__ import annotations

import numpy as np

from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.ratio import ratio


def nominal_distances(k: int) -> FloatArray:
    """0 for the same category, 1 otherwise."""
    return 1 - np.eye(k)


class Alpha:
    """Alpha with a fixed distance, ready for any number of resampled sizes.

    ``distances`` is k x k, symmetric, with a zero diagonal. Undefined (NaN) where all pairable answers are
    one category, or nothing is pairable.
    """

    def __init__(self, ratings: Ratings, distances: FloatArray) -> None:
        self._uses, answers = _pairable(ratings)
        self._distances = distances
        self._apart = ratio(((self._uses @ distances) * self._uses).sum(axis=1), answers - 1)

    def __call__(self, sizes: FloatArray) -> FloatArray:
        """Give alpha for sizes of shape (..., U)."""
        used = sizes @ self._uses
        n = used.sum(axis=-1)
        expected = ((used @ self._distances) * used).sum(axis=-1)
        return _one_minus((n - 1) * (sizes @ np.nan_to_num(self._apart)), expected, n**2)


class OrdinalAlpha:
    """Alpha with Krippendorff's ordinal distance, categories in their declared order.

    The distance of two categories is the square of the number of pairable answers from the middle of one to
    the middle of the other, so it changes with every resample: it is the squared difference of mid-ranks.
    """

    def __init__(self, ratings: Ratings) -> None:
        self._uses, answers = _pairable(ratings)
        self._shares = np.nan_to_num(ratio(1.0, answers - 1))

    def __call__(self, sizes: FloatArray) -> FloatArray:
        """Give alpha for sizes of shape (..., U)."""
        used = sizes @ self._uses
        n = used.sum(axis=-1)
        middle = np.cumsum(used, axis=-1) - used / 2
        squares = (used * middle**2).sum(axis=-1)
        within = (middle @ self._uses.T) ** 2 - middle**2 @ self._uses.T
        crossed = (sizes * self._shares * within).sum(axis=-1)
        expected = 2 * (n * squares - (used * middle).sum(axis=-1) ** 2)
        return _one_minus((n - 1) * 2 * (squares - crossed), expected, n**4)


def _pairable(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """Give the category counts of each pattern, zero where fewer than two coders answered, and their sums."""
    uses = ratings.unit_counts()
    uses[ratings.answers < 2] = 0
    return uses, uses.sum(axis=1)


def _one_minus(disagreement: FloatArray, expected: FloatArray, scale: FloatArray) -> FloatArray:
    alpha: FloatArray = 1 - ratio(disagreement, expected, scale)
    return alpha
