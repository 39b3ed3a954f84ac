"""The table of a round's agreement: one row per dimension, and per comparison where there are several."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from labeling.agreement.statistic import NO_VARIATION
from labeling.charts.interval import Interval
from labeling.charts.names import reason_in_words

# What stands beside a headline that readers may not know, where the dimension has it.
BESIDE = ("macro_label_kappa", "light_kappa", "weighted_kappa_quadratic")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Units that take no part for one reason; ``units`` are those the reader may know of."""

    reason: str
    count: int
    units: tuple[str, ...]

    @property
    def words(self) -> str:
        return reason_in_words(self.reason)

    @property
    def hidden(self) -> int:
        return self.count - len(self.units)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two coders on the units both coded."""

    coder_a: str
    coder_b: str
    n: int
    observed: Interval
    kappa: Interval


@dataclass(frozen=True, slots=True)
class DimensionRow:
    """Everything the table says of one dimension."""

    key: str
    kind: str
    coders: tuple[str, ...]
    n_units: int
    n: int
    conditional: bool
    observed: Interval
    headline: Interval
    beside: tuple[Interval, ...]
    ac1: Interval
    alpha: Interval
    reading: str
    read_by: str
    warnings: tuple[str, ...]
    cautions: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    pairs: tuple[Pair, ...]

    @property
    def is_constant(self) -> bool:
        """Whether there is no coefficient because one single category occurred."""
        return self.headline.value is None and self.headline.undefined == NO_VARIATION

    @property
    def is_flat(self) -> bool:
        """Whether kappa is 0 because one of two coders gave every unit the same answer."""
        return len(self.coders) == 2 and "constant_coder" in self.cautions

    @property
    def has_numbers(self) -> bool:
        return self.observed.value is not None


def dimension_row(
    payload: Mapping[str, Any], goal: float | None = None, sealed: Set[str] = frozenset()
) -> DimensionRow:
    """Read one dimension of a report; units in ``sealed`` are counted and not named."""
    statistics, name = payload["statistics"], payload["headline"] or ""
    reading = payload["reading"]
    missing = {"value": None, "ci_low": None, "ci_high": None, "undefined": payload["undefined"]}
    return DimensionRow(
        key=payload["key"],
        kind=payload["kind"],
        coders=tuple(payload["coders"]),
        n_units=payload["n_units"],
        n=payload["n_both"],
        conditional=payload["conditional"],
        observed=Interval.of("observed", payload["observed"]),
        headline=Interval.of(name, statistics.get(name, missing), goal),
        beside=tuple(
            Interval.of(each, statistics[each], goal)
            for each in BESIDE
            if each in statistics and each != name
        ),
        ac1=Interval.of("gwet_ac1", payload["ac1"]),
        alpha=Interval.of("alpha", payload["alpha"]),
        reading=reading["words"] if reading else "",
        read_by=reading["name"] if reading else "",
        warnings=tuple(each["words"] for each in payload["warnings"]),
        cautions=tuple(each["key"] for each in payload["warnings"]),
        left_out=_left_out(payload, sealed),
        pairs=tuple(_pair(each) for each in payload["pairs"]),
    )


def _left_out(payload: Mapping[str, Any], sealed: Set[str]) -> tuple[LeftOut, ...]:
    units: Mapping[str, Iterable[str]] = payload["left_out_units"]
    return tuple(
        LeftOut(reason, count, tuple(ref for ref in units.get(reason, ()) if ref not in sealed))
        for reason, count in payload["left_out"].items()
        if count
    )


def _pair(pair: Mapping[str, Any]) -> Pair:
    return Pair(
        coder_a=pair["coder_a"],
        coder_b=pair["coder_b"],
        n=pair["n"],
        observed=Interval.of("observed", pair["observed"]),
        kappa=Interval.of(pair["statistic"], pair["kappa"]),
    )
