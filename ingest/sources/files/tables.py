"""From the cells of a table (or a flat object) to a record."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ingest.sources.base import SourceError
from ingest.sources.files.rows import Rejected
from ingest.sources.github.addresses import IssueAddress, read_issue, read_repository
from ingest.sources.github.rest_records import author_of
from labeling.records import CommentRecord, IssueRecord

#: So much of a value stands in a note.
LONGEST_QUOTE = 40
#: What JSON has beside single values.
_NO_TEXTS = (list, Mapping)
_SEPARATOR = re.compile(r"\s*[;,|\n]\s*")


def read_cells(number: int, cells: Mapping[str, Any], mapping: Mapping[str, str]) -> IssueRecord | Rejected:
    """Turn a row into a record; ``mapping`` is ``{column: field}``."""
    told = {field: cells.get(column) for column, field in mapping.items()}
    wrong = next((name for name in ("id", "title", "body") if isinstance(told.get(name), _NO_TEXTS)), None)
    if wrong is not None:
        return Rejected(number, f"its {wrong} is no text.")
    notes: list[str] = []
    texts = {field: _text(field, value, notes) for field, value in told.items()}
    place = _place(texts, notes)
    if place is None and not any(texts.get(name, "").strip() for name in ("id", "title", "body")):
        return Rejected(number, "it has no title, no text, no id and no address.")
    author, author_kind = author_of({"login": texts.get("author", "").strip()}, told=False)
    return IssueRecord(
        source_id=texts.get("id", "").strip() or None,
        host=(place and place.host) or "github.com",
        repository=place.repository if place else texts.get("repository", "").strip(),
        number=place.number if place else None,
        url=_web_address(texts.get("url", ""), notes),
        title=texts.get("title", ""),
        body=texts.get("body", ""),
        state=_state(texts, notes),
        state_reason=texts.get("state_reason", "").strip().lower() or None,
        author=author,
        author_kind=author_kind,
        github_labels=_labels(told.get("github_labels")),
        milestone=texts.get("milestone", "").strip() or None,
        opened_at=_time(texts, "created_at", notes),
        closed_at=_time(texts, "closed_at", notes),
        updated_at=_time(texts, "updated_at", notes),
        comments=_comments(texts.get("comments", "")),
        carries=frozenset(mapping.values()) - {"id", "url", "repository", "number", *_counted(texts)},
        notes=tuple(notes),
    )


def _text(field: str, value: Any, notes: list[str]) -> str:
    """Give a value as text; only comments and GitHub labels may be lists."""
    if isinstance(value, _NO_TEXTS) and field in ("comments", "github_labels"):
        return json.dumps(value, default=str)
    if isinstance(value, Mapping) and field == "author":
        value = value.get("login")
    if isinstance(value, _NO_TEXTS):
        notes.append(f"Its {_words(field)} is no text and was left out.")
        return ""
    return "" if value is None else str(value)


def _place(texts: Mapping[str, str], notes: list[str]) -> IssueAddress | None:
    """Find repository and number, from the address or from their own columns."""
    try:
        return read_issue(texts.get("url", "").strip())
    except SourceError:
        pass
    repository, number = texts.get("repository", "").strip(), texts.get("number", "").strip().lstrip("#")
    if not number:
        return None
    if not repository:
        notes.append(f"Its number {_quoted(number)} was left out: it needs a repository beside it.")
        return None
    try:
        return IssueAddress(read_repository(repository), int(number))
    except (SourceError, ValueError):
        said = f"Its repository {_quoted(repository)} and number {_quoted(number)} are none of GitHub."
        notes.append(f"{said} The number was left out. Write owner/name, and the number in digits.")
        return None


def _state(texts: Mapping[str, str], notes: list[str]) -> str | None:
    """Keep what other trackers call it, but say so: a wrong column may have been mapped."""
    told = texts.get("state", "").strip()
    if told and told.lower() not in ("open", "closed", "merged"):
        notes.append(f"Its state {_quoted(told)} is neither open nor closed, and was kept as it is.")
    return told.lower() or None


def _web_address(told: str, notes: list[str]) -> str | None:
    """Keep an address a browser may open; anything else could be a trap behind a link."""
    address = told.strip()
    if not address or address.lower().startswith(("https://", "http://")):
        return address or None
    notes.append(f"Its address {_quoted(address)} is none of the web and was left out.")
    return None


def _time(texts: Mapping[str, str], name: str, notes: list[str]) -> datetime | None:
    """Read a time; one without a zone is UTC, a day begins at midnight."""
    told = texts.get(name, "").strip().removesuffix(" UTC")
    if not told:
        return None
    try:
        read = datetime.fromisoformat(told)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        said = f"Its {_words(name)} {_quoted(told)} was not understood as a time and left out."
        notes.append(f"{said} Write it as 2024-01-31T12:00:00Z.")
        return None


def _words(field: str) -> str:
    return field.replace("_at", " date").replace("_", " ")


def _quoted(told: str) -> str:
    """Quote the beginning of a value: where a wrong column was mapped, it is a whole text."""
    return f"“{told[:LONGEST_QUOTE]}{'…' * (len(told) > LONGEST_QUOTE)}”"


def _labels(told: Any) -> tuple[str, ...]:
    if isinstance(told, str) and told.strip().startswith("["):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            told = told.strip(" []")
    if isinstance(told, str):
        told = _SEPARATOR.split(told.strip())
    names = [each.get("name") if isinstance(each, Mapping) else each for each in told or ()]
    return tuple(str(name).strip() for name in names if name and str(name).strip())


def _comments(told: str) -> tuple[CommentRecord, ...]:
    """Take the text of a column as comments; a number only counts them."""
    if not told.strip() or told.strip().isdigit():
        return ()
    try:
        listed = json.loads(told)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        listed = [told]
    bodies = [each.get("body", "") if isinstance(each, Mapping) else each for each in listed]
    return tuple(CommentRecord(id=str(at), body=str(body)) for at, body in enumerate(bodies, start=1))


def _counted(texts: Mapping[str, str]) -> set[str]:
    """A number of comments is not the comments: do not show "0 comments" for it."""
    return {"comments"} if texts.get("comments", "").strip().isdigit() else set()
