"""Tails of the distributions that tests of agreement use, in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist


def two_sided(z: float) -> float:
    """Give the probability of a standard normal number at least as far from 0."""
    return 2 * NormalDist().cdf(-abs(z))


def chi_squared_tail(value: float, degrees: int) -> float:
    """Give the probability that chi-squared with whole degrees of freedom is at least ``value``."""
    half = max(value, 0.0) / 2
    if half == 0:
        return 1.0
    start = 0.0 if degrees % 2 == 0 else 0.5
    tail = 0.0 if degrees % 2 == 0 else math.erfc(math.sqrt(half))
    for step in range(math.ceil((degrees - 1) / 2) if start == 0 else (degrees - 1) // 2):
        power = step + start
        tail += math.exp(power * math.log(half) - half - math.lgamma(power + 1))
    return min(tail, 1.0)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p values of several tests (Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70)."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    ranked = sorted(p_values.items(), key=lambda item: item[1])
    for place, (name, p) in enumerate(ranked):
        largest = max(largest, min(1.0, (len(ranked) - place) * p))
        adjusted[name] = largest
    return adjusted
