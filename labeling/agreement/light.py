"""Light's kappa: the mean of the kappas of all pairs of coders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from labeling.agreement import kappa
from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.ratio import mean_defined, ratio
from labeling.agreement.table import Margins, PairMargins


class Pairs:
    """All pairs of coders, each on the units both coded, ready for any number of resampled sizes."""

    def __init__(self, ratings: Ratings, members: FloatArray | None = None) -> None:
        coders = combinations(range(ratings.coders), 2)
        self._margins = [PairMargins(ratings, a, b, members) for a, b in coders]

    def __call__(self, sizes: FloatArray) -> list[Margins]:
        """Give the margins of every pair for sizes of shape (..., U)."""
        return [margins(sizes) for margins in self._margins]


def each_pair(pairs: Sequence[Margins], value: Callable[[Margins], FloatArray]) -> FloatArray:
    """Give ``value`` of every pair, pairs on the last axis: (..., P)."""
    return np.stack([value(margins) for margins in pairs], axis=-1)


def light_mean(pairs: Sequence[Margins], value: Callable[[Margins], FloatArray]) -> FloatArray:
    """Average ``value`` over the pairs where it is defined (Light 1971, Psychol. Bull. 76(5), 365-377)."""
    return mean_defined(each_pair(pairs, value))


def pooled_specific(pairs: Sequence[Margins]) -> FloatArray:
    """Specific agreement of each category over the units of all pairs together: (..., k)."""
    both = np.sum([margins.both for margins in pairs], axis=0)
    return ratio(2 * both, np.sum([margins.first + margins.second for margins in pairs], axis=0))


class WeightedPairs:
    """Weighted kappa of every pair of coders, ready for any number of resampled sizes."""

    def __init__(self, ratings: Ratings, weights: FloatArray) -> None:
        self._weights = weights
        self._parts = []
        for a, b in combinations(range(ratings.coders), 2):
            margins = PairMargins(ratings, a, b)
            credit = weights[ratings.patterns[:, a], ratings.patterns[:, b]] * margins.complete
            self._parts.append((margins, credit))

    def mean(self, sizes: FloatArray) -> FloatArray:
        """Average the weighted kappas of the pairs where it is defined."""
        values = [
            kappa.weighted_kappa(sizes @ credit, margins(sizes), self._weights)
            for margins, credit in self._parts
        ]
        return mean_defined(np.stack(values, axis=-1))
