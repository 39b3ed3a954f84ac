"""The headline of each dimension, group by group."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from labeling.charts.interval import Interval

FEW = 10
"""A coefficient of fewer units says next to nothing; it is shown faintly."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One dimension in one group, such as a repository."""

    group: str
    key: str
    n: int
    observed: Interval
    headline: Interval

    @property
    def is_small(self) -> bool:
        return self.n < FEW


@dataclass(frozen=True, slots=True)
class DimensionGroups:
    key: str
    rows: tuple[GroupRow, ...]


def breakdown(
    groups: Iterable[tuple[str, Sequence[Mapping[str, Any]]]], goal_of: Callable[[str], float | None]
) -> tuple[DimensionGroups, ...]:
    """Turn groups of dimensions into dimensions of groups; a group without a compared unit is left out."""
    rows = [
        _row(name, payload, goal_of(payload["key"]))
        for name, payloads in groups
        for payload in payloads
        if payload["n_both"] and payload["kind"] != "text"
    ]
    order = list(dict.fromkeys(row.key for row in rows))
    ordered = sorted(rows, key=lambda row: order.index(row.key))  # it is stable: groups keep their order
    return tuple(
        DimensionGroups(key, tuple(members)) for key, members in groupby(ordered, key=lambda row: row.key)
    )


def _row(name: str, payload: Mapping[str, Any], goal: float | None) -> GroupRow:
    headline = payload["headline"] or ""
    missing = {"value": None, "ci_low": None, "ci_high": None, "undefined": payload["undefined"]}
    return GroupRow(
        group=name,
        key=payload["key"],
        n=payload["n_both"],
        observed=Interval.of("observed", payload["observed"]),
        headline=Interval.of(headline, payload["statistics"].get(headline, missing), goal),
    )
