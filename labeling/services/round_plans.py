"""Planning a round: which units, whose, under which settings."""

import secrets
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import Max

from labeling import sampling
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Assignment, Membership, Round, RoundUnit, Sample, Study, Unit
from labeling.selectors.draws import units_for
from labeling.services import codebooks
from labeling.services.round_lock import lock_round, record_round
from labeling.services.round_settings import (
    IN_DRAFT,
    changeable,
    recorded,
    refuse_invalid_settings,
    refuse_unfit_coders,
    without_repetitions,
)

CREATED = (
    Round.Kind.TRAINING,
    Round.Kind.PILOT,
    Round.Kind.MAIN,
    Round.Kind.RECODE,
    Round.Kind.RETEST,
)
#: A change of one of these is judged with the others.
JUDGED_TOGETHER = ("coders_per_unit", "overlap", "dimensions", "stages")
BASED = (Round.Kind.RECODE, Round.Kind.RETEST)


def create_round(
    *,
    study: Study,
    by: Membership,
    kind: str = Round.Kind.MAIN,
    sample: Sample | None = None,
    units: Sequence[Unit] | None = None,
    based_on: Round | None = None,
    share: float | None = None,
    coders: Sequence[Membership] = (),
    coders_per_unit: int = 2,
    overlap: float | None = None,
    seed: int | None = None,
    overlap_seed: int | None = None,
    **settings: Any,
) -> Round:
    """Plan a round of a sample, of named units, or of the units of an earlier round.

    ``share`` takes a part of the earlier round's units, chosen by ``seed``.
    """
    fields: dict[str, Any] = {
        "coders_per_unit": coders_per_unit,
        "overlap": (1.0 if coders_per_unit > 1 else 0.0) if overlap is None else overlap,
        "seed": secrets.randbelow(2**31) if seed is None else seed,
        "overlap_seed": secrets.randbelow(2**31) if overlap_seed is None else overlap_seed,
        "counts_in_results": kind in Round.IN_RESULTS,
    } | settings
    _refuse_invalid_origin(kind, sample, units, based_on, share)
    refuse_invalid_settings(fields, codebook=codebooks.draft_or_current(study))
    fields = without_repetitions(fields)
    refuse_unfit_coders(study, coders)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        number = study.rounds.aggregate(last=Max("number"))["last"] or 0
        coding_round = Round.objects.create(
            study=study, number=number + 1, kind=kind, sample=sample, based_on=based_on, **fields
        )
        coding_round.coders.set(coders)
        _add_round_units(coding_round, units, share)
        record_round(coding_round, "round.created", by, kind=kind)
    return coding_round


#: What a round of a copied study takes over; seeds, coders, units and the due day are of each study.
COPIED_SETTINGS = (
    "anonymous",
    "coders_per_unit",
    "counts_in_results",
    "decide",
    "dimensions",
    "goal",
    "instructions",
    "kind",
    "majority",
    "masked_fields",
    "overlap",
    "own_answer_first",
    "rationale_required",
    "stages",
)


def copy_round_settings(source: Study, target: Study, *, by: Membership) -> list[Round]:
    """Plan in one study the rounds of another as they were set, without their units and coders."""
    rounds = source.rounds.filter(discarded_at__isnull=True, based_on__isnull=True).exclude(
        kind=Round.Kind.IMPORTED
    )
    copies = []
    for number, each in enumerate(rounds.order_by("number"), start=1):
        copy = Round.objects.create(
            study=target,
            number=number,
            seed=secrets.randbelow(2**31),
            overlap_seed=secrets.randbelow(2**31),
            **{name: getattr(each, name) for name in COPIED_SETTINGS},
        )
        record_round(copy, "round.created", by, kind=copy.kind)
        copies.append(copy)
    return copies


def update_round(*, coding_round: Round, by: Membership, **fields: Any) -> Round:
    """Change settings; once the round was opened only its due day, goal, instructions and counting.

    Of a closed round no goal and no instructions change any more: the agreement can be known.

    A draft that is given another ``sample`` codes its units instead of those it had.
    """
    coders: Sequence[Membership] | None = fields.pop("coders", None)
    with transaction.atomic():
        locked = lock_round(coding_round)
        _refuse_fixed(locked, fields, coders)
        sample: Sample | None = fields.pop("sample", None)
        if fields.get("coders_per_unit") == 1:
            fields.setdefault("overlap", 0.0)
        together = {name: getattr(locked, name) for name in JUDGED_TOGETHER}
        refuse_invalid_settings(together | fields, codebook=codebooks.draft_or_current(locked.study))
        fields = without_repetitions(fields)
        changed = sorted(name for name, value in fields.items() if getattr(locked, name) != value)
        given = [name for name, value in (("coders", coders), ("sample", sample)) if value is not None]
        before = recorded(locked, [*changed, *given])
        for name in changed:
            setattr(locked, name, fields[name])
        locked.save(update_fields=changed)
        if coders is not None:
            refuse_unfit_coders(locked.study, coders)
            locked.coders.set(coders)
        if sample is not None:
            _take_sample(locked, sample)
        if changed or given:
            after = recorded(locked, [*changed, *given])
            record_round(locked, "round.changed", by, fields=[*changed, *given], before=before, after=after)
    return locked


