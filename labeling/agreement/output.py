"""A report as text for a terminal and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labeling.agreement.result import DimensionReport
from labeling.agreement.statistic import Statistic, format_two
from labeling.agreement.summary import CORRECTED

# Without an interval of their own the numbers would stand there twice.
NOT_LISTED = {"cohen_kappa_ci95"}


def as_text(report: DimensionReport) -> str:
    """Give the report as lines of text, two decimals."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: DimensionReport) -> Iterator[str]:
    yield f"{report.key} ({report.kind}, {report.k} categories)"
    yield f"Coders: {', '.join(report.coders)}"
    yield f"Units: {report.n_units}, of which {report.n_both} coded by at least two coders"
    if report.undefined is not None:
        yield report.undefined
        return
    for name, statistic in report.statistics.items():
        if name not in NOT_LISTED:
            yield f"  {name:<42} {_shown(statistic)}{' (headline)' if name == report.headline else ''}"
    if report.reading is not None:
        yield f"Reading of {report.headline}, {report.reading.name}: {report.reading.words}"
    yield from _category_lines(report)
    if len(report.pairs) > 1:
        yield "Pairs of coders: units, observed agreement, " + report.pairs[0].statistic
        for pair in report.pairs:
            numbers = f"{pair.n:>6}  {_shown(pair.observed)}  {_shown(pair.kappa)}"
            yield f"  {pair.coder_a} | {pair.coder_b}  {numbers}"
    for caution in report.warnings:
        yield f"Note: {caution.words}"
    yield f"Bootstrap: {report.draws} draws, seed {report.seed}"


def _category_lines(report: DimensionReport) -> Iterator[str]:
    yield "Categories: answers, positive agreement, kappa against all others"
    for category in report.categories:
        positive = "-" if category.positive_agreement is None else format_two(category.positive_agreement)
        yield f"  {category.category:<36} {category.n:>6}  {positive:>5}  {_short(category.kappa)}"


def _short(statistic: Statistic) -> str:
    """Give the number alone: in a list of categories a dash says that there is none."""
    return "-" if statistic.value is None else _shown(statistic)


def _shown(statistic: Statistic) -> str:
    if statistic.value is None:
        return statistic.undefined or "Undefined."
    text = format_two(statistic.value)
    if statistic.ci_low is None or statistic.ci_high is None:
        return text
    return f"{text} ({format_two(statistic.ci_low)} to {format_two(statistic.ci_high)})"


def as_json(report: DimensionReport) -> dict[str, Any]:
    """Give every figure under the names of the reference cases; null is undefined and ``reasons`` says why.

    ``boot_ci95`` is the bootstrap interval of the headline, ``intervals`` those of all coefficients.
    """
    statistics: dict[str, Any] = {name: one.value for name, one in report.statistics.items()}
    for name, one in report.statistics.items():
        if name == "cohen_kappa_ci95" or name.endswith(CORRECTED):
            statistics[name] = _limits(one)
    return {
        "dimension": report.key,
        "kind": report.kind,
        "headline": report.headline,
        "coders": list(report.coders),
        "categories": [category.category for category in report.categories],
        "k": report.k,
        "n_units": report.n_units,
        "n_coders": len(report.coders),
        "n_units_pairable": report.n_both,
        **({"n_both": report.n_both} if len(report.coders) == 2 else {}),
        "undefined": report.undefined,
        **statistics,
        **({} if report.undefined else _tables(report)),
        "intervals": {
            name: _limits(one) for name, one in report.statistics.items() if one.ci_low is not None
        },
        "reasons": {
            name: one.undefined for name, one in report.statistics.items() if one.undefined is not None
        },
        "reading": None if report.reading is None else report.reading.words,
        "scale": None if report.reading is None else report.reading.citation,
        "warnings": {caution.key: caution.words for caution in report.warnings},
        "seed": report.seed,
        "draws": report.draws,
    }


def _tables(report: DimensionReport) -> dict[str, Any]:
    """Give what is a number by category or by pair of coders, and the headline's interval."""
    headline = report.statistics[report.headline] if report.headline else report.observed
    multiple = report.kind == "multiple"
    specific = "label_specific_agreement" if multiple else "specific_agreement"
    tables: dict[str, Any] = {
        "boot_ci95": _limits(headline),
        specific: {one.category: one.positive_agreement for one in report.categories},
        report.categories[0].statistic: {one.category: one.kappa.value for one in report.categories},
    }
    if len(report.coders) == 2 and not multiple:
        tables["confusion"] = [list(row) for row in report.matrix[0].counts]
    if len(report.coders) > 2:
        tables["pairwise_n"] = {f"{pair.coder_a}|{pair.coder_b}": pair.n for pair in report.pairs}
        tables[f"pairwise_{report.pairs[0].statistic}"] = {
            f"{pair.coder_a}|{pair.coder_b}": pair.kappa.value for pair in report.pairs
        }
    return tables


def _limits(statistic: Statistic) -> list[float] | None:
    if statistic.ci_low is None or statistic.ci_high is None:
        return None
    return [statistic.ci_low, statistic.ci_high]
