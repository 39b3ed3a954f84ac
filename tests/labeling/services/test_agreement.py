"""Numbers of agreement are stored once, from answers that can no longer change."""

import subprocess
import sys

import pytest
from django.db import IntegrityError, transaction

from labeling import agreement_check
from labeling.errors import RoundStateError
from labeling.models import AgreementReport, CategoryProposal, Event, Job, Membership, Round, Study
from labeling.selectors.agreement import coding_pairs, readable_payload
from labeling.selectors.agreement_sections import compared_rounds
from labeling.services.agreement import mark_read, report_of, sentence_for_paper, store_agreement
from labeling.services.reconciliation import Answer, propose_decision
from labeling.tasks import breakdowns
from tests.factories import assignment_of, lead_of, make_member, make_study, make_submission
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

# Ada and Ben as in Cohen's example of two judges: 3 of 4 alike.
FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


def test_kappa_is_that_of_the_table():
    report = store_agreement(close(coded_round(FOUR), reconcile=False))
    (symptom,) = report.payload["dimensions"]
    # observed 3/4, expected 1/2 * 3/4 + 1/2 * 1/4 = 1/2
    assert symptom["observed"]["value"] == pytest.approx(0.75)
    assert symptom["kappa"]["value"] == pytest.approx(0.5)
    assert symptom["headline"] == "cohen_kappa"
    assert symptom["matrix"][0]["counts"][0][:2] == [2, 0]
    assert report.kind == AgreementReport.Kind.AS_CODED


def test_an_open_round_has_no_agreement():
    with pytest.raises(RoundStateError):
        report_of(coded_round(FOUR))
    with pytest.raises(RoundStateError):
        coding_pairs(coded_round(FOUR, study=make_study()))


def test_storing_twice_stores_once():
    coding_round = close(coded_round(FOUR), reconcile=False)
    assert store_agreement(coding_round) == store_agreement(Round.objects.get(pk=coding_round.pk))
    assert Event.objects.filter(verb="agreement.stored").count() == 1
    assert Job.objects.filter(kind=Job.Kind.CHECK_AGREEMENT, round=coding_round).count() == 1


def test_the_next_reader_stores_what_a_crash_left_out():
    coding_round = coded_round(FOUR)
    coding_round.move_to(Round.State.CLOSED)
    assert report_of(coding_round).payload["dimensions"]


def test_a_stored_payload_never_changes():
    report = store_agreement(close(coded_round(FOUR), reconcile=False))
    report.payload = {}
    with pytest.raises(IntegrityError), transaction.atomic():
        report.save()


def test_the_last_submission_counts():
    coding_round = coded_round(FOUR)
    make_submission(
        assignment_of(coding_round, coder_called(coding_round.study, "ben"), 3), {"symptom": "hang"}
    )
    (symptom,) = store_agreement(close(coding_round)).payload["dimensions"]
    assert symptom["observed"]["value"] == 1


def test_units_left_out_are_counted_by_reason():
    coding_round = coded_round(
        {
            "ada": ["crash", "-duplicate", "-duplicate", None, "crash"],
            "ben": ["crash", "crash", "-duplicate", "crash", "hang"],
        }
    )
    payload = store_agreement(close(coding_round)).payload
    refs = list(coding_round.round_units.order_by("pk").values_list("unit__ref", flat=True))
    (symptom,) = payload["dimensions"]
    assert (symptom["n_units"], symptom["n_both"]) == (5, 2)
    assert symptom["left_out"] == {"excluded_by_all": 1, "excluded_by_one": 1, "missing": 1}
    assert symptom["left_out_units"]["missing"] == [refs[3]]
    assert payload["eligibility"]["n_both"] == 4
    assert payload["eligibility"]["left_out"] == {"missing": 1}
    assert payload["eligibility"]["observed"]["value"] == pytest.approx(0.75)


