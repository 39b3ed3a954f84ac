"""The life of a round: planned, opened, closed, settled. Closing ends independent coding for good."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from labeling.blinding import codes_blind
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import (
    Assignment,
    Decision,
    Membership,
    Round,
    RoundUnit,
    Submission,
    Unit,
)
from labeling.selectors.masks import Masks
from labeling.selectors.planning import (
    median_seconds,
    preview_units,
    units_seen_before,
)
from labeling.services.agreement import store_agreement
from labeling.services.dealing import (
    add_coders,
    add_units,
    dealt_units,
    redeal,
    refuse_issues_of_other_rounds,
    store_dealt,
)
from labeling.services.events import notify
from labeling.services.opening import (
    codebook_of,
    is_after_unblinding,
    pin_units,
    refuse_settings_the_codebook_lacks,
    refuse_unready,
)
from labeling.services.reconciliation import open_reconciliation, undo_opening
from labeling.services.round_lock import lock_round, record_round
from labeling.services.round_plans import create_round, update_round

__all__ = [
    "add_coders",
    "add_units",
    "barred",
    "close_round",
    "create_round",
    "discard",
    "finish_round",
    "open_round",
    "preview_units",
    "redeal",
    "reopen_round",
    "to_draft",
    "unfinished",
    "update_round",
    "workload",
]

#: What a follow-up round asks in the same way as the round it is based on.
COPIED = (
    "coders_per_unit",
    "decide",
    "dimensions",
    "majority",
    "masked_fields",
    "overlap",
    "own_answer_first",
    "rationale_required",
    "stages",
)


def open_round(
    *, coding_round: Round, by: Membership, freeze: bool = False, codebook_version: int | None = None
) -> Round:
    """Deal the units and let coding begin, under one codebook version for the round's life.

    A codebook draft must be frozen first: ``freeze`` does so, ``codebook_version`` names an older version.
    """
    refuse_unready(coding_round)
    pin_units(coding_round)
    with transaction.atomic():
        locked = lock_round(coding_round)
        if locked.state != Round.State.DRAFT:
            raise RoundStateError(f"Round {locked.number} was opened before.")
        refuse_unready(locked)
        locked.codebook = codebook_of(locked, by, freeze=freeze, version=codebook_version)
        refuse_settings_the_codebook_lacks(locked, locked.codebook)
        dealt = dealt_units(locked)
        refuse_issues_of_other_rounds(locked, dealt, by)
        store_dealt(locked, dealt)
        locked.after_unblinding = is_after_unblinding(locked, dealt)
        locked.move_to(Round.State.OPEN)
        record_round(locked, "round.opened", by, codebook=locked.codebook.version)
        _notify_coders(locked, "round.opened", by)
    return locked


@dataclass(frozen=True, slots=True)
class Barred:
    """Why a running round cannot be taken back or discarded; empty where it can."""

    to_draft: str
    discard: str


def barred(coding_round: Round) -> Barred:
    """Say which ways out of a running round its coders' work has closed."""
    dealt, number = _dealt(coding_round), coding_round.number
    if _submitted(dealt).exists():
        return Barred(
            to_draft=f"Coders have submitted in round {number}, so it does not go back to draft.",
            discard=f"Coders have submitted in round {number}: close it instead of discarding it.",
        )
    if dealt.filter(draft__isnull=False).exists():
        answered = f"Coders have answered in round {number}. It can be closed, or discarded while nothing is "
        return Barred(to_draft=f"{answered}submitted.", discard="")
    return Barred("", "")


def to_draft(*, coding_round: Round, by: Membership) -> Round:
    """Take an opened round back to plan it anew, while nobody has answered anything."""
    with transaction.atomic():
        locked = lock_round(coding_round)
        reason = barred(locked).to_draft
        if locked.state == Round.State.OPEN and reason:
            raise RoundStateError(reason)
        locked.move_to(Round.State.DRAFT)
        # Nobody wrote into them, and opening deals anew.
        _dealt(locked).delete()
        if locked.kind != Round.Kind.TRAINING:
            locked.codebook = None
            locked.save(update_fields=["codebook"])
        record_round(locked, "round.to_draft", by)
    return locked


