"""The agreement report of one dimension and of a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from labeling.agreement import coefficients as named
from labeling.agreement import kappa
from labeling.agreement.cautions import Caution, Seen, cautions
from labeling.agreement.dimension import (
    DimensionData,
    Kind,
    multiple_ratings,
    single_ratings,
    upper_level,
    without_states,
)
from labeling.agreement.fleiss import fleiss_category_kappa, pooled_specific_agreement
from labeling.agreement.interval import Interval, bca_interval, bootstrap, jackknife, percentile_interval
from labeling.agreement.ratings import FloatArray, Ratings
from labeling.agreement.scale import Reading, read
from labeling.agreement.sets import Chosen, membership
from labeling.agreement.statistic import NO_PAIR, ONE_PAIRABLE, Statistic, format_two, reason_for
from labeling.agreement.table import Margins, PairMargins, cross_table

__all__ = [
    "CategoryReport",
    "Caution",
    "DimensionData",
    "DimensionReport",
    "Matrix",
    "PairReport",
    "RoundReport",
    "Statistic",
    "format_two",
    "summarise",
    "summarise_round",
    "to_payload",
]

IntervalKind = Literal["percentile", "bca"]
# Describe the table rather than estimate agreement: no interval.
WITHOUT_INTERVAL = {"expected_agreement", "kappa_max", "prevalence_index", "bias_index"}
# With two coders these repeat raw agreement and Scott's pi under another name.
ONLY_MANY = {"observed_agreement", "fleiss_kappa_general", "fleiss_kappa"}
ANALYTIC = "normal interval from the standard error of Fleiss, Cohen & Everitt (1969)"


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two coders on the units both coded: ``kappa`` is the statistic named ``statistic``."""

    coder_a: str
    coder_b: str
    n: int
    observed: Statistic
    statistic: str
    kappa: Statistic


@dataclass(frozen=True, slots=True)
class Matrix:
    """Who chose what: ``counts[i][j]`` units where A chose category i and B category j."""

    coder_a: str
    coder_b: str
    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """One category against all others.

    ``n`` answers chose it. ``n_a``, ``n_b`` and ``both`` are units of two coders, None with more. ``kappa`` is
    Cohen's with two coders, Fleiss' with more, Light's mean for multiple choice (``statistic`` names it).
    """

    category: str
    n: int
    n_a: int | None
    n_b: int | None
    both: int | None
    positive_agreement: float | None
    statistic: str
    kappa: Statistic


@dataclass(frozen=True, slots=True)
class DimensionReport:
    """Everything about one dimension. ``undefined`` says why where there is no number at all."""

    key: str
    kind: Kind
    headline: str | None
    coders: tuple[str, ...]
    n_units: int
    n_both: int
    left_out: Mapping[str, int]
    k: int
    conditional: bool
    observed: Statistic
    statistics: Mapping[str, Statistic]
    pairs: Sequence[PairReport]
    matrix: Sequence[Matrix]
    categories: Sequence[CategoryReport]
    undefined: str | None
    warnings: Sequence[Caution]
    reading: Reading | None
    seed: int
    draws: int


