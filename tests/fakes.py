"""Repositories that do not exist: issues, pull requests and odd texts, made from a seed.

Plain data in the shape of GitHub's REST interface, with events in a neutral form that the stand-in server
(``tests.fake_github``) turns into REST or GraphQL.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)
LABELS = ("bug", "question", "performance", "documentation", "build", "needs triage")
LOGINS = ("mara", "tomasz", "ines", "kofi", "yuki", "renovate[bot]")
WORDS: tuple[str, ...] = (
    "gradient",
    "kernel",
    "launch",
    "shape",
    "mismatch",
    "timeout",
    "checkpoint",
    "tokenizer",
    "padding",
)
WORDS += ("cache", "driver", "version", "wheel", "build", "flag", "precision", "overflow", "loss", "memory")

NUL_TEXT = "before\x00after"
LONG_TEXT = "line of a log\r\n" * 17_400  # more than 260,000 characters
CRLF_TEXT = "first line\r\nsecond line\r\n\r\n```\r\ncode\r\n```"
SURROGATE_TEXT = "broken \ud83d emoji"


@dataclass
class FakeFile:
    """One changed file of a pull request or commit."""

    filename: str
    additions: int = 1
    deletions: int = 1
    status: str = "modified"
    patch: str | None = "@@ -1 +1 @@\n-old\n+new"
    previous_filename: str | None = None


@dataclass
class FakeCommit:
    """A commit on the default branch."""

    sha: str
    message: str
    files: list[FakeFile] = field(default_factory=list)


@dataclass
class FakeItem:
    """An issue, or a pull request if ``is_pull``."""

    repository: str
    number: int
    title: str
    body: str | None = ""
    user: str | None = "mara"
    state: str = "open"
    state_reason: str | None = None
    labels: list[str] = field(default_factory=list)
    created_at: datetime = START
    updated_at: datetime = START
    closed_at: datetime | None = None
    comments: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    reactions: dict[str, int] = field(default_factory=dict)
    duplicate_of: int | None = None
    is_pull: bool = False
    merged_at: datetime | None = None
    merge_sha: str | None = None
    files: list[FakeFile] = field(default_factory=list)

    @property
    def id(self) -> int:
        """A number beyond 32 bits, as GitHub's are by now."""
        return 5_700_000_000 + number_of(self.repository) * 10_000 + self.number

    @property
    def node_id(self) -> str:
        return f"{'PR' if self.is_pull else 'I'}_{self.repository}_{self.number}"

    def comment(self, body: str, *, user: str | None = "ines", at: datetime | None = None) -> None:
        """Add a comment; like on GitHub it counts as an update."""
        at = at or self.updated_at + timedelta(minutes=5)
        self.comments.append(
            {"id": self.id * 1000 + len(self.comments), "body": body, "user": user, "at": at}
        )
        self.updated_at = max(self.updated_at, at)

    def event(
        self, kind: str, *, actor: str | None = "ines", at: datetime | None = None, **data: Any
    ) -> None:
        """Add an event of the timeline."""
        at = at or self.updated_at + timedelta(minutes=1)
        self.events.append({"kind": kind, "actor": actor, "at": at, **data})
        self.updated_at = max(self.updated_at, at)

    def close(self, *, reason: str = "completed", **data: Any) -> None:
        """Close it; ``pull``, ``commit`` or ``project`` say by what."""
        self.event("closed", state_reason=reason, **data)
        self.state, self.state_reason, self.closed_at = "closed", reason, self.updated_at

    def reopen(self) -> None:
        self.event("reopened")
        self.state, self.state_reason, self.closed_at = "open", "reopened", None

    def merge(self) -> None:
        """Merge a pull request."""
        self.merge_sha = sha_of(f"{self.repository}#{self.number}")
        self.event("merged", commit=self.merge_sha)
        self.state, self.merged_at, self.closed_at = "closed", self.updated_at, self.updated_at


@dataclass
class FakeRepository:
    """A repository with one row of numbers for issues and pull requests, like GitHub's."""

    name: str
    has_issues: bool = True
    items: dict[int, FakeItem] = field(default_factory=dict)
    commits: dict[str, FakeCommit] = field(default_factory=dict)

    @property
    def id(self) -> int:
        return number_of(self.name)

    def add(self, title: str, *, number: int | None = None, **fields: Any) -> FakeItem:
        """Add an issue or pull request under the next number."""
        number = number or max(self.items, default=0) + 1
        at = fields.pop("created_at", START + timedelta(hours=number))
        item = FakeItem(self.name, number, title, created_at=at, updated_at=at, **fields)
        self.items[number] = item
        return item

    def commit(self, message: str) -> FakeCommit:
        made = FakeCommit(sha_of(f"{self.name} {message}"), message, [FakeFile("src/kernel.cu")])
        self.commits[made.sha] = made
        return made

    @property
    def issues(self) -> list[FakeItem]:
        return [item for item in self.items.values() if not item.is_pull]

    @property
    def pulls(self) -> list[FakeItem]:
        return [item for item in self.items.values() if item.is_pull]


