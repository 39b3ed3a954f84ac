"""From JSON objects to records: GitHub's REST rows, ``gh issue list --json``, Perceval, and flat ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ingest.sources.base import SourceError
from ingest.sources.files.mapping import guess_mapping
from ingest.sources.files.rows import Rejected
from ingest.sources.files.tables import read_cells
from ingest.sources.github.addresses import read_issue
from ingest.sources.github.fixes import strongest
from ingest.sources.github.graphql_records import reaction_names
from ingest.sources.github.rest_records import (
    author_of,
    comment_of,
    event_of,
    fix_of_source,
    issue_of,
    time_of,
    told_events,
)
from labeling.records import AuthorKind, CommentRecord, IssueRecord

Json = Mapping[str, Any]

_GH_KEYS = {"createdAt", "closedAt", "updatedAt", "stateReason", "reactionGroups"}
_REST_KEYS = {"html_url", "repository_url", "node_id"}


#: Others write dates under the same names: without a title, objects of ``gh`` have no other names than these.
_GH_NAMES = _GH_KEYS | {
    "author",
    "body",
    "closed",
    "comments",
    "id",
    "labels",
    "milestone",
    "number",
    "state",
    "url",
}
#: What is read of the objects that programs write, whatever else they hold.
_REST = {
    "title": "title",
    "body": "body",
    "html_url": "url",
    "number": "number",
    "state": "state",
    "state_reason": "state_reason",
    "user": "author",
    "labels": "github_labels",
    "milestone": "milestone",
    "created_at": "created_at",
    "closed_at": "closed_at",
    "updated_at": "updated_at",
    "comments_data": "comments",
}
SHAPES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "gh": (
        "gh issue list --json",
        {
            "title": "title",
            "body": "body",
            "url": "url",
            "number": "number",
            "state": "state",
            "stateReason": "state_reason",
            "author": "author",
            "labels": "github_labels",
            "milestone": "milestone",
            "createdAt": "created_at",
            "closedAt": "closed_at",
            "updatedAt": "updated_at",
            "comments": "comments",
        },
    ),
    "rest": ("the REST interface of GitHub", _REST),
    "perceval": ("Perceval", _REST),
}


def shape_of(told: Json) -> str | None:
    """Say which program wrote an object, None if it has names of its own."""
    if "backend_name" in told and isinstance(told.get("data"), Mapping):
        return "perceval"
    if _GH_KEYS & told.keys() and ("title" in told or told.keys() <= _GH_NAMES):
        return "gh"
    return "rest" if _REST_KEYS & told.keys() else None


def read_object(number: int, told: Json, mapping: Mapping[str, str] | None = None) -> IssueRecord | Rejected:
    """Turn an object into a record, by the keys it has; ``mapping`` is for those that no program names."""
    record = _read(number, told, mapping)
    if isinstance(record, IssueRecord) and not record.repository and record.source_id is None:
        # Without an address its id of GitHub is what tells it from others.
        return replace(record, source_id=record.node_id or (record.rest_id and str(record.rest_id)) or None)
    return record


def _read(number: int, told: Json, mapping: Mapping[str, str] | None) -> IssueRecord | Rejected:
    try:
        match shape_of(told):
            case "perceval":
                return _perceval(number, told)
            case "gh":
                return _gh(told)
            case "rest":
                return _rest(number, told)
        named = {column: field for column, field in (mapping or {}).items() if column in told}
        return read_cells(number, told, named if mapping else guess_mapping(list(told)))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, SourceError):
        return Rejected(number, "its fields are not those of an issue of GitHub.")


def _rest(number: int, row: Json) -> IssueRecord | Rejected:
    """Read a row of GitHub's REST interface, with comments and timeline where a dump joined them."""
    if not row.get("number") or not row.get("title"):
        return Rejected(number, "it is no issue: it has no number or no title.")
    record = issue_of(row)
    comments = _first_list(row, "comments", "comments_data", "comments_list")
    events = _first_list(row, "timeline", "events", "timeline_data")
    if events is not None and comments is None:
        comments = [event for event in events if event.get("event") == "commented"] or None
    if comments is not None:
        record = replace(
            record, comments=tuple(map(comment_of, comments)), carries=record.carries | {"comments"}
        )
    if events is not None:
        record = _with_timeline(record, events)
    return record


