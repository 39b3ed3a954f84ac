"""The queue of a closed round as one member walks through it: worst pair of categories first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import urlencode

from django.db.models import F

from labeling.models import UNIT, Decision, Membership, Round
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reconciliation import QUEUED, queued_decisions

NAMES = ("dimension", "type", "cell", "repository", "pair", "decided")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a reader wants to see; empty: everything that is open."""

    dimension: str = ""
    type: str = ""
    cell: str = ""
    repository: str = ""
    pair: str = ""
    decided: str = ""

    @classmethod
    def read(cls, params: Mapping[str, str]) -> "Filters":
        """Read the query of a page; what makes no sense is left out."""
        given = {name: params.get(name, "") for name in NAMES}
        if given["type"] not in QUEUED:
            given["type"] = ""
        if given["decided"] not in ("true", "false", "all"):
            given["decided"] = ""
        if not _is_pair(given["pair"]):
            given["pair"] = ""
        return cls(**given)

    @property
    def coders(self) -> tuple[int, int] | None:
        if not self.pair:
            return None
        first, second = self.pair.split(",")
        return int(first), int(second)

    @property
    def query(self) -> str:
        given = {name: getattr(self, name) for name in NAMES if getattr(self, name)}
        return "?" + urlencode(given) if given else ""

    @property
    def is_given(self) -> bool:
        return bool(self.query)

    @property
    def is_narrowed(self) -> bool:
        """Whether more is chosen than the dimension, which has its tabs."""
        return any(getattr(self, name) for name in NAMES if name != "dimension")

    def fit(self, entry: "Entry") -> bool:
        wanted = ("dimension", "type", "cell", "repository")
        return all(getattr(self, name) in ("", getattr(entry, name)) for name in wanted)

    def fit_state(self, entry: "Entry") -> bool:
        return self.decided == "all" or entry.is_open == (self.decided != "true")


def _is_pair(text: str) -> bool:
    parts = text.split(",")
    return len(parts) == 2 and all(each.isdecimal() and len(each) < 19 for each in parts)


@dataclass(frozen=True, slots=True)
class Entry:
    """One queued decision, as light as a list needs it."""

    decision: int
    unit: int
    ref: str
    title: str
    repository: str
    dimension: str
    type: str
    cell: str
    is_open: bool
    waits: bool

    @property
    def can_be_decided(self) -> bool:
        return self.is_open and not self.waits


@dataclass(frozen=True)
class Queue:
    """All that is or was queued, in the order of walking through it; ``fitting`` is what filters leave."""

    entries: Sequence[Entry]
    filters: Filters
    fitting: Sequence[Entry] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fitting", [each for each in self.entries if self.filters.fit(each)])

    def listed(self, current: int | None = None) -> list[Entry]:
        """What the list shows; the decision one looks at stays in it."""
        return [each for each in self.fitting if self.filters.fit_state(each) or each.decision == current]

    def first(self) -> Entry | None:
        """Where to begin: the first that can be decided, else the first that fits."""
        listed = self.listed()
        return next((each for each in listed if each.can_be_decided), listed[0] if listed else None)

    def next_open(self, current: int) -> Entry | None:
        """The next that can be decided after this one, from the start again at the end."""
        place = self._place(current)
        after = [*self.fitting[place + 1 :], *self.fitting[: max(place, 0)]]
        return next((each for each in after if each.can_be_decided and each.decision != current), None)

    def neighbours(self, current: int) -> tuple[Entry | None, Entry | None]:
        listed = self.listed(current)
        place = next((i for i, each in enumerate(listed) if each.decision == current), None)
        if place is None:
            return None, listed[0] if listed else None
        return listed[place - 1] if place else None, listed[place + 1] if place + 1 < len(listed) else None

    def position(self, current: int) -> tuple[int, int]:
        """Place of a decision in the list, from 1, and the length of the list."""
        listed = [each.decision for each in self.listed(current)]
        return (listed.index(current) + 1 if current in listed else 0), len(listed)

    def _place(self, current: int) -> int:
        return next((i for i, each in enumerate(self.fitting) if each.decision == current), -1)

    @property
    def decided(self) -> int:
        return sum(not each.is_open for each in self.entries)

    @property
    def open(self) -> int:
        return len(self.entries) - self.decided

    def open_by_dimension(self) -> Counter[str]:
        return Counter(each.dimension for each in self.entries if each.is_open)

    def cells(self) -> list[tuple[str, str, int]]:
        """Dimension and answers that met, with how many of them are open: most often first."""
        found = Counter(
            (each.dimension, each.cell)
            for each in self.entries
            if each.is_open and each.cell and self.filters.dimension in ("", each.dimension)
        )
        return [(*key, count) for key, count in sorted(found.items(), key=lambda row: (-row[1], row[0]))]

    def same_cell(self, entry: Entry) -> int:
        """How many others met in the same answers and can be decided with it."""
        return sum(
            each.can_be_decided and (each.dimension, each.cell) == (entry.dimension, entry.cell)
            for each in self.entries
            if each.cell
        )


def reconciliation_queue(coding_round: Round, member: Membership, filters: Filters) -> Queue:
    """Read the queue in one query. Filters are applied here, so that counts beside them stay whole."""
    rows = queued_decisions(coding_round, member, pair=filters.coders).prefetch_related(None)
    entries = [
        Entry(pk, unit, ref, part or title or "", repository, dimension, type_, cell, how == "", bool(waits))
        for pk, unit, ref, part, title, repository, dimension, type_, cell, how, waits in rows.annotate(
            issue_title=F("round_unit__unit__snapshot__title")
        ).values_list(
            "pk",
            "round_unit__unit",
            "round_unit__unit__ref",
            "round_unit__unit__title",
            "issue_title",
            "round_unit__unit__issue__repository",
            "dimension",
            "type",
            "cell",
            "how",
            "waits_for",
        )
    ]
    return Queue(_worst_first(entries, coding_round), filters)


def _worst_first(entries: Iterable[Entry], coding_round: Round) -> list[Entry]:
    """Order units by how often their answers met in the round; decided ones count, so nothing moves later."""
    places = {UNIT: -1} | {each.key: place for place, each in enumerate(round_dimensions(coding_round))}
    rows = sorted(entries, key=lambda each: (each.ref, places.get(each.dimension, len(places))))
    met = Counter(
        (each.dimension, each.cell)
        for each in rows
        if each.type in (Decision.Type.DISAGREED, Decision.Type.EXCLUDED)
    )
    units = [list(group) for _, group in groupby(rows, key=lambda each: each.unit)]
    units.sort(key=lambda unit: -max(met[each.dimension, each.cell] for each in unit))
    return [each for unit in units for each in unit]
