"""How many issues each value of a filter would leave: counted apart, the list must not wait for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count, QuerySet
from django.db.models.functions import ExtractYear

from labeling.models import Issue, IssueSnapshot
from labeling.models.issue import NO_DATE
from labeling.selectors.corpus import Corpus, IssueFilters

#: Values shown of a filter that can have any number of them.
MOST_VALUES = 12


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value, its number of issues, and the filters that choose it (or let go of it, when chosen)."""

    text: str
    count: int
    chosen: bool
    filters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    values: list[FacetValue]
    is_cut: bool = False


def facets(seen: Corpus, filters: IssueFilters) -> list[Facet]:
    """Count the values of each filter among what the other filters leave."""
    return [
        _facet("repository", "Repository", filters.repository, _repositories(seen, filters)),
        _facet("state", "State", filters.state, _states(seen, filters)),
        _facet("github_label", "GitHub label", filters.github_label, _labels(seen, filters)),
        _years(seen, filters),
        _fixes(seen, filters),
    ]


def _facet(name: str, label: str, chosen: str, counted: Iterable[tuple[str, int]]) -> Facet:
    values = [
        FacetValue(text, count, text == chosen, {name: "" if text == chosen else text})
        for text, count in counted
    ]
    return Facet(name, label, values[:MOST_VALUES], len(values) > MOST_VALUES)


def _repositories(seen: Corpus, filters: IssueFilters) -> "QuerySet[Issue, tuple[str, int]]":
    rows = seen.matching(replace(filters, repository="")).exclude(repository="")
    return _counted(rows, "repository")


def _states(seen: Corpus, filters: IssueFilters) -> "QuerySet[Issue, tuple[str, int]]":
    rows = seen.matching(replace(filters, state="")).exclude(seen.masks.hiding("state"))
    return _counted(rows.exclude(latest=None).exclude(latest__state=""), "latest__state")


def _fixes(seen: Corpus, filters: IssueFilters) -> Facet:
    rows = seen.matching(replace(filters, has_fix=None)).exclude(seen.masks.hiding("fix"))
    values = []
    for told, count in _counted(rows.exclude(latest=None), "latest__has_merged_fix"):
        chosen = filters.has_fix is bool(told)
        asked = "" if chosen else "true" if told else "false"
        values.append(FacetValue("yes" if told else "no", count, chosen, {"has_fix": asked}))
    return Facet("has_fix", "Merged fix", values)


def _years(seen: Corpus, filters: IssueFilters) -> Facet:
    rows = seen.matching(replace(filters, created_after=None, created_before=None))
    rows = rows.filter(by_created__gt=NO_DATE).annotate(year=ExtractYear("by_created"))
    years = rows.values_list("year").annotate(issues=Count("pk")).order_by("-year")
    values = []
    for year, count in years:
        first, last = date(year, 1, 1), date(year, 12, 31)
        chosen = (filters.created_after, filters.created_before) == (first, last)
        asked = {"created_after": first.isoformat(), "created_before": last.isoformat()}
        values.append(FacetValue(str(year), count, chosen, dict.fromkeys(asked, "") if chosen else asked))
    return Facet("year", "Created", values)


def _labels(seen: Corpus, filters: IssueFilters) -> list[tuple[str, int]]:
    """Count each GitHub label; they are a list in each snapshot."""
    rows = seen.matching(replace(filters, github_label="")).exclude(seen.masks.hiding("github_labels"))
    inner = IssueSnapshot.objects.filter(pk__in=rows.values("latest")).values("github_labels")
    try:
        sql, values = inner.query.sql_with_params()
    except EmptyResultSet:  # a search without a word, which finds nothing
        return []
    unnested = (
        "jsonb_array_elements_text(told.github_labels) AS label(value)"
        if connection.vendor == "postgresql"
        else "json_each(told.github_labels) AS label"
    )
    statement = (
        f"SELECT label.value, count(*) FROM ({sql}) AS told, {unnested}"  # noqa: S608 - Django's own SQL
        " GROUP BY label.value ORDER BY count(*) DESC, label.value LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, MOST_VALUES + 1])
        return list(cursor.fetchall())


def _counted(rows: "QuerySet[Issue]", field: str) -> "QuerySet[Issue, tuple[str, int]]":
    """Count rows by a field, the most frequent value first."""
    counted = rows.order_by().values_list(field).annotate(issues=Count("pk"))
    return counted.order_by("-issues", field)[: MOST_VALUES + 1]
