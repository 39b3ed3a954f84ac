"""From the coders' answers to one: opening, proposals and decisions.

Nothing here changes an annotation or a report. Every act takes the lock of the round, so that of two who
decide at once one decides and the other is shown what was decided.
"""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from labeling.errors import DecisionError, InvalidInputError, RoundStateError, StaleVersionError
from labeling.models import (
    UNIT,
    AgreementReport,
    Assignment,
    CategoryProposal,
    Codebook,
    Decision,
    DecisionProposal,
    DisagreementReason,
    Membership,
    Role,
    Round,
    RoundUnit,
    Submission,
)
from labeling.selectors.reconciliation import coders_of, latest_proposals, open_decisions
from labeling.services import codebooks
from labeling.services.answers import Answer, Choices, Content, content_of, read_answer, read_exclusion
from labeling.services.discussion import LONGEST, add_comment
from labeling.services.events import notify, record
from labeling.services.settlement import (
    clear,
    keep_version,
    said_of,
    settle_round,
    settle_unit,
    write_content,
)
from labeling.unclear import unclear_line

__all__ = [
    "Answer",
    "add_comment",
    "decide_cell",
    "may_reopen",
    "open_reconciliation",
    "propose_decision",
    "record_decision",
    "refuse_unopened",
    "reopen_decision",
    "undo_opening",
    "ways_of_deciding",
]

How, Type = Decision.How, Decision.Type


def open_reconciliation(coding_round: Round, by: Membership | None = None) -> bool:
    """Sort every unit and dimension of a closed round, once; false while it has to wait.

    It waits for the stored report, so that no number can follow a decision, and for the lead to settle every
    proposed category.
    """
    with transaction.atomic():
        locked = Round.objects.select_for_update().select_related("study").get(pk=coding_round.pk)
        if locked.reconciliation_opened_at is None:
            if not _can_open(locked):
                return False
            if locked.kind != Round.Kind.TRAINING:  # its answers are known
                settle_round(locked)
            _deal_to_adjudicators(locked)
            locked.reconciliation_opened_at = timezone.now()
            locked.save(update_fields=["reconciliation_opened_at"])
            record(
                study=locked.study,
                round=locked,
                by=by,
                verb="reconciliation.opened",
                object=f"round:{locked.number}",
                open=Decision.objects.filter(round_unit__round=locked, how="").count(),
            )
            _call_adjudicators(locked)
    coding_round.reconciliation_opened_at = locked.reconciliation_opened_at
    return True


def _can_open(coding_round: Round) -> bool:
    undecided = coding_round.proposals.filter(state=CategoryProposal.State.PROPOSED)
    stored = coding_round.agreement_reports.filter(scope=AgreementReport.Scope.WHOLE)
    return coding_round.state == Round.State.CLOSED and stored.exists() and not undecided.exists()


def _deal_to_adjudicators(coding_round: Round) -> None:
    """Where adjudicators answer before they see others: one assignment for each unit to decide."""
    if not coding_round.own_answer_first:
        return
    open_units = (
        RoundUnit.objects.filter(round=coding_round, decisions__how="").distinct().order_by("unit__ref")
    )
    adjudicators = coding_round.study.memberships.filter(role=Role.ADJUDICATOR, left_at__isnull=True)
    for adjudicator in adjudicators:
        units = open_units.exclude(assignments__coder=adjudicator)
        Assignment.objects.bulk_create(
            Assignment(
                round_unit=round_unit,
                coder=adjudicator,
                purpose=Assignment.Purpose.ADJUDICATION,
                position=position,
            )
            for position, round_unit in enumerate(units, start=1)
        )


def _call_adjudicators(coding_round: Round) -> None:
    """Where an adjudicator decides, tell them that there is something to decide."""
    if coding_round.decide != Round.Decide.ADJUDICATOR or not open_decisions(coding_round).exists():
        return
    asked = coding_round.study.memberships.filter(role=Role.ADJUDICATOR, left_at__isnull=True)
    url = reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    notify(asked, verb="reconciliation.opened", object=f"round:{coding_round.number}", url=url)


