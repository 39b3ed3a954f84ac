"""What a coder typed for one unit and has not handed in: fields, each with the version that changed it last.

Pure. Two windows on the same unit send only what they changed, and the version they started from. A change
set is taken whole or not at all; a refused one comes back with both versions of each field.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

ANNOTATION = "annotations."
"""What the name of the field of a dimension begins with: ``annotations.symptom``."""

EMPTY: dict[str, Any] = {"memo": "", "confidence": "", "evidence": [], "exclude": None}


@dataclass(slots=True)
class Draft:
    """``stage`` counts the stages that are locked, ``skips`` how often the unit was put off.

    ``changed``: something was typed since the last submission.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    saved: dict[str, str] = field(default_factory=dict)
    stage: int = 0
    skips: int = 0
    changed: bool = False

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Self:
        if stored is None:
            return cls()
        return cls(
            fields=dict(stored.get("fields", {})),
            versions=dict(stored.get("versions", {})),
            saved=dict(stored.get("saved", {})),
            stage=stored.get("stage", 0),
            skips=stored.get("skips", 0),
            changed=stored.get("changed", False),
        )

    def stored(self) -> dict[str, Any]:
        return {
            "fields": self.fields,
            "versions": self.versions,
            "saved": self.saved,
            "stage": self.stage,
            "skips": self.skips,
            "changed": self.changed,
        }

    def value(self, name: str) -> Any:
        return self.fields.get(name, EMPTY.get(name))

    def answer(self, dimension: str) -> dict[str, Any] | None:
        answer: dict[str, Any] | None = self.value(ANNOTATION + dimension)
        return answer

    def differing(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out what says the same as the draft: sent twice, it is said once."""
        return {name: value for name, value in changes.items() if value != self.value(name)}

    def conflicts(self, changes: Mapping[str, Any], version: int) -> dict[str, dict[str, Any]]:
        """Find the fields that somebody changed after ``version``, with both values."""
        return {
            name: {"yours": value, "theirs": self.value(name), "saved_at": self.saved.get(name)}
            for name, value in changes.items()
            if self.versions.get(name, 0) > version
        }

    def merge(self, changes: Mapping[str, Any], version: int, saved_at: str) -> None:
        """Take the changes as those of ``version``."""
        for name, value in changes.items():
            self.fields[name] = value
            self.versions[name] = version
            self.saved[name] = saved_at


def flat_changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give every dimension of ``annotations`` a field of its own."""
    changes = {name: value for name, value in body.items() if name != "annotations"}
    annotations: Mapping[str, Any] = body.get("annotations") or {}
    return changes | {ANNOTATION + key: value for key, value in annotations.items()}


def dimensions_of(names: Iterable[str]) -> list[str]:
    return [name.removeprefix(ANNOTATION) for name in names if name.startswith(ANNOTATION)]
