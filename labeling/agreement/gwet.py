"""Gwet's AC1 and AC2, which stay readable where nearly all units belong to one category."""

from __future__ import annotations

from labeling.agreement.fleiss import UnitAgreement
from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.ratio import ratio
from labeling.agreement.weights import identity_weights


class Gwet:
    """AC1, or AC2 with weights, ready for any number of resampled sizes. Undefined below two categories.

    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1), 29-48; Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th ed. Shares come from all coded units, agreement from those with
    two or more answers.
    """

    def __init__(self, ratings: Ratings, weights: FloatArray | None = None) -> None:
        table = identity_weights(ratings.k) if weights is None else weights
        self._agreement = UnitAgreement(ratings, table)
        self._spread = float(ratio(table.sum(), ratings.k * (ratings.k - 1)))

    def __call__(self, sizes: FloatArray) -> FloatArray:
        """Give the coefficient for sizes of shape (..., U)."""
        shares = self._agreement.shares(sizes)
        expected = self._spread * (shares * (1 - shares)).sum(axis=-1)
        return ratio(self._agreement.observed(sizes) - expected, 1 - expected)
