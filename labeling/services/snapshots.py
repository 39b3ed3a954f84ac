"""An issue's record as rows, and the rows as a record again."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from django.utils.dateparse import parse_datetime

from labeling.models import IssueSnapshot, SnapshotDocument
from labeling.records import (
    CommentRecord,
    EventRecord,
    FileRecord,
    FixRecord,
    IssueRecord,
    as_json,
)

#: The fields of a snapshot in the order of ``snapshot_values``, behind its id and the time it was written.
SNAPSHOT_FIELDS = (
    "content_hash",
    "title",
    "state",
    "state_reason",
    "author",
    "author_kind",
    "author_association",
    "github_labels",
    "milestone",
    "reactions",
    "opened_at",
    "closed_at",
    "updated_at",
    "comments",
    "timeline",
    "fixes",
    "has_merged_fix",
    "carries",
    "notes",
)


def snapshot_values(record: IssueRecord, content_hash: str) -> tuple[Any, ...]:
    """Give the values of ``SNAPSHOT_FIELDS``; the texts go to ``documents_of``."""
    return (
        content_hash,
        record.title,
        record.state or "",
        record.state_reason or "",
        record.author or "",
        record.author_kind,
        record.author_association or "",
        record.github_labels,
        record.milestone or "",
        dict(record.reactions),
        record.opened_at,
        record.closed_at,
        record.updated_at,
        [_without(as_json(comment), "body") for comment in record.comments],
        as_json(record.timeline),
        [_bare_fix(fix) for fix in record.fixes],
        record.has_fix,
        sorted(record.carries),
        record.notes,
    )


def documents_of(record: IssueRecord) -> Iterator[tuple[str, str]]:
    """Give key and source of every text of the record."""
    yield "title", record.title
    yield "body", record.body
    for comment in record.comments:
        yield f"comment:{comment.id}", comment.body
    for fix in record.fixes:
        yield f"fix:{fix.key}:message", fix.body
        for file in fix.files:
            if file.patch is not None:
                yield f"fix:{fix.key}:file:{file.path}", file.patch


def record_of(snapshot: IssueSnapshot, documents: Iterable[SnapshotDocument]) -> IssueRecord:
    """Return the record a snapshot was made of; its hash is the snapshot's."""
    texts = {document.key: document.source for document in documents}
    issue = snapshot.issue
    return IssueRecord(
        kind="pull_request" if issue.kind == issue.Kind.PULL_REQUEST else "issue",
        host=issue.host,
        repository=issue.repository,
        repository_id=issue.repository_id,
        number=issue.number,
        node_id=issue.node_id or None,
        rest_id=issue.rest_id,
        url=issue.url or None,
        source_id=issue.source_id or None,
        title=snapshot.title,
        body=texts.get("body", ""),
        state=snapshot.state or None,
        state_reason=snapshot.state_reason or None,
        author=snapshot.author or None,
        author_kind=snapshot.author_kind,  # type: ignore[arg-type] # written from a record
        author_association=snapshot.author_association or None,
        github_labels=tuple(snapshot.github_labels),
        milestone=snapshot.milestone or None,
        reactions=snapshot.reactions,
        opened_at=snapshot.opened_at,
        closed_at=snapshot.closed_at,
        updated_at=snapshot.updated_at,
        comments=tuple(_comment(told, texts) for told in snapshot.comments),
        timeline=tuple(EventRecord(**_timed(told)) for told in snapshot.timeline),
        fixes=tuple(_fix(told, texts) for told in snapshot.fixes),
        carries=frozenset(snapshot.carries),
        notes=tuple(snapshot.notes),
    )


def _bare_fix(fix: FixRecord) -> dict[str, Any]:
    told = _without(as_json(fix), "body")
    return {**told, "files": [_without(file, "patch") for file in told["files"]]}


def _without(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key != name}


def _comment(told: Mapping[str, Any], texts: Mapping[str, str]) -> CommentRecord:
    return CommentRecord(**_known(CommentRecord, _timed(told)), body=texts.get(f"comment:{told['id']}", ""))


def _fix(told: Mapping[str, Any], texts: Mapping[str, str]) -> FixRecord:
    files = tuple(
        FileRecord(
            **_known(FileRecord, {**file, "patch": texts.get(f"fix:{told['key']}:file:{file['path']}")})
        )
        for file in told.get("files", ())
    )
    body = texts.get(f"fix:{told['key']}:message", "")
    return FixRecord(**{**_known(FixRecord, _timed(told)), "files": files, "body": body})


def _known(kind: type, told: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in told.items() if name in names}


def _timed(told: Mapping[str, Any]) -> dict[str, Any]:
    """Read the times of a stored object."""
    return {
        name: parse_datetime(value) if name in _TIMES and isinstance(value, str) else value
        for name, value in told.items()
    }


_TIMES = {"at", "created_at", "updated_at", "merged_at"}