def discard(*, coding_round: Round, by: Membership) -> Round:
    """Give up a round in which nothing was submitted; drafts are kept, its number is not used again."""
    with transaction.atomic():
        locked = lock_round(coding_round)
        if locked.state not in Round.RUNNING or locked.discarded_at is not None:
            raise RoundStateError(f"Round {locked.number} is {locked.get_state_display().lower()}.")
        if reason := barred(locked).discard:
            raise RoundStateError(reason)
        if locked.state == Round.State.OPEN:
            locked.move_to(Round.State.DRAFT)
        _dealt(locked).update(status=Assignment.Status.WITHDRAWN)
        locked.discarded_at = timezone.now()
        locked.save(update_fields=["discarded_at"])
        record_round(locked, "round.discarded", by)
    return locked


def close_round(*, coding_round: Round, by: Membership, missing: str = Round.Missing.REFUSE) -> Round:
    """End independent coding, then store its agreement, before anyone reconciles."""
    if missing not in Round.Missing.values:
        raise InvalidInputError({"missing": ["Choose refuse or accept."]})
    with transaction.atomic():
        # Saving and submitting take the same lock (SQLite: IMMEDIATE): none slips in.
        locked = lock_round(coding_round)
        if locked.is_unblinded:
            raise RoundStateError(f"Round {locked.number} is closed already.")
        if missing == Round.Missing.REFUSE and locked.state == Round.State.OPEN:
            _refuse_unfinished(locked, by)
        locked.missing = missing
        locked.move_to(Round.State.CLOSED)
        record_round(locked, "round.closed", by, missing=missing)
        _notify_coders(locked, "round.closed", by)
    # From frozen rows, under a unique key: a crash here is healed by the next reader.
    store_agreement(locked)
    open_reconciliation(locked, by)
    return locked


def reopen_round(
    *, coding_round: Round, reason: str, by: Membership, units: Sequence[Unit] | None = None
) -> Round:
    """Undo a close while nobody was shown anything of the round; afterwards plan a linked recode round.

    The reason is told to the coders at the end of the instructions.
    """
    if not reason.strip():
        raise InvalidInputError({"reason": ["Say why the round is reopened."]})
    with transaction.atomic():
        locked = lock_round(coding_round)
        if not locked.is_unblinded:
            raise RoundStateError(f"Round {locked.number} is not closed.")
        if locked.state == Round.State.CLOSED and locked.first_unblinded_read_at is None and units is None:
            return _undo_close(locked, reason.strip(), by)
        if locked.kind == Round.Kind.TRAINING:
            raise RoundStateError(
                f"Round {locked.number} is a training, and its coders know the answers by now. "
                "Plan a new training."
            )
        return create_round(
            study=locked.study,
            by=by,
            kind=Round.Kind.RECODE,
            based_on=locked,
            units=units,
            coders=_still_present(locked.coders.all()),
            instructions=_with_reason(locked, reason.strip()),
            **{name: getattr(locked, name) for name in COPIED},
        )


def finish_round(*, coding_round: Round, by: Membership) -> Round:
    """End reconciliation: from now on the round's decisions count."""
    with transaction.atomic():
        locked = lock_round(coding_round)
        if locked.state == Round.State.CLOSED and locked.reconciliation_opened_at is None:
            raise RoundStateError(
                "Reconciliation has not opened: settle the categories that coders proposed first."
            )
        undecided = Decision.objects.filter(round_unit__round=locked, how="").count()
        if undecided:
            raise RoundStateError(
                f"Disagreements left to decide: {undecided}. Decide them before finishing.", open=undecided
            )
        locked.move_to(Round.State.RECONCILED)
        record_round(locked, "round.finished", by)
    return locked


