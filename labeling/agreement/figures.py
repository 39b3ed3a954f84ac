"""Every figure of a set of ratings in plain Python types, by the names of the reference cases.

A figure is a number, a list, or a mapping by category or pair of coders; None is undefined. Here nothing is
judged: the values are the bare arithmetic, the report decides what is worth showing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from labeling.agreement import coefficients as named
from labeling.agreement import kappa
from labeling.agreement.dimension import upper_level
from labeling.agreement.fleiss import complete_units, fleiss_category_kappa
from labeling.agreement.interval import bootstrap, percentile_interval
from labeling.agreement.light import Pairs, each_pair
from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.sets import (
    Chosen,
    MeanDistance,
    distance_table,
    jaccard_distance,
    masi_distance,
    set_distance,
)
from labeling.agreement.statistic import NO_PAIR
from labeling.agreement.table import cross_table

Figure = float | str | list["Figure"] | dict[str, "Figure"] | None
Figures = dict[str, Figure]


def plain(value: ArrayLike) -> Figure:
    """Turn an array into numbers or nested lists, NaN into None."""
    array = np.asarray(value, dtype=float)
    if array.ndim:
        return [plain(one) for one in array]
    return None if np.isnan(array) else float(array) + 0.0


def by_name(names: Sequence[str], values: ArrayLike) -> Figure:
    """Give the values as a mapping."""
    return dict(zip(names, (plain(one) for one in np.asarray(values)), strict=True))


@dataclass(frozen=True, slots=True)
class SingleChoice:
    """Ratings of one category per unit. ``weights`` are agreement weights of the reader's own."""

    ratings: Ratings
    categories: tuple[str, ...]
    coders: tuple[str, ...]
    weights: FloatArray | None = None
    parents: Mapping[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> FloatArray:
        return self.ratings.sizes.astype(float)

    def figures(self) -> Figures:
        """Give every figure that needs no resampling."""
        found = {**self._counts(), **self._from_families(), **self._pairs()}
        if len(self.coders) == 2:
            found |= self._errors()
        found["fleiss_category_kappa"] = by_name(self.categories, fleiss_category_kappa(self.ratings))
        return {**found, **self._levels()} if self.parents else found

    def bootstrap_figures(self, seed: int) -> Figures:
        """Give the percentile interval of kappa, or of nominal alpha for more than two coders."""
        if len(self.coders) == 2:
            return _interval(self.ratings, named.TwoCoders(self.ratings), "cohen_kappa", seed)
        return _interval(self.ratings, named.AnyCoders(self.ratings), "krippendorff_alpha_nominal", seed)

    def _counts(self) -> Figures:
        ratings = self.ratings
        found: Figures = {
            "n_units": int(ratings.sizes.sum()),
            "n_coders": len(self.coders),
            "n_units_pairable": ratings.units_with(2),
            "n_units_complete": ratings.units_with(len(self.coders)),
            "undefined": None if ratings.units_with(2) else NO_PAIR,
        }
        if len(self.coders) == 2:
            found["n_both"] = ratings.units_with(2)
            found["confusion"] = cross_table(ratings).tolist()
        return found

    def _from_families(self) -> Figures:
        ratings = self.ratings
        families: list[named.Family] = [named.AnyCoders(ratings), named.CompleteUnits(ratings)]
        families += [named.CoderPairs(ratings), named.Ordinal(ratings)]
        families.append(named.WeightedPair(ratings, self._weightings("light_")))
        if len(self.coders) == 2:
            families += [named.TwoCoders(ratings), named.WeightedPair(ratings, self._weightings())]
        values: named.Values = {}
        for family in families:
            values |= family(self.sizes)
        complete = complete_units(ratings)
        for name, value in named.Ordinal(complete)(complete.sizes.astype(float)).items():
            values |= {f"{name}_complete": value} if name.startswith("gwet") else {}
        return {
            name: by_name(self.categories, one) if one.ndim else plain(one) for name, one in values.items()
        }

    def _weightings(self, prefix: str = "") -> dict[str, FloatArray]:
        weights = named.ordinal_weights(self.ratings.k, prefix)
        if self.weights is not None:
            weights[f"{prefix}weighted_kappa_custom"] = self.weights
        return weights

    def _pairs(self) -> Figures:
        pairs = Pairs(self.ratings)(self.sizes)
        names = [f"{a}|{b}" for a, b in combinations(self.coders, 2)]
        return {
            "pairwise_n": by_name(names, each_pair(pairs, lambda margins: margins.n)),
            "pairwise_cohen_kappa": by_name(names, each_pair(pairs, kappa.cohen_kappa)),
        }

    def _errors(self) -> Figures:
        table = cross_table(self.ratings)
        errors = kappa.standard_errors(table)
        found: Figures = {"cohen_kappa_se": plain(errors.ase), "cohen_kappa_se0": plain(errors.null)}
        found["cohen_kappa_ci95"] = None if np.isnan(errors.ase) else plain(errors.ci95)
        for name, weight in self._weightings().items():
            found[f"{name}_se"] = plain(kappa.standard_errors(table, weight).ase)
        return found

    def _levels(self) -> Figures:
        names, positions = upper_level(self.categories, self.parents)
        upper = SingleChoice(self.ratings.recoded(positions, len(names)), names, self.coders)
        lower = SingleChoice(self.ratings, self.categories, self.coders, self.weights)
        found: Figures = {f"level1.{name}": figure for name, figure in upper.figures().items()}
        found |= {f"level2.{name}": figure for name, figure in lower.figures().items()}
        if len(self.coders) == 2:
            values = named.TwoLevels(self.ratings, positions)(self.sizes)
            found |= {name: plain(value) for name, value in values.items()}
        return found


@dataclass(frozen=True, slots=True)
class MultipleChoice:
    """Ratings of a set of categories per unit; ``ratings`` number the distinct sets."""

    ratings: Ratings
    sets: Sequence[Chosen]
    categories: tuple[str, ...]
    coders: tuple[str, ...]

    def figures(self) -> Figures:
        """Give every figure that needs no resampling."""
        ratings, sizes = self.ratings, self.ratings.sizes.astype(float)
        found: Figures = {
            "n_units": int(ratings.sizes.sum()),
            "n_coders": len(self.coders),
            "n_units_pairable": ratings.units_with(2),
            "n_units_complete": ratings.units_with(len(self.coders)),
            "n_distinct_sets": len(self.sets),
            "n_pairs": MeanDistance(ratings, distance_table(self.sets, set_distance)).pairs(sizes),
            "undefined": None if ratings.units_with(2) else NO_PAIR,
        }
        if len(self.coders) == 2:
            found["n_both"] = ratings.units_with(2)
        for name, value in named.SetValued(ratings, self.sets, self.categories)(sizes).items():
            found[name] = by_name(self.categories, value) if value.ndim else plain(value)
        return found

    def bootstrap_figures(self, seed: int) -> Figures:
        """Give the percentile interval of alpha on MASI distances."""
        family = named.SetValued(self.ratings, self.sets, self.categories)
        return _interval(self.ratings, family, "krippendorff_alpha_masi", seed)


def _interval(ratings: Ratings, family: named.Family, name: str, seed: int) -> Figures:
    interval = percentile_interval(bootstrap(ratings, [family], seed=seed)[name])
    limits: Figure = None if interval.low is None else [interval.low, interval.high]
    return {"boot_ci95": limits, "boot_undefined_share": interval.undefined_share}


def distance_figures(pairs: Sequence[tuple[Chosen, Chosen]]) -> Figures:
    """Give the distances of pairs of sets."""
    return {
        "jaccard_distances": [jaccard_distance(a, b) for a, b in pairs],
        "masi_distances": [masi_distance(a, b) for a, b in pairs],
    }
