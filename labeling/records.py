"""What an issue must bring to be coded, whatever it came from, and the hash that tells whether it changed.

Every source hands over these records and nothing else, so that neither the corpus nor the coding
pages know GitHub or a file format. Records are plain values: all datetimes are aware and in UTC, and
what a source did not deliver is absent from ``IssueRecord.carries`` instead of looking empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

AuthorKind = Literal["user", "bot", "deleted", "unknown"]
UnitKind = Literal["issue", "pull_request"]
FixKind = Literal["pull_request", "commit"]
Evidence = Literal[
    "itself", "closed_by", "linked_merged", "will_close", "linked_manual", "commit_keyword", "mentioned"
]

#: Best evidence first. ``itself`` is the change of a pull request that is coded as a unit.
EVIDENCE: tuple[Evidence, ...] = (
    "itself",
    "closed_by",
    "linked_merged",
    "will_close",
    "linked_manual",
    "commit_keyword",
    "mentioned",
)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One changed file of a fix; ``note`` says why there is no patch."""

    path: str
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None
    previous_path: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FixRecord:
    """A pull request or commit that may have fixed the issue, with the evidence for it.

    ``key`` is ``owner/repo#number`` or ``owner/repo@sha``, lower case. ``body`` is the description of a
    pull request or the message of a commit below its first line, which is ``title``.
    """

    key: str
    kind: FixKind
    evidence: Evidence
    title: str = ""
    body: str = ""
    number: int | None = None
    sha: str | None = None
    url: str | None = None
    state: str = ""
    merged_at: datetime | None = None
    additions: int | None = None
    deletions: int | None = None
    changed_files: int | None = None
    files: tuple[FileRecord, ...] = ()

    @property
    def is_fix(self) -> bool:
        """Whether this counts as the fix of the issue: it is in the code, and not merely mentioned."""
        in_the_code = self.kind == "commit" or self.merged_at is not None
        return in_the_code and self.evidence != "mentioned"


@dataclass(frozen=True, slots=True)
class CommentRecord:
    """One comment; ``author`` None is a deleted user, unless ``author_kind`` is ``unknown``."""

    id: str
    body: str
    author: str | None = None
    author_kind: AuthorKind = "unknown"
    association: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    reactions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One event of the timeline, under GitHub's REST name for it (``closed``, ``labeled``)."""

    kind: str
    at: datetime | None = None
    actor: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IssueRecord:
    """One issue (or pull request) as its source delivered it."""

    title: str = ""
    body: str = ""
    kind: UnitKind = "issue"
    host: str = "github.com"
    repository: str = ""
    repository_id: int | None = None
    number: int | None = None
    node_id: str | None = None
    rest_id: int | None = None
    url: str | None = None
    state: str | None = None
    state_reason: str | None = None
    author: str | None = None
    author_kind: AuthorKind = "unknown"
    author_association: str | None = None
    github_labels: tuple[str, ...] = ()
    milestone: str | None = None
    reactions: Mapping[str, int] = field(default_factory=dict)
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    updated_at: datetime | None = None
    comments: tuple[CommentRecord, ...] = ()
    timeline: tuple[EventRecord, ...] = ()
    fixes: tuple[FixRecord, ...] = ()
    carries: frozenset[str] = frozenset()
    source_id: str | None = None
    duplicate_of: str | None = None
    transferred_to: str | None = None
    gone: bool = False
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What identifies the issue within a study: ``host/owner/repo#number``, else ``file:<sha256>``."""
        if self.repository and self.number is not None:
            return f"{self.host}/{self.repository}#{self.number}".lower()
        told = self.source_id if self.source_id else f"{self.title}\n{self.body}"
        return f"file:{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()}"

    @property
    def has_fix(self) -> bool:
        """Whether a merged pull request or a commit is known to have fixed it."""
        return any(fix.is_fix for fix in self.fixes)


def content_hash(record: IssueRecord) -> str:
    """SHA-256, in hex, of the canonical JSON of what a coder can see of the issue.

    Left out is what says where or when it was read, not what it says: ids, address, host and repository
    (they change with a rename or transfer), ``updated_at`` (GitHub moves it for invisible reasons),
    ``carries`` and ``notes``. Files and patches of fixes are part of it as soon as they are there: the
    hash of an imported issue covers the text alone, that of the snapshot a sample pins its diffs too.
    """
    visible = {name: as_json(getattr(record, name)) for name in VISIBLE}
    return hashlib.sha256(_canonical(visible).encode("ascii")).hexdigest()


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def without_patches(record: IssueRecord) -> IssueRecord:
    """Return the record as an import delivers it, to compare it with one that was completed with diffs."""
    bare = tuple(
        replace(fix, files=(), additions=None, deletions=None, changed_files=None) for fix in record.fixes
    )
    return replace(record, fixes=bare)


def as_json(value: Any) -> Any:
    """Turn a record into plain JSON values: times as UTC with ``Z``, sets sorted, tuples as lists."""
    kind = type(value)
    if value is None or kind in _PLAIN:  # by far the most
        return value
    if kind is tuple or kind is list:
        return [as_json(item) for item in value]
    if kind is datetime:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if is_dataclass(kind):
        return {name: as_json(getattr(value, name)) for name in _names(kind)}
    return value


_PLAIN = frozenset({str, int, float, bool})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


VISIBLE = (
    "kind",
    "title",
    "body",
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
    "comments",
    "timeline",
    "fixes",
)
