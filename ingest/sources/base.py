"""What every source of issues speaks: the query, the page, and how it says that it must wait or stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any, Literal, Self

from labeling.records import IssueRecord, UnitKind

Checkpoint = dict[str, Any]


class SourceError(Exception):
    """The source cannot deliver. The sentence is for the study lead and says what to do.

    A permanent error stays until somebody changes something (a wrong name, a refused token); any other is
    worth trying again later.
    """

    def __init__(self, sentence: str, *, permanent: bool) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.permanent = permanent


class Waiting(Exception):  # noqa: N818 (not an error: the source asked for patience, the run goes on later)
    """The source asked to come back at ``until``, too late to sit and wait for it."""

    def __init__(self, until: datetime, reason: str) -> None:
        super().__init__(reason)
        self.until = until
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What to fetch: one of repositories, issues (addresses) or a search, and the limits on it.

    ``created_from`` and ``created_to`` are UTC days, both included.
    """

    repositories: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    search: str = ""
    state: Literal["all", "open", "closed"] = "all"
    created_from: date | None = None
    created_to: date | None = None
    unit_kinds: tuple[UnitKind, ...] = ("issue",)

    def as_json(self) -> dict[str, Any]:
        """Return the query as it is stored with its run."""
        told = asdict(self)
        for name in ("created_from", "created_to"):
            told[name] = told[name].isoformat() if told[name] else None
        return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """Read a stored query; what it does not know is left out."""
        known = {name: told[name] for name in cls.__dataclass_fields__ if told.get(name) is not None}
        for name in ("repositories", "issues", "unit_kinds"):
            if name in known:
                known[name] = tuple(known[name])
        for name in ("created_from", "created_to"):
            if name in known:
                known[name] = date.fromisoformat(known[name])
        return cls(**known)

    def wants(self, record: IssueRecord) -> bool:
        """Whether a record is within the limits; what no longer exists is told about in any case."""
        if record.gone or record.transferred_to:
            return True
        if record.kind not in self.unit_kinds or (
            self.state != "all" and record.state not in (None, self.state)
        ):
            return False
        if record.opened_at is None:
            return True
        day = record.opened_at.date()
        after = self.created_from is None or day >= self.created_from
        return after and (self.created_to is None or day <= self.created_to)


@dataclass(frozen=True, slots=True)
class Page:
    """Some records and the place to go on from once they are stored.

    ``total`` counts everything the source has for the query before its limits, None while unknown;
    ``requests`` are those this page has cost, ``quota`` what is left of each budget by name; ``unchanged``
    counts records that were left out because they are known as they are; ``rows`` says in which row of a file
    each record stands.
    """

    records: tuple[IssueRecord, ...]
    checkpoint: Checkpoint
    total: int | None = None
    requests: int = 0
    problems: tuple[str, ...] = ()
    rejected: int = 0
    unchanged: int = 0
    quota: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