def undo_opening(coding_round: Round) -> None:
    """Take back what a close made, numbers too; only for a round of which nobody read anything yet."""
    if coding_round.first_unblinded_read_at is not None:
        raise RoundStateError(
            f"Round {coding_round.number} was read after it closed. Make a recode round of its units instead."
        )
    with transaction.atomic():
        Decision.objects.filter(round_unit__round=coding_round).delete()
        Assignment.objects.filter(
            round_unit__round=coding_round, purpose=Assignment.Purpose.ADJUDICATION
        ).delete()
        coding_round.agreement_reports.all().delete()
        coding_round.reconciliation_opened_at = None
        coding_round.save(update_fields=["reconciliation_opened_at"])


def propose_decision(
    *,
    round_unit: RoundUnit,
    dimension: str,
    by: Membership,
    answer: Answer | None = None,
    rationale: str = "",
    disagreement_reason: str = "",
    escalate: bool = False,
) -> Decision:
    """Propose an answer as a coder of the unit. Decided together: equal proposals of all its coders decide.

    Without an answer, ``escalate`` only puts the unit before an adjudicator.
    """
    _refuse_unknown_reason(disagreement_reason)
    _refuse_long(rationale, answer.text if answer is not None else "")
    if answer is None and not escalate:
        raise InvalidInputError({"categories": ["Choose an answer, or ask an adjudicator to decide."]})
    with transaction.atomic():
        locked = _lock(round_unit)
        coders = coders_of(locked)
        if not {each.pk for each in coders} & set(by.coder_ids):
            raise PermissionDenied("Only the coders of this unit propose its decision.")
        decision = _open_decision(locked, dimension)
        if decision.pk is None:
            _ask_of_part(decision)
        proposal = DecisionProposal(
            round_unit=locked,
            dimension=dimension,
            by=by,
            rationale=rationale,
            disagreement_reason=disagreement_reason,
            escalate=escalate,
            at=timezone.now(),
        )
        write_content(proposal, _read(locked, dimension, answer) if answer is not None else Content())
        _record(decision, "decision.proposed", by, escalate=escalate)
        if escalate:
            _escalate(decision, by)
        if answer is not None:
            _decide_if_equal(decision, coders, proposal)
        told = "decision.proposed" if decision.is_open else "decision.recorded"
        notify(_others(coders, by), verb=told, object=_object(locked), url=_page(decision))
    return decision


def _ask_of_part(decision: Decision) -> None:
    """Put the exclusion of a part before its coders: nobody was asked when the whole was split."""
    if decision.dimension != UNIT or decision.round_unit.unit.split_from_id is None:
        raise DecisionError("This is not queued, so nothing waits for it. A lead may record its answer.")
    decision.save()
    settle_unit(decision.round_unit)


def _escalate(decision: Decision, by: Membership) -> None:
    decision.escalated_at = timezone.now()
    decision.save(update_fields=["escalated_at"])
    present = decision.round_unit.round.study.memberships.filter(left_at__isnull=True)
    judges = present.filter(role=Role.ADJUDICATOR) or present.filter(role=Role.LEAD)
    notify(
        judges.exclude(pk=by.pk),
        verb="decision.escalated",
        object=_object(decision.round_unit),
        url=_page(decision),
    )


def _decide_if_equal(decision: Decision, coders: list[Membership], proposal: DecisionProposal) -> None:
    """Decided together: store the answer once the latest proposals of all the unit's coders are equal."""
    latest = latest_proposals(decision, coders).values()
    wanted = content_of(proposal)
    equal = [each for each in latest if content_of(each) == wanted]
    # A confirmation may rest on the reasons of whoever proposed it.
    reasoned = [proposal, *equal]
    rationale = next((each.rationale for each in reasoned if each.rationale), "")
    coding_round = decision.round_unit.round
    _refuse_missing_rationale(coding_round, rationale)
    if coding_round.decide != Round.Decide.TOGETHER or len(equal) < len(coders):
        return
    decision.rationale = rationale
    decision.disagreement_reason = next(
        (each.disagreement_reason for each in reasoned if each.disagreement_reason), ""
    )
    decision.decided_by = proposal.by
    _store(decision, wanted, How.DISCUSSED, proposal.by)


