"""Gwet's AC1 and AC2, which stay readable where nearly all units belong to one category."""

from __future__ import annotations

from labeling.agreement.ratings import FloatArray
from labeling.agreement.ratio import ratio


def gwet_ac(observed: FloatArray, shares: FloatArray, weights: FloatArray) -> FloatArray:
    """AC1 with identity weights, AC2 with others. Undefined below two categories.

    ``observed`` (...) is the (weighted) agreement of units with two or more answers, ``shares`` (..., k) the
    mean shares of the categories over all coded units. Gwet (2008), British Journal of Mathematical and
    Statistical Psychology 61(1), 29-48; Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.
    """
    k = len(weights)
    spread = ratio(weights.sum(), k * (k - 1))
    expected = spread * (shares * (1 - shares)).sum(axis=-1)
    return ratio(observed - expected, 1 - expected)
