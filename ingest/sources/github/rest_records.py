"""From rows of GitHub's REST interface to records. Pure; files with REST dumps use it too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ingest.sources.base import SourceError
from ingest.sources.github.addresses import read_issue, repository_of
from ingest.sources.github.fixes import closes, commit_key, pull_key
from labeling.records import AuthorKind, CommentRecord, EventRecord, Evidence, FixRecord, IssueRecord

Json = Mapping[str, Any]

#: The events that are kept, GraphQL's name for each and REST's: all sources give the same timeline.
EVENT_NAMES = {
    "ClosedEvent": "closed",
    "ReopenedEvent": "reopened",
    "LabeledEvent": "labeled",
    "UnlabeledEvent": "unlabeled",
    "RenamedTitleEvent": "renamed",
    "CrossReferencedEvent": "cross-referenced",
    "ReferencedEvent": "referenced",
    "ConnectedEvent": "connected",
    "DisconnectedEvent": "disconnected",
    "MilestonedEvent": "milestoned",
    "DemilestonedEvent": "demilestoned",
    "AssignedEvent": "assigned",
    "UnassignedEvent": "unassigned",
    "MarkedAsDuplicateEvent": "marked_as_duplicate",
    "LockedEvent": "locked",
    "TransferredEvent": "transferred",
    "ConvertedToDiscussionEvent": "converted_to_discussion",
    "MergedEvent": "merged",
}


def time_of(told: str | None) -> datetime | None:
    """Read a time as GitHub writes it; one without a zone is UTC."""
    if not told:
        return None
    read = datetime.fromisoformat(told)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


def author_of(user: Json | None, *, told: bool = True) -> tuple[str | None, AuthorKind]:
    """Return login and kind. No user is a deleted account, unless the source did not tell users at all."""
    if not user or not user.get("login"):
        return None, "deleted" if told else "unknown"
    login = str(user["login"])
    if login.lower() == "ghost":
        return None, "deleted"
    return login, "bot" if user.get("type") == "Bot" or login.endswith("[bot]") else "user"


def reactions_of(row: Json) -> dict[str, int]:
    """Return the reactions there are, by GitHub's REST names."""
    counts = row.get("reactions") or {}
    return {
        name: count
        for name, count in sorted(counts.items())
        if isinstance(count, int) and count and name != "total_count"
    }


def issue_of(row: Json, *, host: str = "github.com") -> IssueRecord:
    """Turn a row of an issue list, a search or a dump into a record without comments and timeline.

    ``host`` is for rows without an address.
    """
    author, author_kind = author_of(row.get("user"), told="user" in row)
    is_pull = "pull_request" in row or "merged_at" in row
    merged = (row.get("pull_request") or {}).get("merged_at") or row.get("merged_at")
    inside = row.get("repository") or {}
    return IssueRecord(
        kind="pull_request" if is_pull else "issue",
        host=host_of(row.get("html_url")) or host,
        repository=inside.get("full_name")
        or repository_of(row.get("repository_url"))
        or repository_of(row.get("html_url") or row.get("url")),
        repository_id=inside.get("id"),
        number=row.get("number"),
        node_id=row.get("node_id"),
        rest_id=row.get("id"),
        url=row.get("html_url"),
        title=row.get("title") or "",
        body=row.get("body") or "",
        state=row.get("state"),
        state_reason="merged" if is_pull and merged else row.get("state_reason"),
        author=author,
        author_kind=author_kind,
        author_association=row.get("author_association"),
        github_labels=tuple(_label(each) for each in row.get("labels") or ()),
        milestone=(row.get("milestone") or {}).get("title"),
        reactions=reactions_of(row),
        opened_at=time_of(row.get("created_at")),
        closed_at=time_of(row.get("closed_at")),
        updated_at=time_of(row.get("updated_at")),
        carries=frozenset(name for name, column in _CARRIES.items() if column in row),
    )


_CARRIES = {
    "title": "title",
    "body": "body",
    "github_labels": "labels",
    "milestone": "milestone",
    "author": "user",
    "reactions": "reactions",
    "state": "state",
}


def host_of(url: str | None) -> str | None:
    """Return the host of an issue's address."""
    if not url:
        return None
    repository, _, number = url.rpartition("/")
    return _host_of(f"{repository}/1" if number.isdecimal() else url)


@lru_cache(maxsize=256)
def _host_of(url: str) -> str | None:
    try:
        return read_issue(url).host
    except SourceError:
        return None


