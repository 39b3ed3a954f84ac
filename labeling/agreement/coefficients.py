"""The named coefficients of each kind of answer, as families that share their sums.

A family is built once from the ratings and then asked, for the observed sizes or for thousands of resampled
ones, for all its values by name. So the value and its interval cannot come from different formulae.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from labeling.agreement import kappa
from labeling.agreement.alpha import Alpha, OrdinalAlpha, nominal_distances
from labeling.agreement.fleiss import UnitAgreement, complete_units, fleiss_kappa
from labeling.agreement.gwet import gwet_ac
from labeling.agreement.light import Pairs, WeightedPairs, light_mean, pooled_specific
from labeling.agreement.ratings import FloatArray, IntArray, Ratings
from labeling.agreement.ratio import mean_defined, ratio
from labeling.agreement.sets import (
    Chosen,
    MeanDistance,
    distance_table,
    jaccard_distance,
    masi_distance,
    membership,
    set_distance,
)
from labeling.agreement.table import PairMargins
from labeling.agreement.weights import (
    hierarchical_weights,
    identity_weights,
    linear_weights,
    quadratic_weights,
)

Values = dict[str, FloatArray]


class Family(Protocol):
    """Give named values, of shape (...) or (..., k), for sizes of shape (..., U)."""

    def __call__(self, sizes: FloatArray) -> Values: ...


class TwoCoders:
    """Single choice, two coders: kappa and what stands beside it, on the units both coded."""

    def __init__(self, ratings: Ratings) -> None:
        self._margins = PairMargins(ratings, 0, 1)

    def __call__(self, sizes: FloatArray) -> Values:
        margins = self._margins(sizes)
        values = {
            "raw_agreement": kappa.observed_agreement(margins),
            "expected_agreement": kappa.expected_agreement(margins),
            "cohen_kappa": kappa.cohen_kappa(margins),
            "kappa_max": kappa.kappa_max(margins),
            "pabak": kappa.pabak(margins),
            "scott_pi": kappa.scott_pi(margins),
            "specific_agreement": kappa.specific_agreement(margins),
            "category_kappa": kappa.category_kappa(margins),
        }
        if margins.k == 2:
            values["prevalence_index"] = kappa.prevalence_index(margins)
            values["bias_index"] = kappa.bias_index(margins)
        return values


class AnyCoders:
    """Single choice, two or more coders who need not be told apart; missing answers allowed."""

    def __init__(self, ratings: Ratings) -> None:
        self._units, self._identity = UnitAgreement(ratings), identity_weights(ratings.k)
        self._alpha = Alpha(ratings, nominal_distances(ratings.k))

    def __call__(self, sizes: FloatArray) -> Values:
        observed, shares = self._units.observed(sizes), self._units.shares(sizes)
        return {
            "observed_agreement": observed,
            "krippendorff_alpha_nominal": self._alpha(sizes),
            "gwet_ac1": gwet_ac(observed, shares, self._identity),
            "fleiss_kappa_general": fleiss_kappa(observed, shares),
        }


class CompleteUnits:
    """The same coefficients on the units every coder coded only."""

    def __init__(self, ratings: Ratings) -> None:
        self._rows = ratings.answers == ratings.coders
        self._units, self._identity = UnitAgreement(complete_units(ratings)), identity_weights(ratings.k)

    def __call__(self, sizes: FloatArray) -> Values:
        complete = sizes[..., self._rows]
        observed, shares = self._units.observed(complete), self._units.shares(complete)
        return {
            "fleiss_kappa": fleiss_kappa(observed, shares),
            "gwet_ac1_complete": gwet_ac(observed, shares, self._identity),
        }


class CoderPairs:
    """Single choice, coder by coder: means over all pairs, each on the units both coded."""

    def __init__(self, ratings: Ratings) -> None:
        self._pairs = Pairs(ratings)

    def __call__(self, sizes: FloatArray) -> Values:
        pairs = self._pairs(sizes)
        return {
            "light_kappa": light_mean(pairs, kappa.cohen_kappa),
            "mean_pairwise_agreement": light_mean(pairs, kappa.observed_agreement),
        }


class Ordinal:
    """Categories in a declared order, two or more coders."""

    def __init__(self, ratings: Ratings) -> None:
        self._alpha = OrdinalAlpha(ratings)
        self._weights = {"linear": linear_weights(ratings.k), "quadratic": quadratic_weights(ratings.k)}
        self._units = {name: UnitAgreement(ratings, weights) for name, weights in self._weights.items()}

    def __call__(self, sizes: FloatArray) -> Values:
        shares = self._units["linear"].shares(sizes)  # they do not depend on the weights
        values = {"krippendorff_alpha_ordinal": self._alpha(sizes)}
        for name, units in self._units.items():
            values[f"gwet_ac2_{name}"] = gwet_ac(units.observed(sizes), shares, self._weights[name])
        return values


class WeightedPair:
    """Weighted kappa of two coders, by the name it is known under."""

    def __init__(self, ratings: Ratings, weights: dict[str, FloatArray]) -> None:
        self._pairs = {name: WeightedPairs(ratings, table) for name, table in weights.items()}

    def __call__(self, sizes: FloatArray) -> Values:
        return {name: pairs.mean(sizes) for name, pairs in self._pairs.items()}


def ordinal_weights(k: int, prefix: str = "") -> dict[str, FloatArray]:
    """Name the two usual weightings of an ordered scale."""
    return {
        f"{prefix}weighted_kappa_linear": linear_weights(k),
        f"{prefix}weighted_kappa_quadratic": quadratic_weights(k),
    }


class TwoLevels:
    """Two coders in a codebook of two levels: the level above, and the level below given agreement above."""

    def __init__(self, ratings: Ratings, parents: IntArray) -> None:
        first, second = ratings.patterns[:, 0], ratings.patterns[:, 1]
        complete = ratings.answers == 2
        self._same_parent = complete & (parents[first] == parents[second])
        self._same = complete & (first == second)
        self._half = WeightedPair(
            ratings, {"hierarchical_weighted_kappa_half": hierarchical_weights(parents.tolist())}
        )

    def __call__(self, sizes: FloatArray) -> Values:
        given = ratio(sizes @ self._same.astype(float), sizes @ self._same_parent.astype(float))
        return {"level2_agreement_given_level1_agreement": given, **self._half(sizes)}


class SetValued:
    """Multiple choice, two or more coders; ``ratings`` number the distinct sets."""

    def __init__(self, ratings: Ratings, sets: Sequence[Chosen], categories: Sequence[str]) -> None:
        members = membership(sets, categories)
        distances = {
            "jaccard": distance_table(sets, jaccard_distance),
            "masi": distance_table(sets, masi_distance),
            "nominal_sets": distance_table(sets, set_distance),
        }
        self._alphas = {name: Alpha(ratings, table) for name, table in distances.items()}
        self._means = {name: MeanDistance(ratings, table) for name, table in distances.items()}
        self._pairs = Pairs(ratings, members)
        self._labels = [
            Alpha(ratings.recoded(member.astype(np.int64), 2), nominal_distances(2)) for member in members.T
        ]

    def __call__(self, sizes: FloatArray) -> Values:
        values = {f"krippendorff_alpha_{name}": alpha(sizes) for name, alpha in self._alphas.items()}
        values["exact_match"] = 1 - self._means["nominal_sets"](sizes)
        values["mean_jaccard_similarity"] = 1 - self._means["jaccard"](sizes)
        values["mean_masi_similarity"] = 1 - self._means["masi"](sizes)
        pairs = self._pairs(sizes)
        labels = light_mean(pairs, kappa.category_kappa)
        values["label_kappa"] = labels
        values["macro_label_kappa"] = mean_defined(labels)
        values["pooled_label_kappa"] = light_mean(
            pairs, lambda margins: kappa.category_kappa(margins.pooled())[..., 0]
        )
        values["label_specific_agreement"] = pooled_specific(pairs)
        values["label_alpha"] = np.moveaxis(np.array([alpha(sizes) for alpha in self._labels]), 0, -1)
        return values
