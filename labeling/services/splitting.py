"""Splitting a unit when its issue holds two problems, each with labels of its own.

What was said about the whole stays where it is and counts in agreement; results count the parts.
"""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from labeling.errors import DecisionError, InvalidInputError, RoundStateError
from labeling.models import Decision, Membership, Round, RoundUnit, Study, Unit
from labeling.selectors.reconciliation import coders_of
from labeling.services.agreement import mark_read
from labeling.services.events import notify, record
from labeling.services.round_lock import lock_round
from labeling.services.round_plans import create_round
from labeling.services.settlement import settle_unit

MOST_PARTS = 20


def split_unit(
    *, unit: Unit, parts: Sequence[str], reason: str, by: Membership, follow_up: bool = False
) -> list[Unit]:
    """Make a part for each title. They take the place of the whole in rounds that are being planned.

    After the close of a round its parts are decided there without being coded; with ``follow_up`` they go
    into the draft of a round that asks them instead.
    """
    titles = [title.strip() for title in parts if title.strip()]
    _refuse_invalid(titles, reason)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=unit.study_id)
        whole = Unit.objects.select_for_update(of=("self",)).select_related("issue").get(pk=unit.pk)
        _refuse_split(whole)
        rounds = [lock_round(each) for each in _rounds_of(whole)]
        _refuse_while_coded(rounds)
        made = _make_parts(whole, titles)
        for coding_round in rounds:
            if coding_round.state == Round.State.DRAFT:
                _take_place(coding_round, whole, made)
            else:
                _close_decisions(coding_round, whole)
            # Events hold no free text: the reason stands where the unit does.
            coding_round.round_units.filter(unit=whole).update(reason=reason.strip())
        closed = _newest_closed(rounds)
        if closed is not None:
            _carry_on(closed, whole, made, by, follow_up=follow_up)
        record(
            study=whole.study,
            round=closed,
            by=by,
            verb="unit.split",
            object=f"unit:{whole.ref}",
            parts=len(made),
        )
    return made


def _refuse_invalid(titles: Sequence[str], reason: str) -> None:
    errors: dict[str, list[str]] = {}
    if len(titles) < 2:
        errors["parts"] = ["Name at least two parts, each by what it is about."]
    if len(titles) > MOST_PARTS:
        errors["parts"] = [f"Name at most {MOST_PARTS} parts. An issue with more is better left out."]
    if any(len(title) > 300 for title in titles):
        errors["parts"] = ["Write titles of at most 300 characters."]
    if len(set(titles)) < len(titles):
        errors["parts"] = ["Give each part a title of its own."]
    if not reason.strip():
        errors["reason"] = ["Say why the unit is split."]
    if errors:
        raise InvalidInputError(errors)


def _refuse_split(unit: Unit) -> None:
    if unit.split_at is not None:
        raise DecisionError(f"{unit.ref} was split before.")
    if unit.part:
        raise DecisionError(f"{unit.ref} is a part already, and parts are not split again.")


def _rounds_of(unit: Unit) -> list[Round]:
    rows = Round.objects.filter(
        round_units__unit=unit, round_units__left_out=False, discarded_at__isnull=True
    )
    return list(rows.order_by("pk"))


def _refuse_while_coded(rounds: Sequence[Round]) -> None:
    for coding_round in rounds:
        if coding_round.state == Round.State.OPEN:
            raise RoundStateError(
                f"This unit is being coded in round {coding_round.number}. Split it once that is closed."
            )


def _make_parts(whole: Unit, titles: Sequence[str]) -> list[Unit]:
    last = Unit.objects.filter(study=whole.study_id, issue=whole.issue_id).aggregate(last=Max("part"))
    first = (last["last"] or 0) + 1
    whole.split_at = timezone.now()
    whole.save(update_fields=["split_at"])
    return [
        Unit.objects.create(
            study=whole.study,
            issue=whole.issue,
            part=part,
            ref=f"{whole.ref}~{part}",
            title=title,
            split_from=whole,
            snapshot=whole.snapshot,
        )
        for part, title in enumerate(titles, start=first)
    ]


def _take_place(coding_round: Round, whole: Unit, parts: Sequence[Unit]) -> None:
    row = coding_round.round_units.get(unit=whole)
    row.left_out = True
    row.save(update_fields=["left_out"])
    _add(coding_round, row, parts)


def _add(coding_round: Round, of_whole: RoundUnit, parts: Sequence[Unit]) -> list[RoundUnit]:
    return [
        RoundUnit.objects.create(
            round=coding_round, unit=part, stratum=of_whole.stratum, overlap=of_whole.overlap
        )
        for part in parts
    ]


def _close_decisions(coding_round: Round, whole: Unit) -> None:
    """Nobody decides the whole any more: its disagreements follow from the split."""
    rows = Decision.objects.filter(round_unit__round=coding_round, round_unit__unit=whole, how="")
    for row in rows:
        row.how, row.waits_for, row.decided_at = Decision.How.DERIVED, "", timezone.now()
        row.version += 1
        row.save(update_fields=["how", "waits_for", "decided_at", "version"])


def _newest_closed(rounds: Sequence[Round]) -> Round | None:
    closed = [each for each in rounds if each.is_unblinded]
    counting = [each for each in closed if each.counts_in_results]
    return max(counting or closed, key=lambda each: each.number, default=None)


def _carry_on(
    coding_round: Round, whole: Unit, parts: Sequence[Unit], by: Membership, *, follow_up: bool
) -> None:
    of_whole = coding_round.round_units.select_related("unit").get(unit=whole)
    of_whole.round = coding_round
    mark_read(coding_round, by)  # its close cannot be undone: coders answered the whole
    if follow_up:
        create_round(
            study=coding_round.study,
            by=by,
            kind=Round.Kind.RECODE,
            based_on=coding_round,
            units=parts,
            coders=list(coding_round.coders.filter(left_at__isnull=True)),
            coders_per_unit=coding_round.coders_per_unit,
            dimensions=coding_round.dimensions,
            decide=coding_round.decide,
        )
        return
    if coding_round.reconciliation_opened_at is None:
        raise RoundStateError(
            f"Reconciliation of round {coding_round.number} has not begun: settle the proposed categories "
            "first, or put the parts into a follow-up round."
        )
    if coding_round.state == Round.State.RECONCILED:
        coding_round.move_to(Round.State.CLOSED)
    for row in _add(coding_round, of_whole, parts):
        row.round = coding_round
        settle_unit(row)
    others = [each for each in coders_of(of_whole) if each.pk != by.pk]
    notify(others, verb="unit.split", object=f"unit:{whole.ref}", url=coding_round.get_absolute_url())