def comment_of(row: Json) -> CommentRecord:
    """Turn a comment, or the ``commented`` event of a timeline, into a record."""
    author, author_kind = author_of(row.get("user") or row.get("actor"))
    return CommentRecord(
        id=str(row.get("id") or row.get("node_id") or ""),
        body=row.get("body") or "",
        author=author,
        author_kind=author_kind,
        association=row.get("author_association"),
        created_at=time_of(row.get("created_at")),
        updated_at=time_of(row.get("updated_at")),
        reactions=reactions_of(row),
    )


def event_of(row: Json) -> EventRecord:
    """Turn an event of a timeline into a record with the details a coder reads."""
    actor, _ = author_of(row.get("actor") or row.get("user"))
    details: dict[str, Any] = {
        "label": (row.get("label") or {}).get("name"),
        "from": (row.get("rename") or {}).get("from"),
        "to": (row.get("rename") or {}).get("to"),
        "milestone": (row.get("milestone") or {}).get("title"),
        "assignee": (row.get("assignee") or {}).get("login"),
        "state_reason": row.get("state_reason"),
        "commit": row.get("commit_id"),
        "reason": row.get("lock_reason"),
    }
    source = (row.get("source") or {}).get("issue")
    if source:
        details["source"] = _source(source)
    return EventRecord(
        kind=str(row.get("event") or ""),
        at=time_of(row.get("created_at")),
        actor=actor,
        data={name: value for name, value in details.items() if value},
    )


def fix_of_source(source: Json, *, repository: str, number: int) -> FixRecord | None:
    """Turn the source of a cross-reference into a fix, if it is a pull request."""
    if not source.get("pull_request"):
        return None
    home = _home(source)
    merged_at = time_of(source["pull_request"].get("merged_at"))
    text = f"{source.get('title') or ''}\n{source.get('body') or ''}"
    will_close = merged_at is not None and closes(text, written_in=home, repository=repository, number=number)
    evidence: Evidence = "will_close" if will_close else "mentioned"
    return FixRecord(
        key=pull_key(home, source["number"]),
        kind="pull_request",
        evidence=evidence,
        number=source["number"],
        url=source.get("html_url"),
        title=source.get("title") or "",
        body=source.get("body") or "",
        state="merged" if merged_at else source.get("state") or "",
        merged_at=merged_at,
    )


def fix_of_commit(row: Json, *, repository: str, evidence: Evidence) -> FixRecord:
    """Turn a commit into a fix; its message carries title and text."""
    inside = row.get("commit") or {}
    title, _, body = str(inside.get("message") or "").partition("\n")
    stats = row.get("stats") or {}
    return FixRecord(
        key=commit_key(repository, row["sha"]),
        kind="commit",
        evidence=evidence,
        sha=row["sha"],
        url=row.get("html_url"),
        title=title,
        body=body.lstrip("\n"),
        state="committed",
        additions=stats.get("additions"),
        deletions=stats.get("deletions"),
        changed_files=len(row["files"]) if "files" in row else None,
    )


def closing_commits(rows: Sequence[Json]) -> tuple[list[str], list[str]]:
    """Return the API addresses of the commits that closed the issue for good, and of those that name it."""
    closing: list[str] = []
    named: list[str] = []
    for row in rows:
        if row.get("event") == "reopened":
            named += closing
            closing = []
        elif row.get("event") in {"closed", "referenced"} and row.get("commit_url"):
            (closing if row["event"] == "closed" else named).append(row["commit_url"])
    return closing, [url for url in dict.fromkeys(named) if url not in closing]


def told_events(rows: Iterable[Json]) -> list[Json]:
    """Return the events a coder is told of: no comments (they stand apart), no subscriptions and the like."""
    return [row for row in rows if row.get("event") in EVENT_NAMES.values()]


def _label(label: Any) -> str:
    return str(label.get("name") or "") if isinstance(label, Mapping) else str(label)


def _home(source: Json) -> str:
    inside = source.get("repository") or {}
    return inside.get("full_name") or repository_of(source.get("repository_url") or source.get("html_url"))


def _source(source: Json) -> dict[str, Any]:
    return {
        "kind": "pull_request" if source.get("pull_request") else "issue",
        "repository": _home(source),
        "number": source.get("number"),
        "title": source.get("title") or "",
        "url": source.get("html_url") or "",
    }
