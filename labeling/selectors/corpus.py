"""The corpus as a member may see it: what open rounds hide from them is neither shown nor searched."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IContains

from labeling.errors import InvalidInputError
from labeling.keyset import keyset_page
from labeling.markdown import without_references
from labeling.models import (
    CODING_ROLES,
    Issue,
    IssueSnapshot,
    Membership,
    Role,
    Study,
    Submission,
    Unit,
)
from labeling.models.issue import NO_DATE, ref_of
from labeling.selectors.issues import DocumentNames, shown_issue
from labeling.selectors.masks import Masks
from labeling.selectors.search import mentioning
from labeling.services.rendering import document_view

#: What ``ordering`` may name, each also with a minus, and the field it stands for.
ORDERINGS = {"key": "key", "created": "by_created", "updated": "by_updated", "closed": "by_closed"}
#: What of a snapshot no list shows; it can be megabytes.
HEAVY = ("comments", "timeline", "fixes", "reactions", "carries", "notes")

#: A list is counted exactly up to here; beyond it says "more than", and the facets count the rest.
MOST_COUNTED = 200

_NAMES = """
WITH RECURSIVE names(name) AS (
    SELECT min(repository) FROM labeling_issue WHERE study_id = %s AND repository > ''
    UNION ALL
    SELECT (SELECT min(repository) FROM labeling_issue WHERE study_id = %s AND repository > names.name)
    FROM names WHERE names.name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL
"""

#: What a line shows, and what the pages of a list go on by. No object is made of it: that took longer.
_COLUMNS = (
    *("pk", "key", "source_id", "kind", "repository", "number", "url", "eligible", "because", "override"),
    *("duplicate_of", "gone", "by_created", "by_updated", "by_closed", "latest", "latest__title"),
    *("latest__state", "latest__author", "latest__github_labels", "latest__has_merged_fix"),
)


@dataclass(frozen=True, slots=True)
class IssueFilters:
    """What a list is asked for; None and empty ask for nothing. Days are UTC days, both included."""

    repository: str = ""
    state: str = ""
    github_label: str = ""
    search: str = ""
    has_fix: bool | None = None
    created_after: date | None = None
    created_before: date | None = None
    eligible: bool | None = None
    coded: bool | None = None


@dataclass(frozen=True, slots=True)
class ListedIssue:
    """One line of the corpus for one member; what is hidden from them is None and named in ``masked``."""

    id: int
    key: str
    ref: str
    kind: str
    repository: str | None
    number: int | None
    url: str | None
    title: str
    state: str | None
    author: str | None
    github_labels: list[str] | None
    created_at: datetime | None
    closed_at: datetime | None
    updated_at: datetime | None
    has_fix: bool | None
    eligible: bool
    because: str
    override: bool | None
    duplicate_of: int | None
    gone: bool
    sampled: bool
    coded: bool
    masked: list[str]


@dataclass(frozen=True, slots=True)
class IssuePage:
    issues: list[ListedIssue]
    next: str | None
    previous: str | None


def may_browse(member: Membership) -> bool:
    """Whether the member may look through the corpus; it holds the units of later rounds."""
    return member.is_lead or (member.study.coders_see_corpus and member.role in CODING_ROLES)


def refuse_browsing(member: Membership) -> None:
    """Raise PermissionDenied, with the reason, for who may not look through the corpus."""
    if may_browse(member):
        return
    if member.role == Role.OBSERVER:
        raise PermissionDenied("An observer reads results, not the corpus.")
    raise PermissionDenied(
        "The corpus holds units you may still code. A lead can open it to coders in the study settings."
    )


class Corpus:
    """The issues of a study for one member."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.masks = Masks(member)

    def issues(self) -> "QuerySet[Issue]":
        """All issues of a list: those whose very name is hidden from the member are not in it."""
        return self.masks.without(self.member.study.issues.all(), "repository")

    def hidden_count(self) -> int:
        """How many issues ``issues`` leaves out."""
        return self.member.study.issues.filter(self.masks.hiding("repository")).count()

    def repositories(self) -> list[str]:
        """Names of the repositories, for the filter, without counting issues."""
        if self.masks.hides("repository"):
            rows = self.issues().exclude(repository="").order_by("repository")
            return list(rows.values_list("repository", flat=True).distinct())
        # From each name to the next through the index: as many steps as names, not as issues.
        with connection.cursor() as cursor:
            cursor.execute(_NAMES, [self.member.study_id] * 2)
            return [row[0] for row in cursor.fetchall()]

    def matching(self, filters: IssueFilters) -> "QuerySet[Issue]":
        """Issues that match. A hit on a hidden field would tell it, so such issues are left out."""
        rows, without = self.issues(), self.masks.without
        if filters.repository:
            rows = rows.filter(repository__iexact=filters.repository)
        if filters.state:
            rows = without(rows, "state").filter(latest__state=filters.state)
        if filters.github_label:
            rows = without(rows, "github_labels").filter(_has_label(filters.github_label))
        if filters.has_fix is not None:
            rows = without(rows, "fix").filter(latest__has_merged_fix=filters.has_fix)
        if filters.search:
            # Texts hold comments and fixes, which may be hidden in part.
            rows = without(rows).filter(mentioning(self.member.study, filters.search))
        if filters.created_after:
            rows = rows.filter(by_created__gte=_start_of(filters.created_after))
        if filters.created_before:
            end = _start_of(filters.created_before) + timedelta(days=1)
            rows = rows.filter(by_created__gt=NO_DATE, by_created__lt=end)
        if filters.eligible is not None:
            rows = rows.filter(eligible=filters.eligible)
        if filters.coded is not None:
            coded = Q(Exists(self._coded(issue=OuterRef("pk"))))
            rows = rows.filter(coded if filters.coded else ~coded)
        return rows

    def page(
        self, rows: "QuerySet[Issue]", *, ordering: str = "key", cursor: str = "", size: int = 50
    ) -> IssuePage:
        """Give a page of ``rows`` as the member may see them."""
        name, sign = ordering.removeprefix("-"), "-" if ordering.startswith("-") else ""
        if name == "closed":
            rows = self.masks.without(rows, "state")
        page = keyset_page(_lines(rows), by=f"{sign}{ORDERINGS[name]}", cursor=cursor, size=size)
        return IssuePage(self._listed(page.rows), page.next, page.previous)

    def listed(self, rows: "QuerySet[Issue]") -> list[ListedIssue]:
        """All of ``rows`` as the member may see them, by key."""
        return self._listed(list(_lines(rows).order_by("key")))

    def _coded(self, **issues: Any) -> "QuerySet[Submission]":
        """What was submitted, as far as the member may know: theirs while a round is open, then all."""
        return Submission.objects.visible_to(self.member).filter(
            **{f"assignment__round_unit__unit__{name}": told for name, told in issues.items()}
        )

    def _listed(self, lines: Sequence[Any]) -> list[ListedIssue]:
        ids = [line.pk for line in lines]
        hidden = self.masks.of_issues(ids)
        sampled = set(Unit.objects.filter(issue__in=ids).values_list("issue", flat=True)) if ids else set()
        coded = self._coded_of(sampled)
        return [
            _listed(
                line, hidden.get(line.pk, frozenset()), sampled=line.pk in sampled, coded=line.pk in coded
            )
            for line in lines
        ]

    def _coded_of(self, sampled: Collection[int]) -> set[int]:
        """Which of some drawn issues are coded: a page mostly has none, and the question is a long one."""
        if not sampled:
            return set()
        coded = self._coded(issue__in=sampled)
        return set(coded.values_list("assignment__round_unit__unit__issue", flat=True))

    def shown(self, issue: Issue) -> dict[str, Any]:
        """What the member may see of one issue, in the shape of the coding page.

        Where a unit is pinned, the pin is shown: it is what everybody codes.
        """
        unit = _whole(issue)
        view = shown_issue(unit, self.masks.of_issues([issue.pk]).get(issue.pk, frozenset()))
        snapshot = unit.snapshot or issue.latest
        return view | {"content_hash": snapshot.content_hash if snapshot is not None else ""}

    def documents(self, issue: Issue, masked: Sequence[str]) -> list[dict[str, Any]]:
        """Give the texts of what ``shown`` shows, where ``masked`` are the fields it hides."""
        snapshot = _whole(issue).snapshot or issue.latest
        if snapshot is None:
            return []
        names = DocumentNames(snapshot, frozenset(masked))
        told = [(names.shown(str(document["key"])), document) for document in document_view(snapshot)]
        shown = [{**document, "key": name} for name, document in told if names.stored(name) is not None]
        if "repository" not in masked:
            return shown
        return [document | {"html": without_references(document["html"] or "")} for document in shown]


def _whole(issue: Issue) -> Unit:
    """The unit of an issue; one that is never stored where it was not drawn."""
    unit = Unit.objects.filter(issue=issue, part=0).select_related("snapshot").first()
    unit = unit or Unit(study_id=issue.study_id, ref=issue.ref)
    unit.issue = issue
    return unit


def pin_of(issue: Issue) -> IssueSnapshot | None:
    """What coders of the issue see; None if it is not pinned."""
    return _whole(issue).snapshot


def _has_label(label: str) -> Q:
    # As it stands in the stored JSON: SQLite keeps Python's escapes, PostgreSQL prints none.
    written = json.dumps(label, ensure_ascii=connection.vendor == "sqlite")
    return Q(IContains(Cast("latest__github_labels", TextField()), written))


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _lines(rows: "QuerySet[Issue]") -> "QuerySet[Issue, Any]":
    return rows.values_list(*_COLUMNS, named=True)


def _listed(line: Any, hidden: frozenset[str], *, sampled: bool, coded: bool) -> ListedIssue:
    """Make a line for a member from what ``_COLUMNS`` name."""

    def shown(told: Any, name: str = "") -> Any:
        return None if line.latest is None or name in hidden else told

    def day(told: datetime, name: str = "") -> datetime | None:
        return None if told == NO_DATE else shown(told, name)

    hides_name = "repository" in hidden
    return ListedIssue(
        id=line.pk,
        key="" if hides_name else line.key,
        ref=f"issue {line.pk}" if hides_name else ref_of(line.key, line.source_id),
        kind=line.kind,
        repository=None if hides_name else line.repository,
        number=None if hides_name else line.number,
        # GitHub itself would show what is hidden here.
        url=None if hidden else line.url or None,
        title=line.latest__title or "",
        state=shown(line.latest__state, "state"),
        author=shown(line.latest__author, "author"),
        github_labels=shown(line.latest__github_labels, "github_labels"),
        created_at=day(line.by_created),
        closed_at=day(line.by_closed, "state"),
        updated_at=day(line.by_updated),
        has_fix=shown(line.latest__has_merged_fix, "fix"),
        eligible=line.eligible,
        because="" if hidden else line.because,
        override=line.override,
        duplicate_of=line.duplicate_of,
        gone=line.gone,
        sampled=sampled,
        coded=coded,
        masked=sorted(hidden),
    )


def named_issues(study: Study, named: Sequence[int | str], *, field: str = "issues") -> list[Issue]:
    """Find issues by id, key, address or owner/name#number; InvalidInputError names the first unknown."""
    ids = {each for each in named if isinstance(each, int)}
    words = {each: _keys_of(each) for each in named if isinstance(each, str)}
    keys = {key for pair in words.values() for key in pair}
    found = list(study.issues.filter(Q(pk__in=ids) | Q(key__in=keys) | Q(source_id__in=words)))
    known = {issue.pk for issue in found} | {issue.key for issue in found}
    sources = {issue.source_id for issue in found}
    for each in named:
        told: set[Any] = {each} if isinstance(each, int) else {*words[each]}
        if not known & told and each not in sources:
            raise InvalidInputError({field: [f"{each} is not in this corpus. Import it first."]})
    return found


def _keys_of(told: str) -> set[str]:
    """Keys an issue of this name may have: its address, its key, or its key without the host."""
    address = told.strip().lower().split("://")[-1].split("?")[0].rstrip("/")
    key = address.replace("/issues/", "#").replace("/pull/", "#")
    return {key, f"github.com/{key}"}
