"""From the coders' answers to one decision."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.urls import reverse

from labeling.errors import (
    DecisionError,
    InvalidInputError,
    RoundStateError,
    SampleError,
    StaleVersionError,
)
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
from labeling.services.rounds import finish_round
from labeling.services.samples import draw, replace
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_dimension,
    make_issue,
    make_member,
    make_study,
    make_submission,
)
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


def test_agreeing_with_a_mapped_category_is_choosing_its_target():
    coding_round = coded_round({"ada": [None], "ben": ["crash"]}, units=1)
    proposal = propose_category(coding_round, "ada", "freeze", place=0)
    proposal.state, proposal.target = "mapped", proposal.dimension.categories.get(code="hang")
    proposal.save()
    close(coding_round)
    decide(coding_round, lead_of(coding_round.study), Answer(categories=("freeze",)))
    assert codes(decision_at(coding_round)) == ["hang"]


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
    assert not decisions_of(coding_round), "its answers are known, there is nothing to decide"


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


# Together


@pytest.fixture
def disagreed():
    return close(coded_round({"ada": ["crash", "crash"], "ben": ["hang", "hang"]}))


def test_equal_proposals_of_all_coders_decide(disagreed):
    propose(disagreed, "ada", "hang", rationale="It never came back.")
    assert decision_at(disagreed).is_open
    propose(disagreed, "ben", "hang", disagreement_reason="misread")
    row = decision_at(disagreed)
    assert (row.how, codes(row), row.version) == ("discussed", ["hang"], 1)
    assert row.decided_by == coder(disagreed, "ben")
    assert (row.rationale, row.disagreement_reason) == ("It never came back.", "misread")
    assert decision_at(disagreed, 1).is_open


def test_a_differing_proposal_withdraws_the_confirmation(disagreed):
    propose(disagreed, "ada", "hang")
    propose(disagreed, "ada", "crash")
    propose(disagreed, "ben", "hang")
    assert decision_at(disagreed).is_open
    propose(disagreed, "ben", "crash")
    assert codes(decision_at(disagreed)) == ["crash"]


def test_only_the_units_coders_propose(disagreed):
    outsider = make_member(disagreed.study)
    round_unit = disagreed.round_units.order_by("pk")[0]
    with pytest.raises(PermissionDenied):
        propose_decision(round_unit=round_unit, dimension="symptom", by=outsider, answer=CRASH)
    assert not DecisionProposal.objects.exists()


def test_the_other_coders_get_a_notice(disagreed):
    propose(disagreed, "ada", "hang")
    notice = Notice.objects.get()
    assert notice.member == coder(disagreed, "ben")
    assert notice.verb == "decision.proposed"
    unit = disagreed.round_units.order_by("pk")[0].unit_id
    where = [disagreed.study.slug, disagreed.number, unit, "symptom"]
    assert notice.url == reverse("labeling:reconciliation-detail", args=where)


def test_escalating_puts_a_unit_before_an_adjudicator(disagreed):
    adjudicator = make_member(disagreed.study, role=Role.ADJUDICATOR)
    with pytest.raises(PermissionDenied):
        decide(disagreed, adjudicator, HANG)
    propose(disagreed, "ada", "", answer=None, escalate=True)
    assert Notice.objects.filter(member=adjudicator, verb="decision.escalated").exists()
    row = decide(disagreed, adjudicator, HANG, rationale="Stuck in a loop.")
    assert (row.how, row.decided_by, row.recorded_by) == ("adjudicated", adjudicator, None)


def test_without_an_adjudicator_a_lead_hears_of_it(disagreed):
    propose(disagreed, "ada", "", answer=None, escalate=True)
    assert Notice.objects.get(verb="decision.escalated").member == lead_of(disagreed.study)


def test_a_lead_takes_the_minutes(disagreed):
    lead = lead_of(disagreed.study)
    row = decide(disagreed, lead, HANG)
    assert (row.how, row.decided_by, row.recorded_by) == ("discussed", None, lead)
    with pytest.raises(DecisionError):
        decide(disagreed, lead, HANG, place=1, how="adjudicated")


def test_a_coder_records_nothing(disagreed):
    with pytest.raises(PermissionDenied):
        decide(disagreed, coder(disagreed, "ada"), HANG)


def test_a_required_rationale_may_be_that_of_whoever_proposed():
    coding_round = close(coded_round({"ada": ["crash"], "ben": ["hang"]}, rationale_required=True))
    with pytest.raises(InvalidInputError):
        propose(coding_round, "ada", "crash")
    propose(coding_round, "ada", "crash", rationale="There is a core dump.")
    propose(coding_round, "ben", "crash")
    assert decision_at(coding_round).rationale == "There is a core dump."


# Adjudicator and lead


@pytest.mark.parametrize(("mode", "role"), [("adjudicator", Role.ADJUDICATOR), ("lead", Role.LEAD)])
def test_who_decides_is_a_setting_of_the_round(mode, role):
    study = make_study()
    judge = make_member(study, role=role)
    coding_round = close(coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study, decide=mode))
    propose(coding_round, "ada", "hang")
    propose(coding_round, "ben", "hang")
    assert decision_at(coding_round).is_open
    row = decide(coding_round, judge, CRASH)
    assert (row.how, row.decided_by, codes(row)) == ("adjudicated", judge, ["crash"])


def test_a_lead_may_note_a_discussion_in_a_round_a_lead_decides():
    coding_round = close(coded_round({"ada": ["crash"], "ben": ["hang"]}, decide=Round.Decide.LEAD))
    row = decide(coding_round, lead_of(coding_round.study), CRASH, how="discussed")
    assert (row.how, row.recorded_by) == ("discussed", lead_of(coding_round.study))


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (Answer(categories=("nonsense",)), "categories"),
        (Answer(categories=("runtime",)), "categories"),
        (Answer(categories=("crash", "hang")), "categories"),
        (Answer(), "categories"),
        (Answer(state="not_asked"), "state"),
    ],
)
def test_a_decision_is_an_answer_the_codebook_allows(disagreed, answer, field):
    with pytest.raises(InvalidInputError) as refused:
        decide(disagreed, lead_of(disagreed.study), answer)
    assert set(refused.value.errors) == {field}
    assert decision_at(disagreed).is_open


def test_unclear_can_be_the_decision(disagreed):
    assert decide(disagreed, lead_of(disagreed.study), Answer(state="unclear")).state == "unclear"


# Versions


def test_the_second_of_two_deciders_sees_the_first_decision(disagreed):
    lead = lead_of(disagreed.study)
    decide(disagreed, lead, HANG)
    with pytest.raises(StaleVersionError) as refused:
        decide(disagreed, lead, CRASH)
    both = refused.value.extra["conflicts"]["decision"]
    assert both["yours"]["categories"] == ["crash"]
    assert both["theirs"]["categories"] == ["hang"]
    assert codes(decision_at(disagreed)) == ["hang"]


def test_a_reopened_decision_keeps_what_it_said(disagreed):
    lead = lead_of(disagreed.study)
    decide(disagreed, lead, HANG, rationale="It waits.")
    row = reopen_decision(decision=decision_at(disagreed), reason="New log", by=lead)
    assert row.is_open
    assert codes(row) == []
    kept = row.versions.get()
    assert (kept.version, kept.reason, kept.by) == (1, "New log", lead)
    assert kept.said["categories"] == ["hang"]
    assert kept.said["rationale"] == "It waits."
    assert decide(disagreed, lead, CRASH, version=1).version == 2


def test_an_agreed_decision_stays_open_when_it_was_reopened():
    coding_round = close(coded_round({"ada": ["crash", "-duplicate"], "ben": ["crash", "crash"]}))
    lead = lead_of(coding_round.study)
    reopen_decision(decision=decision_at(coding_round), reason="Both misread", by=lead)
    assert decision_at(coding_round).is_open
    decide(coding_round, lead, HANG, version=1)
    assert codes(decision_at(coding_round)) == ["hang"]


def test_proposals_before_a_reopening_no_longer_count(disagreed):
    propose(disagreed, "ada", "hang")
    propose(disagreed, "ben", "hang")
    reopen_decision(decision=decision_at(disagreed), reason="Again", by=coder(disagreed, "ada"))
    propose(disagreed, "ada", "hang")
    assert decision_at(disagreed).is_open


def test_reopening_a_decision_of_a_finished_round_makes_it_reconcile_again(disagreed):
    lead = lead_of(disagreed.study)
    for place in (0, 1):
        decide(disagreed, lead, HANG, place=place)
    disagreed.move_to(Round.State.RECONCILED)
    with pytest.raises(RoundStateError):
        decide(disagreed, lead, CRASH, version=1)
    reopen_decision(decision=decision_at(disagreed), reason="Again", by=lead)
    disagreed.refresh_from_db()
    assert disagreed.state == Round.State.CLOSED


def test_reopening_needs_a_reason(disagreed):
    decide(disagreed, lead_of(disagreed.study), HANG)
    with pytest.raises(InvalidInputError):
        reopen_decision(decision=decision_at(disagreed), reason=" ", by=lead_of(disagreed.study))


def test_a_decided_unit_is_not_decided_again_without_reopening(disagreed):
    decide(disagreed, lead_of(disagreed.study), HANG)
    with pytest.raises(DecisionError):
        decide(disagreed, lead_of(disagreed.study), CRASH, version=1)


# Exclusion and conditions


@pytest.fixture
def half_excluded():
    return close(coded_round({"ada": ["-duplicate"], "ben": ["crash"]}))


def test_dimensions_wait_for_the_exclusion(half_excluded):
    with pytest.raises(DecisionError, match="excluded"):
        decide(half_excluded, lead_of(half_excluded.study), CRASH)


def test_an_excluded_unit_is_excluded_in_every_dimension(half_excluded):
    decide(half_excluded, lead_of(half_excluded.study), EXCLUDE, dimension=UNIT)
    assert decision_at(half_excluded, dimension=UNIT).exclude_reason == "duplicate"
    assert decision_at(half_excluded).how == "excluded"


def test_a_kept_unit_is_one_sided_in_the_others(half_excluded):
    lead = lead_of(half_excluded.study)
    decide(half_excluded, lead, KEEP, dimension=UNIT)
    row = decision_at(half_excluded)
    assert (row.type, row.how, row.waits_for, row.cell) == ("one_sided", "", "", "crash")
    assert codes(decide(half_excluded, lead, CRASH)) == ["crash"]


def test_coders_settle_an_exclusion_together(half_excluded):
    for name in ("ada", "ben"):
        propose(half_excluded, name, "", dimension=UNIT, answer=KEEP)
    assert decision_at(half_excluded, dimension=UNIT).how == "discussed"
    assert decision_at(half_excluded).type == "one_sided"


def test_reopening_an_exclusion_makes_the_dimensions_wait_again(half_excluded):
    lead = lead_of(half_excluded.study)
    decide(half_excluded, lead, EXCLUDE, dimension=UNIT)
    with pytest.raises(DecisionError, match="follows"):
        reopen_decision(decision=decision_at(half_excluded), reason="No", by=lead)
    reopen_decision(decision=decision_at(half_excluded, dimension=UNIT), reason="Not one", by=lead)
    assert decision_at(half_excluded).waits_for == UNIT
    decide(half_excluded, lead, KEEP, dimension=UNIT, version=1)
    assert decision_at(half_excluded).is_open
    assert decision_at(half_excluded).waits_for == ""


def test_an_exclusion_needs_a_reason_of_the_study(half_excluded):
    answer = Answer(excluded=True, reason="boring")
    with pytest.raises(InvalidInputError, match="duplicate"):
        decide(half_excluded, lead_of(half_excluded.study), answer, dimension=UNIT)


@pytest.fixture
def conditional():
    """The coders differ on ``symptom``; ``detail`` is asked of crashes and hangs only."""
    study = make_study()
    conditional_codebook(study)
    coding_round = coded_round({"ada": [], "ben": []}, study=study, units=4)
    answers = {
        "ada": [("crash", "abort"), ("crash", "abort"), ("warning", None), ("crash", "abort")],
        "ben": [("warning", None), ("hang", "segfault"), ("warning", None), ("hang", "abort")],
    }
    for name, said in answers.items():
        for place, (symptom, detail) in enumerate(said):
            assignment = assignment_of(coding_round, coder(coding_round, name), place)
            make_submission(assignment, {"symptom": symptom, "detail": detail or "state:not_asked"})
    return close(coding_round)


def test_a_conditional_dimension_waits_for_its_condition(conditional):
    rows = decisions_of(conditional, "detail")
    assert [row.type for row in rows] == ["waiting", "disagreed", "agreed", "agreed"]
    assert [row.waits_for for row in rows] == ["symptom", "symptom", "", "symptom"]
    assert [row.how for row in rows] == ["", "", "derived", ""]
    assert rows[2].state == "not_asked"
    numbers = AgreementReport.objects.get(round=conditional).payload["dimensions"][1]
    assert numbers["conditional"]
    assert numbers["n_both"] * (1 - numbers["observed"]["value"]) == 1
    assert numbers["left_out"] == {"asked_of_one": 1, "not_asked": 1}


def test_a_question_that_is_not_asked_after_all_is_derived(conditional):
    lead = lead_of(conditional.study)
    for place in (0, 1):
        decide(conditional, lead, Answer(categories=("warning",)), place=place)
    assert [row.how for row in decisions_of(conditional, "detail")] == ["derived", "derived", "derived", ""]


def test_a_question_that_was_asked_of_one_is_one_sided(conditional):
    decide(conditional, lead_of(conditional.study), CRASH)
    row = decision_at(conditional, dimension="detail")
    assert (row.type, row.how, row.waits_for) == ("one_sided", "", "")


def test_an_answer_both_gave_stands_once_its_condition_is_decided(conditional):
    decide(conditional, lead_of(conditional.study), HANG, place=3)
    row = decision_at(conditional, 3, "detail")
    assert (row.type, row.how, codes(row)) == ("agreed", "agreed", ["abort"])


def test_a_new_decision_on_the_condition_overrules_what_followed(conditional):
    lead = lead_of(conditional.study)
    decide(conditional, lead, HANG, place=3)
    reopen_decision(decision=decision_at(conditional, 3), reason="No", by=lead)
    assert decision_at(conditional, 3, "detail").waits_for == "symptom"
    decide(conditional, lead, Answer(categories=("warning",)), place=3, version=1)
    row = decision_at(conditional, 3, "detail")
    assert (row.how, row.state, codes(row)) == ("derived", "not_asked", [])
    assert row.versions.get().said["categories"] == ["abort"]


@pytest.fixture
def unanswered():
    """Nobody answers ``detail``: the coders differ on its condition in unit 0, on the exclusion in unit 1."""
    study = make_study()
    conditional_codebook(study)
    study.codebooks.get().dimensions.filter(key="detail").update(required=False)
    coding_round = coded_round({"ada": [None, "-duplicate"], "ben": [None, None]}, study=study)
    for name, place, symptom in (("ada", 0, "crash"), ("ben", 0, "hang"), ("ben", 1, "crash")):
        assignment = assignment_of(coding_round, coder(coding_round, name), place)
        make_submission(assignment, {"symptom": symptom, "detail": None})
    return close(coding_round)


def test_an_optional_question_nobody_answered_waits_and_goes(unanswered):
    coding_round, lead = unanswered, lead_of(unanswered.study)
    assert [row.waits_for for row in decisions_of(coding_round, "detail")] == ["symptom", UNIT]
    decide(coding_round, lead, KEEP, place=1, dimension=UNIT)
    for place in (0, 1):
        decide(coding_round, lead, CRASH, place=place)
    assert decisions_of(coding_round, "detail") == []
    finish_round(coding_round=coding_round, by=lead)
    reopen_decision(decision=decision_at(coding_round), reason="No", by=lead)
    assert decision_at(coding_round, dimension="detail").waits_for == "symptom"
    decide(coding_round, lead, Answer(categories=("warning",)), version=1)
    assert decision_at(coding_round, dimension="detail").state == "not_asked"


def test_what_people_decided_of_an_unanswered_question_is_theirs_to_decide_again(unanswered):
    coding_round, lead = unanswered, lead_of(unanswered.study)
    decide(coding_round, lead, CRASH)
    decide(coding_round, lead, Answer(categories=("abort",)), dimension="detail")
    for version, answer in enumerate((Answer(categories=("warning",)), HANG), start=1):
        reopen_decision(decision=decision_at(coding_round), reason="No", by=lead)
        decide(coding_round, lead, answer, version=version)
    row = decision_at(coding_round, dimension="detail")
    assert (row.type, row.how, row.waits_for) == ("one_sided", "", "")
    assert row.versions.first().said["categories"] == ["abort"]


# Many at once, notes and talk


def test_a_cell_is_decided_in_one_go():
    coding_round = close(
        coded_round({"ada": ["crash", "hang", "crash"], "ben": ["hang", "crash", "warning"]})
    )
    lead = lead_of(coding_round.study)
    decided = decide_cell(
        coding_round=coding_round,
        dimension="symptom",
        cell="crash|hang",
        answer=HANG,
        rationale="v1 had no rule",
        by=lead,
    )
    assert decided == 2
    assert Counter(row.how for row in decisions_of(coding_round)) == {"discussed": 2, "": 1}
    with pytest.raises(DecisionError):
        decide_cell(
            coding_round=coding_round,
            dimension="symptom",
            cell="crash|hang",
            answer=HANG,
            rationale="",
            by=lead,
        )


def test_an_unclear_definition_leaves_a_note_in_the_codebook_draft(client, disagreed):
    lead = lead_of(disagreed.study)
    decide(disagreed, lead, HANG, disagreement_reason="definition_unclear", rationale="Both fit.")
    draft = disagreed.study.codebooks.get(frozen_at__isnull=True)
    # The unit and the reasons are not for everybody who will read the codebook.
    assert draft.note == "Definition unclear: symptom, crash or hang (round 1)"
    decide(disagreed, lead, HANG, place=1, disagreement_reason="definition_unclear")
    client.force_login(lead.user)
    category = draft.dimensions.get(key="symptom").categories.get(code="hang")
    where = [disagreed.study.slug, "symptom", category.concept]
    assert (
        "symptom: crash or hang, 2 times"
        in client.get(reverse("labeling:codebook-category", args=where)).text
    )
    where[2] = draft.dimensions.get(key="symptom").categories.get(code="warning").concept
    assert "crash or hang" not in client.get(reverse("labeling:codebook-category", args=where)).text


def test_an_unknown_reason_is_refused(disagreed):
    with pytest.raises(InvalidInputError):
        propose(disagreed, "ada", "hang", disagreement_reason="tired")


def test_units_are_discussed_only_after_close():
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]})
    round_unit = RoundUnit.objects.select_related("round", "unit").get(round=coding_round)
    with pytest.raises(RoundStateError):
        add_comment(round_unit=round_unit, by=coder(coding_round, "ada"), text="What do you think?")
    close(coding_round)
    round_unit.refresh_from_db()
    make_member(coding_round.study, user="cleo")
    add_comment(round_unit=round_unit, by=coder(coding_round, "ada"), text="@ben and @cleo, look.")
    told = set(Notice.objects.values_list("member__user__username", "verb"))
    assert told == {("ben", "comment.mentioned"), ("cleo", "comment.mentioned")}


def test_observers_do_not_discuss(disagreed):
    observer = make_member(disagreed.study, role=Role.OBSERVER)
    round_unit = disagreed.round_units.order_by("pk")[0]
    with pytest.raises(PermissionDenied):
        add_comment(round_unit=round_unit, by=observer, text="I saw that.")


def test_an_open_round_takes_no_decision():
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]})
    with pytest.raises(RoundStateError):
        propose(coding_round, "ada", "crash")


# What stays as it was


def stored_numbers():
    return [
        bytes(repr(row), "utf-8") for row in AgreementReport.objects.order_by("pk").values_list("payload")
    ]


def handed_in():
    return [
        list(model.objects.order_by("pk").values_list())
        for model in (Submission, Annotation, AnnotationCategory)
    ]


def test_no_decision_changes_a_report_or_an_annotation(half_excluded):
    before = stored_numbers(), handed_in()
    lead = lead_of(half_excluded.study)
    decide(half_excluded, lead, KEEP, dimension=UNIT)
    decide(half_excluded, lead, CRASH)
    reopen_decision(decision=decision_at(half_excluded), reason="Again", by=lead)
    decide(half_excluded, lead, HANG, version=1)
    assert (stored_numbers(), handed_in()) == before


def test_an_unread_close_can_be_taken_back(disagreed):
    undo_opening(disagreed)
    assert not Decision.objects.exists()
    assert not AgreementReport.objects.exists()
    assert disagreed.reconciliation_opened_at is None


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_decide_at_once_one_decides(disagreed):
    deciders = [lead_of(disagreed.study), *(make_member(disagreed.study, role=Role.LEAD) for _ in range(7))]
    together = Barrier(len(deciders))

    def attempt(place: int) -> tuple[str, ...]:
        together.wait(timeout=30)
        try:
            return ("decided", *codes(decide(disagreed, deciders[place], [CRASH, HANG][place % 2])))
        except StaleVersionError as stale:
            return ("conflict", *stale.extra["conflicts"]["decision"]["theirs"]["categories"])
        finally:
            connection.close()

    with ThreadPoolExecutor(len(deciders)) as threads:
        outcomes = Counter(threads.map(attempt, range(len(deciders))))
    (said,) = codes(decision_at(disagreed))
    assert outcomes == {("decided", said): 1, ("conflict", said): 7}
    assert decision_at(disagreed).version == 1
    assert Event.objects.filter(verb="decision.recorded").count() == 1


def test_free_text_is_never_queued_but_may_be_decided():
    study = make_study()
    codebook = make_codebook(study)
    codebook.dimensions.exclude(key="symptom").delete()
    make_dimension(codebook, "note", kind="text", required=False)
    coding_round = coded_round({"ada": [], "ben": []}, study=study, units=1)
    for name in ("ada", "ben"):
        make_submission(assignment_of(coding_round, coder(coding_round, name)), {"note": f"{name} saw it"})
    close(coding_round)
    assert decisions_of(coding_round, "note") == []
    text = Answer(text="Both saw it")
    with pytest.raises(DecisionError):
        propose(coding_round, "ada", "", dimension="note", answer=text)
    lead = lead_of(study)
    with pytest.raises(InvalidInputError):
        decide(coding_round, lead, Answer(), dimension="note")
    assert decide(coding_round, lead, text, dimension="note").text == "Both saw it"


# A disagreement of every kind of dimension


def every_kind(study) -> None:
    """Single with two levels, multiple, ordinal, one asked only if, and free text."""
    codebook = make_codebook(study)
    codebook.dimensions.exclude(key__in=("symptom", "fix")).delete()
    make_dimension(codebook, "severity", ["low", "middle", "high"], kind="ordinal")
    condition = {"dimension": "symptom", "any_of": ["crash", "hang"]}
    make_dimension(codebook, "detail", ["segfault", "abort"], asked_if=condition)
    make_dimension(codebook, "note", kind="text", required=False)


AGREED = {"symptom": "crash", "fix": ["call"], "severity": "low", "detail": "abort"}
#: What the second coder says instead, unit by unit; the first one says what is agreed.
PLANTED = [
    {},
    {"symptom": "hang"},  # below another heading it is another category
    {"symptom": "wrong-output", "detail": "state:not_asked"},  # two levels; then asked of one alone
    {"fix": ["call", "rewrite"]},  # sets that overlap differ
    {"fix": []},  # an empty set is an answer
    {"severity": "high"},
    {"detail": "segfault"},
    {"symptom": "state:unclear", "detail": "state:not_asked"},
    {"severity": None},  # not answered at all
    "-duplicate",  # excluded against a category
]


@pytest.fixture
def planted():
    study = make_study()
    every_kind(study)
    coding_round = coded_round({"ada": [], "ben": []}, study=study, units=len(PLANTED))
    for place, other in enumerate(PLANTED):
        make_submission(assignment_of(coding_round, coder(coding_round, "ada"), place), AGREED)
        theirs = assignment_of(coding_round, coder(coding_round, "ben"), place)
        if isinstance(other, str):
            make_submission(theirs, exclude_reason=other[1:])
        else:
            make_submission(theirs, AGREED | other)
    return close(coding_round)


def test_disagreements_of_every_kind_are_found_once(planted):
    rows = Decision.objects.filter(round_unit__round=planted).exclude(type__in=("agreed", "single"))
    found = Counter((row.dimension, row.type) for row in rows)
    assert found == {
        ("symptom", "disagreed"): 3,
        ("fix", "disagreed"): 2,
        ("severity", "disagreed"): 1,
        ("severity", "one_sided"): 1,
        ("detail", "disagreed"): 1,
        # Asked of one: whether it is asked is not decided yet. The excluded unit waits as a whole.
        ("detail", "waiting"): 3,
        (UNIT, "excluded"): 1,
        ("symptom", "waiting"): 1,
        ("fix", "waiting"): 1,
        ("severity", "waiting"): 1,
    }


def test_disagreed_rows_of_every_kind_are_what_agreement_misses(planted):
    numbers = AgreementReport.objects.get(round=planted).payload["dimensions"]
    rows = Decision.objects.filter(round_unit__round=planted, type="disagreed")
    disagreed = Counter(row.dimension for row in rows)
    assert {each["key"] for each in numbers} >= set(disagreed)
    for each in numbers:
        if each["kind"] != "text":
            missed = each["n_both"] * (1 - each["observed"]["value"])
            assert disagreed[each["key"]] == pytest.approx(missed), each["key"]


ANSWERS = {
    "symptom": Answer(categories=("hang",)),
    "fix": Answer(categories=("call", "condition")),
    "severity": Answer(categories=("middle",)),
    "detail": Answer(state="unclear"),
}


def test_the_coders_settle_all_of_it_and_the_round_can_be_finished(planted):
    before = stored_numbers(), handed_in()
    waiting = Decision.objects.filter(round_unit__round=planted, how="", waits_for="")
    while rows := list(waiting.select_related("round_unit__round__study", "round_unit__unit")):
        for row in rows:
            answer = KEEP if row.dimension == UNIT else ANSWERS[row.dimension]
            for name in ("ada", "ben"):
                propose_decision(
                    round_unit=row.round_unit,
                    dimension=row.dimension,
                    by=coder(planted, name),
                    answer=answer,
                )
    finish_round(coding_round=planted, by=lead_of(planted.study))
    decided = Decision.objects.filter(round_unit__round=planted, how="discussed")
    assert {codes(row)[0] for row in decided if row.dimension == "symptom"} == {"hang"}
    assert {tuple(codes(row)) for row in decided if row.dimension == "fix"} == {("call", "condition")}
    assert {row.excluded for row in decided if row.dimension == UNIT} == {False}
    assert (stored_numbers(), handed_in()) == before


def test_an_excluded_unit_can_be_replaced_in_its_sample():
    study = make_study()
    lead, issues = lead_of(study), [make_issue(study), make_issue(study)]
    sample = draw(study=study, method="random", size=1, seed=1, by=lead)
    unit = sample.units.get()
    coding_round = close(coded_round({"ada": ["-duplicate"], "ben": ["crash"]}, study=study, units=[unit]))
    with pytest.raises(SampleError, match="once it is decided"):
        replace(sample=sample, unit=unit, reason="Not a bug", by=lead)
    decide(coding_round, lead, EXCLUDE, dimension=UNIT)
    replace(sample=sample, unit=unit, reason="Not a bug", by=lead)
    replaced = sample.sample_units.get(unit=unit)
    assert {replaced.unit.issue, replaced.replaced_by.issue} == set(issues)


def test_a_proposal_that_decides_is_no_proposal_that_waits(disagreed):
    propose(disagreed, "ada", "hang")
    propose(disagreed, "ben", "hang")
    told = Notice.objects.order_by("pk").values_list("member__user__username", "verb")
    assert list(told) == [("ben", "decision.proposed"), ("ada", "decision.recorded")]


def test_adjudicators_are_called_where_they_decide():
    study = make_study()
    adjudicator = make_member(study, role=Role.ADJUDICATOR)
    close(coded_round({"ada": ["crash"], "ben": ["crash"]}, study=study, decide="adjudicator"))
    assert not Notice.objects.exists()
    close(coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study, decide="adjudicator"))
    notice = Notice.objects.get()
    assert (notice.member, notice.verb, notice.object) == (adjudicator, "reconciliation.opened", "round:2")
