"""Agreement weights: 1 for the same category, less the further two categories lie apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labeling.agreement.ratings import FloatArray


def identity_weights(k: int) -> FloatArray:
    """Give full credit for the same category and none otherwise."""
    return np.eye(k)


def _distances(k: int) -> FloatArray:
    """Share of the scale's length between two positions of the declared order."""
    positions = np.arange(k, dtype=float)
    distances: FloatArray = np.abs(positions[:, None] - positions) / max(k - 1, 1)
    return distances


def linear_weights(k: int) -> FloatArray:
    """1 - |i - j| / (k - 1), from positions in the declared order."""
    return 1 - _distances(k)


def quadratic_weights(k: int) -> FloatArray:
    """1 - (i - j)^2 / (k - 1)^2, from positions in the declared order (Fleiss & Cohen 1973)."""
    weights: FloatArray = 1 - _distances(k) ** 2
    return weights


def hierarchical_weights(parents: Sequence[int], credit: float = 0.5) -> FloatArray:
    """Give full credit for the same category and ``credit`` for two children of the same parent.

    ``parents[i]`` is the position of the parent of category i. The credit is a choice of this project and is
    named wherever the coefficient is shown.
    """
    above = np.asarray(parents)
    weights = np.where(above[:, None] == above, credit, 0.0)
    np.fill_diagonal(weights, 1.0)
    return weights
