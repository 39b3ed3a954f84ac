"""The tables of agreement as a paper prints them, from the figures of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from labeling.agreement.report import format_two
from labeling.charts.breakdown import DimensionGroups
from labeling.charts.categories import CategoryRow
from labeling.charts.change import ChangeRow
from labeling.charts.claims import Claims
from labeling.charts.clusters import ClusterRow
from labeling.charts.coefficients import CoefficientTable
from labeling.charts.confusion import Confusion
from labeling.charts.dimensions import DimensionRow
from labeling.charts.interval import Interval
from labeling.charts.trend import Trend
from labeling.export.latex import Column, Table, macro

UNDEFINED = "undefined"
NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def two(value: float | None) -> str:
    """Two decimals with a proper minus; what is missing is said to be undefined."""
    return UNDEFINED if value is None else format_two(value).replace("-", MINUS)


def percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{two(100 * value)}%"


def limits(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return NOTHING
    return f"{two(interval.low)} to {two(interval.high)}"


def p_text(value: float | None) -> str:
    """Three decimals; smaller ones are said to be."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def dimensions_table(
    rows: Sequence[DimensionRow], names: Mapping[str, str], number: int, *, repeats: bool = False
) -> Table:
    """The headline of every dimension, with what stands beside it."""
    coders = (Column("Coders"),) if repeats else ()
    return Table(
        caption=f"Agreement before reconciliation, round {number}",
        label=f"agreement-round-{number}",
        columns=(
            Column("Dimension"),
            *coders,
            Column("n", "r"),
            Column("Agreement", "r"),
            Column("Coefficient"),
            Column("Value", "r"),
            Column("95% CI", "r"),
            Column("AC1", "r"),
            Column("\N{GREEK SMALL LETTER ALPHA}", "r"),
        ),
        groups=(tuple(_dimension(row, names, repeats=repeats) for row in rows if row.has_numbers),),
        note=_undefined_note(rows, names),
    )


def _dimension(row: DimensionRow, names: Mapping[str, str], *, repeats: bool) -> tuple[str, ...]:
    coders = (" and ".join(row.coders),) if repeats else ()
    return (
        names.get(row.key, row.key),
        *coders,
        str(row.n),
        percent(row.observed.value),
        row.headline.name,
        two(row.headline.value),
        limits(row.headline),
        NOTHING if row.ac1.value is None and row.kind == "multiple" else two(row.ac1.value),
        two(row.alpha.value),
    )


def _undefined_note(rows: Iterable[DimensionRow], names: Mapping[str, str]) -> str:
    known = [names.get(row.key, row.key) for row in rows if row.is_constant]
    if not known:
        return ""
    return f"Undefined for {', '.join(known)}: one single category occurred."


def trend_table(panels: Iterable[tuple[str, Trend]]) -> Table:
    """The headline of each dimension from round to round."""
    return Table(
        caption="Agreement before reconciliation, by round",
        label="agreement-by-round",
        columns=(
            Column("Dimension"),
            Column("Round", "r"),
            Column("Coefficient"),
            Column("Value", "r"),
            Column("95% CI", "r"),
        ),
        groups=tuple(
            tuple(
                (
                    name,
                    f"{point.round}{' (pilot)' * point.is_pilot}",
                    point.interval.name,
                    two(point.interval.value),
                    limits(point.interval),
                )
                for point in figure.points
            )
            for name, figure in panels
        ),
    )


def coefficients_table(name: str, table: CoefficientTable, number: int) -> Table:
    """Every coefficient of a dimension."""
    several = f", {' and '.join(table.coders)}" if len(table.coders) == 2 else ""
    return Table(
        caption=f"{name}, round {number}{several}: all coefficients, n = {table.n}, {table.k} categories",
        label=f"coefficients-{name}-round-{number}",
        columns=(Column("Coefficient"), Column("Value", "r"), Column("95% CI", "r"), Column("How")),
        groups=(
            tuple(
                (row.interval.name, two(row.interval.value), limits(row.interval), row.method)
                for row in table.rows
            ),
        ),
    )


def categories_table(
    name: str, rows: Sequence[CategoryRow], number: int, coders: tuple[str, str] | None
) -> Table:
    """One dimension, each category against all others."""
    uses = tuple(Column(each, "r") for each in (*coders, "Both")) if coders else (Column("Answers", "r"),)
    return Table(
        caption=f"{name} by category, round {number}",
        label=f"categories-{name}-round-{number}",
        columns=(
            Column(name),
            *uses,
            Column("Positive agreement", "r"),
            Column("\N{GREEK SMALL LETTER KAPPA}", "r"),
            Column("95% CI", "r"),
        ),
        groups=(tuple(_category(row, two_coders=coders is not None) for row in rows),),
    )


def _category(row: CategoryRow, *, two_coders: bool) -> tuple[str, ...]:
    uses = (row.n_a, row.n_b, row.both) if two_coders else (row.n,)
    positive = NOTHING if row.positive_agreement is None else percent(row.positive_agreement)
    value = two(row.kappa.value) if row.n else "never used"
    return (row.category.name, *map(str, uses), positive, value, limits(row.kappa))


def confusion_table(name: str, figure: Confusion, number: int) -> Table:
    """Who chose what: rows the first coder, columns the second, in the same order."""
    heads = [Column(head.category.key, "r") for head in figure.heads]
    lines = [line for group in figure.groups for line in group]
    keys = (f"{line.category.name} ({line.category.key})" for line in lines)
    rows = [
        (key, *(str(cell.count) if cell.count else NOTHING for cell in line.cells), str(line.total))
        for key, line in zip(keys, lines, strict=True)
    ]
    totals = ("Total", *(str(head.total) for head in figure.heads), str(figure.total))
    return Table(
        caption=f"{name}, round {number}: rows {figure.coder_a}, columns {figure.coder_b}",
        label=f"confusion-{name}-{figure.coder_a}-{figure.coder_b}-round-{number}",
        columns=(Column(name), *heads, Column("Total", "r")),
        groups=(tuple(rows), (totals,)),
    )


