"""Rules for text that hold for every source.

Pure functions of records. The text of an issue is kept as its author wrote it, with three exceptions:
line ends become LF (browsers and command lines write the same text differently), NUL characters and lone
surrogates become U+FFFD (no database column can hold them). Unicode is not normalised otherwise, because
evidence quotes the text character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from labeling.records import AuthorKind, CommentRecord, IssueRecord

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
#: A shorthand of GitHub and of files for a deleted account: shown as "deleted user", never as a person.
GHOST = "ghost"

#: Begins the note on what is altered without a loss.
_LINE_ENDS = "Line ends changed to LF"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")
_WHITE = re.compile(r"\s+")


def clean_text(text: str | None) -> str:
    """Return ``text`` with LF line ends and without characters that cannot be stored; None is empty."""
    return _UNSTORABLE.sub(REPLACEMENT, _LINE_END.sub("\n", text or ""))


def normalise_issue(record: IssueRecord) -> tuple[IssueRecord, tuple[str, ...]]:
    """Return the record as every source must deliver it, and a sentence for each thing that was altered."""
    found = _Findings()
    clean: IssueRecord = _clean(record, found)
    author, author_kind = _known_author(clean)
    ruled: dict[str, Any] = {
        # A null body is an empty one: GraphQL says so already, REST and files do not.
        "title": _WHITE.sub(" ", clean.title or "").strip(),
        "body": clean.body or "",
        "author": author,
        "author_kind": author_kind,
        "url": _web_address(clean.url),
        "comments": _ruled_comments(clean.comments),
        "fixes": tuple(replace(fix, url=_web_address(fix.url)) for fix in clean.fixes),
        "github_labels": tuple(sorted(set(clean.github_labels))),
    }
    news = {name: told for name, told in ruled.items() if told != getattr(clean, name)}
    return replace(clean, **news) if news else clean, found.sentences()


def cleaned(record: IssueRecord) -> IssueRecord:
    """Return the normalised record with what was altered among its notes."""
    clean, notes = normalise_issue(record)
    return replace(clean, notes=(*clean.notes, *notes)) if notes else clean


def lost(notes: Iterable[str]) -> tuple[str, ...]:
    """Give those of an issue's notes that tell of something lost or doubtful."""
    return tuple(note for note in notes if not note.startswith(_LINE_ENDS))


def row_notes(rows: Iterable[int], records: Iterable[IssueRecord]) -> list[str]:
    """Say of each row of a file that brings less than it says what it is; one sentence a row."""
    said = zip(rows, (lost(record.notes) for record in records), strict=False)
    return [f"Row {number:,}: {' '.join(losses)}" for number, losses in said if losses]


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
            said.append(f"{_LINE_ENDS}: {self.line_ends}.")
        return tuple(said)

    def clean(self, text: str) -> str:
        # Nearly every text needs nothing, and most say so at once.
        if text.isascii() and "\r" not in text and "\x00" not in text:
            return text
        self.unstorable += len(_UNSTORABLE.findall(text))
        self.line_ends += text.count("\r")
        return clean_text(text)


def _clean(value: Any, found: _Findings) -> Any:
    """Clean every string in a record, however deep; what needs nothing stays the same object."""
    kind = type(value)
    if kind is str:
        return found.clean(value)
    if not value or kind in _PLAIN:
        return value
    if kind is datetime:
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    if kind is tuple or kind is list:
        return tuple([_clean(item, found) for item in value])
    if is_dataclass(kind):
        changed = {}
        for name in _names(kind):
            told = getattr(value, name)
            if not told or type(told) in _PLAIN:  # by far the most
                continue
            if (clean := _clean(told, found)) is not told and clean != told:
                changed[name] = clean
        return replace(value, **changed) if changed else value
    if isinstance(value, Mapping):
        return {_clean(key, found): _clean(item, found) for key, item in value.items()}
    return value


_PLAIN = frozenset({bool, int, float, frozenset})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _web_address(url: str | None) -> str | None:
    """Keep an address a browser may open; a file could bring anything else to be clicked on."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


def _ruled_comments(comments: Sequence[CommentRecord]) -> tuple[CommentRecord, ...]:
    """Name their authors; one without an id, or with a taken one, gets its place: texts hang on it."""
    taken: set[str] = set()
    ruled = []
    for place, comment in enumerate(comments, start=1):
        author, author_kind = _known_author(comment)
        name = comment.id if comment.id and comment.id not in taken else f"place-{place}"
        taken.add(name)
        ruled.append(replace(comment, id=name, author=author, author_kind=author_kind))
    return tuple(ruled)


def _known_author(record: IssueRecord | CommentRecord) -> tuple[str | None, AuthorKind]:
    """Say what kind of account wrote it, from the three shapes GitHub gives a deleted user and from bots."""
    if record.author is not None and record.author.lower() == GHOST:
        return None, "deleted"
    if record.author is not None and record.author.endswith("[bot]"):
        return record.author, "bot"
    return record.author, record.author_kind
