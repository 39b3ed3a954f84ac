"""Autosave, submit and skip: nothing is lost, nothing is counted twice, nothing slips past a close."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from labeling.errors import (
    InvalidInputError,
    RoundStateError,
    StaleVersionError,
    StudyRuleError,
)
from labeling.models import Annotation, Assignment, Membership, Round, Submission
from labeling.selectors.coding import next_assignment, own_progress
from labeling.services import coding
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_dimension,
    make_issue,
    make_member,
    make_round,
    make_study,
    make_submission,
    make_unit,
)

ANSWERS = {"symptom": ["crash"], "cause": ["logic"], "fix": ["condition", "call"]}


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def ada(study):
    return make_member(study, user="ada")


@pytest.fixture
def ben(study):
    return make_member(study, user="ben")


@pytest.fixture
def coding_round(study, ada, ben):
    return make_round(study, coders=[ada, ben])


@pytest.fixture
def assignment(coding_round, ada):
    return assignment_of(coding_round, ada)


def save(assignment, changes, version=None):
    version = Assignment.objects.get(pk=assignment.pk).version if version is None else version
    return coding.save_draft(assignment=assignment, changes=changes, version=version, by=assignment.coder)


def submit(assignment, answers=None, **changes):
    changes = ({"annotations": answers} if answers is not None else {}) | changes
    return coding.submit(
        assignment=assignment, by=assignment.coder, changes=changes, version=state(assignment)["version"]
    )


def loaded(assignment):
    """As a view gets it."""
    rows = Assignment.objects.select_related(
        "coder__user",
        "round_unit__round__study",
        "round_unit__round__codebook",
        "round_unit__unit__issue",
        "round_unit__unit__snapshot",
    )
    return rows.get(pk=assignment.pk)


def state(assignment):
    return coding.state_of(Assignment.objects.defer(None).get(pk=assignment.pk))


def errors_of(call, *args, **kwargs):
    with pytest.raises(InvalidInputError) as caught:
        call(*args, **kwargs)
    return caught.value.errors


# Drafts


def test_a_draft_keeps_what_was_typed_and_counts_its_versions(assignment):
    save(assignment, {"annotations": {"symptom": ["crash"]}, "memo": "looks simple"})
    saved = save(assignment, {"confidence": "low"})
    assert saved.version == 2
    assert state(assignment) | {"active_seconds": 0} == {
        "version": 2,
        "status": "draft",
        "annotations": {"symptom": {"categories": ["crash"], "state": "coded", "text": ""}},
        "memo": "looks simple",
        "confidence": "low",
        "evidence": [],
        "exclude": None,
        "submitted_at": None,
        "changed": False,
        "return_reason": "",
        "stage": 0,
        "active_seconds": 0,
        "unit": {
            "id": assignment.round_unit.unit_id,
            "ref": assignment.round_unit.unit.ref,
            "url": assignment.round_unit.unit.issue.url,
        },
    }


def test_two_windows_that_change_different_fields_lose_nothing(assignment):
    save(assignment, {"memo": "from the first window"}, version=0)
    save(assignment, {"annotations": {"symptom": ["hang"]}}, version=0)
    assert state(assignment)["memo"] == "from the first window"
    assert state(assignment)["annotations"]["symptom"]["categories"] == ["hang"]


def test_a_field_changed_elsewhere_refuses_the_whole_set_and_shows_both(assignment):
    save(assignment, {"memo": "first"}, version=0)
    with pytest.raises(StaleVersionError) as caught:
        save(assignment, {"memo": "second", "confidence": "high"}, version=0)
    conflict = caught.value.extra["conflicts"]
    assert set(conflict) == {"memo"}
    assert (conflict["memo"]["yours"], conflict["memo"]["theirs"]) == ("second", "first")
    assert conflict["memo"]["saved_at"]
    assert state(assignment)["confidence"] == ""
    assert state(assignment)["version"] == 1


def test_the_same_change_sent_twice_is_no_conflict(assignment):
    save(assignment, {"memo": "once"}, version=0)
    assert save(assignment, {"memo": "once"}, version=0).version == 1


def test_a_whole_draft_needs_the_current_version(assignment):
    save(assignment, {"memo": "first"}, version=0)
    with pytest.raises(StaleVersionError):
        coding.save_draft(
            assignment=assignment, changes={"confidence": "low"}, version=0, by=assignment.coder, whole=True
        )


def test_a_version_from_the_future_is_refused(assignment):
    assert "version" in errors_of(save, assignment, {"memo": "x"}, version=7)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"annotations": {"symptom": ["crash", "hang"]}}, "annotations.symptom"),
        ({"annotations": {"symptom": ["runtime"]}}, "annotations.symptom"),
        ({"annotations": {"symptom": ["no-such"]}}, "annotations.symptom"),
        ({"annotations": {"symptom": {"state": "not_asked"}}}, "annotations.symptom"),
        ({"annotations": {"symptom": {"state": "unclear", "categories": ["crash"]}}}, "annotations.symptom"),
        ({"annotations": {"symptom": {"text": "free"}}}, "annotations.symptom"),
        ({"annotations": {"symptom": "crash"}}, "annotations.symptom"),
        ({"annotations": {"colour": ["red"]}}, "annotations.colour"),
        ({"memo": 7}, "memo"),
        ({"memo": "x" * 100_001}, "memo"),
        ({"confidence": "certain"}, "confidence"),
        ({"exclude": {"reason": "boring"}}, "exclude"),
        ({"evidence": "all of it"}, "evidence"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field_and_not_kept(assignment, changes, field):
    assert list(errors_of(save, assignment, changes)) == [field]
    assert state(assignment)["version"] == 0


def test_characters_no_database_keeps_are_left_out(assignment):
    save(assignment, {"memo": "a\0b\ud800c"})
    assert state(assignment)["memo"] == "ab?c"


def test_autosave_asks_the_database_a_handful_of_times(assignment, django_assert_max_num_queries):
    assignment = loaded(assignment)
    with django_assert_max_num_queries(9):  # savepoint included
        save(assignment, {"annotations": {"symptom": ["crash"]}}, version=0)


# Evidence


@pytest.fixture
def quoted(study, ada, ben):
    issue = make_issue(
        study,
        body="Straße 👍 It crashes on the 🖥.",
        comments=[{"body": "maintainers say", "association": "OWNER"}],
    )
    coding_round = make_round(study, coders=[ada, ben], units=[make_unit(study, issue)])
    return assignment_of(coding_round, ada)


def quote(**changed):
    text = "Straße 👍 It crashes on the 🖥."
    start = text.index("crashes")
    return {
        "dimension": "symptom",
        "category": "crash",
        "document": "body",
        "start": start,
        "end": start + 7,
        "quote": "crashes",
    } | changed


def test_a_quote_is_kept_by_code_points_with_what_stands_around_it(quoted):
    save(quoted, {"evidence": [quote()]})
    (kept,) = state(quoted)["evidence"]
    assert (kept["prefix"], kept["suffix"]) == ("Straße 👍 It ", " on the 🖥.")


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 13},  # as UTF-16 counts
        {"quote": "Crashes"},
        {"end": 999},
        {"start": -1},
        {"start": 5, "end": 5, "quote": ""},
        {"start": True},
        {"document": "comment:9"},
        {"dimension": "colour"},
        {"category": "logic"},
    ],
)
def test_a_quote_that_does_not_stand_there_is_refused(quoted, wrong):
    assert list(errors_of(save, quoted, {"evidence": [quote(**wrong)]})) == ["evidence"]


def test_a_masked_text_cannot_be_quoted(quoted):
    comment = quote(document="comment:1", start=0, end=11, quote="maintainers")
    save(quoted, {"evidence": [comment]})
    Round.objects.update(masked_fields=["maintainer_comments"])
    assert list(errors_of(save, quoted, {"evidence": [comment, quote()]})) == ["evidence"]


def test_a_quote_needs_no_category_and_is_submitted_with_its_dimension(quoted):
    submission = submit(quoted, ANSWERS, evidence=[quote(), quote(category=None)])
    assert [
        (row.dimension.key, row.category and row.category.code) for row in submission.evidence.order_by("pk")
    ] == [
        ("symptom", "crash"),
        ("symptom", None),
    ]


@pytest.mark.parametrize(
    ("chosen", "category"),
    [(["hang"], "hang"), ({"state": "unclear"}, None), (["crash"], "crash")],
)
def test_a_quote_follows_the_answer_it_speaks_for(quoted, chosen, category):
    submit(quoted, ANSWERS, evidence=[quote()])
    save(quoted, {"annotations": {"symptom": chosen}}, version=state(quoted)["version"])
    assert [each["category"] for each in state(quoted)["evidence"]] == [category]
    row = submit(quoted, {}).evidence.get()
    assert (row.category and row.category.code) == category


def test_a_quote_given_after_its_answer_never_speaks_for_another_category(quoted):
    submission = submit(quoted, ANSWERS, evidence=[quote(category="hang")])
    assert submission.evidence.get().category.code == "crash"
    assert state(quoted)["evidence"][0]["category"] == "crash"


def test_quotes_that_come_to_say_the_same_are_one(quoted):
    submit(quoted, ANSWERS, evidence=[quote(), quote(category=None), quote()])
    save(quoted, {"annotations": {"symptom": ["hang"]}}, version=state(quoted)["version"])
    assert [each["category"] for each in state(quoted)["evidence"]] == ["hang", None]


# Submitting


def test_a_refused_hand_in_ends_no_exclusion(assignment):
    excluded = {"reason": "duplicate", "note": ""}
    submit(assignment, exclude=excluded)
    version = state(assignment)["version"]
    with pytest.raises(InvalidInputError):
        coding.save_and_submit(
            assignment=assignment, by=assignment.coder, changes={"exclude": None}, version=version
        )
    assert state(assignment)["exclude"] == excluded


def test_submitting_appends_what_was_said(assignment):
    submission = submit(assignment, ANSWERS, memo="done", confidence="high")
    said = {
        row.dimension.key: (row.state, sorted(each.category.code for each in row.chosen.all()))
        for row in submission.annotations.all()
    }
    assert said == {
        "symptom": ("coded", ["crash"]),
        "cause": ("coded", ["logic"]),
        "fix": ("coded", ["call", "condition"]),
    }
    assert (submission.n, submission.memo, submission.confidence) == (1, "done", "high")
    assert state(assignment)["status"] == "submitted"
    assert state(assignment)["submitted_at"] == submission.at


def test_a_required_dimension_without_an_answer_is_named(assignment):
    errors = errors_of(submit, assignment, {"symptom": ["crash"], "cause": {"state": "unclear"}})
    assert errors == {
        "annotations.fix": ["Choose categories, or none, for Fix, or say unclear or not applicable."]
    }
    assert state(assignment)["annotations"] == {}, "a refused submission changes nothing"


def test_an_empty_set_is_an_answer_to_a_multiple_choice(assignment):
    submission = submit(assignment, ANSWERS | {"fix": []})
    fix = submission.annotations.get(dimension__key="fix")
    assert (fix.state, fix.chosen.count()) == ("coded", 0)


def test_an_optional_dimension_may_stay_without_an_answer(study, ada):
    codebook = make_codebook(study)
    make_dimension(codebook, "note", kind="text", required=False)
    assignment = assignment_of(make_round(study, coders=[ada]), ada)
    assert not submit(assignment, ANSWERS).annotations.filter(dimension__key="note").exists()
    assert submit(assignment, {"note": {"text": "odd"}}).annotations.get(dimension__key="note").text == "odd"


def test_an_excluded_unit_needs_no_answers_and_hands_in_none(assignment):
    save(assignment, {"annotations": {"symptom": ["crash"]}})
    submission = submit(assignment, exclude={"reason": "duplicate", "note": "of #1"})
    assert (submission.exclude_reason, submission.exclude_note) == ("duplicate", "of #1")
    assert not submission.annotations.exists()
    assert state(assignment)["annotations"]["symptom"]["categories"] == ["crash"], "it stays in the draft"


def test_submitting_twice_is_one_submission(assignment):
    first = submit(assignment, ANSWERS)
    assert submit(assignment, ANSWERS) == first
    assert coding.submit(assignment=assignment, by=assignment.coder) == first
    assert Submission.objects.count() == 1


def test_an_edit_after_submitting_is_a_draft_beside_it_until_handed_in(assignment):
    submit(assignment, ANSWERS)
    save(assignment, {"annotations": {"symptom": ["hang"]}})
    assert (state(assignment)["changed"], state(assignment)["status"]) == (True, "draft")
    assert Annotation.objects.get(dimension__key="symptom").chosen.get().category.code == "crash"
    second = submit(assignment, {})
    assert (second.n, state(assignment)["changed"]) == (2, False)


def test_going_back_to_what_was_submitted_makes_no_new_submission(assignment):
    first = submit(assignment, ANSWERS)
    save(assignment, {"memo": "hm"})
    save(assignment, {"memo": ""})
    assert (state(assignment)["status"], state(assignment)["changed"]) == ("submitted", False)
    assert submit(assignment, {}) == first


def test_a_submission_without_a_draft_beside_it_can_be_edited(assignment):
    make_submission(assignment, {"fix": ["call", "rewrite"], "cause": "state:unclear"}, memo="imported")
    before = state(assignment)
    assert before["annotations"]["fix"]["categories"] == ["call", "rewrite"]
    assert before["annotations"]["cause"]["state"] == "unclear"
    save(assignment, {"memo": "edited"})
    assert state(assignment)["annotations"] == before["annotations"]


def test_submitting_asks_the_database_a_handful_of_times(assignment, django_assert_max_num_queries):
    assignment = loaded(assignment)
    with django_assert_max_num_queries(14):  # savepoint and event included
        coding.submit(assignment=assignment, by=assignment.coder, changes={"annotations": ANSWERS}, version=0)


# Conditions


@pytest.fixture
def conditional(study, ada):
    codebook = make_codebook(study)
    make_dimension(
        codebook, "signal", ["segv", "abort"], asked_if={"dimension": "symptom", "any_of": ["crash"]}
    )
    make_dimension(codebook, "depth", ["deep"], asked_if={"dimension": "signal", "any_of": ["segv"]})
    return assignment_of(make_round(study, coders=[ada]), ada)


def states(submission):
    return dict(submission.annotations.values_list("dimension__key", "state"))


def test_a_question_that_does_not_come_up_is_not_asked(conditional):
    submission = submit(conditional, ANSWERS | {"symptom": ["hang"]})
    assert states(submission)["signal"] == "not_asked"
    assert states(submission)["depth"] == "not_asked"


def test_unclear_on_the_parent_asks_nothing_further(conditional):
    assert states(submit(conditional, ANSWERS | {"symptom": {"state": "unclear"}}))["signal"] == "not_asked"


def test_a_question_that_comes_up_must_be_answered(conditional):
    assert list(errors_of(submit, conditional, ANSWERS)) == ["annotations.signal"]
    assert list(errors_of(submit, conditional, ANSWERS | {"signal": ["segv"]})) == ["annotations.depth"]
    assert states(submit(conditional, ANSWERS | {"signal": ["abort"]}))["depth"] == "not_asked"


def test_a_hidden_answer_stays_in_the_draft_and_comes_back(conditional):
    submit(conditional, ANSWERS | {"signal": ["segv"], "depth": ["deep"]})
    hidden = submit(conditional, {"symptom": ["hang"]})
    assert states(hidden)["signal"] == "not_asked"
    assert state(conditional)["annotations"]["signal"]["categories"] == ["segv"]
    assert states(submit(conditional, {"symptom": ["crash"]}))["depth"] == "coded"


# Stages


@pytest.fixture
def staged(study, ada):
    stages = [
        {"dimensions": ["symptom"], "reveals": []},
        {"dimensions": ["cause", "fix"], "reveals": ["fix"]},
    ]
    return assignment_of(make_round(study, coders=[ada], stages=stages), ada)


def test_handing_in_a_stage_locks_it_and_reveals_the_next(staged):
    assert list(errors_of(submit, staged, {})) == ["annotations.symptom"]
    assert submit(staged, {"symptom": ["crash"]}) is None
    assert (state(staged)["stage"], state(staged)["status"]) == (1, "draft")
    with pytest.raises(StudyRuleError, match="locked"):
        save(staged, {"annotations": {"symptom": ["hang"]}})
    assert submit(staged, {"cause": ["logic"], "fix": []}).n == 1
    assert not Submission.objects.filter(n=2).exists()


def test_a_second_click_on_a_stage_does_not_hand_in_the_next(staged):
    def click():
        changes = {"annotations": {"symptom": ["crash"]}}
        return coding.submit(assignment=staged, by=staged.coder, changes=changes, version=0)

    assert [click(), click()] == [None, None]
    assert state(staged)["stage"] == 1


def test_a_later_stage_cannot_be_answered_early(staged):
    with pytest.raises(StudyRuleError, match="later stage"):
        save(staged, {"annotations": {"cause": ["logic"]}})


def test_a_unit_can_be_excluded_at_any_stage(staged):
    assert submit(staged, exclude={"reason": "not a bug"}).exclude_reason == "not a bug"


# Skipping, returning, training


def test_skipped_units_come_back_once_when_all_others_are_done(coding_round, ada):
    first, second, third = (assignment_of(coding_round, ada, place) for place in range(3))
    coding.skip(assignment=first, by=ada)
    coding.skip(assignment=second, by=ada)
    assert next_assignment(ada, coding_round) == third
    submit(third, ANSWERS)
    assert next_assignment(ada, coding_round) == first
    coding.skip(assignment=first, by=ada)
    assert next_assignment(ada, coding_round) == second
    submit(second, ANSWERS)
    assert next_assignment(ada, coding_round) is None
    assert own_progress(ada, coding_round)["skipped"] == 1


def test_a_skipped_unit_keeps_what_was_typed_and_can_be_taken_up_again(assignment, ada):
    save(assignment, {"memo": "later"})
    coding.skip(assignment=assignment, by=ada)
    assert state(assignment)["status"] == "skipped"
    coding.resume(assignment=assignment, by=ada)
    assert (state(assignment)["status"], state(assignment)["memo"]) == ("draft", "later")


def test_a_submitted_unit_is_not_skipped(assignment, ada):
    submit(assignment, ANSWERS)
    with pytest.raises(StudyRuleError, match="submitted"):
        coding.skip(assignment=assignment, by=ada)


def test_a_returned_unit_comes_first_and_its_submission_stays(coding_round, assignment, ada):
    submit(assignment, ANSWERS)
    coding.return_assignment(
        assignment=assignment, reason="Look at the trace.", by=lead_of(coding_round.study)
    )
    assert next_assignment(ada, coding_round) == assignment
    assert own_progress(ada, coding_round)["submitted"] == 1
    save(assignment, {"memo": "looked"})
    assert (state(assignment)["status"], state(assignment)["changed"]) == ("returned", True)
    assert submit(assignment, {}).n == 2
    assert (state(assignment)["status"], state(assignment)["return_reason"]) == ("submitted", "")


def test_a_unit_is_returned_with_a_reason_and_only_when_submitted(assignment):
    lead = lead_of(assignment.round_unit.round.study)
    with pytest.raises(InvalidInputError):
        coding.return_assignment(assignment=assignment, reason=" ", by=lead)
    with pytest.raises(StudyRuleError, match="not submitted"):
        coding.return_assignment(assignment=assignment, reason="Look again.", by=lead)


def test_a_submission_in_training_is_final(study, ada):
    assignment = assignment_of(make_round(study, coders=[ada], kind="training"), ada)
    first = submit(assignment, ANSWERS)
    assert submit(assignment, ANSWERS) == first
    with pytest.raises(StudyRuleError, match="final"):
        save(assignment, {"annotations": {"symptom": ["hang"]}})


def test_a_withdrawn_unit_takes_nothing_more(assignment):
    Assignment.objects.filter(pk=assignment.pk).update(status="withdrawn")
    with pytest.raises(StudyRuleError, match="another coder"):
        save(assignment, {"memo": "x"}, version=0)


def test_a_group_codes_as_one_coder(study, ada, ben):
    group = make_member(study, kind=Membership.Kind.GROUP, title="Both")
    Membership.objects.filter(pk__in=[ada.pk, ben.pk]).update(group=group)
    ada.refresh_from_db()
    assignment = assignment_of(make_round(study, coders=[group]), group)
    coding.save_draft(assignment=assignment, changes={"memo": "together"}, version=0, by=ada)
    assert Assignment.objects.of_member(ben).exists() is False, "ben was loaded before"
    ben.refresh_from_db()
    assert Assignment.objects.of_member(ben).first() == assignment


def test_a_unit_of_a_round_that_was_taken_back_says_so(assignment):
    Assignment.objects.filter(pk=assignment.pk).delete()
    with pytest.raises(RoundStateError, match="taken back"):
        save(assignment, {"memo": "x"}, version=0)


# Time


def test_time_at_work_leaves_out_pauses(assignment):
    start = timezone.now()
    coding.open_assignment(assignment=assignment, now=start)
    coding.open_assignment(assignment=assignment, now=start + timedelta(seconds=90))
    coding.open_assignment(assignment=assignment, now=start + timedelta(seconds=90, minutes=3))
    assert Assignment.objects.get(pk=assignment.pk).active_seconds == 90


def test_opening_a_unit_is_noted_once(assignment):
    coding.open_assignment(assignment=assignment)
    opened = Assignment.objects.get(pk=assignment.pk).opened_at
    coding.open_assignment(assignment=Assignment.objects.get(pk=assignment.pk))
    assert Assignment.objects.get(pk=assignment.pk).opened_at == opened


# Proposed categories


def test_a_proposed_category_is_its_coders_alone(coding_round, ada, ben):
    proposal = coding.propose_category(
        coding_round=coding_round, by=ada, dimension="symptom", name="Wrong colour"
    )
    assert proposal.code == "wrong-colour"
    submission = submit(assignment_of(coding_round, ada), ANSWERS | {"symptom": ["wrong-colour"]})
    assert submission.annotations.get(dimension__key="symptom").chosen.get().proposal == proposal
    errors = errors_of(save, assignment_of(coding_round, ben), {"annotations": {"symptom": ["wrong-colour"]}})
    assert list(errors) == ["annotations.symptom"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"dimension": "colour"}, "dimension"),
        ({"name": " "}, "name"),
        ({"code": "a/b"}, "code"),
        ({"code": "unclear"}, "code"),
        ({"code": "crash"}, "code"),
        ({"parent": "nowhere"}, "parent"),
    ],
)
def test_a_proposal_that_makes_no_sense_is_refused_by_field(coding_round, ada, asked, field):
    proposal = {"coding_round": coding_round, "by": ada, "dimension": "symptom", "name": "New"} | asked
    assert field in errors_of(coding.propose_category, **proposal)


# Closing


def close(coding_round):
    Round.objects.filter(pk=coding_round.pk).update(state="closed", closed_at=timezone.now())


def test_what_comes_after_the_close_is_kept_and_does_not_count(assignment):
    submit(assignment, ANSWERS)
    close(assignment.round_unit.round)
    with pytest.raises(RoundStateError, match="late draft"):
        save(assignment, {"memo": "too late"})
    with pytest.raises(RoundStateError, match="late draft"):
        submit(assignment, {"symptom": ["hang"]})
    late = state(assignment)
    assert (late["memo"], late["status"], late["changed"]) == ("too late", "submitted", True)
    assert late["annotations"]["symptom"]["categories"] == ["hang"]
    assert Submission.objects.count() == 1


def test_nothing_is_coded_in_a_round_that_is_not_open(study, ada):
    coding_round = make_round(study, coders=[ada])
    assignment = assignment_of(coding_round, ada)
    Round.objects.filter(pk=coding_round.pk).update(state="draft")
    with pytest.raises(RoundStateError, match="not open"):
        save(assignment, {"memo": "x"}, version=0)


def in_threads(calls):
    """Run every call in a thread and on a connection of its own, at once; give what came out of each."""
    barrier = Barrier(len(calls))

    def run(call):
        try:
            barrier.wait()
            return call()
        except (RoundStateError, StaleVersionError, StudyRuleError) as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.mark.django_db(transaction=True)
def test_eight_clicks_on_submit_at_once_are_one_submission():
    coding_round = make_round()
    assignment = assignment_of(coding_round, coding_round.coders.first())

    def click():
        return coding.submit(
            assignment=assignment, by=assignment.coder, changes={"annotations": ANSWERS}, version=0
        )

    answers = in_threads([click] * 8)
    assert len(set(answers)) == 1
    assert Submission.objects.get() == answers[0]


@pytest.mark.django_db(transaction=True)
def test_windows_that_save_at_once_lose_no_field():
    coding_round = make_round()
    assignment = assignment_of(coding_round, coding_round.coders.first())
    changes = [
        {"memo": "m"},
        {"confidence": "low"},
        {"annotations": {"symptom": ["crash"]}},
        {"annotations": {"fix": []}},
    ]
    in_threads([lambda each=each: save(assignment, each, version=0) for each in changes])
    kept = state(assignment)
    assert (kept["version"], kept["memo"], kept["confidence"]) == (4, "m", "low")
    assert set(kept["annotations"]) == {"symptom", "fix"}
