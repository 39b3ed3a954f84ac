"""Figures for print: matplotlib draws the dataclasses the pages draw. Only workers import this module.

The same figure gives the same bytes: no date is written, and ids in SVG come from a fixed salt.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from labeling.agreement.report import format_two
from labeling.charts.confusion import Confusion
from labeling.charts.interval import Interval
from labeling.charts.trend import Trend
from labeling.export.writer import Format, write_rows
from labeling.services.corpus import FunnelStep

# What each format would date.
UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
INK, FAINT, GRID, GOAL = "#1f2937", "#6b7280", "#e5e7eb", "#b45309"
HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#1e3a8a"])
DARK = 0.62
"""From this share of the largest count on, numbers are white."""
WIDTH = 6.3
"""Inches: the text of an A4 page."""


def style() -> AbstractContextManager[None]:
    """Draw alike on every machine: its font comes with matplotlib, and texts stay texts."""
    return mpl.rc_context(
        {
            "font.family": "DejaVu Sans",
            "font.size": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "intercoder",
            "pdf.fonttype": 42,
            "figure.dpi": 100,
            "savefig.dpi": 300,
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A drawn figure and the numbers in it, under one name."""

    name: str
    figure: Figure
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Give every format by file name, and the numbers as CSV."""
        for suffix, metadata in UNDATED.items():
            content = io.BytesIO()
            with style():
                self.figure.savefig(content, format=suffix, metadata=metadata)
            yield f"{self.name}.{suffix}", content.getvalue()
        yield f"{self.name}.csv", b"".join(write_rows(self.columns, self.rows, Format()))


def intervals_picture(name: str, title: str, rows: Sequence[tuple[str, Interval]]) -> Picture:
    """Draw coefficients with their intervals below each other, goals as dashed lines."""
    with style():
        figure = Figure(figsize=(WIDTH, 0.7 + 0.3 * max(len(rows), 1)), layout="constrained")
        axes = figure.subplots()
        lows = [each.value if each.low is None else each.low for _, each in rows if each.value is not None]
        axes.set_xlim(min(0.0, *lows, 0.0), 1.0)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), [_named(words, each) for words, each in rows])
        axes.set_title(title, loc="left", fontweight="bold")
        axes.grid(axis="x", color=GRID)
        axes.set_axisbelow(True)
        for place, (_, interval) in enumerate(rows):
            _interval(axes, place, interval)
    columns = ("name", "statistic", "value", "ci_low", "ci_high")
    return Picture(name, figure, columns, tuple((words, *_numbers(each)) for words, each in rows))


def _named(words: str, interval: Interval) -> str:
    return f"{words}\n{interval.name}" if interval.statistic else words


def _interval(axes: Axes, place: int, interval: Interval) -> None:
    if interval.goal is not None:
        around = [place - 0.5, place + 0.5]
        axes.plot([interval.goal] * 2, around, color=GOAL, linestyle="--", linewidth=1)
    if interval.value is None:
        axes.text(0.01, place, "undefined", va="center", color=FAINT)
        return
    if interval.low is not None and interval.high is not None:
        axes.plot([interval.low, interval.high], [place, place], color=INK, linewidth=1.2)
    axes.plot([interval.value], [place], "o", color=INK, markersize=4)
    axes.text(1.02, place, _with_limits(interval), va="center", transform=axes.get_yaxis_transform())


def _with_limits(interval: Interval) -> str:
    if interval.value is None:
        return "undefined"
    if interval.low is None or interval.high is None:
        return _two(interval.value)
    return f"{_two(interval.value)} [{_two(interval.low)}, {_two(interval.high)}]"


def _two(value: float) -> str:
    return format_two(value).replace("-", "\N{MINUS SIGN}")


def _numbers(interval: Interval) -> tuple[Any, ...]:
    return (interval.statistic, interval.value, interval.low, interval.high)


def funnel_picture(name: str, steps: Sequence[FunnelStep]) -> Picture:
    """Draw what each step from the source to the decided units leaves, and say what it took out."""
    with style():
        figure = Figure(figsize=(WIDTH, 0.7 + 0.3 * max(len(steps), 1)), layout="constrained")
        axes = figure.subplots()
        axes.barh(range(len(steps)), [step.count for step in steps], color=FAINT, height=0.6)
        axes.set_ylim(len(steps) - 0.5, -0.5)
        axes.set_yticks(range(len(steps)), [step.text for step in steps])
        axes.set_title("From the source to the results", loc="left", fontweight="bold")
        axes.margins(x=0.25)
        for place, step in enumerate(steps):
            out = f" ({-step.removed:+,})".replace("-", "\N{MINUS SIGN}") if step.removed else ""
            axes.text(step.count, place, f" {step.count:,}{out}", va="center")
    rows = tuple((step.kind, step.text, step.count, step.removed) for step in steps)
    return Picture(name, figure, ("step", "text", "left", "removed"), rows)


def trend_picture(name: str, panels: Sequence[tuple[str, Trend]], goal: float | None = None) -> Picture:
    """Draw one panel per dimension: its headline round by round, pilots hollow.

    Lines join rounds with the same coefficient only.
    """
    with style():
        across = min(3, len(panels))
        down = -(-len(panels) // across)
        figure = Figure(figsize=(WIDTH, 2.2 * down), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=True)
        spare = grid.ravel()[len(panels) :]
        for axes in spare:
            axes.set_axis_off()
        grid[0, 0].set_ylim(min(panel.lowest for _, panel in panels), 1.05)  # the others share it
        for axes, (words, panel) in zip(grid.ravel(), panels, strict=False):
            _panel(axes, words, panel, goal)
    rows = tuple(
        (words, point.round, *_numbers(point.interval)) for words, panel in panels for point in panel.points
    )
    return Picture(name, figure, ("name", "round", "statistic", "value", "ci_low", "ci_high"), rows)


def _panel(axes: Axes, words: str, panel: Trend, goal: float | None) -> None:
    axes.set_title(words, loc="left", fontweight="bold")
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    rounds = [point.round for point in panel.points]
    axes.set_xticks(range(len(rounds)), [f"R{number}" for number in rounds])
    axes.set_xlim(-0.5, len(rounds) - 0.5)
    if goal is not None:
        axes.axhline(goal, color=GOAL, linestyle="--", linewidth=1)
    values = [(place, point.interval) for place, point in enumerate(panel.points)]
    for (before, first), (after, second) in pairwise(values):
        if first.value is not None and second.value is not None and first.statistic == second.statistic:
            axes.plot([before, after], [first.value, second.value], color=FAINT, linewidth=0.8)
    for place, interval in values:
        if interval.value is None:
            continue
        inside = "white" if panel.points[place].is_pilot else INK
        if interval.low is not None and interval.high is not None:
            axes.plot([place, place], [interval.low, interval.high], color=INK, linewidth=1.2)
        axes.plot([place], [interval.value], "o", color=INK, markerfacecolor=inside, markersize=4)
        axes.annotate(
            _two(interval.value), (place, interval.value), xytext=(5, 3), textcoords="offset points"
        )


def confusion_picture(name: str, title: str, table: Confusion) -> Picture:
    """Draw who chose what as a heat map: rows the first coder, columns the second."""
    lines = [line for group in table.groups for line in group]
    counts = [[cell.count for cell in line.cells] for line in lines]
    largest = max((count for row in counts for count in row), default=0) or 1
    side = min(WIDTH, 1.8 + 0.32 * len(lines))
    with style():
        figure = Figure(figsize=(side + 0.6, side), layout="constrained")
        axes = figure.subplots()
        axes.imshow(counts or [[0]], cmap=HEAT, vmin=0, vmax=largest)
        axes.set_xticks(range(len(lines)), [head.category.name for head in table.heads], rotation=90)
        axes.set_yticks(range(len(lines)), [line.category.name for line in lines])
        axes.tick_params(which="both", length=0)
        edges = [place - 0.5 for place in range(1, len(lines))]
        axes.set_xticks(edges, minor=True)
        axes.set_yticks(edges, minor=True)
        axes.grid(which="minor", color=GRID)
        axes.set_xlabel(table.coder_b)
        axes.set_ylabel(table.coder_a)
        axes.set_title(title, loc="left", fontweight="bold")
        for row, cells in enumerate(counts):
            for column, count in enumerate(cells):
                if count:
                    ink = "white" if count >= DARK * largest else INK
                    axes.text(column, row, str(count), ha="center", va="center", color=ink)
    rows = tuple(
        (cell.first.code, cell.first.name, cell.second.code, cell.second.name, cell.count)
        for line in lines
        for cell in line.cells
    )
    columns = ("category_a", "name_a", "category_b", "name_b", "units")
    return Picture(name, figure, columns, rows)