def unfinished(coding_round: Round, member: Membership) -> dict[str, list[dict[str, Any]]]:
    """List what a close would leave behind: never submitted, changed since, or returned.

    A lead who codes in the round is told of each coder how many units, of nobody which.
    """
    masks = Masks(member)
    rows = (
        _dealt(coding_round)
        .annotate(is_submitted=_has_submission())
        .select_related("coder__user", "round_unit__unit")
        .order_by(f"round_unit__unit__{masks.unit_order}", "coder__number")
    )
    lists: dict[str, list[Assignment]] = {"missing": [], "changed": [], "returned": []}
    for row in rows:
        if not row.is_submitted:
            lists["missing"].append(row)
        elif row.return_reason:
            lists["returned"].append(row)
        elif row.status != Assignment.Status.SUBMITTED:
            lists["changed"].append(row)
    if codes_blind(coding_round, member):
        return {name: _counted(left) for name, left in lists.items()}
    return {name: _named(left, masks.names) for name, left in lists.items()}


def _counted(rows: Iterable[Assignment]) -> list[dict[str, Any]]:
    counts = Counter(row.coder for row in rows)
    coders = sorted(counts, key=lambda coder: coder.number)
    return [{"coder": coder.name, "units": counts[coder]} for coder in coders]


def _named(rows: Iterable[Assignment], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"unit": names.get(unit.ref, unit.ref), "id": unit.pk, "coder": row.coder.name}
        for row in rows
        for unit in (row.round_unit.unit,)
    ]


def workload(coding_round: Round, member: Membership) -> dict[str, Any]:
    """Say what opening the round asks of each coder: units, and hours at the pilot's median."""
    dealt = dealt_units(coding_round) if coding_round.coders.exists() else {}
    seconds = median_seconds(coding_round)
    return {
        "units": coding_round.round_units.filter(left_out=False).count(),
        "assignments": sum(len(units) for units in dealt.values()),
        "median_seconds": seconds,
        "coders": [
            {
                "id": coder.pk,
                "name": coder.name,
                "units": len(units),
                "hours": round(len(units) * seconds / 3600, 1) if seconds is not None else None,
            }
            for coder, units in dealt.items()
        ],
        "seen_before": units_seen_before(coding_round, member),
    }


def _refuse_unfinished(coding_round: Round, by: Membership) -> None:
    lists = unfinished(coding_round, by)
    if any(lists.values()):
        told = [f"{sum(row.get('units', 1) for row in rows)} {name}" for name, rows in lists.items() if rows]
        raise RoundStateError(
            f"The round is not complete: {', '.join(told)}. Wait for them, or close without them.", **lists
        )


def _undo_close(coding_round: Round, reason: str, by: Membership) -> Round:
    held: dict[Membership, list[RoundUnit]] = {}
    for row in _dealt(coding_round).select_related("coder__group", "round_unit__unit"):
        held.setdefault(row.coder, []).append(row.round_unit)
    refuse_issues_of_other_rounds(coding_round, held, by)
    undo_opening(coding_round)
    coding_round.missing = ""
    coding_round.instructions = _with_reason(coding_round, reason)
    coding_round.move_to(Round.State.OPEN)
    record_round(coding_round, "round.reopened", by)
    _notify_coders(coding_round, "round.reopened", by)
    return coding_round


def _with_reason(coding_round: Round, reason: str) -> str:
    return f"{coding_round.instructions}\n\nReopened: {reason}".strip()


def _still_present(coders: Iterable[Membership]) -> list[Membership]:
    return [coder for coder in coders if coder.left_at is None]


def _dealt(coding_round: Round) -> Any:
    """Return what coders were dealt: no known answers, nothing withdrawn, nothing of adjudicators."""
    return (
        Assignment.objects.active()
        .filter(round_unit__round=coding_round, purpose=Assignment.Purpose.CODING)
        .exclude(coder__kind=Membership.Kind.REFERENCE)
    )


def _has_submission() -> Exists:
    return Exists(Submission.objects.filter(assignment=OuterRef("pk")))


def _submitted(assignments: Any) -> Any:
    return assignments.filter(_has_submission())


def _notify_coders(coding_round: Round, verb: str, by: Membership) -> None:
    notify(
        [coder for coder in coding_round.coders.select_related("user") if coder.pk != by.pk],
        verb=verb,
        object=f"round:{coding_round.number}",
        url=coding_round.get_absolute_url(),
    )
