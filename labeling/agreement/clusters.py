"""Units that come in clusters, such as repositories: what the headline says beyond the clusters at hand.

Units of one repository resemble each other more than those of two, so an interval over units is too narrow
for a claim about repositories nobody sampled. Here whole clusters are resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from labeling.agreement.interval import BLOCK, Interval, percentile_interval, random_stream
from labeling.agreement.kappa import NORMAL_975, standard_errors
from labeling.agreement.probability import chi_squared_tail
from labeling.agreement.ratings import FloatArray, IntArray, Ratings
from labeling.agreement.statistic import Statistic
from labeling.agreement.table import cross_table

FEW_CLUSTERS = 10
"""With fewer the interval over clusters is itself too narrow."""
STREAM = 3
NOT_POOLED = "Kappas are pooled by their standard errors for two coders with one category per unit only."
NO_ERROR = "Undefined: fewer than two clusters have a kappa with a standard error."


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """Whether the clusters may share one kappa (Fleiss 1981): chi-squared on ``degrees`` of freedom."""

    chi_squared: float
    degrees: int
    p: float


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The headline with an interval over clusters, and the kappas of the clusters pooled.

    ``pooled`` weighs each cluster's kappa by its precision, so it compares within clusters only;
    ``left_out`` names those without a standard error, where all units agree or kappa is undefined.
    """

    clusters: int
    headline: Statistic
    pooled: Statistic
    homogeneity: Homogeneity | None
    left_out: tuple[str, ...]


def cluster_sizes(
    ratings: Ratings, places: IntArray, names: list[str | None]
) -> tuple[list[str], FloatArray]:
    """Count the units two coders answered, by cluster and pattern: names of the clusters, clusters x U."""
    compared = ratings.answers[places] >= 2
    known = sorted({name for name, use in zip(names, compared, strict=True) if use and name is not None})
    number = {name: place for place, name in enumerate(known)}
    sizes = np.zeros((len(known), len(ratings.sizes)))
    rows = [
        (number[name], place)
        for name, place, use in zip(names, places.tolist(), compared, strict=True)
        if use and name is not None
    ]
    if rows:
        np.add.at(sizes, tuple(np.array(rows).T), 1)
    return known, sizes


def cluster_interval(
    sizes: FloatArray, value: Callable[[FloatArray], FloatArray], *, draws: int, seed: int
) -> Interval:
    """Resample whole clusters and give the percentile interval of ``value``, a function of pattern sizes."""
    random, count = random_stream(seed, STREAM), len(sizes)
    block = max(1, BLOCK // max(sizes.shape))
    found = []
    for start in range(0, draws, block):
        drawn = random.multinomial(count, np.full(count, 1 / count), size=min(block, draws - start))
        found.append(value(drawn @ sizes))
    return percentile_interval(np.concatenate(found))


def pooled_kappa(ratings: Ratings, sizes: Mapping[str, FloatArray]) -> ClusterReport:
    """Pool the kappas of two coders over clusters by inverse variance; the report lacks its headline."""
    kappas, weights, left_out = [], [], []
    for name, counts in sizes.items():
        part = Ratings(ratings.patterns, counts.astype(np.int64), ratings.k)
        errors = standard_errors(cross_table(part))
        if np.isnan(errors.kappa) or errors.ase == 0:
            left_out.append(name)
            continue
        kappas.append(errors.kappa)
        weights.append(errors.ase**-2)
    nothing = Statistic.none(NO_ERROR)
    if len(kappas) < 2:
        return ClusterReport(len(sizes), nothing, nothing, None, tuple(left_out))
    value = float(np.average(kappas, weights=weights))
    error = float(np.sum(weights)) ** -0.5
    chi_squared = float(np.dot(weights, (np.array(kappas) - value) ** 2))
    degrees = len(kappas) - 1
    return ClusterReport(
        clusters=len(sizes),
        headline=nothing,
        pooled=Statistic.of(value, NO_ERROR).between(
            value - NORMAL_975 * error, value + NORMAL_975 * error, "normal interval, inverse variance"
        ),
        homogeneity=Homogeneity(chi_squared, degrees, chi_squared_tail(chi_squared, degrees)),
        left_out=tuple(left_out),
    )
