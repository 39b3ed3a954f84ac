"""Who reads, on which state of the database, and the units that blinding leaves them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from labeling.blinding import sealing_assignments, settled
from labeling.models import Assignment, Dimension, Membership, Round, RoundUnit, Study, Unit
from labeling.selectors.frozen import Names, names_of, round_dimensions
from labeling.selectors.masks import Masks

BATCH = 500
T = TypeVar("T")


@dataclass(frozen=True)
class RoundColumns:
    """A round as every row of it needs it."""

    coding_round: Round
    dimensions: Sequence[Dimension]
    names: Names

    def asks(self, dimension: str) -> bool:
        return any(each.key == dimension for each in self.dimensions)

    def label(self, row: Any, dimension: str) -> tuple[str, str]:
        """Code and path of a chosen category or proposal."""
        named = self.names.of_concept.get(dimension, {})
        label = named.get(row.concept, row.code)
        parents, path = self.names.parents.get(dimension, {}), [label]
        while path[0] in parents:
            path.insert(0, parents[path[0]])
        return label, "/".join(path)


@dataclass(frozen=True)
class Reader:
    """Who reads which study, on which connection, and how coders are to be called."""

    study: Study
    member: Membership
    using: str
    all_rounds: bool = False
    pseudonyms: bool = False
    _names: dict[int, str] = field(default_factory=dict)

    def name(self, member: int | None) -> str:
        if not self._names:
            members = Membership.objects.using(self.using).filter(study=self.study).select_related("user")
            self._names.update(
                {each.pk: each.pseudonym if self.pseudonyms else each.name for each in members}
            )
        return self._names[member] if member is not None else ""

    @cached_property
    def hidden_fields(self) -> dict[int, frozenset[str]]:
        """What open rounds hide from the reader, by issue."""
        return Masks(self.member).all_issues()

    def hides_name(self, issue: int) -> bool:
        return "repository" in self.hidden_fields.get(issue, ())

    @cached_property
    def rounds(self) -> dict[int, RoundColumns]:
        """The rounds that were opened, by id, lowest number first."""
        rows = Round.objects.using(self.using).filter(study=self.study, codebook__isnull=False)
        rows = rows.filter(discarded_at__isnull=True).select_related("codebook").order_by("number")
        return {each.pk: self._columns(each) for each in rows}

    def _columns(self, coding_round: Round) -> RoundColumns:
        dimensions = round_dimensions(coding_round)
        return RoundColumns(coding_round, dimensions, names_of(coding_round, tuple(dimensions)))

    @property
    def results(self) -> list[RoundColumns]:
        """The rounds final decisions may come from (all closed ones where all are asked for)."""
        return [
            each
            for each in self.rounds.values()
            if each.coding_round.is_unblinded and (self.all_rounds or each.coding_round.counts_in_results)
        ]

    def units(self, round_units: "QuerySet[RoundUnit]") -> Iterator[list[Unit]]:
        """The units of some rows by their reference, in batches."""
        rows = Unit.objects.using(self.using).filter(pk__in=round_units.order_by().values("unit"))
        rows = rows.select_related("issue", "snapshot").defer(*HEAVY).order_by("ref")
        return batched(rows.iterator(chunk_size=BATCH), BATCH)

    def round_units(self) -> "QuerySet[RoundUnit]":
        """What is settled for the reader."""
        rows = RoundUnit.objects.using(self.using).filter(settled(self.member, ""))
        return rows.order_by("unit__ref", "round__number")

    def own_round_units(self) -> "QuerySet[RoundUnit]":
        """What the reader codes or coded, without what is sealed."""
        own = Assignment.objects.of_member(self.member).active()
        running = Q(round__state__in=Round.RUNNING)
        rows = RoundUnit.objects.using(self.using).filter(running | settled(self.member, ""))
        return rows.filter(pk__in=own.values("round_unit")).order_by("unit__ref", "round__number")


HEAVY = ("snapshot__comments", "snapshot__timeline", "snapshot__fixes", "snapshot__reactions")


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def hidden_units(reader: Reader, *, own: bool = False) -> int:
    """How many units of closed rounds are left out because the reader codes their issues again.

    ``own``: only those the reader coded before.
    """
    sealed = sealing_assignments(reader.member).values("round_unit__unit__issue")
    closed = RoundUnit.objects.using(reader.using).filter(
        round__study=reader.study, round__state__in=Round.UNBLINDED, unit__issue__in=sealed
    )
    if own:
        coded = Assignment.objects.of_member(reader.member).active()
        closed = closed.filter(pk__in=coded.values("round_unit"))
    return closed.values("unit").distinct().count()
