"""Who gets which units, and that nobody gets an issue they are coding elsewhere."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from labeling import sampling
from labeling.blinding import codes_blind
from labeling.errors import InvalidInputError, RoundStateError, StudyRuleError
from labeling.models import Assignment, Membership, Round, RoundUnit, Sample, Submission, Unit
from labeling.selectors.masks import Masks
from labeling.services.events import notify
from labeling.services.round_lock import lock_round, record_round
from labeling.services.round_plans import parts_of
from labeling.services.round_settings import refuse_unfit_coders

Dealt = dict[Membership, list[RoundUnit]]


def dealt_units(coding_round: Round, units: Sequence[RoundUnit] | None = None) -> Dealt:
    """Deal the units of a round, or some that come later, to its coders; nothing is stored."""
    held = _held(coding_round) if units is not None else {}
    if units is None:
        units = list(
            coding_round.round_units.filter(left_out=False).select_related("unit").order_by("unit__ref")
        )
    coders = {coder.number: coder for coder in coding_round.coders.select_related("user", "group")}
    by_ref = {each.unit.ref: each for each in units}
    if coding_round.kind == Round.Kind.RETEST:
        dealt = _dealt_again(coding_round, coders, by_ref)
    else:
        overlap = _overlap(coding_round, units)
        per_unit = min(coding_round.coders_per_unit, len(coders))
        dealt = sampling.deal_units(list(by_ref), sorted(coders), per_unit, overlap, coding_round.seed, held)
    return {coders[number]: [by_ref[ref] for ref in refs] for number, refs in dealt.items()}


def _held(coding_round: Round) -> dict[int, list[str]]:
    """What each coder has already, by member number: something in a round that is open."""
    held: defaultdict[int, list[str]] = defaultdict(list)
    for row in _active_assignments(coding_round):
        held[row.coder.number].append(row.round_unit.unit.ref)
    return dict(held)


def _overlap(coding_round: Round, units: Iterable[RoundUnit]) -> set[str]:
    """Name the units that several coders get."""
    if coding_round.coders_per_unit == 1:
        return set()
    by_stratum: defaultdict[str, list[str]] = defaultdict(list)
    for each in units:
        by_stratum[each.stratum].append(each.unit.ref)
    return sampling.overlap_units(by_stratum, coding_round.overlap, coding_round.overlap_seed)


def _dealt_again(
    coding_round: Round, coders: Mapping[int, Membership], by_ref: Mapping[str, RoundUnit]
) -> dict[int, list[str]]:
    """Give each unit of a retest to those who coded it before, in a new order."""
    before = Submission.objects.filter(
        assignment__round_unit__round=coding_round.based_on_id,
        assignment__round_unit__unit__ref__in=by_ref,
        assignment__coder__number__in=coders,
    )
    coded = set(before.values_list("assignment__coder__number", "assignment__round_unit__unit__ref"))
    return {
        number: sampling.coder_order(
            [ref for coder, ref in coded if coder == number], coding_round.seed, number
        )
        for number in sorted(coders)
    }


def store_dealt(coding_round: Round, dealt: Dealt) -> None:
    """Write the assignments coder by coder, so that ids tell nothing about who shares a unit."""
    holders: defaultdict[int, int] = defaultdict(int)
    last = dict(
        Assignment.objects.filter(round_unit__round=coding_round)
        .values_list("coder")
        .annotate(last=Max("position"))
    )
    for coder, units in dealt.items():
        start = last.get(coder.pk, 0) + 1
        Assignment.objects.bulk_create(
            (
                Assignment(round_unit=each, coder=coder, position=position)
                for position, each in enumerate(units, start=start)
            ),
            batch_size=500,
        )
        for each in units:
            holders[each.pk] += 1
    for is_shared in (True, False):
        chosen = [pk for pk, count in holders.items() if (count > 1) == is_shared]
        RoundUnit.objects.filter(pk__in=chosen).update(overlap=is_shared)


def refuse_issues_of_other_rounds(
    coding_round: Round, dealt: Mapping[Membership, Sequence[RoundUnit]], by: Membership | None = None
) -> None:
    """Raise RoundStateError naming the units of whose issue a coder codes a part in another open round.

    ``by``, who asked, is told no more of the units than blinding allows.
    """
    elsewhere = _issues_elsewhere(coding_round, dealt)
    clashes = sorted(
        {
            each.unit.ref
            for coder, units in dealt.items()
            for each in units
            if each.unit.issue_id in elsewhere[coder.pk]
        }
    )
    if clashes and by is not None and codes_blind(coding_round, by):
        raise RoundStateError(
            f"So many of these units are coded in another open round: {len(clashes)}. Close that round first."
        )
    if clashes and by is not None:
        names = Masks(by).names
        clashes = sorted(names.get(ref, ref) for ref in clashes)
    if clashes:
        named = ", ".join(clashes[:5]) + (" and others" if len(clashes) > 5 else "")
        raise RoundStateError(
            f"Coded in another open round: {named}. Close that round first, or take these units out.",
            units=clashes,
        )


def _issues_elsewhere(coding_round: Round, coders: Collection[Membership]) -> dict[int, set[int]]:
    """Find the issues that each coder codes in other open rounds, alone or in a group."""
    alike = {coder.pk: set(coder.coder_ids) for coder in coders}
    for person, group in coding_round.study.memberships.filter(group__in=alike).values_list("pk", "group"):
        if group is not None:
            alike[group].add(person)
    rows = (
        Assignment.objects.active()
        .filter(
            coder__in={pk for ids in alike.values() for pk in ids},
            round_unit__round__state=Round.State.OPEN,
        )
        .exclude(round_unit__round=coding_round)
        .values_list("coder", "round_unit__unit__issue")
    )
    coded: defaultdict[int, set[int]] = defaultdict(set)
    for coder, issue in rows:
        coded[coder].add(issue)
    return {pk: set().union(*(coded[each] for each in ids)) for pk, ids in alike.items()}


@dataclass(frozen=True, slots=True)
class MoreUnits:
    """Units on their way into a round; ``dealt`` says to whom they go, of a draft to nobody yet."""

    new: list[RoundUnit]
    already: list[Unit]
    dealt: Dealt


def plan_units(*, coding_round: Round, units: Sequence[Unit], sample: Sample | None = None) -> MoreUnits:
    """Say what adding the units would do; nothing is stored. Raises what adding them would raise.

    ``sample`` is the one a draft without any is to have.
    """
    sample = coding_round.sample or sample
    if coding_round.state not in Round.RUNNING or coding_round.discarded_at is not None:
        raise RoundStateError(f"Round {coding_round.number} is {coding_round.get_state_display().lower()}.")
    found = parts_of(units)
    present = set(coding_round.round_units.values_list("unit", flat=True))
    strata = dict(sample.sample_units.values_list("unit", "stratum") if sample is not None else ())
    new = [
        RoundUnit(round=coding_round, unit=unit, stratum=strata.get(unit.split_from_id or unit.pk, ""))
        for unit in found
        if unit.pk not in present
    ]
    already = [unit for unit in found if unit.pk in present]
    _refuse_foreign(coding_round, new)
    dealt: Dealt = {}
    if coding_round.state == Round.State.OPEN and new:
        if coding_round.kind == Round.Kind.TRAINING:
            raise RoundStateError("The training is open: a unit added now would have no known answer.")
        _refuse_unpinned(new)
        dealt = dealt_units(coding_round, new)
        refuse_issues_of_other_rounds(coding_round, dealt)
    return MoreUnits(new, already, dealt)


def add_units(
    *, coding_round: Round, units: Sequence[Unit], by: Membership, sample: Sample | None = None
) -> Round:
    """Add units to a round; an open one deals them at once, after what its coders already have."""
    with transaction.atomic():
        locked = _locked(coding_round, states=Round.RUNNING)
        more = plan_units(coding_round=locked, units=units, sample=sample)
        if locked.state == Round.State.DRAFT and locked.sample is None and sample is not None:
            locked.sample = sample
            locked.save(update_fields=["sample"])
        RoundUnit.objects.bulk_create(more.new, batch_size=500)
        store_dealt(locked, more.dealt)
        record_round(locked, "round.units_added", by, count=len(more.new))
        _tell(locked, (coder for coder, dealt in more.dealt.items() if dealt), by)
    return locked


def add_coders(*, coding_round: Round, coders: Sequence[Membership], by: Membership) -> Round:
    """Name more coders; in an open round they get nothing until units are added or dealt anew."""
    with transaction.atomic():
        locked = _locked(coding_round, states=Round.RUNNING)
        refuse_unfit_coders(locked.study, coders)
        locked.coders.add(*coders)
        record_round(locked, "round.coders_added", by, coders=[coder.pk for coder in coders])
    return locked


def _tell(coding_round: Round, coders: Iterable[Membership], by: Membership) -> None:
    """Tell coders that there is more for them."""
    notify(
        [coder for coder in coders if coder.pk != by.pk],
        verb="round.units_added",
        object=f"round:{coding_round.number}",
        url=coding_round.get_absolute_url(),
    )


def _refuse_foreign(coding_round: Round, new: Iterable[RoundUnit]) -> None:
    earlier = coding_round.based_on
    known = set(earlier.round_units.values_list("unit", flat=True)) if earlier is not None else None
    for each in new:
        if each.unit.study_id != coding_round.study_id:
            raise InvalidInputError({"units": [f"{each.unit.ref} is not a unit of this study."]})
        if known is not None and not known & {each.unit_id, each.unit.split_from_id}:
            raise InvalidInputError({"units": [f"{each.unit.ref} was not coded in {earlier}."]})


def redeal(
    *, coding_round: Round, leaving: Membership, by: Membership, dry_run: bool = False
) -> sampling.Redealt[int]:
    """Give what ``leaving`` has not submitted to the other coders; ``dry_run`` only says what would move.

    Moved assignments are withdrawn, their drafts kept. The answer names coders by their number.
    """
    with transaction.atomic():
        locked = _locked(coding_round, states=(Round.State.OPEN,))
        coders = {coder.number: coder for coder in locked.coders.select_related("group")}
        if leaving.number not in coders:
            raise StudyRuleError(f"{leaving.name} does not code in round {locked.number}.")
        rows = list(_active_assignments(locked))
        dealt: dict[int, list[str]] = {number: [] for number in coders}
        for row in rows:
            dealt.setdefault(row.coder.number, []).append(row.round_unit.unit.ref)
        movable = {
            row.round_unit.unit.ref: row
            for row in rows
            if row.coder_id == leaving.pk and not getattr(row, "is_submitted", False)
        }
        redealt = sampling.redeal(dealt, leaving.number, list(movable), locked.seed)
        if not dry_run:
            _move(locked, redealt, movable, coders, by)
            _tell(locked, {coders[number] for number in redealt.moves.values()}, by)
            record_round(locked, "round.redealt", by, coder=leaving.pk, moved=len(redealt.moves))
    return redealt


def _active_assignments(coding_round: Round) -> Iterable[Assignment]:
    return (
        Assignment.objects.active()
        .filter(round_unit__round=coding_round)
        .exclude(coder__kind=Membership.Kind.REFERENCE)
        .annotate(is_submitted=Exists(Submission.objects.filter(assignment=OuterRef("pk"))))
        .select_related("coder", "round_unit__unit")
        .order_by("coder__number", "position")
    )


def _move(
    coding_round: Round,
    redealt: sampling.Redealt[int],
    movable: Mapping[str, Assignment],
    coders: Mapping[int, Membership],
    by: Membership,
) -> None:
    taken: defaultdict[Membership, list[RoundUnit]] = defaultdict(list)
    for ref, number in redealt.moves.items():
        taken[coders[number]].append(movable[ref].round_unit)
    refuse_issues_of_other_rounds(coding_round, taken, by)
    moved = [movable[ref].pk for ref in redealt.moves]
    Assignment.objects.filter(pk__in=moved).update(status=Assignment.Status.WITHDRAWN)
    for coder, units in taken.items():
        _take_over(coding_round, coder, units)


def _take_over(coding_round: Round, coder: Membership, units: Sequence[RoundUnit]) -> None:
    mine = Assignment.objects.filter(round_unit__round=coding_round, coder=coder)
    position = mine.aggregate(last=Max("position"))["last"] or 0
    for place, round_unit in enumerate(units, start=position + 1):
        # Who had the unit before and gave it away takes their own draft up again.
        Assignment.objects.update_or_create(
            round_unit=round_unit,
            coder=coder,
            defaults={"position": place, "status": Assignment.Status.TODO},
        )


def _refuse_unpinned(units: Iterable[RoundUnit]) -> None:
    unpinned = [each.unit.ref for each in units if each.unit.snapshot_id is None]
    if unpinned:
        raise RoundStateError(
            f"{len(unpinned)} units are still being prepared. Add them once their sample is frozen.",
            units=unpinned,
        )


def _locked(coding_round: Round, *, states: Collection[str]) -> Round:
    locked = lock_round(coding_round)
    if locked.state not in states or locked.discarded_at is not None:
        raise RoundStateError(f"Round {locked.number} is {locked.get_state_display().lower()}.")
    return locked