def pairs_table(rows: Sequence[DimensionRow], names: Mapping[str, str], number: int) -> Table:
    """Every pair of coders on the units both coded."""
    return Table(
        caption=f"Agreement of each pair of coders, round {number}",
        label=f"pairs-round-{number}",
        columns=(
            Column("Dimension"),
            Column("Coders"),
            Column("n", "r"),
            Column("Agreement", "r"),
            Column("Coefficient"),
            Column("Value", "r"),
            Column("95% CI", "r"),
        ),
        groups=tuple(
            tuple(
                (
                    names.get(row.key, row.key),
                    f"{pair.coder_a} and {pair.coder_b}",
                    str(pair.n),
                    percent(pair.observed.value),
                    pair.kappa.name,
                    two(pair.kappa.value),
                    limits(pair.kappa),
                )
                for pair in row.pairs
            )
            for row in rows
            if len(row.pairs) > 1
        ),
    )


def claims_table(claims: Claims, names: Mapping[str, str], number: int) -> Table:
    """What may be claimed of the goal."""
    return Table(
        caption=f"Coefficients against {two(claims.goal)}, round {number}",
        label=f"claims-round-{number}",
        columns=(Column("Dimension"), Column("Lower limit, one-sided 95%", "r"), Column("p (Holm)", "r")),
        groups=(
            tuple(
                (
                    names.get(row.key, row.key),
                    NOTHING if row.lower is None else two(row.lower),
                    p_text(row.p),
                )
                for row in claims.rows
            ),
        ),
    )


def clusters_table(rows: Sequence[ClusterRow], names: Mapping[str, str], number: int) -> Table:
    """The headline over units, over repositories, and within them."""
    return Table(
        caption=f"Agreement across repositories, round {number}",
        label=f"repositories-round-{number}",
        columns=(
            Column("Dimension"),
            Column("Repositories", "r"),
            Column("Value", "r"),
            Column("95% CI over units", "r"),
            Column("over repositories", "r"),
            Column("\N{GREEK SMALL LETTER KAPPA} within", "r"),
            Column("\N{GREEK SMALL LETTER CHI}\N{SUPERSCRIPT TWO} (df)", "r"),
            Column("p", "r"),
        ),
        groups=(tuple(_cluster(row, names) for row in rows),),
    )


def _cluster(row: ClusterRow, names: Mapping[str, str]) -> tuple[str, ...]:
    test = NOTHING if row.chi_squared is None else f"{two(row.chi_squared)} ({row.degrees})"
    return (
        names.get(row.key, row.key),
        str(row.clusters),
        two(row.over_units.value),
        limits(row.over_units),
        limits(row.over_clusters),
        NOTHING if row.pooled.value is None else f"{two(row.pooled.value)} ({limits(row.pooled)})",
        test,
        p_text(row.p),
    )


def breakdown_table(
    heading: str, groups: Sequence[DimensionGroups], names: Mapping[str, str], number: int
) -> Table:
    """The headline of each dimension, group by group."""
    return Table(
        caption=f"Agreement by {heading.lower()}, round {number}",
        label=f"{heading}-round-{number}",
        columns=(
            Column("Dimension"),
            Column(heading),
            Column("n", "r"),
            Column("Agreement", "r"),
            Column("Coefficient"),
            Column("Value", "r"),
            Column("95% CI", "r"),
        ),
        groups=tuple(
            tuple(
                (
                    names.get(row.key, row.key),
                    row.group,
                    str(row.n),
                    percent(row.observed.value),
                    row.headline.name,
                    two(row.headline.value),
                    limits(row.headline),
                )
                for row in dimension.rows
            )
            for dimension in groups
        ),
    )


def change_table(rows: Sequence[ChangeRow], names: Mapping[str, str], before: int, after: int) -> Table:
    """Two rounds and their difference."""
    return Table(
        caption=f"Agreement of round {after} less that of round {before}",
        label=f"change-round-{before}-{after}",
        columns=(
            Column("Dimension"),
            Column("Coefficient"),
            Column(f"Round {before}", "r"),
            Column(f"Round {after}", "r"),
            Column("Difference", "r"),
            Column("95% CI", "r"),
            Column("p", "r"),
        ),
        groups=(
            tuple(
                (
                    names.get(row.key, row.key),
                    row.name,
                    two(row.before),
                    two(row.after),
                    two(row.difference.value),
                    limits(row.difference),
                    p_text(row.p),
                )
                for row in rows
            ),
        ),
    )


def agreement_numbers(
    rows: Iterable[DimensionRow], number: int, *, repeats: bool = False
) -> Iterable[tuple[str, str]]:
    """One macro per number of a round: units, agreement, headline and its limits."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.key] += 1
        start = [f"round {number}", row.key]
        if repeats:
            start.append(f"comparison {seen[row.key]}")
        yield macro(*start, "units"), str(row.n)
        yield macro(*start, "agreement"), percent(row.observed.value)
        yield macro(*start, "value"), two(row.headline.value)
        if row.headline.low is not None and row.headline.high is not None:
            yield macro(*start, "low"), two(row.headline.low)
            yield macro(*start, "high"), two(row.headline.high)