def _with_timeline(record: IssueRecord, events: Sequence[Json]) -> IssueRecord:
    sources = [(event.get("source") or {}).get("issue") for event in events]
    fixes = [
        fix_of_source(source, repository=record.repository, number=record.number or 0)
        for source in sources
        if source
    ]
    return replace(
        record,
        timeline=tuple(event_of(event) for event in told_events(events)),
        fixes=strongest(fix for fix in fixes if fix is not None),
        carries=record.carries | {"timeline", "fixes"},
    )


def _perceval(number: int, told: Json) -> IssueRecord | Rejected:
    """Read an item of Perceval's ``github`` backend: a REST row with joined data."""
    data = told["data"]
    if told.get("category") not in ("issue", "pull_request"):
        return Rejected(number, f"Perceval's category “{told.get('category')}” holds no issues.")
    row = dict(data)
    if told["category"] == "pull_request":
        row.setdefault("pull_request", {"merged_at": data.get("merged_at")})
    return _rest(number, row)


def _gh(told: Json) -> IssueRecord:
    """Read an object of ``gh issue list --json``, which has only the keys that were asked for."""
    url = told.get("url")
    place = read_issue(url) if url else None
    author, author_kind = _gh_author(told.get("author"), told="author" in told)
    inside = told.get("repository") or {}
    return IssueRecord(
        kind="pull_request" if told.get("isPullRequest") or "/pull/" in (url or "") else "issue",
        host=(place and place.host) or "github.com",
        repository=place.repository if place else inside.get("nameWithOwner", ""),
        number=told.get("number") or (place.number if place else None),
        node_id=told.get("id"),
        url=url,
        title=told.get("title") or "",
        body=told.get("body") or "",
        state=str(told["state"]).lower() if told.get("state") else None,
        state_reason=str(told["stateReason"]).lower() if told.get("stateReason") else None,
        author=author,
        author_kind=author_kind,
        github_labels=tuple(label["name"] for label in told.get("labels") or ()),
        milestone=(told.get("milestone") or {}).get("title"),
        reactions=reaction_names(told.get("reactionGroups") or ()),
        opened_at=time_of(told.get("createdAt")),
        closed_at=time_of(told.get("closedAt")),
        updated_at=time_of(told.get("updatedAt")),
        comments=tuple(_gh_comment(each) for each in _first_list(told, "comments") or ()),
        carries=frozenset(_GH_CARRIES.get(name, name) for name in told) & _CARRIED,
    )


_GH_CARRIES = {"labels": "github_labels", "reactionGroups": "reactions"}
_CARRIED = frozenset(
    {"title", "body", "state", "author", "github_labels", "milestone", "reactions", "comments"}
)


def _gh_comment(told: Json) -> CommentRecord:
    author, author_kind = _gh_author(told.get("author"), told=True)
    return CommentRecord(
        id=str(told.get("id") or told.get("url") or ""),
        body=told.get("body") or "",
        author=author,
        author_kind=author_kind,
        association=told.get("authorAssociation"),
        created_at=time_of(told.get("createdAt")),
        reactions=reaction_names(told.get("reactionGroups") or ()),
    )


def _gh_author(author: Json | None, *, told: bool) -> tuple[str | None, AuthorKind]:
    login, kind = author_of(author, told=told)
    if login is not None and (author or {}).get("is_bot"):
        return login, "bot"
    return login, kind


def _first_list(row: Json, *names: str) -> list[Json] | None:
    """Return the first of some keys that holds a list: in a REST row ``comments`` is a number."""
    return next((row[name] for name in names if isinstance(row.get(name), list)), None)
