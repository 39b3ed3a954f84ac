"""Coefficients of two coders, from the margins of their table.

Every function takes margins of shape (..., k) and answers with shape (...) or (..., k), so the value and its
bootstrap come from the same lines. NaN marks what is undefined and never leaves the package.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeling.agreement.ratings import FloatArray, IntArray
from labeling.agreement.ratio import ratio
from labeling.agreement.table import Margins
from labeling.agreement.weights import identity_weights

NORMAL_975 = 1.959963984540054


def observed_agreement(margins: Margins) -> FloatArray:
    """Share of units both put into the same category."""
    return ratio(margins.both.sum(axis=-1), margins.n)


def _chance(margins: Margins) -> FloatArray:
    """Expected agreement times n squared: a whole number, so that a constant coder gives exactly 0."""
    total: FloatArray = (margins.first * margins.second).sum(axis=-1)
    return total


def expected_agreement(margins: Margins) -> FloatArray:
    """Agreement expected of two coders who keep their own shares and ignore the units."""
    return ratio(_chance(margins), margins.n**2)


def cohen_kappa(margins: Margins) -> FloatArray:
    """Cohen (1960), Educational and Psychological Measurement 20(1), 37-46. Undefined where chance is 1."""
    square, chance = margins.n**2, _chance(margins)
    return ratio(margins.n * margins.both.sum(axis=-1) - chance, square - chance, square)


def kappa_max(margins: Margins) -> FloatArray:
    """Largest kappa the two coders' shares allow (Cohen 1960)."""
    square, chance = margins.n**2, _chance(margins)
    reachable = np.minimum(margins.first, margins.second).sum(axis=-1)
    return ratio(margins.n * reachable - chance, square - chance, square)


def scott_pi(margins: Margins) -> FloatArray:
    """Kappa with one pooled share per category (Scott 1955, Public Opinion Quarterly 19(3), 321-325)."""
    square = 4 * margins.n**2
    chance = ((margins.first + margins.second) ** 2).sum(axis=-1)
    return ratio(4 * margins.n * margins.both.sum(axis=-1) - chance, square - chance, square)


def pabak(margins: Margins) -> FloatArray:
    """Kappa for equally likely categories (Brennan & Prediger 1981; for two categories Byrt et al. 1993)."""
    k = margins.k
    return ratio(k * margins.both.sum(axis=-1) - margins.n, (k - 1) * margins.n)


def prevalence_index(margins: Margins) -> FloatArray:
    """(a - d) / n of two categories, the first counting as "yes" (Byrt, Bishop & Carlin 1993)."""
    return ratio(margins.both[..., 0] - margins.both[..., 1], margins.n)


def bias_index(margins: Margins) -> FloatArray:
    """(b - c) / n of two categories: how much more often the first coder said "yes" (Byrt et al. 1993)."""
    return ratio(margins.first[..., 0] - margins.second[..., 0], margins.n)


def specific_agreement(margins: Margins) -> FloatArray:
    """Agreement where one of the two used the category (Cicchetti & Feinstein 1990); NaN if neither did."""
    return ratio(2 * margins.both, margins.first + margins.second)


def category_kappa(margins: Margins) -> FloatArray:
    """Cohen's kappa of each category against all others; NaN where both always or both never used it."""
    n = margins.n[..., None]
    product = margins.first * margins.second
    return ratio(2 * (n * margins.both - product), n * (margins.first + margins.second) - 2 * product, n**2)


def weighted_kappa(credit: FloatArray, margins: Margins, weights: FloatArray) -> FloatArray:
    """Kappa with partial credit (Cohen 1968); ``credit`` is the sum of the weights of all units."""
    square = margins.n**2
    chance = ((margins.first @ weights) * margins.second).sum(axis=-1)
    return ratio(margins.n * credit - chance, square - chance, square)


@dataclass(frozen=True, slots=True)
class StandardErrors:
    """Of a (weighted) kappa: ``ase`` for its interval, ``null`` only to test kappa = 0. NaN if undefined."""

    kappa: float
    ase: float
    null: float

    @property
    def ci95(self) -> tuple[float, float]:
        """Normal interval, not cut at 1."""
        return self.kappa - NORMAL_975 * self.ase, self.kappa + NORMAL_975 * self.ase


def standard_errors(table: IntArray, weights: FloatArray | None = None) -> StandardErrors:
    """Fleiss, Cohen & Everitt (1969), Psychological Bulletin 72(5), 323-327, from a k x k table of counts."""
    n = int(table.sum())
    w = identity_weights(len(table)) if weights is None else weights
    uses = table.sum(axis=1), table.sum(axis=0)
    chance = uses[0] @ w @ uses[1]
    kappa = float(ratio(n * (w * table).sum() - chance, n**2 - chance, n**2))
    if np.isnan(kappa):
        return StandardErrors(np.nan, np.nan, np.nan)
    shares, rows, columns, expected = table / n, uses[0] / n, uses[1] / n, chance / n**2
    means = (w @ columns)[:, None] + w.T @ rows
    spread = (shares * (w - means * (1 - kappa)) ** 2).sum() - (kappa - expected * (1 - kappa)) ** 2
    null = (np.outer(rows, columns) * (w - means) ** 2).sum() - expected**2
    scale = n * (1 - expected) ** 2
    return StandardErrors(kappa, *(_root(variance) / float(np.sqrt(scale)) for variance in (spread, null)))


def _root(variance: float) -> float:
    """Square root, with what rounding leaves of a zero taken as zero."""
    return float(np.sqrt(variance)) if variance > 1e-15 else 0.0
