"""Rounds that are closed with what their coders said, as few lines as a test needs."""

from collections.abc import Mapping, Sequence

from labeling.models import Membership, Round, User
from labeling.services.agreement import store_agreement
from labeling.services.reconciliation import open_reconciliation
from tests.factories import (
    assignment_of,
    make_codebook,
    make_dimension,
    make_member,
    make_round,
    make_study,
    make_submission,
)

#: By coder: an answer in ``symptom`` for each unit; None: nothing handed in; ``-reason``: excluded.
Answers = Mapping[str, Sequence[str | None]]


def coded_round(answers: Answers, *, study=None, kind: str = Round.Kind.MAIN, **fields) -> Round:
    """Make an open round of one dimension, ``symptom``, in which each named coder answered each unit."""
    study = study or make_study()
    if not study.codebooks.exists():
        codebook = make_codebook(study)
        codebook.dimensions.exclude(key="symptom").delete()
    coders = [coder_called(study, name) for name in answers]
    units = fields.pop("units", max(len(each) for each in answers.values()))
    coding_round = make_round(study, coders=coders, units=units, kind=kind, **fields)
    for coder, said in zip(coders, answers.values(), strict=True):
        for place, answer in enumerate(said):
            answer_unit(coding_round, coder, place, answer)
    return coding_round


def coder_called(study, name: str) -> Membership:
    known = study.memberships.filter(user__username=name).first()
    return known or make_member(study, user=User.objects.filter(username=name).first() or name)


def answer_unit(coding_round: Round, coder: Membership, place: int, answer: str | None) -> None:
    if answer is None:
        return
    if answer.startswith("-"):
        make_submission(assignment_of(coding_round, coder, place), exclude_reason=answer[1:])
    else:
        make_submission(assignment_of(coding_round, coder, place), {"symptom": answer})


def close(coding_round: Round, *, reconcile: bool = True) -> Round:
    """Close a round as it is: numbers stored, reconciliation opened."""
    coding_round.move_to(Round.State.CLOSED)
    store_agreement(coding_round)
    if reconcile:
        assert open_reconciliation(coding_round)
    return coding_round


def conditional_codebook(study) -> None:
    """Make a version where ``detail`` is asked only of crashes and hangs."""
    codebook = make_codebook(study)
    codebook.dimensions.exclude(key="symptom").delete()
    condition = {"dimension": "symptom", "any_of": ["crash", "hang"]}
    make_dimension(codebook, "detail", ["segfault", "abort"], asked_if=condition)
