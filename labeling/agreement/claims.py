"""Whether the data support that a coefficient reaches a goal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeling.agreement.ratings import FloatArray

TAIL = 0.05


@dataclass(frozen=True, slots=True)
class Claim:
    """The headline against a goal: its one-sided 95 % lower limit, and the p value of "it lies below".

    "All dimensions reach the goal" holds if every lower limit does, without correction; "these dimensions
    reach it" needs the p values adjusted (``probability.holm``). Both are None where no resample differs.
    """

    goal: float
    lower: float | None
    p: float | None


def claim_of(goal: float, resamples: FloatArray, *, usable: bool) -> Claim:
    """Read the claim off the resamples of the headline."""
    defined = resamples[~np.isnan(resamples)]
    if not usable or not len(defined):
        return Claim(goal, None, None)
    lower = float(np.quantile(defined, TAIL)) + 0.0
    # Rounding must not decide whether a resample reaches a goal such as .7.
    below = int((defined < goal - 1e-12).sum())
    return Claim(goal, lower, (below + 1) / (len(defined) + 1))
