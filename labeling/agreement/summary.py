"""Values, resamples and everything read off them, for one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np

from labeling.agreement.cautions import Caution, Seen, cautions
from labeling.agreement.claims import Claim, claim_of
from labeling.agreement.clusters import (
    NOT_POOLED,
    ClusterReport,
    cluster_interval,
    cluster_sizes,
    pooled_kappa,
)
from labeling.agreement.coefficients import Values
from labeling.agreement.dimension import DimensionData, pattern_of_units
from labeling.agreement.fleiss import fleiss_category_kappa, pooled_specific_agreement
from labeling.agreement.interval import Interval, bca_interval, bootstrap, jackknife, percentile_interval
from labeling.agreement.plan import Part, Plan, error_statistics
from labeling.agreement.ratings import FloatArray
from labeling.agreement.result import CategoryReport, Matrix, PairReport
from labeling.agreement.statistic import NO_PAIR, NOT_USABLE, ONE_PAIRABLE, Statistic, reason_for
from labeling.agreement.table import Margins, PairMargins, cross_table

IntervalKind = Literal["percentile", "bca"]
# They describe the table rather than estimate agreement.
WITHOUT_INTERVAL = {"expected_agreement", "kappa_max", "prevalence_index", "bias_index"}
# With two coders these repeat raw agreement and Scott's pi under other names.
ONLY_MANY = {"observed_agreement", "fleiss_kappa_general", "fleiss_kappa"}
NARROWEST = 1e-12
CORRECTED = "_bca"
"""Ends the name under which the headline stands a second time, with its BCa interval."""


class Summary:
    """One dimension, computed: the parts of its report are read off one set of values and resamples."""

    def __init__(self, data: DimensionData, plan: Plan, interval: IntervalKind = "percentile") -> None:
        self.data, self.plan, self.ratings = data, plan, plan.ratings
        self.sizes = self.ratings.sizes.astype(float)
        self.two = len(data.coders) == 2
        self.n_both = self.ratings.units_with(2)
        self.margins = [
            PairMargins(self.ratings, a, b, plan.members)(self.sizes)
            for a, b in combinations(range(len(data.coders)), 2)
        ]
        self._uses: FloatArray = self.sizes @ self.ratings.unit_counts() @ plan.members
        self._values: Values = {}
        self._left_out: Values = {}
        self._parts: dict[str, Part] = {}
        for part in plan.parts:
            values = part(self.sizes)
            self._values |= values
            self._parts |= dict.fromkeys(values, part)
            if interval == "bca":
                self._left_out |= jackknife(self.ratings, part)
        self._resamples = bootstrap(self.ratings, plan.parts, draws=data.draws, seed=data.seed)
        kind = "BCa" if interval == "bca" else "percentile"
        self._method = f"{kind} bootstrap over units, {data.draws} draws, seed {data.seed}"

    def statistics(self) -> dict[str, Statistic]:
        """Give every single-number coefficient by name."""
        hidden = set(ONLY_MANY) if self.two else set()
        if self.ratings.units_with(1) == self.ratings.units_with(len(self.data.coders)):
            hidden.add("gwet_ac1_complete")  # nothing is missing: it is gwet_ac1
        shown = [
            name for name, value in self._values.items() if value.ndim == 0 and _plain(name) not in hidden
        ]
        found = {name: self._statistic(name) for name in shown}
        return {**found, **self.plan.analytic, **self._corrected(found[self.plan.headline])}

    def _corrected(self, headline: Statistic) -> dict[str, Statistic]:
        """Give the headline once more with the interval that is corrected for bias and skew."""
        name = self.plan.headline
        if headline.value is None or headline.ci_low is None:
            return {f"{name}{CORRECTED}": replace(headline, ci_low=None, ci_high=None, method=None)}
        if name not in self._left_out:
            self._left_out |= jackknife(self.ratings, self._parts[name])
        found = bca_interval(self._resamples[name], headline.value, self._left_out[name], self.sizes)
        method = f"BCa bootstrap over units, {self.data.draws} draws, seed {self.data.seed}"
        return {f"{name}{CORRECTED}": headline.between(found.low, found.high, method)}

    def _statistic(self, name: str) -> Statistic:
        usable = self._parts[name].ratings.units_with(2)
        if "alpha" in name and usable == 1:
            return Statistic.none(ONE_PAIRABLE)
        statistic = Statistic.of(float(self._values[name]), self._reason(name))
        if _plain(name) in WITHOUT_INTERVAL or usable < 2:
            return statistic
        return self._between(statistic, self._resamples[name], self._left_out.get(name))

    def _reason(self, name: str) -> str:
        ratings = self._parts[name].ratings
        if ratings.units_with(2) == 0:
            return NOT_USABLE
        complete = ratings.units_with(len(self.data.coders))
        return reason_for(name, k=ratings.k, pairable=self.n_both, complete=complete)

    def _between(self, statistic: Statistic, resamples: FloatArray, left_out: FloatArray | None) -> Statistic:
        """Add the bootstrap interval, unless no resample differs: it would claim a certainty nobody has."""
        if statistic.value is None:
            return statistic
        found = self._interval(statistic.value, resamples, left_out)
        if found.low is None or found.high is None or found.high - found.low < NARROWEST:
            return statistic
        return statistic.between(found.low, found.high, self._method)

    def _interval(self, value: float, resamples: FloatArray, left_out: FloatArray | None) -> Interval:
        if left_out is None:
            return percentile_interval(resamples)
        return bca_interval(resamples, value, left_out, self.sizes)

    def claim(self, statistics: Mapping[str, Statistic]) -> Claim:
        """Hold the headline against the goal."""
        name = self.plan.headline
        return claim_of(self.data.goal, self._resamples[name], usable=statistics[name].ci_low is not None)

    def clusters(self, statistics: Mapping[str, Statistic]) -> ClusterReport | None:
        """Resample clusters of units instead of units; None where there are not two of them."""
        names = [self.data.clusters.get(unit) for unit in self.data.units]
        places = pattern_of_units(self.data, self.ratings) if self.data.clusters else None
        if places is None:
            return None
        known, sizes = cluster_sizes(self.ratings, places, names)
        if len(known) < 2:
            return None
        name = self.plan.headline
        if name == "cohen_kappa":
            report = pooled_kappa(self.ratings, dict(zip(known, sizes, strict=True)))
        else:
            nothing = Statistic.none(NOT_POOLED)
            report = ClusterReport(len(known), nothing, nothing, None, ())
        return replace(report, headline=self._over_clusters(statistics[name], sizes))

    def _over_clusters(self, headline: Statistic, sizes: FloatArray) -> Statistic:
        bare = replace(headline, ci_low=None, ci_high=None, method=None)
        if headline.ci_low is None:
            return bare
        name, data = self.plan.headline, self.data
        found = cluster_interval(
            sizes, lambda drawn: self._parts[name](drawn)[name], draws=data.draws, seed=data.seed
        )
        if found.low is None or found.high is None or found.high - found.low < NARROWEST:
            return bare
        method = f"percentile bootstrap over {len(sizes)} clusters, {data.draws} draws, seed {data.seed}"
        return bare.between(found.low, found.high, method)

    def pairs(self, statistics: Mapping[str, Statistic]) -> tuple[PairReport, ...]:
        """Give each pair of coders; with two, the pair is the dimension."""
        name = self.plan.pair_statistic
        if self.two:
            observed, value = statistics[self.plan.observed], statistics[name]
            first, second = self.data.coders
            return (PairReport(first, second, self.n_both, observed, name, value),)
        places = combinations(range(len(self.data.coders)), 2)
        return tuple(self._pair(a, b, margins) for (a, b), margins in zip(places, self.margins, strict=True))

    def _pair(self, a: int, b: int, margins: Margins) -> PairReport:
        name, n = self.plan.pair_statistic, int(margins.n)
        together = self.ratings.pair(a, b)
        same = together.sizes[together.patterns[:, 0] == together.patterns[:, 1]].sum()
        reason = reason_for(name, k=margins.k, pairable=n, complete=n)
        value = Statistic.of(float(self.plan.pair_value(margins)), reason)
        if name == "cohen_kappa":
            value = error_statistics(together)["cohen_kappa_ci95"]
        observed = Statistic.of(same / n, reason) if n else Statistic.none(NO_PAIR)
        return PairReport(self.data.coders[a], self.data.coders[b], n, observed, name, value)

    def matrix(self) -> tuple[Matrix, ...]:
        """Give who chose what, for each pair of coders; sets have no such table."""
        if self.data.kind == "multiple":
            return ()
        coders, found = self.data.coders, []
        for a, b in combinations(range(len(coders)), 2):
            counts = tuple(tuple(row) for row in cross_table(self.ratings, a, b).tolist())
            found.append(Matrix(coders[a], coders[b], self.data.choices, counts))
        return tuple(found)

    def categories(self) -> tuple[CategoryReport, ...]:
        """Give each choice against all others."""
        name = self.plan.category_statistic
        values = self._values[name] if name in self._values else fleiss_category_kappa(self.ratings)
        specific = self._specific_agreement()
        return tuple(
            self._category(j, float(values[j]), None if np.isnan(specific[j]) else float(specific[j]))
            for j in range(len(self.data.choices))
        )

    def _category(self, j: int, value: float, positive: float | None) -> CategoryReport:
        name = self.plan.category_statistic
        complete = self.ratings.units_with(len(self.data.coders))
        statistic = Statistic.of(
            value, reason_for(name, k=self.ratings.k, pairable=self.n_both, complete=complete)
        )
        if name in self._resamples and self.n_both >= 2:
            left_out = self._left_out[name][:, j] if self._left_out else None
            statistic = self._between(statistic, self._resamples[name][:, j], left_out)
        category, uses = self.data.choices[j], int(self._uses[j])
        if not self.two:
            return CategoryReport(category, uses, None, None, None, positive, name, statistic)
        pair = self.margins[0]
        first, second, both = int(pair.first[j]), int(pair.second[j]), int(pair.both[j])
        return CategoryReport(category, uses, first, second, both, positive, name, statistic)

    def _specific_agreement(self) -> FloatArray:
        for name in ("specific_agreement", "label_specific_agreement"):
            if name in self._values:
                return self._values[name]
        return pooled_specific_agreement(self.ratings)

    def warnings(self, statistics: Mapping[str, Statistic]) -> tuple[Caution, ...]:
        """Give what a reader must know before believing the numbers."""
        headline = statistics[self.plan.headline]
        undefined = percentile_interval(self._resamples[self.plan.headline]).undefined_share
        uses = self._uses / len(self.data.coders)
        seen = Seen(
            n=self.n_both,
            coders=len(self.data.coders),
            observed=statistics[self.plan.observed].value,
            uses=dict(zip(self.data.choices, uses.tolist(), strict=True)),
            names={choice: self.data.quoted(choice) for choice in self.data.choices},
            constant=self._constant_coders(),
            statistics=statistics,
            undefined_share=undefined if headline.ci_low is not None else 0.0,
            states_left_out=self.plan.states_left_out,
            undefined_pairs=self._undefined_pairs(),
        )
        return cautions(seen)

    def _constant_coders(self) -> tuple[str, ...]:
        """Name who gave one and the same category to every unit that can be compared."""
        if self.data.kind == "multiple":
            return ()
        compared = self.ratings.patterns[self.ratings.answers >= 2]
        used = [set(codes[codes >= 0].tolist()) for codes in compared.T]
        return tuple(coder for coder, codes in zip(self.data.coders, used, strict=True) if len(codes) == 1)

    def _undefined_pairs(self) -> int:
        return sum(bool(np.isnan(self.plan.pair_value(margins))) for margins in self.margins)


def _plain(name: str) -> str:
    """Give the name of a coefficient without its level."""
    return name.rpartition(".")[2]
