"""The headline of a dimension from round to round."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor

from labeling.charts.interval import Interval

# The drawing is 216 by 200: the scale at the left, the rounds below.
LEFT, RIGHT, TOP, BOTTOM = 28.0, 212.0, 18.4, 172.0
LOWEST = 0.4
"""The scale begins here unless a number lies below."""


@dataclass(frozen=True, slots=True)
class Point:
    """The headline in one round, and where it is drawn; without value there is no place for it."""

    round: int
    interval: Interval
    x: str
    y: str
    y_low: str
    y_high: str
    y_text: str
    is_pilot: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    y: str
    y_text: str
    words: str


@dataclass(frozen=True, slots=True)
class HiddenRound:
    """An open round: its place is kept, its numbers are not there yet."""

    round: int
    x: str


@dataclass(frozen=True, slots=True)
class Trend:
    """One panel. ``lines`` join rounds with the same coefficient only; the scale begins at ``lowest``."""

    key: str
    points: tuple[Point, ...]
    hidden: tuple[HiddenRound, ...]
    lines: tuple[str, ...]
    ticks: tuple[Tick, ...]
    goal_y: str | None
    lowest: float

    @property
    def coefficients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.interval.name for each in self.points if each.y))


def trend(
    key: str,
    rounds: Mapping[int, Interval],
    hidden: Iterable[int] = (),
    goal: float | None = None,
    pilots: Container[int] = (),
) -> Trend:
    """Lay out the rounds by number; ``hidden`` are those whose numbers nobody may see yet.

    ``pilots`` are marked: they may have ended because their numbers were good.
    """
    shut = set(hidden)
    numbers = sorted({*rounds, *shut})
    step = (RIGHT - LEFT) / len(numbers)
    across = {number: LEFT + (place + 0.5) * step for place, number in enumerate(numbers)}
    lowest = _scale_start(rounds.values())
    drawn = (_point(number, rounds[number], across[number], lowest) for number in sorted(rounds))
    points = tuple(replace(point, is_pilot=point.round in pilots) for point in drawn)
    return Trend(
        key=key,
        points=points,
        hidden=tuple(HiddenRound(number, _drawn(across[number])) for number in sorted(shut)),
        lines=tuple(_lines(points)),
        ticks=tuple(_ticks(lowest)),
        goal_y=None if goal is None else _drawn(_height(goal, lowest)),
        lowest=lowest,
    )


def _scale_start(intervals: Iterable[Interval]) -> float:
    known = [(each.value, each.low) for each in intervals]
    values = [value if low is None else low for value, low in known if value is not None]
    # Rounded first: 0.6 * 5 is a little less than 3.
    return max(-1.0, min(LOWEST, floor(round(min(values, default=LOWEST) * 5, 6)) / 5))


def _height(value: float, lowest: float) -> float:
    return BOTTOM - (min(max(value, lowest), 1.0) - lowest) / (1.0 - lowest) * (BOTTOM - TOP)


def _point(number: int, interval: Interval, x: float, lowest: float) -> Point:
    if interval.value is None:
        return Point(number, interval, _drawn(x), "", "", "", "")
    high = interval.value if interval.high is None else interval.high
    low = interval.value if interval.low is None else interval.low
    above = _height(high, lowest)
    return Point(
        round=number,
        interval=interval,
        x=_drawn(x),
        y=_drawn(_height(interval.value, lowest)),
        y_low=_drawn(_height(low, lowest)),
        y_high=_drawn(above),
        y_text=_drawn(above - 6),
    )


def _lines(points: Sequence[Point]) -> Iterable[str]:
    for before, after in pairwise(points):
        if before.y and after.y and before.interval.statistic == after.interval.statistic:
            yield f"{before.x},{before.y} {after.x},{after.y}"


def _ticks(lowest: float) -> Iterable[Tick]:
    for place in range(round(lowest * 5), 6):
        y, words = _height(place / 5, lowest), f"{abs(place) / 5:.1f}"
        yield Tick(_drawn(y), _drawn(y + 4), f"\N{MINUS SIGN}{words}" if place < 0 else words)


def _drawn(position: float) -> str:
    return f"{position:.1f}"
