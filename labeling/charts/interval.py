"""A coefficient with its interval and the goal it is held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from labeling.charts.names import coefficient_name


@dataclass(frozen=True, slots=True)
class Interval:
    """``value`` is None exactly when ``undefined`` says why; the limits lie in [-1, 1] or are None."""

    statistic: str
    value: float | None
    low: float | None
    high: float | None
    undefined: str
    goal: float | None = None

    @classmethod
    def of(cls, name: str, statistic: Mapping[str, Any] | None, goal: float | None = None) -> Self:
        """Read a statistic of a payload; none at all is an undefined one."""
        if statistic is None:
            return cls(name, None, None, None, "It is not computed for answers of this kind.", goal)
        low, high = statistic["ci_low"], statistic["ci_high"]
        return cls(
            statistic=name,
            value=statistic["value"],
            # A normal interval may reach further than the coefficient itself can.
            low=None if low is None else max(low, -1.0),
            high=None if high is None else min(high, 1.0),
            undefined=statistic["undefined"] or "",
            goal=goal,
        )

    @property
    def name(self) -> str:
        return coefficient_name(self.statistic)

    @property
    def reason(self) -> str:
        """Why there is no value, as the end of a sentence that says so."""
        return self.undefined.removeprefix("Undefined: ")

    @property
    def standing(self) -> Literal["", "above", "inside", "below"]:
        """Where the whole interval lies; without interval or goal nothing can be said."""
        if self.goal is None or self.low is None or self.high is None:
            return ""
        if self.low >= self.goal:
            return "above"
        return "below" if self.high < self.goal else "inside"


@dataclass(frozen=True, slots=True)
class Axis:
    """The scale above a column of intervals: places as shares of its width, and what stands there."""

    ticks: tuple[tuple[str, str], ...]
    goal: float | None
    goal_place: str


def axis(goal: float | None = None) -> Axis:
    """Lay out 0 to 1 in fifths; a goal takes the room of what it would run into."""
    near = [place for place in range(2, 10, 2) if goal is None or abs(place / 10 - goal) > 0.12]
    return Axis(
        ticks=tuple((f"{place}0%", f".{place}") for place in near),
        goal=goal,
        goal_place="" if goal is None else f"{min(max(goal, 0.1), 0.9):.1%}",
    )
