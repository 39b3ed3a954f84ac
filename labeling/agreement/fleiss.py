"""Fleiss' kappa and its relatives: coders who cannot, or need not, be told apart."""

from __future__ import annotations

import numpy as np

from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.ratio import ratio


class UnitAgreement:
    """Shares of agreeing coder pairs within units, ready for any number of resampled sizes.

    ``weights`` (k x k, ones on the diagonal) gives partial credit; without it only the same category counts.
    """

    def __init__(self, ratings: Ratings, weights: FloatArray | None = None) -> None:
        uses = ratings.unit_counts()
        answers = uses.sum(axis=1)
        credit = uses if weights is None else uses @ weights
        self._rated = (answers >= 1).astype(float)
        self._pairable = (answers >= 2).astype(float)
        self._agreeing = np.nan_to_num(ratio((uses * (credit - 1)).sum(axis=1), answers * (answers - 1)))
        self._shares = np.nan_to_num(ratio(uses, answers[:, None]))

    def observed(self, sizes: FloatArray) -> FloatArray:
        """Mean over units with two or more answers of the share (or credit) of agreeing coder pairs."""
        return ratio(sizes @ self._agreeing, sizes @ self._pairable)

    def shares(self, sizes: FloatArray) -> FloatArray:
        """Mean over all coded units of each category's share of the unit's answers: (..., k)."""
        return ratio(sizes @ self._shares, (sizes @ self._rated)[..., None])


def fleiss_kappa(observed: FloatArray, shares: FloatArray) -> FloatArray:
    """Fleiss (1971), Psychological Bulletin 76(5), 378-382, in Gwet's (2014) form for missing answers.

    With the same number of answers on every unit it is the classic coefficient.
    """
    expected = (shares**2).sum(axis=-1)
    return ratio(observed - expected, 1 - expected)


def complete_units(ratings: Ratings) -> Ratings:
    """Keep the units every coder coded, which the classic Fleiss coefficients ask for."""
    return ratings.only(ratings.answers == ratings.coders)


def fleiss_category_kappa(ratings: Ratings) -> FloatArray:
    """Kappa of each category, pooled shares (Fleiss 1971), on complete units; NaN if never or always used."""
    complete = complete_units(ratings)
    uses, m = complete.unit_counts(), complete.coders
    units = complete.sizes.sum()
    shares = ratio(complete.sizes @ uses, units * m)
    split = complete.sizes @ (uses * (m - uses))
    kappa: FloatArray = 1 - ratio(split, units * m * (m - 1) * shares * (1 - shares), units)
    return kappa


def pooled_specific_agreement(ratings: Ratings) -> FloatArray:
    """Specific agreement of each category over all pairs of coders within units; NaN where nobody used it."""
    uses = ratings.unit_counts()
    answers = uses.sum(axis=1, keepdims=True)
    return ratio(ratings.sizes @ (uses * (uses - 1)), ratings.sizes @ (uses * (answers - 1)))