def test_units_of_one_coder_are_left_out():
    coding_round = coded_round(FOUR)
    coding_round.round_units.first().assignments.first().delete()
    (symptom,) = store_agreement(close(coding_round)).payload["dimensions"]
    assert symptom["left_out"] == {"single": 1}


def test_reserved_states_count_as_categories_unless_the_study_says_otherwise():
    answers = {"ada": ["crash", "state:unclear", "hang"], "ben": ["crash", "state:unclear", "crash"]}
    (counted,) = store_agreement(close(coded_round(answers))).payload["dimensions"]
    assert (counted["n_both"], counted["k"]) == (3, 6)
    study = make_study(count_states=Study.CountStates.LEAVE_OUT)
    (left_out,) = store_agreement(close(coded_round(answers, study=study))).payload["dimensions"]
    assert (left_out["n_both"], left_out["k"]) == (2, 4)
    assert left_out["left_out"] == {"state": 1}


def test_another_way_to_count_states_is_a_second_report():
    answers = {"ada": ["crash", "state:unclear"], "ben": ["crash", "state:unclear"]}
    coding_round = close(coded_round(answers))
    report = report_of(coding_round, count_states="leave_out")
    assert report.kind == AgreementReport.Kind.POST_HOC
    assert report.payload["dimensions"][0]["n_both"] == 1
    assert store_agreement(coding_round).payload["dimensions"][0]["n_both"] == 2


def test_three_coders_lead_with_alpha():
    (symptom,) = store_agreement(close(coded_round(FOUR | {"cleo": ["crash"] * 4}))).payload["dimensions"]
    assert symptom["headline"] == "krippendorff_alpha_nominal"
    assert len(symptom["pairs"]) == 3
    assert symptom["kappa"] == {
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "method": None,
        "undefined": "per pair",
    }


def test_a_proposed_category_counts_as_its_own():
    coding_round = coded_round({"ada": ["crash", "crash"], "ben": ["crash", "crash"]})
    ada = coder_called(coding_round.study, "ada")
    dimension = coding_round.codebook.dimensions.get()
    proposal = CategoryProposal.objects.create(
        round=coding_round, dimension=dimension, by=ada, code="freeze", name="Freeze"
    )
    submission = make_submission(assignment_of(coding_round, ada), {"symptom": None})
    submission.annotations.create(dimension=dimension).chosen.create(proposal=proposal, exclusive=True)
    (symptom,) = store_agreement(close(coding_round, reconcile=False)).payload["dimensions"]
    assert symptom["categories"][4]["category"] == f"freeze~{ada.number}"
    assert symptom["observed"]["value"] == 0.5


def test_a_consensus_study_has_no_number_and_says_why():
    coding_round = coded_round(FOUR, study=make_study(consensus=True))
    (symptom,) = store_agreement(close(coding_round)).payload["dimensions"]
    assert symptom["headline"] is None
    assert "group" in symptom["undefined"]


def test_free_text_has_no_number_and_says_why():
    coding_round = coded_round(FOUR)
    coding_round.codebook.dimensions.update(kind="text")
    (symptom,) = store_agreement(close(coding_round, reconcile=False)).payload["dimensions"]
    assert "Free text" in symptom["undefined"]


def test_training_compares_each_coder_with_the_reference():
    study = make_study()
    known = make_member(study, user=None, kind=Membership.Kind.REFERENCE, title="Known answers")
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study, kind=Round.Kind.TRAINING)
    round_unit = coding_round.round_units.get()
    known.assignments.create(round_unit=round_unit, position=1)
    make_submission(known.assignments.get(), {"symptom": "crash"})
    report = store_agreement(close(coding_round))
    rows = [row for row in readable_payload(report)["dimensions"] if row["key"] == "symptom"]
    assert [row["coders"] for row in rows] == [["Known answers", "ada"], ["Known answers", "ben"]]
    assert [row["observed"]["value"] for row in rows] == [1, 0]


