"""Whether a record of a file can be stored: it may hold anything where GitHub has a text or a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labeling.records import IssueRecord

#: What a column of the database can hold.
LARGEST_NUMBER = 2**63 - 1
_TEXTS = (
    "title",
    "body",
    "host",
    "repository",
    "state",
    "state_reason",
    "author",
    "author_association",
    "milestone",
    "node_id",
    "url",
    "source_id",
)
_NUMBERS = ("number", "repository_id", "rest_id")


def reason_against(record: IssueRecord) -> str | None:
    """Say what of the record is of the wrong kind, None if nothing is."""
    for name in _TEXTS:
        told = getattr(record, name)
        if told is not None and type(told) is not str:
            return f"its {name.replace('_', ' ')} is no text."
    for name, told in _inner_texts(record):
        if told is not None and type(told) is not str:
            return f"its {name} is no text."
    for name in _NUMBERS:
        told = getattr(record, name)
        if told is None:
            continue
        if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told <= LARGEST_NUMBER:
            return f"its {name.replace('_', ' ')} is no whole number from 0 to {LARGEST_NUMBER:,}."
    return None


def _inner_texts(record: IssueRecord) -> Iterator[tuple[str, Any]]:
    for label in record.github_labels:
        yield "GitHub label", label
    for comment in record.comments:
        for part in (comment.id, comment.body, comment.author, comment.association):
            yield "comment", part
    for event in record.timeline:
        for part in (event.kind, event.actor):
            yield "event", part
    for fix in record.fixes:
        for part in (fix.key, fix.title, fix.body, fix.url, fix.sha):
            yield "fix", part
