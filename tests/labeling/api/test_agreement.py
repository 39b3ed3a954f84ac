"""Agreement over the API."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from tests.factories import lead_of, make_member, make_round, make_study
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


def ask(user, coding_round, **query):
    client = APIClient()
    client.force_authenticate(user)
    return client.get(reverse("api:agreement", args=[coding_round.pk]), query)


def lead_asks(coding_round, **query):
    return ask(lead_of(coding_round.study).user, coding_round, **query)


def test_a_closed_round_gives_its_numbers_and_is_read_from_then_on():
    coding_round = close(coded_round(FOUR))
    answer = lead_asks(coding_round).json()
    (symptom,) = answer["dimensions"]
    assert symptom["kappa"]["value"] == pytest.approx(0.5)
    assert (answer["round"], answer["kind"]) == (coding_round.number, "as_coded")
    assert answer["eligibility"]["key"] == "eligibility"
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None


def test_an_open_round_has_no_agreement():
    coding_round = coded_round(FOUR)
    assert lead_asks(coding_round).status_code == 409
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is None


def test_who_did_not_code_in_the_round_is_refused_and_an_outsider_finds_nothing():
    coding_round = close(coded_round(FOUR))
    ada = coder_called(coding_round.study, "ada")
    assert ask(ada.user, coding_round).status_code == 200
    assert ask(make_member(coding_round.study).user, coding_round).status_code == 403
    assert ask(lead_of(make_study()).user, coding_round).status_code == 404


def test_breakdowns_come_on_request():
    coding_round = close(coded_round(FOUR))
    answer = lead_asks(coding_round, by="pair,level").json()
    assert [group["name"] for group in answer["by"]["pair"]] == ["ada / ben"]
    assert [group["name"] for group in answer["by"]["level"]] == ["level 1", "reasons"]


def test_another_way_to_count_states_is_marked_post_hoc():
    answers = {"ada": ["crash", "state:unclear"], "ben": ["crash", "state:unclear"]}
    answer = lead_asks(close(coded_round(answers)), count_states="leave_out").json()
    assert answer["kind"] == "post_hoc"
    assert answer["dimensions"][0]["left_out"] == {"state": 1}


@pytest.mark.parametrize("query", [{"by": "colour"}, {"count_states": "maybe"}])
def test_an_unknown_choice_is_refused(query):
    answer = lead_asks(close(coded_round(FOUR)), **query)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == list(query)


def test_units_the_caller_codes_again_are_not_named():
    coding_round = close(coded_round({"ada": ["crash", "-duplicate"], "ben": ["crash", "crash"]}))
    ada = coder_called(coding_round.study, "ada")
    unit = coding_round.round_units.order_by("pk")[1].unit

    def left_out():
        return ask(ada.user, coding_round).json()["dimensions"][0]

    assert left_out()["left_out_units"] == {"excluded_by_one": [unit.ref]}
    make_round(coding_round.study, coders=[ada], units=[unit])
    assert left_out()["left_out_units"] == {"excluded_by_one": []}
    assert left_out()["left_out"] == {"excluded_by_one": 1}


def test_two_rounds_are_compared_by_number():
    first = close(coded_round(FOUR))
    answers = {"ada": ["crash", "hang"] * 10, "ben": ["crash", "hang"] * 9 + ["hang", "hang"]}
    second = close(coded_round(answers, study=first.study))
    refused = lead_asks(second, against=first.number)
    assert refused.status_code == 422
    assert "none so far" in refused.json()["errors"]["against"][0]
    lead_asks(first)
    comparison = lead_asks(second, against=first.number).json()["comparison"]
    assert (comparison["before"], comparison["after"]) == (first.number, second.number)
    symptom = comparison["dimensions"][1]
    assert (symptom["before"], symptom["n_before"], symptom["n_after"]) == (pytest.approx(0.5), 4, 20)
    difference = symptom["difference"]
    assert difference["value"] == pytest.approx(symptom["after"] - 0.5)
    assert difference["ci_low"] < difference["value"] < difference["ci_high"]
    assert lead_asks(first, against=second.number).json()["comparison"] == comparison
