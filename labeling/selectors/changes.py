"""What an issue says now and did not say when its unit was pinned."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from labeling.models import IssueSnapshot
from labeling.patches import PatchLine, patch_lines

_FIELDS = {
    "state": "State",
    "state_reason": "Reason of closing",
    "github_labels": "GitHub labels",
    "milestone": "Milestone",
}


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A text that was added, taken away or written anew, as lines of a diff."""

    name: str
    lines: list[PatchLine]


@dataclass(frozen=True, slots=True)
class ChangedField:
    name: str
    before: str
    after: str


def changed_fields(before: IssueSnapshot, after: IssueSnapshot) -> list[ChangedField]:
    """Give state, GitHub labels and the like where they differ."""
    told = [
        (label, _said(getattr(before, name)), _said(getattr(after, name))) for name, label in _FIELDS.items()
    ]
    return [ChangedField(*each) for each in told if each[1] != each[2]]


def changed_texts(before: IssueSnapshot, after: IssueSnapshot) -> list[ChangedText]:
    """Give the texts that differ: title, description and comments; not the fixes, which follow the code."""
    old, new = _texts(before), _texts(after)
    numbers = {f"comment:{told['id']}": at for at, told in enumerate(after.comments, start=1)}
    found = []
    for key in dict.fromkeys([*new, *old]):
        lines = list(_diff(old.get(key, ""), new.get(key, "")))
        if lines:
            found.append(ChangedText(_name(key, numbers), lines))
    return found


def _texts(snapshot: IssueSnapshot) -> dict[str, str]:
    rows = snapshot.documents.exclude(key__startswith="fix:").order_by("pk")
    return dict(rows.values_list("key", "source"))


def _diff(old: str, new: str) -> Iterator[PatchLine]:
    hunks = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]
    yield from patch_lines("\n".join(hunks)) if hunks else ()


def _name(key: str, numbers: dict[str, int]) -> str:
    if not key.startswith("comment:"):
        return {"title": "Title", "body": "Description"}.get(key, key)
    return f"Comment {numbers[key]}" if key in numbers else "A comment that is no longer there"


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
