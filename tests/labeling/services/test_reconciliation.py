"""From the coders' answers to one decision."""

from collections import Counter

import pytest
from django.core.exceptions import PermissionDenied


from labeling.errors import DecisionError, InvalidInputError, RoundStateError, StaleVersionError
from labeling.models import (
    UNIT,
    AgreementReport,
    Annotation,
    AnnotationCategory,
    Assignment,
    CategoryProposal,
    Decision,
    DecisionProposal,
    Event,
    Membership,
    Notice,
    Role,
    Round,
    RoundUnit,
    Submission,
)
from labeling.services.reconciliation import (
    Answer,
    add_comment,
    decide_cell,
    open_reconciliation,
    propose_decision,
    record_decision,
    reopen_decision,
    undo_opening,
)
from tests.factories import assignment_of, lead_of, make_member, make_study, make_submission
from tests.labeling.closing import answer_unit, close, coded_round, coder_called, conditional_codebook

pytestmark = pytest.mark.django_db


def decisions_of(coding_round, dimension="symptom"):
    rows = Decision.objects.filter(round_unit__round=coding_round, dimension=dimension)
    return list(rows.order_by("round_unit__pk"))


def decision_at(coding_round, place=0, dimension="symptom"):
    round_unit = coding_round.round_units.order_by("pk")[place]
    return Decision.objects.get(round_unit=round_unit, dimension=dimension)


def codes(decision):
    return sorted(each.code for each in decision.categories.all())


def coder(coding_round, name) -> Membership:
    return coder_called(coding_round.study, name)


def propose(coding_round, name, code, place=0, **fields):
    round_unit = coding_round.round_units.order_by("pk")[place]
    return propose_decision(
        round_unit=round_unit,
        dimension=fields.pop("dimension", "symptom"),
        by=coder(coding_round, name),
        answer=fields.pop("answer", Answer(categories=(code,))),
        **fields,
    )


def decide(coding_round, by, answer, place=0, dimension="symptom", version=0, **fields):
    round_unit = coding_round.round_units.order_by("pk")[place]
    return record_decision(
        round_unit=round_unit, dimension=dimension, by=by, answer=answer, version=version, **fields
    )


KEEP, CRASH, HANG = Answer(excluded=False), Answer(categories=("crash",)), Answer(categories=("hang",))
EXCLUDE = Answer(excluded=True, reason="duplicate")


# Opening


def test_opening_sorts_every_unit():
    coding_round = close(
        coded_round(
            {
                "ada": ["crash", "crash", "crash", "-duplicate", "-duplicate"],
                "ben": ["crash", "hang", None, "crash", "-duplicate"],
            }
        )
    )
    rows = decisions_of(coding_round)
    assert [row.type for row in rows] == ["agreed", "disagreed", "one_sided", "waiting", "agreed"]
    assert [row.how for row in rows] == ["agreed", "", "", "", "excluded"]
    assert [row.cell for row in rows] == ["crash|crash", "crash|hang", "crash", "", ""]
    assert codes(rows[0]) == ["crash"]
    assert rows[3].waits_for == UNIT
    units = decisions_of(coding_round, UNIT)
    assert [row.type for row in units] == ["agreed", "agreed", "single", "excluded", "agreed"]
    assert [row.excluded for row in units] == [False, False, False, None, True]
    assert units[3].cell == "excluded|kept"
    assert units[4].exclude_reason == "duplicate"


def test_units_of_one_coder_are_never_queued():
    coding_round = close(coded_round({"ada": ["crash", "state:unclear"]}))
    assert [(row.type, row.how) for row in decisions_of(coding_round)] == [("single", "single")] * 2
    assert decisions_of(coding_round)[1].state == "unclear"


def test_disagreed_rows_are_what_observed_agreement_leaves():
    coding_round = coded_round(
        {
            "ada": ["crash", "hang", "crash", "state:unclear", "crash", "-duplicate", "warning"],
            "ben": ["crash", "crash", "state:unclear", "state:unclear", "hang", "crash", None],
        }
    )
    close(coding_round)
    (numbers,) = AgreementReport.objects.get(round=coding_round).payload["dimensions"]
    disagreed = [row for row in decisions_of(coding_round) if row.type == "disagreed"]
    assert numbers["n_both"] == 5
    assert len(disagreed) == 3
    assert len(disagreed) == pytest.approx(numbers["n_both"] * (1 - numbers["observed"]["value"]))


