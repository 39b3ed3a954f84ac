"""Agreement corrected for chance, with the case 0/0 kept apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from labeling.agreement.ratings import FloatArray

# Below this share of its scale a denominator is rounding noise: 1 - expected agreement has lost its digits.
SMALLEST = 1e-12


def ratio(numerator: ArrayLike, denominator: ArrayLike, scale: ArrayLike = 1.0) -> FloatArray:
    """Divide, with NaN where the denominator is not positive to the precision of ``scale``."""
    above, below = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    result = np.full(below.shape, np.nan)
    usable = below > SMALLEST * np.asarray(scale, float)
    np.divide(above, below, out=result, where=usable)
    return result


def mean_defined(values: ArrayLike) -> FloatArray:
    """Average over the last axis what is defined; NaN where nothing is."""
    array = np.asarray(values, float)
    defined = ~np.isnan(array)
    return ratio(np.where(defined, array, 0).sum(axis=-1), defined.sum(axis=-1))