def make_repository(name: str = "acme/train", *, items: int = 300, seed: int = 1) -> FakeRepository:
    """Make a repository of ``items`` issues and pull requests, the odd ones among them."""
    chance = random.Random(f"{name} {seed}")  # noqa: S311 (made-up data)
    repository = FakeRepository(name)
    for _ in range(items):
        number = len(repository.items) + 1
        created = START + timedelta(hours=7 * number, minutes=chance.randrange(60))
        item = repository.add(_sentence(chance), created_at=created, user=chance.choice(LOGINS))
        item.body = "\n\n".join(_sentence(chance, 12) for _ in range(chance.randrange(1, 5)))
        item.labels = sorted(chance.sample(LABELS, chance.randrange(3)))
        if number > 5 and chance.random() < 0.3:
            _make_pull(repository, item, chance)
        else:
            _make_issue(repository, item, chance)
    _make_odd(repository)
    return repository


def small_repository(name: str = "acme/train") -> FakeRepository:
    """Make a repository that has one of each case a test may ask for, by title."""
    repository = FakeRepository(name)
    fixed = repository.add("fixed by a pull request", body=CRLF_TEXT, labels=["bug"])
    fixed.comment("It happens on 8 GPUs, too.")
    pull = repository.add("Guard the launch", is_pull=True, body=f"Fixes #{fixed.number}.")
    pull.files = [
        FakeFile("src/launch.py", 3, 1, patch="@@ -1,1 +1,3 @@\n-launch()\n+if n:\n+    launch()\n+done()")
    ]
    fixed.event("cross-referenced", source=pull, will_close=True)
    pull.merge()
    fixed.close(pull=pull)
    by_commit = repository.add("fixed by a commit")
    commit = repository.commit(f"Fix padding\n\nFixes #{by_commit.number}")
    by_commit.event("referenced", commit=commit)
    by_commit.close(commit=commit)
    board = repository.add("closed by a project board")
    board.close(project=True)
    again = repository.add("reopened after a fix")
    other = repository.add("First attempt", is_pull=True, body="Resolves nothing")
    other.merge()
    again.close(pull=other)
    again.reopen()
    repository.add("null body", body=None, user=None)
    repository.add("ghost author", user="ghost")
    repository.add("NUL inside", body=NUL_TEXT)
    repository.add("lone surrogate", body=SURROGATE_TEXT)
    plain = repository.add("still open", user="renovate[bot]", labels=["build", "bug"], reactions={"+1": 3})
    plain.comment("A comment of a bot.", user="renovate[bot]")
    return repository


def number_of(name: str) -> int:
    """Return a steady id for a repository."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)


def sha_of(text: str) -> str:
    """Return 40 hexadecimal digits."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _sentence(chance: random.Random, words: int = 6) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize()


def _make_pull(repository: FakeRepository, item: FakeItem, chance: random.Random) -> None:
    item.is_pull = True
    path = f"src/{chance.choice(WORDS)}.py"
    patch = f"@@ -1,2 +1,2 @@\n-{_sentence(chance)}\n+{_sentence(chance)}\n context"
    item.files = [FakeFile(path, patch=patch), FakeFile("logo.png", 0, 0, patch=None, status="added")]
    open_issues = [each for each in repository.issues if each.state == "open"]
    if open_issues and chance.random() < 0.7:
        fixed = chance.choice(open_issues)
        item.body = f"Fixes #{fixed.number}.\n\n{item.body}"
        fixed.event("cross-referenced", source=item, will_close=True, at=item.created_at)
        item.merge()
        fixed.close(pull=item, at=item.updated_at + timedelta(seconds=2))
    elif chance.random() < 0.5:
        item.merge()


def _make_issue(repository: FakeRepository, item: FakeItem, chance: random.Random) -> None:
    for _ in range(chance.choice((0, 1, 2, 2, 3, 6))):
        item.comment(_sentence(chance, 20), user=chance.choice(LOGINS))
    for label in item.labels:
        item.event("labeled", label=label)
    kind = chance.random()
    if kind < 0.15:
        commit = repository.commit(f"{_sentence(chance)}\n\nCloses #{item.number}")
        item.event("referenced", commit=commit)
        item.close(commit=commit)
    elif kind < 0.35:
        item.close(reason="not_planned")


def _make_odd(repository: FakeRepository) -> None:
    """Give some issues the texts and authors that break programs."""
    odd = [item for item in repository.issues if item.user != "renovate[bot]"][:6]
    changes: list[dict[str, Any]] = [
        {"body": None},
        {"user": None},
        {"user": "ghost"},
        {"body": NUL_TEXT},
        {"body": SURROGATE_TEXT},
        {"body": CRLF_TEXT},
    ]
    for item, change in zip(odd, changes, strict=False):
        for name, value in change.items():
            setattr(item, name, value)
    if len(repository.issues) > 6:
        repository.issues[6].body = LONG_TEXT
