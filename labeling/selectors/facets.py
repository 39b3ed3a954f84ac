"""How many issues each value of a filter would leave: counted apart, the list must not wait for it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count, Func, IntegerField, QuerySet

from labeling.models import Issue
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


def facets(seen: Corpus, filters: IssueFilters) -> tuple[list[Facet], int]:
    """Count the values of each filter among what the other filters leave, and what all of them leave."""
    counted = _Counted(seen, filters)
    values = counted.values
    shown = [
        _facet("repository", "Repository", filters.repository, values["repository"]),
        _facet("state", "State", filters.state, values["state"]),
        _facet("github_label", "GitHub label", filters.github_label, values["github_label"]),
        _years(values["year"], filters),
        _fixes(values["has_fix"], filters),
    ]
    return shown, counted.issues


def _facet(name: str, label: str, chosen: str, counted: Iterable[tuple[str, int]]) -> Facet:
    values = [
        FacetValue(text, count, text == chosen, {name: "" if text == chosen else text})
        for text, count in counted
    ]
    return Facet(name, label, values[:MOST_VALUES], len(values) > MOST_VALUES)


def _years(counted: Iterable[tuple[str, int]], filters: IssueFilters) -> Facet:
    values = []
    told = ((int(year), count) for year, count in counted)
    for year, count in sorted((each for each in told if each[0] > NO_DATE.year), reverse=True):
        first, last = date(year, 1, 1), date(year, 12, 31)
        chosen = (filters.created_after, filters.created_before) == (first, last)
        asked = {"created_after": first.isoformat(), "created_before": last.isoformat()}
        values.append(FacetValue(str(year), count, chosen, dict.fromkeys(asked, "") if chosen else asked))
    return Facet("year", "Created", values)


def _fixes(counted: Iterable[tuple[str, int]], filters: IssueFilters) -> Facet:
    values = []
    for text, count in counted:
        told = text in ("true", "1")  # as PostgreSQL and SQLite write it
        chosen = filters.has_fix is told
        asked = "" if chosen else str(told).lower()
        values.append(FacetValue("yes" if told else "no", count, chosen, {"has_fix": asked}))
    return Facet("has_fix", "Merged fix", values)


# Counting


class _Year(Func):
    """Year of a moment in UTC. For Django's own function SQLite asks Python about each of the moments."""

    template = "EXTRACT(YEAR FROM %(expressions)s AT TIME ZONE 'UTC')"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="substr(%(expressions)s, 1, 4)", **context)


@dataclass(frozen=True, slots=True)
class _Field:
    """What a facet counts, the filters that choose of it, and the field of an issue that a round may hide.

    Those of one ``place`` are counted in one pass: for the others the issues' own indexes are enough.
    """

    told: Any
    place: str
    own: Mapping[str, Any]
    hidden: str = ""


_FIELDS = {
    "repository": _Field("repository", "repository", {"repository": ""}),
    "state": _Field("latest__state", "snapshot", {"state": ""}, "state"),
    "github_label": _Field("latest__github_labels", "snapshot", {"github_label": ""}, "github_labels"),
    "year": _Field(_Year("by_created"), "created", {"created_after": None, "created_before": None}),
    "has_fix": _Field("latest__has_merged_fix", "snapshot", {"has_fix": None}, "fix"),
}


class _Counted:
    """Values with their counts by facet, and how many issues there are."""

    def __init__(self, seen: Corpus, filters: IssueFilters) -> None:
        self.values: dict[str, list[tuple[str, int]]] = {name: [] for name in _FIELDS}
        self.issues = -1
        passes: defaultdict[tuple[IssueFilters, str, str], list[str]] = defaultdict(list)
        for name, field in _FIELDS.items():
            hidden = field.hidden if seen.masks.hides(field.hidden) else ""
            passes[replace(filters, **field.own), hidden, field.place].append(name)
        for (others, hidden, _), names in passes.items():
            rows = seen.matching(others)
            issues = self._add(seen.masks.without(rows, hidden) if hidden else rows, names)
            if others == filters and not hidden:
                self.issues = issues
        if self.issues < 0:  # all of them choose something
            self.issues = seen.matching(filters).count()

    def _add(self, rows: "QuerySet[Issue]", names: Sequence[str]) -> int:
        """Count the values of some facets in one pass; give the number of rows."""
        total = 0
        for name, value, count in _rows(rows, names):
            if not name:
                total = int(count or 0)
            else:
                self.values[name].append((value, int(count)))
        for name in names:
            self.values[name].sort(key=lambda told: (-told[1], told[0]))
        return total


def _rows(rows: "QuerySet[Issue]", names: Sequence[str]) -> list[tuple[str, str, Any]]:
    """Read the rows once, for the few combinations of values they have, then count each value of those."""
    told = rows.order_by().values_list(*(_FIELDS[name].told for name in names)).annotate(issues=Count("*"))
    try:
        sql, values = told.query.sql_with_params()
    except EmptyResultSet:  # a search without a word, which finds nothing
        return []
    counts = ["SELECT '', '', sum(issues) FROM told"]
    counts += [f"SELECT * FROM ({_of_field(name)}) AS {name}" for name in names]  # noqa: S608 - own names
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH told ({', '.join(names)}, issues) AS ({sql}) {' UNION ALL '.join(counts)}", values
        )
        return list(cursor.fetchall())


def _of_field(name: str) -> str:
    """Count the most frequent values of a field; GitHub labels are a list in each snapshot."""
    value, source = f"CAST({name} AS text)", "told"
    if name == "github_label":
        is_postgresql = connection.vendor == "postgresql"
        unnested = "jsonb_array_elements_text(github_label)" if is_postgresql else "json_each(github_label)"
        value, source = "label.value", f"told, {unnested} AS label"
        if is_postgresql:
            source += "(value)"
    # Years are few, and stand in their own order.
    most = "" if name == "year" else f" ORDER BY 3 DESC, 2 LIMIT {MOST_VALUES + 1}"
    return (
        f"SELECT '{name}' AS facet, {value} AS value, sum(issues) AS issues FROM {source}"  # noqa: S608 - own names
        f" WHERE {value} > '' GROUP BY 2{most}"
    )
