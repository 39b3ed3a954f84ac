"""What to compute for one kind of answer and number of coders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from labeling.agreement import coefficients as named
from labeling.agreement import kappa
from labeling.agreement.dimension import (
    DimensionData,
    multiple_ratings,
    single_ratings,
    upper_level,
    without_states,
)
from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.ratio import mean_defined
from labeling.agreement.sets import membership
from labeling.agreement.statistic import Statistic, reason_for
from labeling.agreement.table import Margins, cross_table

ANALYTIC = "normal interval from the standard error of Fleiss, Cohen & Everitt (1969)"

# The alpha of each kind of dimension.
ALPHAS = {
    "single": "krippendorff_alpha_nominal",
    "ordinal": "krippendorff_alpha_ordinal",
    "multiple": "krippendorff_alpha_masi",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A family of coefficients and the ratings it looks at, which may be fewer than all or a level up.

    Its names get ``prefix``. The patterns of ``ratings`` are those of the plan, so the same sizes fit.
    """

    family: named.Family
    ratings: Ratings
    prefix: str = ""

    def __call__(self, sizes: FloatArray) -> named.Values:
        return {f"{self.prefix}{name}": value for name, value in self.family(sizes).items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """The coefficients of a dimension. ``members`` maps the positions of ``ratings`` to the choices.

    ``pair_value`` is the statistic of each pair of coders, named ``pair_statistic``; ``analytic`` holds what
    needs no resampling; ``states_left_out`` counts the units with an answer that coefficients of order do not
    use.
    """

    ratings: Ratings
    parts: Sequence[Part]
    headline: str
    observed: str
    pair_statistic: str
    pair_value: Callable[[Margins], FloatArray]
    category_statistic: str
    members: FloatArray
    analytic: Mapping[str, Statistic] = field(default_factory=dict)
    states_left_out: int = 0


def plan_for(data: DimensionData) -> Plan:
    """Choose the coefficients; raise ValueError where an answer is no choice of the dimension."""
    if data.kind == "multiple":
        return _multiple(data)
    return _two_coders(data) if len(data.coders) == 2 else _many_coders(data)


def _two_coders(data: DimensionData) -> Plan:
    ratings = single_ratings(data)
    ordered = without_states(ratings, len(data.categories))
    parts = [Part(named.TwoCoders(ratings), ratings), *_any_coders(ratings)]
    analytic = error_statistics(ratings)
    if data.kind == "ordinal":
        weights = named.ordinal_weights(ordered.k)
        parts += _ordinal(ordered, weights)
        for name, table in weights.items():
            analytic |= weighted_error_statistic(ordered, name, table)
    return Plan(
        ratings=ratings,
        parts=parts + _levels(data, ratings),
        headline="cohen_kappa",
        observed="raw_agreement",
        pair_statistic="cohen_kappa",
        pair_value=kappa.cohen_kappa,
        category_statistic="category_kappa",
        members=np.eye(ratings.k),
        analytic=analytic,
        states_left_out=_states_left_out(data, ratings, ordered),
    )


def _many_coders(data: DimensionData) -> Plan:
    ratings = single_ratings(data)
    ordered = without_states(ratings, len(data.categories))
    parts = [*_any_coders(ratings), Part(named.CoderPairs(ratings), ratings)]
    if data.kind == "ordinal":
        parts += _ordinal(ordered, named.ordinal_weights(ordered.k, "light_"))
    return Plan(
        ratings=ratings,
        parts=parts + _levels(data, ratings),
        headline=ALPHAS[data.kind],
        observed="observed_agreement",
        pair_statistic="cohen_kappa",
        pair_value=kappa.cohen_kappa,
        category_statistic="fleiss_category_kappa",
        members=np.eye(ratings.k),
        states_left_out=_states_left_out(data, ratings, ordered),
    )


def _multiple(data: DimensionData) -> Plan:
    ratings, sets = multiple_ratings(data)
    return Plan(
        ratings=ratings,
        parts=[Part(named.SetValued(ratings, sets, data.choices), ratings)],
        headline=ALPHAS[data.kind],
        observed="exact_match",
        pair_statistic="macro_label_kappa",
        pair_value=lambda margins: mean_defined(kappa.category_kappa(margins)),
        category_statistic="label_kappa",
        members=membership(sets, data.choices),
    )


def _any_coders(ratings: Ratings) -> list[Part]:
    parts = [Part(named.AnyCoders(ratings), ratings)]
    if ratings.coders > 2 or ratings.units_with(1) > ratings.units_with(2):
        parts.append(Part(named.CompleteUnits(ratings), ratings))
    return parts


def _ordinal(ordered: Ratings, weights: dict[str, FloatArray]) -> list[Part]:
    families = (named.Ordinal(ordered), named.WeightedPair(ordered, weights))
    return [Part(family, ordered) for family in families]


def _states_left_out(data: DimensionData, ratings: Ratings, ordered: Ratings) -> int:
    """Count the units with an answer that coefficients of order leave out."""
    return int(ratings.sizes[ratings.answers > ordered.answers].sum()) if data.kind == "ordinal" else 0


def _levels(data: DimensionData, ratings: Ratings) -> list[Part]:
    names, positions = upper_level(data.choices, data.parents)
    if len(names) == len(data.choices):
        return []
    upper = ratings.recoded(positions, len(names))
    above = Part(named.AnyCoders(upper), upper, "level1.")
    if len(data.coders) > 2:
        return [above, Part(named.CoderPairs(upper), upper, "level1.")]
    return [
        above,
        Part(named.TwoCoders(upper), upper, "level1."),
        Part(named.TwoLevels(ratings, positions), ratings),
    ]


def error_statistics(ratings: Ratings) -> dict[str, Statistic]:
    """Give the standard errors of Cohen's kappa of two coders and the interval made from one of them."""
    table = cross_table(ratings)
    n = int(table.sum())
    errors = kappa.standard_errors(table)
    reason = reason_for("cohen_kappa", k=ratings.k, pairable=n, complete=n)
    limits = Statistic.of(errors.kappa, reason)
    return {
        "cohen_kappa_se": Statistic.of(errors.ase, reason),
        "cohen_kappa_se0": Statistic.of(errors.null, reason),
        "cohen_kappa_ci95": limits.between(*errors.ci95, ANALYTIC) if errors.ase > 0 and n >= 2 else limits,
    }


def weighted_error_statistic(ratings: Ratings, name: str, weights: FloatArray) -> dict[str, Statistic]:
    """Give the standard error of a weighted kappa of two coders."""
    table = cross_table(ratings)
    n = int(table.sum())
    reason = reason_for(name, k=ratings.k, pairable=n, complete=n)
    return {f"{name}_se": Statistic.of(kappa.standard_errors(table, weights).ase, reason)}
