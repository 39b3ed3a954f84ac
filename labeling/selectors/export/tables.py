"""Agreement in LaTeX, of every closed round: ``tables/*.tex``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.charts.categories import category_rows
from labeling.charts.confusion import confusion
from labeling.charts.dimensions import DimensionRow, dimension_row
from labeling.charts.names import CategoryName
from labeling.export.agreement_tables import (
    agreement_numbers,
    categories_table,
    confusion_table,
    dimensions_table,
    pairs_table,
)
from labeling.export.latex import Table, macros_text, tables_text
from labeling.models import AgreementReport, Round
from labeling.selectors.agreement import ELIGIBILITY, readable_payload
from labeling.selectors.agreement_figures import category_names, goal_of, payload_rows
from labeling.selectors.export.reader import Reader
from labeling.selectors.frozen import round_dimensions


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """A closed round as its tables and figures need it."""

    coding_round: Round
    payloads: list[Mapping[str, Any]]
    names: Mapping[str, str]
    categories: Mapping[str, Mapping[str, CategoryName]]

    @property
    def number(self) -> int:
        return self.coding_round.number

    @property
    def rows(self) -> list[DimensionRow]:
        return [dimension_row(each, goal_of(self.coding_round, each["key"])) for each in self.payloads]

    @property
    def repeats(self) -> bool:
        return len({each["key"] for each in self.payloads}) < len(self.payloads)


def round_figures(reader: Reader) -> Iterator[RoundFigures]:
    """Every closed round with what was stored of it first, lowest number first."""
    reports = AgreementReport.objects.using(reader.using).filter(
        round__study=reader.study,
        round__state__in=Round.UNBLINDED,
        round__discarded_at__isnull=True,
        scope=AgreementReport.Scope.WHOLE,
        kind=AgreementReport.Kind.AS_CODED,
        options="{}",
    )
    seen: set[int] = set()
    for report in reports.select_related("round__study", "round__codebook").order_by("round__number", "id"):
        if report.round.number in seen:
            continue
        seen.add(report.round.number)
        asked = round_dimensions(report.round)
        hides = reader.pseudonyms or report.round.anonymous
        yield RoundFigures(
            coding_round=report.round,
            payloads=payload_rows(readable_payload(report, pseudonyms=hides)),
            names={ELIGIBILITY: "Eligibility"} | {each.key: each.name for each in asked},
            categories=category_names(asked),
        )


def agreement_tex(reader: Reader) -> str:
    """The table by dimension of each round, and its pairs of coders where there are several."""
    return tables_text(_agreement_tables(reader))


def _agreement_tables(reader: Reader) -> Iterator[Table]:
    for each in round_figures(reader):
        yield dimensions_table(each.rows, each.names, each.number, repeats=each.repeats)
        if any(len(row.pairs) > 1 for row in each.rows):
            yield pairs_table(each.rows, each.names, each.number)


def categories_tex(reader: Reader) -> str:
    """Each dimension category by category."""
    return tables_text(_categories_tables(reader))


def _categories_tables(reader: Reader) -> Iterator[Table]:
    for each in round_figures(reader):
        for payload in (row for row in each.payloads if row["categories"]):
            rows = category_rows(payload, each.categories.get(payload["key"], {}))
            coders = payload["coders"]
            two = (coders[0], coders[1]) if len(coders) == 2 else None
            yield categories_table(each.names.get(payload["key"], payload["key"]), rows, each.number, two)


def confusion_tex(reader: Reader) -> str:
    """Who chose what, for each pair of coders."""
    return tables_text(_confusion_tables(reader))


def _confusion_tables(reader: Reader) -> Iterator[Table]:
    for each in round_figures(reader):
        for payload in each.payloads:
            for matrix in payload["matrix"]:
                figure = confusion(matrix, each.categories.get(payload["key"], {}))
                yield confusion_table(each.names.get(payload["key"], payload["key"]), figure, each.number)


def numbers_tex(reader: Reader) -> str:
    r"""One macro per number, such as ``\RoundTwoSymptomValue``."""
    return "".join(
        macros_text(
            agreement_numbers(
                (row for row in each.rows if row.has_numbers), each.number, repeats=each.repeats
            )
        )
        for each in round_figures(reader)
    )
