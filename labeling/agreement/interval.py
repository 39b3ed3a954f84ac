"""Bootstrap intervals by drawing tables instead of units.

Resampling n units with replacement and counting their patterns is one draw from Multinomial(n, sizes / n):
the same distribution, at a cost that does not grow with n. ``RandomState`` is used because its streams are
frozen (NEP 19): a seed gives the same interval in every later version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from labeling.agreement.coefficients import Family, Values
from labeling.agreement.ratings import FloatArray, IntArray, Ratings

DRAWS = 10_000
# Resampled sizes are made and used in blocks of about this many numbers, which fit into a processor's cache.
BLOCK = 100_000
LEVEL = 0.95
# Patterns of so few units are cheaper to draw unit by unit.
RARE = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits of a 95 % interval; ``undefined_share`` of the resamples had no value and were dropped.

    ``low`` and ``high`` are None where no resample had a value.
    """

    low: float | None
    high: float | None
    undefined_share: float


def resampled_sizes(ratings: Ratings, draws: int, seed: int) -> Iterator[FloatArray]:
    """Yield blocks of resampled sizes, together ``draws`` x U.

    Units with two or more answers are resampled. Units with one answer only, which no coefficient compares,
    stay as they are. Drawing a pattern costs the same however many units have it, so the units of rare
    patterns are drawn as one and then placed one by one: the same distribution in half the time, and much
    less where nearly every unit has a pattern of its own.
    """
    tables, places = _streams(seed)
    compared = ratings.answers >= 2
    rare = compared & (ratings.sizes <= RARE)
    common = compared & ~rare
    counts = np.append(ratings.sizes[common], ratings.sizes[rare].sum())
    n = int(counts.sum())
    block = max(1, BLOCK // max(len(ratings.sizes), ratings.k, 1))
    for start in range(0, max(draws, 1), block):  # without draws one empty block, so that names are known
        rows = min(block, draws - start)
        sizes = np.tile(ratings.sizes.astype(float), (rows, 1))
        if n:
            drawn = tables.multinomial(n, counts / n, size=rows)
            sizes[:, common] = drawn[:, :-1]
            sizes[:, rare] = _placed(places, drawn[:, -1], ratings.sizes[rare])
        yield sizes


def _placed(random: np.random.RandomState, totals: IntArray, sizes: IntArray) -> IntArray:
    """Share out ``totals[b]`` units among patterns, each like one of the ``sizes.sum()`` observed units."""
    pattern_of = np.repeat(np.arange(len(sizes)), sizes)
    picked = (random.random_sample(totals.sum()) * len(pattern_of)).astype(np.int64)
    places = np.repeat(np.arange(len(totals)) * len(sizes), totals) + pattern_of[picked]
    tally = np.bincount(places, minlength=len(totals) * len(sizes))
    return tally.reshape(len(totals), len(sizes))


def _streams(seed: int) -> tuple[np.random.RandomState, np.random.RandomState]:
    """Start two streams, so that the size of a block changes no draw."""
    return random_stream(seed, 1), random_stream(seed, 2)


def random_stream(seed: int, number: int) -> np.random.RandomState:
    """Start one of the streams of a seed; words of 32 bits, lowest first."""
    words = [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]
    return np.random.RandomState([*words, number])


def bootstrap(ratings: Ratings, families: Sequence[Family], *, draws: int = DRAWS, seed: int) -> Values:
    """Give every coefficient of the families for each resample: (draws,) or (draws, k) by name."""
    blocks: dict[str, list[FloatArray]] = {}
    for sizes in resampled_sizes(ratings, draws, seed):
        for family in families:
            for name, values in family(sizes).items():
                blocks.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in blocks.items()}


def percentile_interval(values: FloatArray) -> Interval:
    """Take the 2.5 % and 97.5 % quantiles (linear interpolation) of the resamples that have a value."""
    tail = (1 - LEVEL) / 2
    return _quantiles(values, tail, 1 - tail)


def bca_interval(values: FloatArray, estimate: float, left_out: FloatArray, sizes: FloatArray) -> Interval:
    """Correct the percentiles for bias and skew (Efron 1987, J. Am. Stat. Assoc. 82(397), 171-185).

    ``left_out[u]`` is the coefficient without one unit of pattern u, ``sizes[u]`` the number of such units.
    Falls back to the percentile interval where the correction is undefined.
    """
    normal = NormalDist()
    defined = values[~np.isnan(values)]
    usable = ~np.isnan(left_out) & (sizes > 0)
    if not len(defined) or not usable.any():
        return percentile_interval(values)
    # Ties count half: on small tables many resamples give the very estimate.
    below = float(np.mean(defined < estimate) + np.mean(np.isclose(defined, estimate)) / 2)
    if not 0 < below < 1:
        return percentile_interval(values)
    bias, skew = normal.inv_cdf(below), _acceleration(left_out[usable], sizes[usable])
    limits = []
    for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        shifted = bias + normal.inv_cdf(tail)
        limits.append(normal.cdf(bias + shifted / (1 - skew * shifted)))
    return _quantiles(values, *limits)


def jackknife(ratings: Ratings, family: Family) -> Values:
    """Give every coefficient without one unit of each pattern in turn: (U,) or (U, k) by name."""
    sizes = ratings.sizes.astype(float)
    return family(np.maximum(sizes - np.eye(len(sizes)), 0))


def _acceleration(left_out: FloatArray, sizes: FloatArray) -> float:
    deviations = np.average(left_out, weights=sizes) - left_out
    squares = float((sizes * deviations**2).sum())
    return float((sizes * deviations**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def _quantiles(values: FloatArray, low: float, high: float) -> Interval:
    defined = values[~np.isnan(values)]
    share = 1 - len(defined) / len(values) if len(values) else 1.0
    if not len(defined):
        return Interval(None, None, share)
    limits = np.quantile(defined, [low, high]) + 0.0  # no negative zero
    return Interval(float(limits[0]), float(limits[1]), share)
