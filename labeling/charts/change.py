"""What changed from one round to another, by dimension."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from labeling.agreement.compare import Difference
from labeling.charts.interval import Interval
from labeling.charts.names import coefficient_name


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One dimension: the coefficient before and after, and the difference with its interval."""

    key: str
    name: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    shared: int
    difference: Interval
    z: float | None
    p: float | None

    @property
    def direction(self) -> Literal["", "up", "down", "open"]:
        """Whether the whole interval lies on one side of no change."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return ""
        return "up" if low > 0 else "down" if high < 0 else "open"

    @property
    def units(self) -> str:
        """Which units the two rounds have in common, in words."""
        if not self.n_before or not self.n_after:
            return "nothing to compare"
        if not self.shared:
            return "different units"
        return "the same units" if self.shared == self.n_before == self.n_after else f"{self.shared} shared"


def change_rows(differences: Iterable[Difference]) -> tuple[ChangeRow, ...]:
    """Read the differences of two rounds."""
    return tuple(
        ChangeRow(
            key=each.key,
            name=coefficient_name(each.statistic) if each.statistic else "",
            before=each.first,
            after=each.second,
            n_before=each.n_first,
            n_after=each.n_second,
            shared=each.shared,
            difference=_difference(each),
            z=each.z,
            p=each.p,
        )
        for each in differences
    )


def _difference(found: Difference) -> Interval:
    # Differences reach from -2 to 2: their limits are not cut as those of coefficients are.
    number = found.difference
    return Interval(
        statistic=found.statistic or "",
        value=number.value,
        low=number.ci_low,
        high=number.ci_high,
        undefined=number.undefined or "",
    )
