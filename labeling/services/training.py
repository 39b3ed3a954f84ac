"""Known answers of a training round, given while it is planned and shown to a coder after their own."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from labeling.drafts import Draft, flat_changes
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Assignment, Codebook, Membership, Round, RoundUnit, Study
from labeling.selectors.questions import Questions, last_stage, questions
from labeling.services import codebooks
from labeling.services.round_lock import lock_round, record_round
from labeling.services.submissions import (
    follow_answers,
    payload_of,
    read_changes,
    refuse_incomplete,
    write_submission,
)

Body = Mapping[str, Any]


def set_reference(*, coding_round: Round, answers: Mapping[str, Body], by: Membership) -> Round:
    """Give the known answers by ``Unit.ref``: annotations as in a draft, or ``exclude`` with its reason.

    They are given under the newest frozen codebook version, which the round then keeps. Given again, the last
    ones count. ``memo`` says why an answer is the known one. Where none is given nothing changes.
    """
    with transaction.atomic():
        if not answers:
            return _locked(coding_round)
        locked, reference, asked = _begin(coding_round)
        units = {each.unit.ref: each for each in _units(locked)}
        errors: dict[str, list[str]] = {}
        for ref, body in answers.items():
            if ref not in units:
                errors[ref] = ["The round has no such unit."]
                continue
            try:
                _write(locked, units[ref], reference, body, asked)
            except InvalidInputError as error:
                errors[ref] = [text for texts in error.errors.values() for text in texts]
        if errors:
            raise InvalidInputError(errors)
        record_round(locked, "round.reference_given", by, units=len(answers))
    return locked


def set_known_answer(*, round_unit: RoundUnit, body: Body, by: Membership) -> Round:
    """Give the known answer of one unit; what is wrong with it is said at its fields."""
    with transaction.atomic():
        locked, reference, asked = _begin(round_unit.round)
        _write(locked, _units(locked).get(pk=round_unit.pk), reference, body, asked)
        record_round(locked, "round.reference_given", by, units=1)
    return locked


def take_back_reference(*, coding_round: Round, by: Membership) -> Round:
    """Let no known answer count any more, so that they are given anew under the newest codebook version."""
    with transaction.atomic():
        locked = _locked(coding_round)
        taken = Assignment.objects.active().filter(
            round_unit__round=locked, coder__kind=Membership.Kind.REFERENCE
        )
        count = taken.update(status=Assignment.Status.WITHDRAWN)
        locked.codebook = None
        locked.save(update_fields=["codebook"])
        record_round(locked, "round.reference_taken_back", by, units=count)
    return locked


def reference_codebook(coding_round: Round) -> Codebook | None:
    """The version under which known answers of the round are given, None while nothing is frozen."""
    return coding_round.codebook or codebooks.current(coding_round.study)


def _begin(coding_round: Round) -> tuple[Round, Membership, Questions]:
    locked = _locked(coding_round)
    if locked.codebook is None:
        locked.codebook = codebooks.current(locked.study)
        if locked.codebook is None:
            raise RoundStateError("Freeze the codebook first: known answers need its categories.")
        locked.save(update_fields=["codebook"])
    reference = _reference(locked.study)
    return locked, reference, questions(locked, reference)


def _locked(coding_round: Round) -> Round:
    locked = lock_round(coding_round)
    if locked.kind != Round.Kind.TRAINING:
        raise RoundStateError("Only a training round has known answers.")
    if locked.state != Round.State.DRAFT or locked.discarded_at is not None:
        raise RoundStateError("Known answers are given before the training opens.")
    return locked


def _units(coding_round: Round) -> Any:
    return coding_round.round_units.select_related("unit__issue", "unit__snapshot")


def _reference(study: Study) -> Membership:
    """The member in whose name known answers are given, made when first needed."""
    found = study.memberships.filter(kind=Membership.Kind.REFERENCE).first()
    if found is not None:
        return found
    number = (study.memberships.aggregate(last=Max("number"))["last"] or 0) + 1
    return Membership.objects.create(
        study=study,
        kind=Membership.Kind.REFERENCE,
        number=number,
        pseudonym=f"C{number}",
        title="Known answers",
    )


def _write(
    coding_round: Round, round_unit: RoundUnit, reference: Membership, body: Body, asked: Questions
) -> None:
    assignment, _ = Assignment.objects.update_or_create(
        round_unit=round_unit,
        coder=reference,
        defaults={"status": Assignment.Status.SUBMITTED},
        create_defaults={"position": 1, "status": Assignment.Status.SUBMITTED},
    )
    assignment.round_unit.round = coding_round
    is_plain = not {"annotations", "exclude", "memo"} & set(body)
    changes = flat_changes({"annotations": body} if is_plain else body)
    draft = Draft(
        fields=read_changes(assignment, changes, asked, frozenset()), stage=last_stage(coding_round)
    )
    refuse_incomplete(draft, asked, coding_round=coding_round)
    draft.fields["evidence"] = follow_answers(draft, asked)
    n = assignment.submissions.aggregate(last=Max("n"))["last"] or 0
    write_submission(assignment, payload_of(draft, asked), asked, n=n + 1)
