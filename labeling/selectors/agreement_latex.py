"""The tables of the agreement page in LaTeX, made from the very figures the page shows."""

from collections.abc import Iterator, Mapping
from typing import Any

from labeling.export.agreement_tables import (
    breakdown_table,
    categories_table,
    change_table,
    claims_table,
    clusters_table,
    coefficients_table,
    confusion_table,
    dimensions_table,
    pairs_table,
    trend_table,
)
from labeling.export.latex import Table, escape, table_text


def page_latex(figures: Mapping[str, Any], number: int) -> dict[str, str]:
    """The LaTeX of each table on the page, by the name of its part; ``sentence`` is that for the paper."""
    texts = {part: table_text(table) for part, table in _tables(figures, number)}
    if figures["paper"] is not None:
        texts["sentence"] = escape(figures["paper"].text)
    return texts


def _tables(figures: Mapping[str, Any], number: int) -> Iterator[tuple[str, Table]]:
    rows, names = figures["rows"], figures["names"]
    yield "dimensions", dimensions_table(rows, names, number, repeats=figures["repeats"])
    if figures["trend"]:
        yield "trend", trend_table((panel.mark.name, panel.trend) for panel in figures["trend"])
    for place, table in enumerate(figures["coefficients"], start=1):
        name = names.get(table.key, table.key)
        yield f"coefficients-{place}", coefficients_table(name, table, number)
    if figures["has_pairs"]:
        yield "pairs", pairs_table(rows, names, number)
    if figures["claims"] is not None:
        yield "claims", claims_table(figures["claims"], names, number)
    if figures["clusters"]:
        yield "clusters", clusters_table(figures["clusters"], names, number)
    if figures["groups"]:
        heading = figures["breakdowns"][figures["by"]]
        yield "breakdown", breakdown_table(heading, figures["groups"], names, number)
    if figures["change"] is not None:
        change = figures["change"]
        yield "change", change_table(change["rows"], names, change["before"].number, change["after"].number)
    if (closer := figures["closer"]) is not None:
        coders = (closer.coder_a, closer.coder_b) if closer.coder_a else None
        yield "categories", categories_table(closer.name, closer.categories, number, coders)
        if closer.confusion is not None:
            yield "confusion", confusion_table(closer.name, closer.confusion, number)
