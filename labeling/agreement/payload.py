"""The report as plain JSON types, under the key names of the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from labeling.agreement.clusters import ClusterReport
from labeling.agreement.plan import ALPHAS
from labeling.agreement.result import DimensionReport, RoundReport
from labeling.agreement.statistic import Statistic

SEVERAL = "Not defined where a unit may have several categories; see macro_label_kappa."


def to_payload(report: DimensionReport) -> dict[str, Any]:
    """Give the report as dicts, lists, strings and numbers, never NaN."""
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
        "observed": asdict(report.observed),
        "statistics": {name: asdict(statistic) for name, statistic in report.statistics.items()},
        **_aliases(report),
        "pairs": [asdict(pair) for pair in report.pairs],
        "matrix": [
            {
                **asdict(matrix),
                "categories": list(matrix.categories),
                "counts": [list(row) for row in matrix.counts],
            }
            for matrix in report.matrix
        ],
        "categories": [asdict(category) for category in report.categories],
        "undefined": report.undefined,
        "warnings": [asdict(caution) for caution in report.warnings],
        "reading": None if report.reading is None else asdict(report.reading),
        "seed": report.seed,
        "draws": report.draws,
        "claim": None if report.claim is None else asdict(report.claim),
        "clusters": _clusters(report.clusters),
    }


def _clusters(report: ClusterReport | None) -> dict[str, Any] | None:
    return None if report is None else {**asdict(report), "left_out": list(report.left_out)}


def round_payload(report: RoundReport) -> dict[str, Any]:
    """Give the report of a round: eligibility, then the dimensions."""
    return {
        "eligibility": None if report.eligibility is None else to_payload(report.eligibility),
        "dimensions": [to_payload(dimension) for dimension in report.dimensions],
    }


def _aliases(report: DimensionReport) -> dict[str, Any]:
    """Give the three coefficients readers look for, wherever the dimension keeps them."""
    names = {"kappa": "cohen_kappa", "ac1": "gwet_ac1", "alpha": ALPHAS.get(report.kind, "")}
    missing = report.undefined or (SEVERAL if report.kind == "multiple" else "per pair")
    absent = Statistic.none(missing)
    return {alias: asdict(report.statistics.get(name, absent)) for alias, name in names.items()}