def record_decision(
    *,
    round_unit: RoundUnit,
    dimension: str,
    by: Membership,
    answer: Answer,
    rationale: str = "",
    disagreement_reason: str = "",
    how: str | None = None,
    version: int,
) -> Decision:
    """Decide as an adjudicator or a lead. ``version`` is the one that was looked at (0: none yet)."""
    _refuse_unknown_reason(disagreement_reason)
    _refuse_long(rationale, answer.text)
    with transaction.atomic():
        locked = _lock(round_unit)
        content = _read(locked, dimension, answer)
        _refuse_stale(locked, dimension, version, answer)
        decision = _open_decision(locked, dimension)
        _record_one(decision, content, by, how, rationale, disagreement_reason)
        coders = coders_of(locked)
        notify(_others(coders, by), verb="decision.recorded", object=_object(locked), url=_page(decision))
    return decision


def decide_cell(
    *,
    coding_round: Round,
    dimension: str,
    cell: str,
    answer: Answer,
    rationale: str,
    by: Membership,
) -> int:
    """Decide alike the open units whose answers met in ``cell``, of those ``by`` sees; give their number."""
    _refuse_long(rationale)
    with transaction.atomic():
        locked = Round.objects.select_for_update().get(pk=coding_round.pk)
        _refuse_unless_deciding(locked)
        decisions = (
            open_decisions(locked)
            .visible_to(by)
            .filter(dimension=dimension, cell=cell, waits_for="")
            .select_related("round_unit__round__study", "round_unit__unit")
        )
        decided = list(decisions)
        if not decided:
            raise DecisionError(
                "No open unit has these answers. Reload the list: they may be decided already."
            )
        content = _read(decided[0].round_unit, dimension, answer)
        for decision in decided:
            _record_one(decision, content, by, None, rationale, "")
        told = {each for decision in decided for each in _others(coders_of(decision.round_unit), by)}
        notify(told, verb="decision.recorded", object=f"round:{locked.number}", url=_page(decided[0]))
    return len(decided)


def _record_one(
    decision: Decision, content: Content, by: Membership, how: str | None, rationale: str, reason: str
) -> None:
    _refuse_missing_rationale(decision.round_unit.round, rationale)
    chosen = _way_of_deciding(decision, by, how)
    decision.rationale, decision.disagreement_reason = rationale, reason
    if chosen == How.ADJUDICATED:
        decision.decided_by = by
    else:
        decision.recorded_by = by  # what the coders agreed on in a meeting, noted by a lead
    _store(decision, content, chosen, by)


def ways_of_deciding(decision: Decision, by: Membership) -> list[Decision.How]:
    """How a decision of this member could count, the default first; empty: they may not decide here.

    An adjudicator decides where the round says so, or what was put before one. A lead may note anywhere what
    the coders agreed on.
    """
    mode = decision.round_unit.round.decide
    adjudicates = (
        by.role == Role.ADJUDICATOR
        and (mode == Round.Decide.ADJUDICATOR or decision.escalated_at is not None)
    ) or (by.is_lead and mode == Round.Decide.LEAD)
    return [How.ADJUDICATED] * adjudicates + [How.DISCUSSED] * by.is_lead


def _way_of_deciding(decision: Decision, by: Membership, how: str | None) -> Decision.How:
    """The way that was chosen; refuse who may not decide here."""
    mode, ways = decision.round_unit.round.decide, ways_of_deciding(decision, by)
    if not ways:
        raise PermissionDenied(
            "In this round the coders decide together, unless they ask an adjudicator."
            if mode == Round.Decide.TOGETHER
            else f"In this round {Round.Decide(mode).label.lower()} decides."
        )
    if how is not None and how not in ways:
        raise DecisionError(f"A decision of yours counts as {' or '.join(ways)} in this round, not as {how}.")
    return How(how) if how is not None else ways[0]


