"""Known answers of a training round, given while it is planned and shown to a coder after their own."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from labeling.drafts import Draft, flat_changes
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Assignment, Membership, Round, RoundUnit, Study
from labeling.selectors.questions import Questions, last_stage, questions
from labeling.services import codebooks
from labeling.services.events import record
from labeling.services.submissions import payload_of, read_changes, refuse_incomplete, write_submission


def set_reference(*, coding_round: Round, answers: Mapping[str, Mapping[str, Any]], by: Membership) -> Round:
    """Give the known answers by ``Unit.ref``: annotations as in a draft, or ``exclude`` with its reason.

    They are given under the newest frozen codebook version, which the round then keeps. Given again, the last
    ones count.
    """
    with transaction.atomic():
        locked = (
            Round.objects.select_for_update(of=("self",))
            .select_related("study", "codebook")
            .get(pk=coding_round.pk)
        )
        _refuse_wrong_round(locked)
        if locked.codebook is None:
            locked.codebook = codebooks.current(locked.study)
            if locked.codebook is None:
                raise RoundStateError("Freeze the codebook first: known answers need its categories.")
            locked.save(update_fields=["codebook"])
        reference = _reference(locked.study)
        asked = questions(locked, reference)
        units = {
            each.unit.ref: each for each in locked.round_units.select_related("unit__issue", "unit__snapshot")
        }
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
        record(
            study=locked.study,
            round=locked,
            by=by,
            verb="round.reference_given",
            object=f"round:{locked.number}",
            units=len(answers),
        )
    return locked


def _refuse_wrong_round(coding_round: Round) -> None:
    if coding_round.kind != Round.Kind.TRAINING:
        raise RoundStateError("Only a training round has known answers.")
    if coding_round.state != Round.State.DRAFT or coding_round.discarded_at is not None:
        raise RoundStateError("Known answers are given before the training opens.")


def _reference(study: Study) -> Membership:
    """The member in whose name known answers are given, made when first needed."""
    found = study.memberships.filter(kind=Membership.Kind.REFERENCE).first()
    if found is not None:
        return found
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    number = (study.memberships.aggregate(last=Max("number"))["last"] or 0) + 1
    return Membership.objects.create(
        study=study,
        kind=Membership.Kind.REFERENCE,
        number=number,
        pseudonym=f"C{number}",
        title="Known answers",
    )


def _write(
    coding_round: Round,
    round_unit: RoundUnit,
    reference: Membership,
    body: Mapping[str, Any],
    asked: Questions,
) -> None:
    assignment, _ = Assignment.objects.get_or_create(
        round_unit=round_unit,
        coder=reference,
        defaults={"position": 1, "status": Assignment.Status.SUBMITTED},
    )
    assignment.round_unit.round = coding_round
    is_plain = not {"annotations", "exclude", "memo"} & set(body)
    changes = flat_changes({"annotations": body} if is_plain else body)
    draft = Draft(
        fields=read_changes(assignment, changes, asked, frozenset()), stage=last_stage(coding_round)
    )
    refuse_incomplete(draft, asked, coding_round=coding_round)
    n = assignment.submissions.aggregate(last=Max("n"))["last"] or 0
    write_submission(assignment, payload_of(draft, asked), asked, n=n + 1)
