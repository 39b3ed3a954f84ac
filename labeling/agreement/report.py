"""The agreement report of one dimension and of a round: the way into this package."""

from __future__ import annotations

from collections.abc import Sequence

from labeling.agreement.cautions import Caution
from labeling.agreement.dimension import DimensionData
from labeling.agreement.payload import round_payload, to_payload
from labeling.agreement.plan import plan_for
from labeling.agreement.result import CategoryReport, DimensionReport, Matrix, PairReport, RoundReport
from labeling.agreement.scale import Reading, read
from labeling.agreement.statistic import NO_PAIR, Statistic, format_two
from labeling.agreement.summary import IntervalKind, Summary

__all__ = [
    "CategoryReport",
    "Caution",
    "DimensionData",
    "DimensionReport",
    "Matrix",
    "PairReport",
    "Reading",
    "RoundReport",
    "Statistic",
    "format_two",
    "round_payload",
    "summarise",
    "summarise_round",
    "to_payload",
]


def summarise(
    data: DimensionData, *, scale: str = "landis_koch", interval: IntervalKind = "percentile"
) -> DimensionReport:
    """Compute the whole report of one dimension; it depends on nothing but ``data`` and the options.

    Raises ValueError where an answer is no category of the dimension, or the scale is unknown.
    """
    reason = _no_number(data)
    if reason is not None:
        return _empty(data, reason)
    summary = Summary(data, plan_for(data), interval)
    statistics = summary.statistics()
    headline = summary.plan.headline
    warnings = summary.warnings(statistics)
    return DimensionReport(
        key=data.key,
        kind=data.kind,
        headline=headline,
        coders=data.coders,
        n_units=len(data.units),
        n_both=summary.n_both,
        left_out=_left_out(data),
        k=len(data.choices),
        conditional=data.conditional,
        observed=statistics[summary.plan.observed],
        statistics=statistics,
        pairs=summary.pairs(statistics),
        matrix=summary.matrix(),
        categories=summary.categories(),
        undefined=None,
        warnings=warnings,
        reading=_reading(scale, headline, statistics[headline], warnings),
        seed=data.seed,
        draws=data.draws,
        claim=summary.claim(statistics),
        clusters=summary.clusters(statistics),
    )


def summarise_round(
    eligibility: DimensionData | None, dimensions: Sequence[DimensionData], *, scale: str = "landis_koch"
) -> RoundReport:
    """Compute the report of a round: eligibility over all units both answered, then each dimension."""
    first = None if eligibility is None else summarise(eligibility, scale=scale)
    return RoundReport(first, tuple(summarise(data, scale=scale) for data in dimensions))


def _no_number(data: DimensionData) -> str | None:
    if data.kind == "text":
        return "Free text has no categories, so there is no agreement to compute."
    if not data.categories:
        return "No category is declared, so there is no agreement to compute."
    if len(data.coders) < 2:
        return "Agreement needs at least two coders."
    if _answered_twice(data) == 0:
        return NO_PAIR
    return None


def _empty(data: DimensionData, reason: str) -> DimensionReport:
    return DimensionReport(
        key=data.key,
        kind=data.kind,
        headline=None,
        coders=data.coders,
        n_units=len(data.units),
        n_both=_answered_twice(data),
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


def _reading(scale: str, headline: str, statistic: Statistic, warnings: Sequence[Caution]) -> Reading | None:
    if statistic.value is None:
        return None
    if headline == "cohen_kappa" and any(caution.key == "constant_coder" for caution in warnings):
        return None  # its 0 says nothing of how well they agree
    return read(scale, headline, statistic.value, statistic.ci_low, statistic.ci_high)