def reopen_decision(*, decision: Decision, reason: str, by: Membership) -> Decision:
    """Make a decision open again and keep what it said. A finished round goes back to reconciling."""
    if not reason.strip() or len(reason) > LONGEST:
        message = f"Say why the decision is reopened, in at most {LONGEST:,} characters."
        raise InvalidInputError({"reason": [message]})
    with transaction.atomic():
        round_unit = _lock(decision.round_unit, states=Round.UNBLINDED)
        coding_round = round_unit.round
        row = Decision.objects.select_related("round_unit__round__study", "round_unit__unit").get(
            pk=decision.pk
        )
        _refuse_reopening(row, by)
        if coding_round.state == Round.State.RECONCILED:
            coding_round.move_to(Round.State.CLOSED)
        keep_version(row, by=by, reason=reason)
        clear(row)
        write_content(row, Content())
        _record(row, "decision.reopened", by, version=row.version)
        settle_unit(round_unit)
        notify(
            _others(coders_of(round_unit), by),
            verb="decision.reopened",
            object=_object(round_unit),
            url=_page(row),
        )
    return row


def may_reopen(round_unit: RoundUnit, by: Membership, coders: Iterable[Membership]) -> bool:
    """Whether this member may make a decision on the unit open again."""
    if by.role in (Role.LEAD, Role.ADJUDICATOR):
        return True
    together = round_unit.round.decide == Round.Decide.TOGETHER
    return together and bool({each.pk for each in coders} & set(by.coder_ids))


def _refuse_reopening(decision: Decision, by: Membership) -> None:
    if not may_reopen(decision.round_unit, by, coders_of(decision.round_unit)):
        raise PermissionDenied(
            "Only a lead, an adjudicator or, where they decide together, a coder of the unit."
        )
    if decision.is_open:
        raise DecisionError("This is not decided yet, so there is nothing to reopen.")
    if decision.round_unit.unit.split_at is not None:
        raise DecisionError("This unit was split. Decide its parts instead.")
    if decision.how in (How.DERIVED, How.EXCLUDED):
        raise DecisionError("This follows from another decision. Reopen that one.")


def _lock(round_unit: RoundUnit, states: Iterable[str] = (Round.State.CLOSED,)) -> RoundUnit:
    """Hold the round until the transaction ends, and read the unit as it is now."""
    coding_round = Round.objects.select_for_update().get(pk=round_unit.round_id)
    _refuse_unless_deciding(coding_round, states)
    locked = RoundUnit.objects.select_related("unit").get(pk=round_unit.pk)
    locked.round = coding_round
    return locked


def _refuse_unless_deciding(coding_round: Round, states: Iterable[str] = (Round.State.CLOSED,)) -> None:
    if coding_round.state not in states:
        raise RoundStateError(
            f"Round {coding_round.number} is {coding_round.get_state_display().lower()}: decisions are "
            f"recorded after it was closed and before it is finished."
        )
    refuse_unopened(coding_round)


def refuse_unopened(coding_round: Round) -> None:
    """Say why nothing of a closed round can be decided yet."""
    if coding_round.reconciliation_opened_at is None:
        raise RoundStateError(
            f"Reconciliation of round {coding_round.number} has not begun: a lead accepts, maps or rejects "
            f"the proposed categories first."
        )


def _open_decision(round_unit: RoundUnit, dimension: str) -> Decision:
    """The decision to be made; what never queues (free text, say) has none until it is recorded."""
    decision = Decision.objects.filter(round_unit=round_unit, dimension=dimension).first()
    if decision is None:
        return Decision(round_unit=round_unit, dimension=dimension, type=Type.ONE_SIDED)
    decision.round_unit = round_unit
    if not decision.is_open:
        raise DecisionError("This is decided already. Reopen it with a reason to decide it again.")
    if decision.waits_for:
        first = "whether the unit is excluded" if decision.waits_for == UNIT else decision.waits_for
        raise DecisionError(f"This waits for another decision. Decide {first} first.")
    return decision


