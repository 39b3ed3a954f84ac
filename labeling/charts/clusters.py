"""The headline over repositories: with an interval that resamples them, and pooled within them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.agreement.clusters import FEW_CLUSTERS
from labeling.charts.interval import Interval


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One dimension. ``chi_squared``, ``degrees`` and ``p`` test whether the repositories share one kappa."""

    key: str
    clusters: int
    over_units: Interval
    over_clusters: Interval
    pooled: Interval
    chi_squared: float | None
    degrees: int | None
    p: float | None
    left_out: tuple[str, ...]

    @property
    def are_few(self) -> bool:
        return self.clusters < FEW_CLUSTERS


def cluster_rows(payloads: Iterable[Mapping[str, Any]]) -> tuple[ClusterRow, ...]:
    """Give the dimensions whose units come from several repositories."""
    return tuple(_row(each) for each in payloads if each.get("clusters") and each["headline"])


def _row(payload: Mapping[str, Any]) -> ClusterRow:
    found, name = payload["clusters"], payload["headline"]
    test = found["homogeneity"] or {"chi_squared": None, "degrees": None, "p": None}
    return ClusterRow(
        key=payload["key"],
        clusters=found["clusters"],
        over_units=Interval.of(name, payload["statistics"][name]),
        over_clusters=Interval.of(name, found["headline"]),
        pooled=Interval.of(name, found["pooled"]),
        chi_squared=test["chi_squared"],
        degrees=test["degrees"],
        p=test["p"],
        left_out=tuple(found["left_out"]),
    )
