"""Rules for text that hold for every source.

Pure functions of records. The text of an issue is kept as its author wrote it, with three exceptions:
line ends become LF (browsers and command lines write the same text differently), NUL characters and lone
surrogates become U+FFFD (no database column can hold them). Unicode is not normalised otherwise, because
evidence quotes the text character by character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from labeling.records import CommentRecord, IssueRecord

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
#: A shorthand of GitHub and of files for a deleted account: shown as "deleted user", never as a person.
GHOST = "ghost"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")
_WHITE = re.compile(r"\s+")

R = TypeVar("R", IssueRecord, CommentRecord)


def clean_text(text: str | None) -> str:
    """Return ``text`` with LF line ends and without characters that cannot be stored; None is empty."""
    return _UNSTORABLE.sub(REPLACEMENT, _LINE_END.sub("\n", text or ""))


def normalise_issue(record: IssueRecord) -> tuple[IssueRecord, tuple[str, ...]]:
    """Return the record as every source must deliver it, and a sentence for each thing that was altered."""
    found = _Findings()
    # A null body is an empty one: GraphQL says so already, REST and files do not.
    clean: IssueRecord = _clean(replace(record, title=record.title or "", body=record.body or ""), found)
    clean = replace(
        _with_known_author(clean),
        title=_WHITE.sub(" ", clean.title).strip(),
        url=_web_address(clean.url),
        comments=tuple(_with_known_author(comment) for comment in _told_apart(clean.comments)),
        fixes=tuple(replace(fix, url=_web_address(fix.url)) for fix in clean.fixes),
        github_labels=tuple(sorted(set(clean.github_labels))),
    )
    return clean, found.sentences()


def cleaned(record: IssueRecord) -> IssueRecord:
    """Return the normalised record with what was altered among its notes."""
    clean, notes = normalise_issue(record)
    return replace(clean, notes=(*clean.notes, *notes))


@dataclass(slots=True)
class _Findings:
    """Counts what was altered while one record is cleaned."""

    unstorable: int = 0
    line_ends: int = 0

    def sentences(self) -> tuple[str, ...]:
        said = []
        if self.unstorable:
            said.append(f"Characters no database can store, replaced by {REPLACEMENT}: {self.unstorable}.")
        if self.line_ends:
            said.append(f"Line ends changed to LF: {self.line_ends}.")
        return tuple(said)

    def clean(self, text: str) -> str:
        self.unstorable += len(_UNSTORABLE.findall(text))
        self.line_ends += text.count("\r")
        return clean_text(text)


def _clean(value: Any, found: _Findings) -> Any:
    """Clean every string in a record, however deep."""
    if isinstance(value, str):
        return found.clean(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: _clean(getattr(value, each.name), found) for each in fields(value)}
        )
    if isinstance(value, Mapping):
        return {_clean(key, found): _clean(item, found) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_clean(item, found) for item in value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return value


def _web_address(url: str | None) -> str | None:
    """Keep an address a browser may open; a file could bring anything else to be clicked on."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


def _told_apart(comments: Sequence[CommentRecord]) -> list[CommentRecord]:
    """Give comments without an id, or with one that another has, their place as id: texts hang on it."""
    taken: set[str] = set()
    apart = []
    for place, comment in enumerate(comments, start=1):
        own = comment if comment.id and comment.id not in taken else replace(comment, id=f"place-{place}")
        taken.add(own.id)
        apart.append(own)
    return apart


def _with_known_author(record: R) -> R:
    """Say what kind of account wrote it, from the three shapes GitHub gives a deleted user and from bots."""
    if record.author is not None and record.author.lower() == GHOST:
        return replace(record, author=None, author_kind="deleted")
    if record.author is not None and record.author.endswith("[bot]"):
        return replace(record, author_kind="bot")
    return record