def _read(round_unit: RoundUnit, dimension: str, answer: Answer) -> Content:
    coding_round = round_unit.round
    if dimension == UNIT:
        given = Submission.objects.last().filter(assignment__round_unit=round_unit).exclude(exclude_reason="")
        return read_exclusion(coding_round, answer, list(given.values_list("exclude_reason", flat=True)))
    choices = Choices.of(coding_round)
    if dimension not in choices.dimensions:
        raise InvalidInputError({"dimension": [f"Round {coding_round.number} does not ask {dimension}."]})
    return read_answer(choices, choices.dimensions[dimension], answer)


def _refuse_stale(round_unit: RoundUnit, dimension: str, version: int, answer: Answer) -> None:
    stored = Decision.objects.filter(round_unit=round_unit, dimension=dimension).first()
    if stored is None or stored.version == version:
        return
    yours: dict[str, Any] = {
        "categories": sorted(answer.categories),
        "state": answer.state,
        "text": answer.text,
        "excluded": answer.excluded,
        "reason": answer.reason,
    }
    raise StaleVersionError(
        "Somebody decided this while you were deciding. Look at their decision; to change it, reopen it.",
        conflicts={"decision": {"yours": yours, "theirs": said_of(stored), "saved_at": stored.decided_at}},
        version=stored.version,
    )


def _refuse_long(rationale: str, text: str = "") -> None:
    for field, words in (("rationale", rationale), ("text", text)):
        if len(words) > LONGEST:
            raise InvalidInputError({field: [f"Write at most {LONGEST:,} characters here."]})


def _refuse_unknown_reason(reason: str) -> None:
    if reason and reason not in DisagreementReason.values:
        raise InvalidInputError(
            {"disagreement_reason": [f"Choose one of {', '.join(DisagreementReason.values)}."]}
        )


def _refuse_missing_rationale(coding_round: Round, rationale: str) -> None:
    if coding_round.rationale_required and not rationale.strip():
        raise InvalidInputError(
            {"rationale": ["This round asks for a rationale. Write why this is the answer."]}
        )


def _store(decision: Decision, content: Content, how: Decision.How, by: Membership) -> None:
    decision.how, decision.decided_at, decision.version = how, timezone.now(), decision.version + 1
    write_content(decision, content)
    _record(decision, "decision.recorded", by, how=how, version=decision.version)
    if decision.disagreement_reason == DisagreementReason.DEFINITION_UNCLEAR and decision.dimension != UNIT:
        _note_unclear_definition(decision, by)
    settle_unit(decision.round_unit)


def _note_unclear_definition(decision: Decision, by: Membership) -> None:
    """Note it in the codebook draft, where whoever edits the categories finds it beside them."""
    coding_round = decision.round_unit.round
    study = coding_round.study
    draft = study.codebooks.filter(frozen_at__isnull=True).first() or _new_draft(coding_round, by)
    line = unclear_line(decision.dimension, decision.cell, coding_round.number)
    draft.note = "\n".join(filter(None, [draft.note, line]))
    draft.save(update_fields=["note"])


def _new_draft(coding_round: Round, by: Membership) -> Codebook:
    current = codebooks.draft_or_current(coding_round.study)
    assert current is not None  # the round was coded with a version  # noqa: S101
    return codebooks.save_draft(study=coding_round.study, data=codebooks.codebook_data(current), by=by)


def _others(coders: Iterable[Membership], by: Membership) -> list[Membership]:
    """The persons behind the coders, without ``by``."""
    ids = {each.pk for each in coders}
    people = Membership.objects.filter(pk__in=ids) | Membership.objects.filter(group__in=ids)
    return list(people.exclude(pk=by.pk))


def _record(decision: Decision, verb: str, by: Membership, **data: Any) -> None:
    coding_round = decision.round_unit.round
    record(
        study=coding_round.study,
        round=coding_round,
        by=by,
        verb=verb,
        object=_object(decision.round_unit),
        dimension=decision.dimension,
        **data,
    )


def _object(round_unit: RoundUnit) -> str:
    return f"unit:{round_unit.unit.ref}"


def _page(decision: Decision) -> str:
    round_unit = decision.round_unit
    where = [round_unit.round.study.slug, round_unit.round.number, round_unit.unit_id, decision.dimension]
    return reverse("labeling:reconciliation-detail", args=where)