def test_a_retest_compares_a_coder_with_themself():
    first = close(coded_round(FOUR))
    units = [each.unit for each in first.round_units.order_by("pk")]
    again = coded_round(
        {"ada": ["crash", "hang", "hang", "hang"]},
        study=first.study,
        kind=Round.Kind.RETEST,
        based_on=first,
        units=units,
    )
    (symptom,) = store_agreement(close(again)).payload["dimensions"]
    number = coder_called(first.study, "ada").number
    assert symptom["coders"] == [f"coder {number} in round 1", f"coder {number} in round 2"]
    assert symptom["observed"]["value"] == 0.75


def test_a_round_after_unblinding_is_marked():
    coding_round = close(coded_round(FOUR, after_unblinding=True))
    assert store_agreement(coding_round).kind == AgreementReport.Kind.AFTER_UNBLINDING


def test_no_name_is_in_a_stored_report():
    report = store_agreement(close(coded_round(FOUR)))
    assert "ada" not in str(report.payload)
    assert readable_payload(report)["dimensions"][0]["coders"] == ["ada", "ben"]
    pseudonyms = [coder_called(report.round.study, name).pseudonym for name in ("ada", "ben")]
    assert readable_payload(report, pseudonyms=True)["dimensions"][0]["coders"] == pseudonyms


@pytest.mark.parametrize("scope", [scope for scope in AgreementReport.Scope.values if scope != "whole"])
def test_every_breakdown_is_stored_by_its_first_reader(scope):
    coding_round = close(coded_round(FOUR))
    groups = report_of(coding_round, scope=scope).payload["groups"]
    names = {
        "repository": ["octo/spoon"],
        "stratum": [""],
        "pair": ["coder 2 / coder 3"],
        "level": ["level 1", "reasons"],
    }
    if scope == "category":
        assert groups[0]["name"] == "symptom: crash"
        assert groups[0]["dimensions"][0]["kappa"]["value"] == pytest.approx(0.5)
    else:
        assert [group["name"] for group in groups] == names[scope]


def test_the_number_of_queries_does_not_grow_with_the_round(django_assert_num_queries):
    small = close(coded_round(FOUR))
    large = close(coded_round({name: said * 5 for name, said in FOUR.items()}))
    with django_assert_num_queries(10):
        coding_pairs(small)
    with django_assert_num_queries(10):
        coding_pairs(large)


def test_the_first_reader_is_remembered():
    coding_round = close(coded_round(FOUR))
    mark_read(coding_round, lead_of(coding_round.study))
    mark_read(coding_round)
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None
    assert Event.objects.get(verb="round.first_read").by == lead_of(coding_round.study)


# The second check


def test_scikit_learn_agrees_with_every_stored_kappa():
    answers = {"ada": ["crash", "hang", "state:unclear", "crash"], "ben": ["crash", "crash", "hang", "hang"]}
    coding_round = close(coded_round(answers | {"cleo": ["hang", "hang", "hang", "crash"]}))
    (report,) = agreement_check.check_round(coding_round)
    assert report.checked_at is not None
    assert report.check_problem == ""
    assert agreement_check.check_round(coding_round) == []


def test_scikit_learn_agrees_that_a_kappa_is_undefined():
    coding_round = close(coded_round({"ada": ["crash"] * 3, "ben": ["crash"] * 3}))
    (report,) = agreement_check.check_round(coding_round)
    assert report.payload["dimensions"][0]["kappa"]["value"] is None
    assert report.check_problem == ""


def test_a_wrong_stored_kappa_is_noted():
    coding_round = coded_round(FOUR)
    coding_round.move_to(Round.State.CLOSED)
    good = report_of(coding_round, count_states="leave_out").payload
    good["dimensions"][0]["pairs"][0]["kappa"]["value"] = 0.6
    wrong = AgreementReport.objects.create(
        round=coding_round, software_version="another", payload=good, kind=AgreementReport.Kind.AS_CODED
    )
    assert "stored 0.6, scikit-learn gives 0.5" in agreement_check.check_agreement(wrong).check_problem