@dataclass(frozen=True, slots=True)
class RoundReport:
    """Eligibility first, over all units both answered, then every dimension over the units both kept."""

    eligibility: DimensionReport | None
    dimensions: Sequence[DimensionReport]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to compute for one kind of answer and number of coders."""

    ratings: Ratings
    families: Sequence[named.Family]
    headline: str
    observed: str
    pair_statistic: str
    pair_value: Callable[[Margins], FloatArray]
    category_statistic: str
    members: FloatArray
    extra: Mapping[str, Statistic] = field(default_factory=dict)
    states_left_out: int = 0


def summarise(
    data: DimensionData, *, scale: str = "landis_koch", interval: IntervalKind = "percentile"
) -> DimensionReport:
    """Compute the whole report of one dimension.

    Raises ValueError where an answer is no category of the dimension, or the scale is unknown.
    """
    reason = _no_number(data)
    if reason is not None:
        return _empty(data, reason)
    plan = _plan_sets(data, *multiple_ratings(data)) if data.kind == "multiple" else _plan_single(data)
    if plan.ratings.units_with(2) == 0:
        return _empty(data, NO_PAIR)
    return _Summary(data, plan, interval).report(scale)


def summarise_round(
    eligibility: DimensionData | None, dimensions: Sequence[DimensionData], *, scale: str = "landis_koch"
) -> RoundReport:
    """Compute the report of a round."""
    first = None if eligibility is None else summarise(eligibility, scale=scale)
    return RoundReport(first, tuple(summarise(data, scale=scale) for data in dimensions))


def _no_number(data: DimensionData) -> str | None:
    if data.kind == "text":
        return "Free text has no categories, so there is no agreement to compute."
    if not data.categories:
        return "No category is declared, so there is no agreement to compute."
    if len(data.coders) < 2:
        return "Agreement needs at least two coders."
    return None


def _empty(data: DimensionData, reason: str) -> DimensionReport:
    return DimensionReport(
        key=data.key,
        kind=data.kind,
        headline=None,
        coders=data.coders,
        n_units=len(data.units),
        n_both=0 if data.kind != "text" else _answered_twice(data),
        left_out=_left_out(data),
        k=len(data.choices),
        conditional=data.conditional,
        observed=Statistic.none(reason),
        statistics={},
        pairs=(),
        matrix=(),
        categories=(),
        undefined=reason,
        warnings=(),
        reading=None,
        seed=data.seed,
        draws=data.draws,
    )


def _answered_twice(data: DimensionData) -> int:
    return sum(sum((unit, coder) in data.values for coder in data.coders) >= 2 for unit in data.units)


def _left_out(data: DimensionData) -> dict[str, int]:
    return {reason: len(units) for reason, units in data.left_out.items()}


def _plan_single(data: DimensionData) -> _Plan:
    ratings, two = single_ratings(data), len(data.coders) == 2
    ordinal = data.kind == "ordinal"
    families: list[named.Family] = [named.AnyCoders(ratings), named.CompleteUnits(ratings)]
    families.append(named.TwoCoders(ratings) if two else named.CoderPairs(ratings))
    extra: dict[str, Statistic] = _standard_error_statistics(ratings, "cohen_kappa", None) if two else {}
    states_left_out = 0
    if ordinal:
        ordered = without_states(ratings, len(data.categories))
        states_left_out = int(ratings.sizes @ (ratings.answers - ordered.answers))
        weights = named.ordinal_weights(ordered.k, "" if two else "light_")
        families += [named.Ordinal(ordered), named.WeightedPair(ordered, weights)]
        for name, table in weights.items() if two else ():
            extra |= _standard_error_statistics(ordered, name, table)
    families += _level_families(data, ratings)
    many = "krippendorff_alpha_ordinal" if ordinal else "krippendorff_alpha_nominal"
    return _Plan(
        ratings=ratings,
        families=families,
        headline="cohen_kappa" if two else many,
        observed="raw_agreement" if two else "observed_agreement",
        pair_statistic="cohen_kappa",
        pair_value=kappa.cohen_kappa,
        category_statistic="category_kappa" if two else "fleiss_category_kappa",
        members=np.eye(ratings.k),
        extra=extra,
        states_left_out=states_left_out,
    )


def _level_families(data: DimensionData, ratings: Ratings) -> list[named.Family]:
    names, positions = upper_level(data.choices, data.parents)
    if len(names) == len(data.choices):
        return []
    upper = ratings.recoded(positions, len(names))
    two = len(data.coders) == 2
    above: list[named.Family] = [named.AnyCoders(upper), named.TwoCoders(upper) if two else named.CoderPairs(upper)]
    families: list[named.Family] = [named.Prefixed("level1.", family) for family in above]
    return [*families, named.TwoLevels(ratings, positions)] if two else families


def _standard_error_statistics(ratings: Ratings, name: str, weights: FloatArray | None) -> dict[str, Statistic]:
    table = cross_table(ratings)
    errors = kappa.standard_errors(table, weights)
    reason = reason_for(name, k=ratings.k, pairable=int(table.sum()), complete=int(table.sum()))
    statistics = {f"{name}_se": Statistic.of(errors.ase, reason)}
    if weights is None:
        statistics[f"{name}_se0"] = Statistic.of(errors.null, reason)
        limits = Statistic.of(errors.kappa, reason)
        if errors.ase > 0 and table.sum() >= 2:
            limits = limits.between(*errors.ci95, ANALYTIC)
        statistics[f"{name}_ci95"] = limits
    return statistics


def _plan_sets(data: DimensionData, ratings: Ratings, sets: Sequence[Chosen]) -> _Plan:
    return _Plan(
        ratings=ratings,
        families=[named.SetValued(ratings, sets, data.choices)],
        headline="krippendorff_alpha_masi",
        observed="exact_match",
        pair_statistic="macro_label_kappa",
        pair_value=lambda margins: named.mean_defined(kappa.category_kappa(margins)),
        category_statistic="label_kappa",
        members=membership(sets, data.choices),
    )


class _Summary:
    """Values, resamples and what is read off them, for one dimension."""

    def __init__(self, data: DimensionData, plan: _Plan, interval: IntervalKind) -> None:
        self.data, self.plan, self.ratings = data, plan, plan.ratings
        self.sizes = plan.ratings.sizes.astype(float)
        self.pairable = plan.ratings.units_with(2)
        self.values: named.Values = {}
        for family in plan.families:
            self.values |= family(self.sizes)
        self.resamples = bootstrap(self.ratings, plan.families, draws=data.draws, seed=data.seed)
        self.left_out = self._jackknife() if interval == "bca" else {}
        kind = "BCa" if interval == "bca" else "percentile"
        self.method = f"{kind} bootstrap over units, {data.draws} draws, seed {data.seed}"

    def _jackknife(self) -> named.Values:
        values: named.Values = {}
        for family in self.plan.families:
            values |= jackknife(self.ratings, family)
        return values

    def report(self, scale: str) -> DimensionReport:
        statistics = self.statistics()
        headline = statistics[self.plan.headline]
        observed = statistics[self.plan.observed]
        reading = None
        if headline.value is not None:
            reading = read(scale, self.plan.headline, headline.value, headline.ci_low, headline.ci_high)
        return DimensionReport(
            key=self.data.key,
            kind=self.data.kind,
            headline=self.plan.headline,
            coders=self.data.coders,
            n_units=len(self.data.units),
            n_both=self.pairable,
            left_out=_left_out(self.data),
            k=len(self.data.choices),
            conditional=self.data.conditional,
            observed=observed,
            statistics=statistics,
            pairs=self.pairs(statistics),
            matrix=self.matrix(),
            categories=self.categories(),
            undefined=None,
            warnings=self.warnings(statistics),
            reading=reading,
            seed=self.data.seed,
            draws=self.data.draws,
        )

    @property
    def two(self) -> bool:
        return len(self.data.coders) == 2

    def reason(self, name: str, k: int | None = None) -> str:
        complete = self.ratings.units_with(len(self.data.coders))
        return reason_for(name, k=len(self.data.choices) if k is None else k, pairable=self.pairable, complete=complete)

    def statistics(self) -> dict[str, Statistic]:
        found = {name: self.statistic(name) for name, value in self.values.items() if value.ndim == 0}
        hidden = ONLY_MANY if self.two else set()
        if self.ratings.units_with(1) == self.ratings.units_with(len(self.data.coders)):
            hidden = hidden | {"gwet_ac1_complete"}
        kept = {name: one for name, one in found.items() if name.removeprefix("level1.") not in hidden}
        return {**kept, **self.plan.extra}

    def statistic(self, name: str) -> Statistic:
        value = float(self.values[name])
        if "alpha" in name and self.pairable < 2:
            return Statistic.none(ONE_PAIRABLE)
        plain = Statistic.of(value, self.reason(name))
        if name.removeprefix("level1.") in WITHOUT_INTERVAL:
            return plain
        return self.between(plain, self.resamples[name], self.left_out.get(name))

    def between(self, statistic: Statistic, resamples: FloatArray, left_out: FloatArray | None) -> Statistic:
        """Add the bootstrap interval, unless no resample differs: then it would claim a certainty nobody has."""
        if self.pairable < 2 or statistic.value is None:
            return statistic
        found = self.interval(statistic.value, resamples, left_out)
        if found.low is None or found.high is None or found.high - found.low < 1e-12:
            return statistic
        return statistic.between(found.low, found.high, self.method)

    def interval(self, value: float, resamples: FloatArray, left_out: FloatArray | None) -> Interval:
        if left_out is None:
            return percentile_interval(resamples)
        return bca_interval(resamples, value, left_out, self.sizes)

    def pairs(self, statistics: Mapping[str, Statistic]) -> tuple[PairReport, ...]:
        return tuple(self.pair(a, b, statistics) for a, b in combinations(range(len(self.data.coders)), 2))

    def pair(self, a: int, b: int, statistics: Mapping[str, Statistic]) -> PairReport:
        name = self.plan.pair_statistic
        margins = PairMargins(self.ratings, a, b, self.plan.members)(self.sizes)
        together = self.ratings.pair(a, b)
        n = int(margins.n)
        same = int(together.sizes[together.patterns[:, 0] == together.patterns[:, 1]].sum())
        reason = reason_for(name, k=margins.k, pairable=n, complete=n)
        observed, value = Statistic.of(same / n if n else np.nan, NO_PAIR), Statistic.of(
            float(self.plan.pair_value(margins)), reason
        )
        if self.two:
            observed, value = statistics[self.plan.observed], statistics[name]
        elif name == "cohen_kappa":
            value = _standard_error_statistics(together, name, None)["cohen_kappa_ci95"]
        return PairReport(self.data.coders[a], self.data.coders[b], n, observed, name, value)

    def matrix(self) -> tuple[Matrix, ...]:
        if self.data.kind == "multiple":
            return ()
        coders = self.data.coders
        return tuple(
            Matrix(coders[a], coders[b], self.data.choices, tuple(map(tuple, cross_table(self.ratings, a, b).tolist())))
            for a, b in combinations(range(len(coders)), 2)
        )

    def categories(self) -> tuple[CategoryReport, ...]:
        values, resamples, left_out = self.category_kappas()
        specific = self.specific_agreement()
        margins = PairMargins(self.ratings, 0, 1, self.plan.members)(self.sizes) if self.two else None
        uses = self.sizes @ self.ratings.unit_counts() @ self.plan.members
        name = self.plan.category_statistic
        rows = []
        for j, category in enumerate(self.data.choices):
            one = Statistic.of(float(values[j]), self.reason("category_kappa"))
            if resamples is not None:
                one = self.between(one, resamples[:, j], None if left_out is None else left_out[:, j])
            counts = (None, None, None) if margins is None else _units_of(margins, j)
            shared = None if np.isnan(specific[j]) else float(specific[j])
            rows.append(CategoryReport(category, int(uses[j]), *counts, shared, name, one))
        return tuple(rows)

    def category_kappas(self) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
        name = self.plan.category_statistic
        if name in self.values:
            return self.values[name], self.resamples[name], self.left_out.get(name)
        return fleiss_category_kappa(self.ratings), None, None

    def specific_agreement(self) -> FloatArray:
        for name in ("specific_agreement", "label_specific_agreement"):
            if name in self.values:
                return self.values[name]
        return pooled_specific_agreement(self.ratings)

    def warnings(self, statistics: Mapping[str, Statistic]) -> tuple[Caution, ...]:
        uses = self.sizes @ self.ratings.unit_counts() @ self.plan.members / len(self.data.coders)
        headline = self.resamples[self.plan.headline]
        seen = Seen(
            n=self.pairable,
            observed=statistics[self.plan.observed].value,
            uses=dict(zip(self.data.choices, uses.tolist(), strict=True)),
            constant=self.constant_coders(),
            statistics=statistics,
            undefined_share=float(np.isnan(headline).mean()) if statistics[self.plan.headline].value is not None else 0,
            states_left_out=self.plan.states_left_out,
        )
        return cautions(seen)

    def constant_coders(self) -> tuple[str, ...]:
        if self.data.kind == "multiple":
            return ()
        used = [self.ratings.patterns[:, place] for place in range(len(self.data.coders))]
        return tuple(
            coder for coder, codes in zip(self.data.coders, used, strict=True) if len(set(codes[codes >= 0].tolist())) == 1
        )


def _units_of(margins: Margins, j: int) -> tuple[int, int, int]:
    return int(margins.first[j]), int(margins.second[j]), int(margins.both[j])


def to_payload(report: DimensionReport) -> dict[str, Any]:
    """Give the report as plain JSON types, under the key names of the API."""
    return {
        "key": report.key,
        "kind": report.kind,
        "headline": report.headline,
        "coders": list(report.coders),
        "n_units": report.n_units,
        "n_both": report.n_both,
        "left_out": dict(report.left_out),
        "k": report.k,
        "conditional": report.conditional,
        "observed": _statistic_payload(report.observed),
        "statistics": {name: _statistic_payload(one) for name, one in report.statistics.items()},
        **_aliases(report),
        "pairs": [_pair_payload(pair) for pair in report.pairs],
        "matrix": [_matrix_payload(matrix) for matrix in report.matrix],
        "categories": [_category_payload(category) for category in report.categories],
        "undefined": report.undefined,
        "warnings": [{"key": caution.key, "words": caution.words} for caution in report.warnings],
        "reading": None if report.reading is None else _reading_payload(report.reading),
        "seed": report.seed,
        "draws": report.draws,
    }


def _statistic_payload(statistic: Statistic) -> dict[str, Any]:
    return {
        "value": statistic.value,
        "ci_low": statistic.ci_low,
        "ci_high": statistic.ci_high,
        "method": statistic.method,
        "undefined": statistic.undefined,
    }


def _aliases(report: DimensionReport) -> dict[str, Any]:
    """Give the three coefficients readers look for, wherever the dimension keeps them."""
    alphas = {"multiple": "krippendorff_alpha_masi", "ordinal": "krippendorff_alpha_ordinal"}
    names = {"kappa": "cohen_kappa", "ac1": "gwet_ac1", "alpha": alphas.get(report.kind, "krippendorff_alpha_nominal")}
    missing = "Not defined where a unit may have several categories; see macro_label_kappa."
    if report.undefined is not None:
        missing = report.undefined
    elif len(report.coders) > 2 and report.kind != "multiple":
        missing = "per pair"
    absent = Statistic.none(missing)
    found = {alias: report.statistics.get(name, absent) for alias, name in names.items()}
    return {alias: _statistic_payload(statistic) for alias, statistic in found.items()}


def _pair_payload(pair: PairReport) -> dict[str, Any]:
    return {
        "coder_a": pair.coder_a,
        "coder_b": pair.coder_b,
        "n": pair.n,
        "observed": _statistic_payload(pair.observed),
        "statistic": pair.statistic,
        "kappa": _statistic_payload(pair.kappa),
    }


def _matrix_payload(matrix: Matrix) -> dict[str, Any]:
    return {
        "coder_a": matrix.coder_a,
        "coder_b": matrix.coder_b,
        "categories": list(matrix.categories),
        "counts": [list(row) for row in matrix.counts],
    }


def _category_payload(category: CategoryReport) -> dict[str, Any]:
    return {
        "category": category.category,
        "n": category.n,
        "n_a": category.n_a,
        "n_b": category.n_b,
        "both": category.both,
        "positive_agreement": category.positive_agreement,
        "statistic": category.statistic,
        "kappa": _statistic_payload(category.kappa),
    }


def _reading_payload(reading: Reading) -> dict[str, Any]:
    return {
        "scale": reading.scale,
        "name": reading.name,
        "citation": reading.citation,
        "statistic": reading.statistic,
        "value": reading.value,
        "low": reading.low,
        "high": reading.high,
        "words": reading.words,
    }