def _take_sample(coding_round: Round, sample: Sample) -> None:
    """Put the units of the sample in the place of what the draft was to code."""
    if coding_round.based_on is not None:
        raise InvalidInputError({"sample": ["The round asks units of an earlier one. Plan another round."]})
    if Assignment.objects.filter(round_unit__round=coding_round).exists():
        raise RoundStateError(
            "Known answers were given for the units of this training. Plan another one for the other sample."
        )
    coding_round.round_units.all().delete()
    coding_round.sample = sample
    coding_round.save(update_fields=["sample"])
    _add_round_units(coding_round, None, None)


def _refuse_invalid_origin(
    kind: str,
    sample: Sample | None,
    units: Sequence[Unit] | None,
    based_on: Round | None,
    share: float | None,
) -> None:
    errors: dict[str, list[str]] = {}
    if kind not in CREATED:
        errors["kind"] = [f"Choose one of {', '.join(CREATED)}."]
    if kind in BASED and (based_on is None or not based_on.is_unblinded):
        errors["based_on"] = ["Name the closed round whose units are coded again."]
    elif based_on is not None and based_on.kind == Round.Kind.TRAINING:
        errors["based_on"] = ["The coders of a training know its answers by now. Plan a new training."]
    if based_on is not None and kind not in BASED:
        errors["based_on"] = ["Only a recode or retest round is based on another."]
    if sample is None and units is None and based_on is None:
        errors["sample"] = ["Name a sample, units, or the round this one is based on."]
    if share is not None and (based_on is None or not 0 < share <= 1):
        errors["share"] = ["Give a share above 0 and up to 1 of the earlier round's units."]
    if errors:
        raise InvalidInputError(errors)


def _add_round_units(coding_round: Round, units: Sequence[Unit] | None, share: float | None) -> None:
    strata = _strata(coding_round)
    chosen = parts_of(list(units) if units is not None else _units_in(strata))
    if share is not None:
        kept = set(
            sampling.ranking([unit.ref for unit in chosen], coding_round.seed)[: ceil(share * len(chosen))]
        )
        chosen = [unit for unit in chosen if unit.ref in kept]
    if foreign := [unit.ref for unit in chosen if unit.study_id != coding_round.study_id]:
        raise InvalidInputError({"units": [f"{foreign[0]} is not a unit of this study."]})
    RoundUnit.objects.bulk_create(
        (
            RoundUnit(round=coding_round, unit=unit, stratum=strata.get(unit.split_from_id or unit.pk, ""))
            for unit in sorted(chosen, key=lambda unit: unit.ref)
        ),
        batch_size=500,
    )


def _strata(coding_round: Round) -> dict[int, str]:
    """Give the stratum of every unit the round can take."""
    if coding_round.based_on is not None:
        rows = coding_round.based_on.round_units.filter(left_out=False)
        return dict(rows.values_list("unit", "stratum"))
    if coding_round.sample is not None:
        drawn = units_for(coding_round.sample, coding_round.kind)
        return dict(drawn.values_list("unit", "stratum"))
    return {}


def _units_in(strata: Iterable[int]) -> list[Unit]:
    return list(Unit.objects.filter(pk__in=list(strata)))


def parts_of(units: Sequence[Unit]) -> list[Unit]:
    """Put the parts of a split unit in its place."""
    split = [unit.pk for unit in units if unit.split_at is not None]
    kept = {unit.pk: unit for unit in units if unit.split_at is None}
    return list((kept | {part.pk: part for part in Unit.objects.filter(split_from__in=split)}).values())


def _refuse_fixed(coding_round: Round, fields: dict[str, Any], coders: Sequence[Membership] | None) -> None:
    if coding_round.discarded_at is not None:
        raise RoundStateError(f"Round {coding_round.number} was discarded.")
    is_draft, free = coding_round.state == Round.State.DRAFT, changeable(coding_round)
    fixed = sorted(set(fields) - set(free))
    if unknown := [name for name in fixed if name not in IN_DRAFT]:
        raise InvalidInputError({name: ["This field cannot be changed."] for name in unknown})
    if fixed or (coders is not None and not is_draft):
        became = "is closed" if coding_round.is_unblinded else "was opened"
        raise RoundStateError(
            f"Round {coding_round.number} {became}: {', '.join([*fixed, *(['coders'] if coders else [])])} "
            f"cannot change. {', '.join(free)} still can."
        )