def test_opening_twice_writes_once():
    coding_round = close(coded_round({"ada": ["crash"], "ben": ["hang"]}))
    assert open_reconciliation(Round.objects.get(pk=coding_round.pk))
    assert len(decisions_of(coding_round)) == 1
    assert Event.objects.filter(verb="reconciliation.opened").count() == 1


def test_reconciliation_waits_for_the_stored_report():
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]})
    coding_round.move_to(Round.State.CLOSED)
    assert not open_reconciliation(coding_round)
    assert not Decision.objects.exists()


def test_reconciliation_waits_for_proposed_categories():
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]})
    proposal = propose_category(coding_round, "ada", "freeze")
    close(coding_round, reconcile=False)
    assert not open_reconciliation(coding_round)
    proposal.state = CategoryProposal.State.REJECTED
    proposal.save()
    assert open_reconciliation(coding_round)


def propose_category(coding_round, name, code, place=None):
    dimension = coding_round.codebook.dimensions.get(key="symptom")
    proposal = CategoryProposal.objects.create(
        round=coding_round, dimension=dimension, by=coder(coding_round, name), code=code, name=code
    )
    if place is not None:
        submission = make_submission(
            assignment_of(coding_round, coder(coding_round, name), place), {"symptom": None}
        )
        annotation = Annotation.objects.create(submission=submission, dimension=dimension)
        AnnotationCategory.objects.create(annotation=annotation, proposal=proposal, exclusive=True)
    return proposal


@pytest.mark.parametrize(
    ("state", "how", "said"),
    [("accepted", "single", "freeze"), ("mapped", "single", "hang"), ("rejected", "", None)],
)
def test_a_settled_proposal_becomes_what_the_lead_made_of_it(state, how, said):
    coding_round = coded_round({"ada": [None]}, units=1)
    proposal = propose_category(coding_round, "ada", "freeze", place=0)
    proposal.state = state
    if state == "mapped":
        proposal.target = proposal.dimension.categories.get(code="hang")
    proposal.save()
    close(coding_round)
    row = decision_at(coding_round)
    assert row.how == how
    named = codes(row) + [each.code for each in row.category_proposals.all()]
    assert named == ([said] if said else [])


def test_a_majority_decides_at_once_where_the_round_says_so():
    answers = {"ada": ["crash", "crash"], "ben": ["crash", "hang"], "cleo": ["hang", "warning"]}
    coding_round = close(coded_round(answers, majority=True))
    first, second = decisions_of(coding_round)
    assert (first.type, first.how, codes(first)) == ("disagreed", "majority", ["crash"])
    assert (second.type, second.how) == ("disagreed", "")


def test_without_majority_three_coders_discuss():
    coding_round = close(coded_round({"ada": ["crash"], "ben": ["crash"], "cleo": ["hang"]}))
    assert decision_at(coding_round).is_open


def test_reference_answers_settle_nothing():
    study = make_study()
    known = make_member(study, kind=Membership.Kind.REFERENCE)
    coding_round = coded_round({"ada": ["crash"]}, study=study, kind=Round.Kind.TRAINING)
    coding_round.coders.add(known)
    round_unit = coding_round.round_units.get()
    Assignment.objects.create(round_unit=round_unit, coder=known, position=1)
    answer_unit(coding_round, known, 0, "hang")
    close(coding_round)
    assert (decision_at(coding_round).type, codes(decision_at(coding_round))) == ("single", ["crash"])


def test_an_adjudicator_who_answers_first_is_dealt_the_units_to_decide():
    study = make_study()
    adjudicator = make_member(study, role=Role.ADJUDICATOR)
    coding_round = coded_round(
        {"ada": ["crash", "crash"], "ben": ["crash", "hang"]}, study=study, own_answer_first=True
    )
    close(coding_round)
    dealt = Assignment.objects.get(coder=adjudicator)
    assert dealt.purpose == Assignment.Purpose.ADJUDICATION
    assert dealt.round_unit == coding_round.round_units.order_by("pk")[1]
