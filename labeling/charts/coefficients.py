"""Every coefficient of a dimension, for those who look for another than the headline."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeling.charts.interval import Interval


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One number, how its interval was made, and whether it leads."""

    interval: Interval
    method: str
    is_headline: bool


@dataclass(frozen=True, slots=True)
class CoefficientTable:
    key: str
    coders: tuple[str, ...]
    n: int
    k: int
    rows: tuple[Coefficient, ...]


def coefficient_table(payload: Mapping[str, Any]) -> CoefficientTable:
    """Give the coefficients of one dimension in the order in which they were computed."""
    return CoefficientTable(
        key=payload["key"],
        coders=tuple(payload["coders"]),
        n=payload["n_both"],
        k=payload["k"],
        rows=tuple(
            Coefficient(Interval.of(name, each), each["method"] or "", name == payload["headline"])
            for name, each in payload["statistics"].items()
        ),
    )
