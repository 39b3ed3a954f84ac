"""One dimension, category by category, the weakest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeling.agreement.cautions import FEW_USES
from labeling.charts.interval import Interval
from labeling.charts.names import CategoryName, category_name


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """One category against all others; ``n_a``, ``n_b`` and ``both`` are None with more than two coders.

    ``is_rare``: used so seldom that its numbers say little.
    """

    category: CategoryName
    n: int
    n_a: int | None
    n_b: int | None
    both: int | None
    positive_agreement: float | None
    kappa: Interval
    is_rare: bool


def category_rows(
    payload: Mapping[str, Any], names: Mapping[str, CategoryName], goal: float | None = None
) -> tuple[CategoryRow, ...]:
    """Give the categories of a dimension, lowest kappa first, undefined ones last."""
    rows = [
        CategoryRow(
            category=category_name(each["category"], names),
            n=each["n"],
            n_a=each["n_a"],
            n_b=each["n_b"],
            both=each["both"],
            positive_agreement=each["positive_agreement"],
            kappa=Interval.of(each["statistic"], each["kappa"], goal),
            is_rare=each["n"] < FEW_USES * len(payload["coders"]),
        )
        for each in payload["categories"]
    ]
    return tuple(sorted(rows, key=_weakest_first))


def _weakest_first(row: CategoryRow) -> tuple[bool, float, bool]:
    value = row.kappa.value
    return (value is None, 0.0 if value is None else value, row.n == 0)
