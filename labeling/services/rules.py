"""What a corpus rule can say: its fields, their operators and values, and how each is tested."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from labeling.errors import InvalidInputError
from labeling.models import Issue


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the list: ``field`` ``op`` ``value``, and how the funnel prints it."""

    field: str
    op: str
    value: Any
    text: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules may ask about one issue; ``body`` is filled where a rule reads it."""

    issue: Issue
    body: str

    def of(self, name: str) -> Any:
        """Return a value of the newest snapshot, None without one."""
        latest = self.issue.latest
        return getattr(latest, name) if latest is not None else None


@dataclass(frozen=True, slots=True)
class _Field:
    """What a rule can say about one thing: its operators, its values, and how it is tested."""

    label: str
    ops: Mapping[str, str]
    clean: Callable[[Any], Any]
    test: Callable[[Facts, str, Any], bool]

    def words(self, op: str, value: Any) -> str:
        return self.ops[op].format(label=self.label, value=_said(value))


def passes(facts: Facts, rule: Rule) -> bool:
    """Whether the rule lets the issue through."""
    return FIELDS[rule.field].test(facts, rule.op, rule.value)


def clean_rule(place: int, told: Rule | Mapping[str, Any]) -> Rule:
    """Check a rule as somebody wrote it; ``place`` names it in the error."""
    if isinstance(told, Rule):
        rule = told
    else:
        rule = Rule(told.get("field", ""), told.get("op", ""), told.get("value"), told.get("text", ""))
    where = f"rules.{place}"
    known = FIELDS.get(rule.field)
    if known is None:
        raise InvalidInputError(
            {where: [f"There is no field {rule.field!r}. Choose one of {', '.join(FIELDS)}."]}
        )
    if rule.op not in known.ops:
        raise InvalidInputError({where: [f"{known.label}: choose one of {', '.join(known.ops)}."]})
    try:
        value = known.clean(rule.value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError({where: [f"{known.label}: {error}."]}) from error
    return Rule(rule.field, rule.op, value, rule.text.strip() or known.words(rule.op, value))


#: Longer than any name on GitHub, short enough to be read in a table.
LONGEST_VALUE = 200


def _words_of(told: Any) -> list[str]:
    values = [told] if isinstance(told, str) else list(told or ())
    cleaned = [str(value).strip() for value in values if str(value).strip()]
    if not cleaned:
        raise ValueError("name at least one value")
    if max(map(len, cleaned)) > LONGEST_VALUE:
        raise ValueError(f"a value may have {LONGEST_VALUE} characters")
    return cleaned


def _day_of(told: Any) -> str:
    try:
        return date.fromisoformat(str(told)).isoformat()
    except ValueError:
        raise ValueError("write the day as 2024-01-31") from None


def _truth_of(told: Any) -> bool:
    if not isinstance(told, bool):
        raise ValueError("choose true or false")
    return told


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " or ".join(value) if isinstance(value, list) else str(value)


def _among(read: Callable[[Facts], str | None]) -> Callable[[Facts, str, Any], bool]:
    """Test a single value against a list, without regard to case."""

    def test(facts: Facts, op: str, values: Any) -> bool:
        told = (read(facts) or "").casefold()
        return (told in {value.casefold() for value in values}) == (op == "is")

    return test


def _labels(facts: Facts, op: str, values: Any) -> bool:
    there = {str(label).casefold() for label in facts.of("github_labels") or ()}
    asked = {value.casefold() for value in values}
    if op == "all":
        return asked <= there
    return bool(asked & there) == (op == "any")


def _contains(read: Callable[[Facts], str]) -> Callable[[Facts, str, Any], bool]:
    def test(facts: Facts, op: str, values: Any) -> bool:
        text = read(facts).casefold()
        return any(value.casefold() in text for value in values) == (op == "contains")

    return test


def _on_day(name: str) -> Callable[[Facts, str, Any], bool]:
    """Test a time against a UTC day; an issue without the time fails."""

    def test(facts: Facts, op: str, value: Any) -> bool:
        at: datetime | None = facts.of(name)
        if at is None:
            return False
        day = at.astimezone(UTC).date().isoformat()
        return bool(day >= value if op == "from" else day <= value)

    return test


def _title(facts: Facts) -> str:
    return facts.of("title") or ""


_CHOICE = {"is": "{label} is {value}", "is_not": "{label} is not {value}"}
_TEXT = {"contains": "{label} contains {value}", "contains_not": "{label} does not contain {value}"}
_DAYS = {"from": "{label} on or after {value}", "to": "{label} on or before {value}"}

FIELDS: dict[str, _Field] = {
    "state": _Field("State", _CHOICE, _words_of, _among(lambda facts: facts.of("state"))),
    "state_reason": _Field(
        "Reason of closing", _CHOICE, _words_of, _among(lambda facts: facts.of("state_reason"))
    ),
    "has_fix": _Field(
        "Has a merged fix",
        {"is": "{label}: {value}"},
        _truth_of,
        lambda facts, op, value: bool(facts.of("has_merged_fix")) == value,
    ),
    "github_labels": _Field(
        "GitHub labels",
        {
            "any": "{label}: any of {value}",
            "all": "{label}: all of {value}",
            "none": "{label}: none of {value}",
        },
        _words_of,
        _labels,
    ),
    "opened_at": _Field("Created", _DAYS, _day_of, _on_day("opened_at")),
    "closed_at": _Field("Closed", _DAYS, _day_of, _on_day("closed_at")),
    "updated_at": _Field("Updated", _DAYS, _day_of, _on_day("updated_at")),
    "author_kind": _Field("Author", _CHOICE, _words_of, _among(lambda facts: facts.of("author_kind"))),
    "repository": _Field("Repository", _CHOICE, _words_of, _among(lambda facts: facts.issue.repository)),
    "kind": _Field("Kind", _CHOICE, _words_of, _among(lambda facts: facts.issue.kind)),
    "title": _Field("Title", _TEXT, _words_of, _contains(_title)),
    "body": _Field("Description", _TEXT, _words_of, _contains(lambda facts: facts.body)),
    "text": _Field("Title or description", _TEXT, _words_of, _contains(lambda f: f"{_title(f)}\n{f.body}")),
    "is_duplicate": _Field(
        "Is a duplicate",
        {"is": "{label}: {value}"},
        _truth_of,
        lambda facts, op, value: (
            (facts.issue.duplicate_of_id is not None or facts.of("state_reason") == "duplicate") == value
        ),
    ),
}