def test_storing_agreement_loads_no_scikit_learn():
    code = (
        "import django, sys; django.setup();"
        "import labeling.services.agreement, labeling.services.reconciliation;"
        "sys.exit('sklearn' in sys.modules)"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": ""}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


# The sentence for the paper


def test_the_sentence_says_who_what_and_how():
    coding_round = close(coded_round(FOUR))
    paper = sentence_for_paper(store_agreement(coding_round))
    assert paper.text.startswith(
        "Two coders independently labelled 4 issues. Before discussion, Cohen's κ was 0.50"
    )
    assert "for symptom." in paper.text
    assert "unclear and not applicable counted as categories" in paper.text
    assert "excluded the coders agreed for 100.00% of the issues." in paper.text
    assert "Disagreements (on 1 issue) were resolved by discussion." in paper.text
    assert paper.caution.startswith("Open: 1 of 1 issue.")


def test_the_sentence_is_true_once_everything_is_decided():
    coding_round = close(coded_round(FOUR))
    round_unit = coding_round.round_units.order_by("pk")[3]
    for name in ("ada", "ben"):
        propose_decision(
            round_unit=round_unit,
            dimension="symptom",
            by=coder_called(coding_round.study, name),
            answer=Answer(categories=("hang",)),
        )
    assert sentence_for_paper(store_agreement(coding_round)).caution == ""


def test_an_undefined_kappa_is_said_to_be_undefined():
    coding_round = close(coded_round({"ada": ["crash"] * 3, "ben": ["crash"] * 3}))
    text = sentence_for_paper(store_agreement(coding_round)).text
    assert (
        "For symptom the coefficient is undefined because one single label occurred (100.00% agreement"
        in text
    )


# Breakdowns, stored by a worker


def test_a_worker_stores_the_breakdowns_once_the_round_is_closed():
    coding_round = close(coded_round(FOUR))
    job = Job.objects.get(kind=Job.Kind.BREAKDOWNS, round=coding_round)
    breakdowns(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    scopes = set(coding_round.agreement_reports.values_list("scope", flat=True))
    assert scopes == {"whole", "repository", "stratum", "level"}
    breakdowns(job.pk)
    assert coding_round.agreement_reports.count() == 4


def test_breakdowns_of_a_round_that_was_opened_again_are_left_alone():
    coding_round = close(coded_round(FOUR), reconcile=False)
    job = Job.objects.get(kind=Job.Kind.BREAKDOWNS, round=coding_round)
    coding_round.agreement_reports.all().delete()
    coding_round.move_to(Round.State.OPEN)
    breakdowns(job.pk)
    assert not coding_round.agreement_reports.exists()


# What a closed round is compared by


def test_units_are_clustered_by_repository_and_held_against_the_goal():
    coding_round = close(coded_round(FOUR, goal=0.8))
    eligibility, symptom = coding_pairs(coding_round)
    unit = coding_round.round_units.first().unit
    assert symptom.clusters[unit.ref] == unit.issue.repository
    assert (symptom.goal, eligibility.goal) == (0.8, 0.7)
    assert coding_pairs(close(coded_round(FOUR)))[1].goal == 0.7


def test_two_rounds_on_the_same_units_are_resampled_together():
    first = close(coded_round(FOUR))
    units = [each.unit for each in first.round_units.order_by("pk")]
    second = close(coded_round({"ada": FOUR["ada"], "ben": FOUR["ada"]}, study=first.study, units=units))
    eligibility, symptom = compared_rounds(first, second)
    assert eligibility.key == "eligibility"
    assert (symptom.shared, symptom.n_first, symptom.n_second) == (4, 4, 4)
    assert symptom.difference.value == pytest.approx(0.5)
