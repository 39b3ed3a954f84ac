"""What strata are made of: fields of an issue, and conditions on them, joined by ``+``.

``repository``, ``year + has_fix``, ``comments >= 5 + github_label = bug|"c++"``. A field makes a stratum of
each of its values, a condition makes two: those it holds for, and the others.
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from labeling.models import Issue, IssueSnapshot

Told = tuple[Issue, IssueSnapshot | None]
Value = str | int | tuple[str, ...] | None

NONE = "none"
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_VALUE = r'(?:"[^"]*"|[^+|"<>=!]+)'
_PART = re.compile(
    rf"\s*(?P<field>\w+)\s*(?:(?P<op><=|>=|!=|=|<|>)\s*(?P<values>{_VALUE}(?:\|{_VALUE})*))?\s*(?:\+|$)"
)


def _of_snapshot(read: Callable[[IssueSnapshot], Value]) -> Callable[[Told], Value]:
    return lambda told: read(told[1]) if told[1] is not None else None


def _days_open(snapshot: IssueSnapshot) -> int | None:
    if snapshot.opened_at is None or snapshot.closed_at is None:
        return None
    return (snapshot.closed_at - snapshot.opened_at).days


@dataclass(frozen=True, slots=True)
class _Field:
    """``words`` name it where it can be chosen; ``loads`` is what it reads that lists leave out."""

    words: str
    read: Callable[[Told], Value]
    is_number: bool = False
    loads: str = ""


FIELDS = {
    "repository": _Field("Repository", lambda told: told[0].repository),
    "owner": _Field("Owner of the repository", lambda told: told[0].repository.partition("/")[0]),
    "host": _Field("Host", lambda told: told[0].host),
    "kind": _Field("Issue or pull request", lambda told: told[0].kind),
    "state": _Field("Open or closed", _of_snapshot(lambda each: each.state)),
    "state_reason": _Field("Reason of closing", _of_snapshot(lambda each: each.state_reason)),
    "author": _Field("Author", _of_snapshot(lambda each: each.author)),
    "author_kind": _Field("Kind of author", _of_snapshot(lambda each: each.author_kind)),
    "author_association": _Field(
        "What the author is to the repository", _of_snapshot(lambda each: each.author_association)
    ),
    "milestone": _Field("Milestone", _of_snapshot(lambda each: each.milestone)),
    "github_label": _Field("GitHub labels", _of_snapshot(lambda each: tuple(sorted(each.github_labels)))),
    "has_fix": _Field(
        "With or without a merged fix",
        _of_snapshot(lambda each: "with fix" if each.has_merged_fix else "without fix"),
    ),
    "year": _Field(
        "Year of creation", _of_snapshot(lambda each: each.opened_at.year if each.opened_at else None), True
    ),
    "year_closed": _Field(
        "Year of closing", _of_snapshot(lambda each: each.closed_at.year if each.closed_at else None), True
    ),
    "days_open": _Field("Days until it was closed", _of_snapshot(_days_open), True),
    "comments": _Field("Number of comments", _of_snapshot(lambda each: len(each.comments)), True, "comments"),
    "reactions": _Field(
        "Number of reactions",
        _of_snapshot(lambda each: sum(count for count in each.reactions.values() if isinstance(count, int))),
        True,
        "reactions",
    ),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A field, or a condition on it where ``op`` is given."""

    field: str
    op: str = ""
    values: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        quoted = (f'"{each}"' if re.search(r"[+|<>=!]", each) else each for each in self.values)
        return f"{self.field} {self.op} {'|'.join(quoted)}" if self.op else self.field

    def name(self, issue: Told) -> str:
        """The stratum of an issue, as far as this part makes it."""
        value = FIELDS[self.field].read(issue)
        if not self.op:
            told = ", ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
            return told or NONE
        if value is None:
            return NONE
        return self.text if self._holds(value) else f"not {self.text}"

    def _holds(self, value: str | int | tuple[str, ...]) -> bool:
        if self.op in COMPARE:
            return COMPARE[self.op](value, int(self.values[0]))
        there = value if isinstance(value, tuple) else (str(value),)
        wanted = {each.casefold() for each in self.values}
        return any(each.casefold() in wanted for each in there) == (self.op == "=")


@lru_cache(maxsize=256)
def read_strata(expression: str) -> tuple[Part, ...]:
    """Read what strata are made of. Raises ValueError with a sentence where it makes no sense."""
    parts: list[Part] = []
    at = 0
    while at < len(expression) or not parts:
        found = _PART.match(expression, at)
        if found is None or found["field"] not in FIELDS:
            raise ValueError(
                f"“{expression[at:].strip()}” is no field or condition. Name one or more of "
                f"{', '.join(FIELDS)}, joined by +, each alone or like comments >= 5."
            )
        parts.append(_part(found))
        at = found.end()
    if expression.rstrip().endswith("+"):
        raise ValueError("Name another field after the last +, or leave it out.")
    return tuple(parts)


def _part(found: re.Match[str]) -> Part:
    if found["op"] is None:
        return Part(found["field"])
    values = tuple(each.strip().strip('"') for each in re.findall(_VALUE, found["values"]))
    if not all(values):
        raise ValueError(f"Give {found['field']} a value after {found['op']}.")
    if found["op"] in COMPARE:
        if not FIELDS[found["field"]].is_number:
            raise ValueError(f"{found['field']} is no number: compare it with = or !=.")
        if len(values) != 1 or not re.fullmatch(r"-?\d+", values[0]):
            raise ValueError(f"Compare {found['field']} with one whole number.")
    return Part(found["field"], found["op"], values)


def stratum_of(told: Told, expression: str) -> str:
    """The stratum of an issue; the empty one without an expression."""
    return " / ".join(part.name(told) for part in read_strata(expression)) if expression else ""


def loaded_by(expression: str) -> Sequence[str]:
    """Fields of a snapshot that a list leaves out and these strata need."""
    loads = (FIELDS[part.field].loads for part in read_strata(expression)) if expression else ()
    return [each for each in loads if each]


def strata_problem(expression: str) -> str:
    """Say what is wrong with what somebody wrote; empty where it can be read."""
    try:
        read_strata(expression)
    except ValueError as error:
        return str(error)
    return ""
