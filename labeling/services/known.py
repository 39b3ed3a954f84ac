"""Which issue of a study a record is about: by its ids first, since names change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from labeling.models import Study
from labeling.records import IssueRecord


@dataclass(slots=True)
class KnownIssue:
    """What there is of an issue, as far as a newer record has to be compared with it."""

    id: int
    key: str
    former_keys: list[str]
    repository_id: int | None
    number: int | None
    node_id: str
    rest_id: int | None
    url: str
    gone: bool
    transferred_to: str
    redacted_at: datetime | None
    latest_id: int | None
    latest_hash: str | None


#: The condition of the index of node ids, word for word: no database concludes it from hundreds of ids, and
#: without it each page of an import reads all issues.
HAS_NODE = Q(RawSQL("NOT (labeling_issue.node_id = '')", (), output_field=BooleanField()))

_FIELDS = (
    "id",
    "key",
    "former_keys",
    "repository_id",
    "number",
    "node_id",
    "rest_id",
    "url",
    "gone",
    "transferred_to",
    "redacted_at",
    "latest_id",
    "latest__content_hash",
)


#: What ``_FIELDS`` are in the statement of ``_read_each``.
_COLUMNS = ", ".join(f"issue.{name}" for name in _FIELDS[:-1]) + ", latest.content_hash"
_LATEST = "LEFT JOIN labeling_issuesnapshot AS latest ON latest.id = issue.latest_id"


class KnownIssues:
    """The issues of the study that a page of records may be about."""

    def __init__(self, study: Study, records: Sequence[IssueRecord]) -> None:
        self._study = study
        self._rows = study.issues.values_list(*_FIELDS)
        self._nodes: dict[str, KnownIssue] = {}
        self._rests: dict[int, KnownIssue] = {}
        self._numbers: dict[tuple[int | None, int | None], KnownIssue] = {}
        self._keys: dict[str, KnownIssue] = {}
        self._note(_read_each(study, "key", "text", [record.key for record in records]))
        # Most are known by their key and say the same ids. Only for the others it takes further queries.
        self._look_further([record for record in records if not self._is_settled(record)])

    def find(self, record: IssueRecord) -> KnownIssue | None:
        """Match by id first: a name can change."""
        return (
            (self._nodes.get(record.node_id) if record.node_id else None)
            or (self._rests.get(record.rest_id) if record.rest_id else None)
            or (self._numbers.get((record.repository_id, record.number)) if record.repository_id else None)
            or self._keys.get(record.key)
        )

    def _is_settled(self, record: IssueRecord) -> bool:
        found = self._keys.get(record.key)
        if found is None:
            return False
        if record.node_id:
            return found.node_id == record.node_id
        return found.rest_id == record.rest_id if record.rest_id else not record.repository_id

    def _look_further(self, records: Sequence[IssueRecord]) -> None:
        """Ask by every other way to be known: each a query of its own, a single OR would use no index."""
        numbers = {record.number for record in records if record.number}
        repositories = {record.repository_id for record in records if record.repository_id}
        if nodes := [record.node_id for record in records if record.node_id]:
            self._note(_read_each(self._study, "node_id", "text", nodes, "AND NOT (issue.node_id = '')"))
        if rests := [record.rest_id for record in records if record.rest_id]:
            self._note(_read_each(self._study, "rest_id", "bigint", rests))
        if repositories:
            self._note(self._rows.filter(repository_id__in=repositories, number__in=numbers))
        if numbers:
            for row in self._rows.filter(was_renamed=True, number__in=numbers):
                issue = self._kept(row)
                for key in issue.former_keys:
                    self._keys.setdefault(key, issue)

    def _note(self, rows: Iterable[tuple]) -> None:  # type: ignore[type-arg] # as above
        for row in rows:
            self._kept(row)

    def _kept(self, row: tuple) -> KnownIssue:  # type: ignore[type-arg] # as above
        """Keep one object for each issue, by all it is known by."""
        issue = self._keys.get(row[1])
        if issue is None or issue.id != row[0]:
            issue = KnownIssue(*row)
        self._keys[issue.key] = issue
        if issue.node_id:
            self._nodes[issue.node_id] = issue
        if issue.rest_id:
            self._rests[issue.rest_id] = issue
        if issue.repository_id:
            self._numbers[issue.repository_id, issue.number] = issue
        return issue


def _read_each(study: Study, column: str, kind: str, values: Sequence[object], also: str = "") -> list[tuple]:  # type: ignore[type-arg] # a row of _FIELDS
    """Find issues by the values of an indexed column: each by a search of its own in the index.

    During an import PostgreSQL knows no statistics of what was just stored. Given a list it would read all
    issues of the study for each page, and compare each with every value of the list; OFFSET forbids that.
    """
    is_it = f"issue.study_id = %s AND issue.{column} = told.value {also}"
    if connection.vendor == "postgresql":
        one = f"SELECT * FROM labeling_issue AS issue WHERE {is_it} OFFSET 0"  # noqa: S608 (names from this module)
        source = f"unnest(%s::{kind}[]) AS told (value) CROSS JOIN LATERAL ({one}) AS issue"
        told: str | list[object] = list(values)
    else:
        source = f"json_each(%s) AS told CROSS JOIN labeling_issue AS issue ON {is_it}"
        told = json.dumps(values)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_COLUMNS} FROM {source} {_LATEST}", [told, study.pk])  # noqa: S608 (as above)
        at = _FIELDS.index("former_keys")
        return [(*row[:at], json.loads(row[at]), *row[at + 1 :]) for row in cursor.fetchall()]


def lock_issues(study: Study) -> None:
    """Let one page at a time come into a study: two imports may bring the same issue at the same moment."""
    Study.objects.select_for_update(no_key=True).filter(pk=study.pk).values_list("pk").first()
