"""After a split: which units have to be coded again, and by whom."""

from collections.abc import Mapping
from dataclasses import dataclass

from labeling.blinding import settled
from labeling.models import CategoryMapping, Codebook, Membership, Round, RoundUnit
from labeling.selectors.codebook_impact import View, closed_rounds, view_of
from labeling.selectors.frozen import FrozenUnit, frozen_round

ASKED_AGAIN = (Round.Kind.PILOT, Round.Kind.MAIN, Round.Kind.RECODE, Round.Kind.IMPORTED)


@dataclass(frozen=True, slots=True)
class RecodeUnit:
    """A unit to which ``coders`` gave a category that was split since."""

    id: int
    ref: str
    coders: tuple[Membership, ...]


@dataclass(frozen=True, slots=True)
class RecodeList:
    """The units of one round; ``hidden`` of them are sealed for the reader. ``dimensions``: name by key."""

    round: Round
    dimensions: Mapping[str, str]
    units: tuple[RecodeUnit, ...]
    hidden: int

    @property
    def coders(self) -> list[Membership]:
        found = {coder.pk: coder for unit in self.units for coder in unit.coders}
        return sorted(found.values(), key=lambda each: each.number)


def recode_lists(codebook: Codebook, member: Membership) -> list[RecodeList]:
    """What answers with split categories leave to do; units in a follow-up of their round are left out."""
    lists = [_list(each, view_of(codebook, each), member) for each in _rounds(codebook)]
    return [each for each in lists if each.units or each.hidden]


def _rounds(codebook: Codebook) -> list[Round]:
    return [
        each
        for each in closed_rounds(codebook.study)
        if each.kind in ASKED_AGAIN and each.codebook and each.codebook.version < codebook.version
    ]


def _list(coding_round: Round, view: View, member: Membership) -> RecodeList:
    lost = {
        key: {label for label, fate in fates.items() if fate == (CategoryMapping.Act.SPLIT,)}
        for key, fates in view.fates.items()
    }
    if not any(lost.values()):
        return RecodeList(coding_round, {}, (), 0)
    frozen = frozen_round(coding_round)
    coders = {each.pk: each for each in frozen.coders}
    waiting = _waiting(coding_round)
    shown = _shown(coding_round, member)
    concerned = [
        (unit, said) for unit in frozen.units if unit.id in waiting and (said := _who_said(unit, lost))
    ]
    units = tuple(
        RecodeUnit(shown[unit.id], unit.ref, tuple(coders[pk] for pk in said))
        for unit, said in concerned
        if unit.id in shown
    )
    names = {each.key: each.name for each in view.dimensions if lost.get(each.key)}
    return RecodeList(coding_round, names, units, len(concerned) - len(units))


def _who_said(unit: FrozenUnit, lost: Mapping[str, set[str]]) -> list[int]:
    return [
        handed.coder
        for handed in unit.kept
        if any(said.labels & lost.get(key, set()) for key, said in handed.answers.items())
    ]


def _waiting(coding_round: Round) -> set[int]:
    """Units of the round that no later round based on it asks again."""
    again = RoundUnit.objects.filter(round__based_on=coding_round, round__discarded_at__isnull=True)
    again = again.filter(round__kind=Round.Kind.RECODE)
    rows = coding_round.round_units.exclude(unit__in=again.values("unit"))
    return set(rows.values_list("pk", flat=True))


def _shown(coding_round: Round, member: Membership) -> dict[int, int]:
    """The units that the member may read of, by the id of their RoundUnit."""
    rows = RoundUnit.objects.filter(settled(member, ""), round=coding_round)
    return dict(rows.values_list("pk", "unit"))
