"""What a paper may say of the goal: of all dimensions together, and of some of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.agreement.probability import holm

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One dimension: the one-sided 95 % lower limit of its headline, and the p value after Holm.

    Both are None where there is no disagreement, or no coefficient, to make a limit from.
    """

    key: str
    lower: float | None
    p: float | None
    reaches: bool


@dataclass(frozen=True, slots=True)
class Claims:
    """``all_reach``: every lower limit lies at the goal or above. ``reaching`` survive the correction."""

    goal: float
    rows: tuple[ClaimRow, ...]
    all_reach: bool

    @property
    def reaching(self) -> tuple[str, ...]:
        return tuple(row.key for row in self.rows if row.reaches)

    @property
    def without_limit(self) -> tuple[str, ...]:
        return tuple(row.key for row in self.rows if row.lower is None)


def claims(payloads: Iterable[Mapping[str, Any]]) -> Claims | None:
    """Read the claims of a report; None for a report that was stored without them."""
    found = {each["key"]: each["claim"] for each in payloads if each.get("claim")}
    if not found:
        return None
    adjusted = holm({key: claim["p"] for key, claim in found.items() if claim["p"] is not None})
    rows = tuple(
        ClaimRow(key, claim["lower"], adjusted.get(key), adjusted.get(key, 1.0) <= LEVEL)
        for key, claim in found.items()
    )
    goal = next(iter(found.values()))["goal"]
    return Claims(goal, rows, all(row.lower is not None and row.lower >= goal for row in rows))
