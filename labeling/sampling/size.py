"""How many issues a sample needs, and how sure a sample of a given size can be."""

from collections.abc import Mapping, Sequence
from math import ceil, sqrt
from statistics import NormalDist

# A size that is whole up to the rounding of floating point arithmetic is not rounded up.
_ROUNDING = 1e-9


def sample_size(
    population: int, confidence: float = 0.95, margin: float = 0.05, proportion: float = 0.5
) -> int:
    """Size whose margin for one proportion is at most ``margin``, with finite population correction.

    Cochran (1977), Sampling Techniques, 3rd ed., section 4.4: n0 = z^2 p(1-p) / margin^2 for an endless
    population, n = n0 N / (n0 + N - 1) for one of N issues, rounded up. ``proportion`` 0.5 is the
    worst case.
    """
    if population < 1:
        raise ValueError("There is no issue to draw from. Import issues or loosen the rules first.")
    if not 0 < margin < 1:
        raise ValueError(f"A margin of {margin} is not between 0 and 1. Write 5 % as 0.05.")
    endless = _critical(confidence) ** 2 * _variance(proportion) / margin**2
    needed = ceil(endless * population / (endless + population - 1) - _ROUNDING)
    return min(population, max(1, needed))


def margin_of(size: int, population: int, confidence: float = 0.95, proportion: float = 0.5) -> float:
    """Half-width of the interval of one proportion in a sample of ``size``; 0 for a whole population."""
    if not 1 <= size <= population:
        raise ValueError(f"A sample of {size} cannot be drawn from {population}. Give 1 to {population}.")
    if size == population:
        return 0.0
    correction = (population - size) / (population - 1)
    return _critical(confidence) * sqrt(_variance(proportion) / size * correction)


def stratum_margins(
    sizes: Mapping[str, int],
    available: Mapping[str, int],
    confidence: float = 0.95,
    proportion: float = 0.5,
) -> dict[str, float | None]:
    """Margin of every stratum by itself; None where nothing is drawn and nothing can be said."""
    return {
        stratum: margin_of(sizes[stratum], available[stratum], confidence, proportion)
        if sizes[stratum]
        else None
        for stratum in sorted(sizes)
    }


def units_for_kappa_halfwidth(
    kappa: float,
    k: int,
    half_width: float = 0.10,
    confidence: float = 0.95,
    shares: Sequence[float] | None = None,
) -> int:
    """Units two coders must both code for kappa +- ``half_width``, if kappa is as expected.

    From the large-sample variance of Cohen's kappa (Fleiss, Cohen and Everitt 1969, Psychological
    Bulletin 72(5), 323-327), for two coders who use the ``k`` categories alike and whose disagreements
    fall by chance. ``shares`` says how often each category is used; without it all are used equally
    often. Rare categories need many more units.
    """
    if not 0 <= kappa < 1:
        raise ValueError(f"A kappa of {kappa} cannot be planned for. Give a value from 0 to below 1.")
    if not 0 < half_width < 1:
        raise ValueError(f"A half-width of {half_width} is not between 0 and 1. Write it like 0.10.")
    if k < 2:
        raise ValueError("Kappa needs two categories or more.")
    used = [1 / k] * k if shares is None else list(shares)
    if len(used) != k or min(used) <= 0 or abs(sum(used) - 1) > 1e-6:
        raise ValueError(f"The shares of {k} categories are {k} positive numbers that add up to 1.")
    return max(2, ceil((_critical(confidence) / half_width) ** 2 * _kappa_variance(kappa, used) - _ROUNDING))


def _kappa_variance(kappa: float, used: Sequence[float]) -> float:
    """Variance of kappa times n, where both coders' margins are ``used``."""
    by_chance = sum(share**2 for share in used)
    slack = 1 - kappa
    agreeing = sum((slack * share**2 + kappa * share) * (1 - 2 * share * slack) ** 2 for share in used)
    disagreeing = slack**3 * sum(
        first * second * (first + second) ** 2
        for i, first in enumerate(used)
        for j, second in enumerate(used)
        if i != j
    )
    return (agreeing + disagreeing - (kappa - by_chance * slack) ** 2) / (1 - by_chance) ** 2


def _critical(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"A confidence of {confidence} is not between 0 and 1. Write 95 % as 0.95.")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _variance(proportion: float) -> float:
    if not 0 < proportion < 1:
        raise ValueError(f"A proportion of {proportion} is not between 0 and 1. Use 0.5 if it is unknown.")
    return proportion * (1 - proportion)
