"""Dealing units to coders: who codes what, which units are coded by several, in which order."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Generic, TypeVar

from labeling.sampling.draw import ranking, score

Coder = TypeVar("Coder", str, int)


@dataclass(frozen=True, slots=True)
class Redealt(Generic[Coder]):
    """Where the units of a leaving coder go.

    ``moves`` gives each unit's new coder, ``stuck`` the units that every other coder already has.
    """

    moves: dict[str, Coder]
    stuck: list[str]


def overlap_units(
    refs_by_stratum: Mapping[str, Collection[str]], overlap: float | Decimal, overlap_seed: int
) -> set[str]:
    """Units that several coders code: the first ceil(overlap x n) of each stratum by keyed hash.

    ``overlap`` counts as the decimal number it is written as, so 0.2 of 15 units are 3: as a binary
    fraction 0.2 is a little more than a fifth, and 4 would be picked. A larger overlap with the same
    seed contains every smaller one.
    """
    share = Fraction(str(overlap))
    if not 0 <= share <= 1:
        raise ValueError(f"An overlap of {overlap} is not a share. Give a number from 0 to 1.")
    chosen: set[str] = set()
    for refs in refs_by_stratum.values():
        chosen.update(ranking(refs, overlap_seed)[: ceil(share * len(refs))])
    return chosen


def deal_units(
    refs: Sequence[str],
    coders: Sequence[Coder],
    per_unit: int,
    overlap: Collection[str],
    seed: int,
    held: Mapping[Coder, Collection[str]] | None = None,
) -> dict[Coder, list[str]]:
    """Deal overlap units to ``per_unit`` coders and every other unit to one.

    The numbers of units of two coders differ by at most one, over the overlap units and over all;
    pairs of coders meet about equally often. Each coder's units come in their own ``coder_order``:
    the order of dealing would show which units are coded by several. ``held`` is what the coders have
    already: more units go to whoever has fewest with it. The answer gives the new units alone.
    """
    _refuse_deal(refs, coders, per_unit, overlap)
    before = {coder: list((held or {}).get(coder, ())) for coder in coders}
    units = {coder: list(had) for coder, had in before.items()}
    table = _Table(units, seed)
    overlapping = set(overlap)
    ranked = ranking(refs, seed)
    for ref in (ref for ref in ranked if ref in overlapping):
        table.deal(ref, per_unit)
    for ref in (ref for ref in ranked if ref not in overlapping):
        table.deal(ref, 1)
    return {coder: coder_order(dealt[len(before[coder]) :], seed, coder) for coder, dealt in units.items()}


def coder_order(refs: Iterable[str], seed: int, coder: str | int) -> list[str]:
    """Order in which a coder meets units: by ascending score of ``order <coder> <ref>``."""
    return sorted(refs, key=lambda ref: (score(seed, f"order {coder} {ref}"), ref))


def redeal(
    dealt: Mapping[Coder, Collection[str]], leaving: Coder, movable: Collection[str], seed: int
) -> Redealt[Coder]:
    """Give a leaving coder's units to the others, each to whoever has fewest and not this one.

    ``dealt`` is what every coder has, a newcomer with nothing included; ``movable`` are the units of
    the leaving coder that may go, normally those without a submission. Units with fewest possible
    takers go first, so that the last ones do not pile up on one coder.
    """
    foreign = set(movable) - set(dealt[leaving])
    if foreign:
        raise ValueError(f"{leaving} was not dealt {', '.join(sorted(foreign))}. Move only their units.")
    table = _Table({coder: list(refs) for coder, refs in dealt.items() if coder != leaving}, seed)
    takers = {ref: len(table.takers(ref)) for ref in movable}
    moves: dict[str, Coder] = {}
    for ref in sorted(ranking(movable, seed), key=takers.__getitem__):
        if takers[ref]:
            (moves[ref],) = table.deal(ref, 1)
    return Redealt(moves, sorted(ref for ref in movable if not takers[ref]))


class _Table(Generic[Coder]):
    """Who has which units, and how often two coders share one."""

    def __init__(self, units: dict[Coder, list[str]], seed: int) -> None:
        self.units: dict[Coder, list[str]] = units
        self.seed = seed
        self.holders: dict[str, list[Coder]] = {}
        self.meetings: Counter[frozenset[Coder]] = Counter()
        for coder, refs in units.items():
            for ref in refs:
                self._record(ref, coder)

    def takers(self, ref: str) -> list[Coder]:
        holders = self.holders.get(ref, [])
        return [coder for coder in self.units if coder not in holders]

    def deal(self, ref: str, count: int) -> list[Coder]:
        """Give the unit to ``count`` more coders, one after the other.

        Next is who has fewest units; among these who met the unit's other coders least; then chance.
        """
        chance = {coder: score(self.seed, f"deal {coder} {ref}") for coder in self.units}
        chosen: list[Coder] = []
        for _ in range(count):
            coder = min(self.takers(ref), key=lambda c: (len(self.units[c]), self._met(ref, c), chance[c]))
            self.units[coder].append(ref)
            self._record(ref, coder)
            chosen.append(coder)
        return chosen

    def _met(self, ref: str, coder: Coder) -> int:
        return sum(self.meetings[frozenset((coder, other))] for other in self.holders.get(ref, []))

    def _record(self, ref: str, coder: Coder) -> None:
        holders = self.holders.setdefault(ref, [])
        self.meetings.update(frozenset((coder, other)) for other in holders)
        holders.append(coder)


def _refuse_deal(
    refs: Sequence[str], coders: Sequence[str] | Sequence[int], per_unit: int, overlap: Collection[str]
) -> None:
    if len(set(coders)) != len(coders):
        raise ValueError("A coder is named twice. Name every coder once.")
    if not 1 <= per_unit <= len(coders):
        raise ValueError(f"{per_unit} of {len(coders)} coders cannot code a unit. Give 1 to {len(coders)}.")
    if set(overlap) - set(refs):
        raise ValueError("The overlap names units that are not dealt. Choose it from the same units.")
