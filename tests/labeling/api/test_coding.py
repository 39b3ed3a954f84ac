import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Submission
from labeling.services.rounds import close_round
from tests.factories import assignment_of, lead_of, make_member, make_round, make_study

pytestmark = pytest.mark.django_db

ANSWERS = {"symptom": ["crash"], "cause": {"categories": ["logic"]}, "fix": ["call", "rewrite"]}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def coders(study):
    return [make_member(study, user="ada"), make_member(study, user="ben")]


@pytest.fixture
def coding_round(study, coders):
    return make_round(study, state="open", coders=coders, units=3)


def client_of(member):
    client = APIClient()
    client.force_authenticate(member.user)
    return client


@pytest.fixture
def ada(coders):
    return client_of(coders[0])


def address(coding_round, coder, unit=0):
    return reverse("api:assignment-detail", args=[assignment_of(coding_round, coder, unit).pk])


def test_a_coder_works_through_the_queue(ada, coding_round, coders):
    seen = []
    while (following := ada.get(reverse("api:queue-next", args=[coding_round.pk]))).status_code == 200:
        seen.append(following.data["unit"]["ref"])
        assert following.data["issue"]["title"]
        url = reverse("api:assignment-detail", args=[following.data["id"]])
        body = {"version": following.data["version"], "annotations": ANSWERS, "status": "submitted"}
        saved = ada.patch(url, body)
        assert (saved.status_code, saved.data["status"]) == (200, "submitted")
        assert saved.data["annotations"]["fix"]["categories"] == ["call", "rewrite"]
    assert following.status_code == 204
    queue = ada.get(reverse("api:queue", args=[coding_round.pk])).data["results"]
    assert [row["unit"]["ref"] for row in queue] == seen
    assert Submission.objects.count() == 3


def test_a_queue_is_narrowed_to_what_was_changed_after_it_was_submitted(ada, coding_round, coders):
    def changed():
        answer = ada.get(reverse("api:queue", args=[coding_round.pk]), {"status": "changed"})
        return [row["id"] for row in answer.data["results"]]

    own = assignment_of(coding_round, coders[0])
    url = reverse("api:assignment-detail", args=[own.pk])
    version = ada.patch(url, {"version": 0, "annotations": ANSWERS, "status": "submitted"}).data["version"]
    assert changed() == []
    version = ada.patch(url, {"version": version, "memo": "On second thoughts"}).data["version"]
    assert changed() == [own.pk]
    ada.patch(url, {"version": version, "status": "submitted"})
    assert changed() == []


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"status": "done"}, "There is no status done here. Choose one of todo, draft"),
        ({"dimension": "colour"}, "There is no dimension colour here. Choose one of symptom"),
        ({"category": "red"}, "There is no category red here. Choose one of "),
        ({"dimension": "fix", "category": "crash"}, "There is no category crash here. Choose one of "),
        ({"page_size": "abc"}, "Give a number from 1 to 500."),
        ({"page_size": "0"}, "Give a number from 1 to 500."),
        ({"page_size": "-3"}, "Give a number from 1 to 500."),
    ],
)
def test_a_filter_of_the_queue_that_means_nothing_is_refused(ada, coding_round, asked, sentence):
    answer = ada.get(reverse("api:queue", args=[coding_round.pk]), asked)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]


def test_a_patch_carries_changed_fields_and_two_windows_merge(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    first = ada.patch(url, {"version": 0, "annotations": {"symptom": ["crash"]}})
    second = ada.patch(url, {"version": 0, "memo": "from another window"})
    assert (first.data["version"], second.data["version"]) == (1, 2)
    state = ada.get(url).data
    assert (state["annotations"]["symptom"]["categories"], state["memo"]) == (
        ["crash"],
        "from another window",
    )


def test_a_field_changed_elsewhere_comes_back_with_both_versions(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    ada.patch(url, {"version": 0, "memo": "first"})
    refused = ada.patch(url, {"version": 0, "memo": "second", "confidence": "high"})
    assert refused.status_code == 409
    conflict = refused.json()["conflicts"]["memo"]
    assert (conflict["yours"], conflict["theirs"]) == ("second", "first")
    assert ada.get(url).data["confidence"] == ""


def test_a_put_needs_the_current_version_and_empties_what_it_leaves_out(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    ada.patch(url, {"version": 0, "annotations": ANSWERS, "memo": "x"})
    assert ada.put(url, {"version": 0, "memo": "y"}).status_code == 409
    put = ada.put(url, {"version": 1, "annotations": {"symptom": ["hang"]}})
    assert put.status_code == 200
    assert set(put.data["annotations"]) == {"symptom"}
    assert put.data["memo"] == ""


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"annotations": {"symptom": ["nope"]}}, "annotations.symptom"),
        ({"annotations": {"symptom": ["crash", "hang"]}}, "annotations.symptom"),
        ({"annotations": {"nope": ["crash"]}}, "annotations.nope"),
        ({"annotations": {"symptom": {"state": "coded", "categories": "crash"}}}, "annotations.symptom"),
        ({"confidence": "very"}, "confidence"),
        ({"exclude": {"reason": "because"}}, "exclude"),
        (
            {
                "evidence": [
                    {"dimension": "symptom", "document": "body", "start": 0, "end": 3, "quote": "xxx"}
                ]
            },
            "evidence",
        ),
        ({"colour": "red"}, "colour"),
        ({"version": 99, "memo": "x"}, "version"),
        ({"status": "submitted"}, "annotations.symptom"),
    ],
)
def test_bad_input_is_told_by_field_and_changes_nothing(ada, coding_round, coders, body, field):
    url = address(coding_round, coders[0])
    refused = ada.patch(url, {"version": 0} | body)
    assert refused.status_code == 422
    assert field in refused.json()["errors"]
    assert ada.get(url).data["version"] == 0


def test_what_was_saved_stays_when_handing_in_is_refused(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    refused = ada.patch(url, {"version": 0, "annotations": {"symptom": ["crash"]}, "status": "submitted"})
    assert refused.status_code == 422
    assert ada.get(url).data["annotations"]["symptom"]["categories"] == ["crash"]


def test_excluded_skipped_and_resumed(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    assert ada.patch(url, {"version": 0, "status": "skipped"}).data["status"] == "skipped"
    assert ada.patch(url, {"version": 0, "status": "draft"}).data["status"] == "todo"
    reason = coding_round.study.exclusion_reasons[0]
    excluded = ada.patch(url, {"version": 0, "exclude": {"reason": reason}, "status": "submitted"})
    assert (excluded.data["status"], excluded.data["exclude"]["reason"]) == ("submitted", reason)


def test_nobody_opens_the_assignment_of_another(coding_round, coders, study):
    url = address(coding_round, coders[0])
    for member in (coders[1], lead_of(study), make_member(study, role="observer")):
        client = client_of(member)
        assert client.get(url).status_code == 404
        assert client.patch(url, {"version": 0, "memo": "x"}).status_code == 404


def test_a_lead_returns_a_unit_without_seeing_the_answer(ada, coding_round, coders, study):
    assignment = assignment_of(coding_round, coders[0])
    url, act = address(coding_round, coders[0]), reverse("api:assignment-return", args=[assignment.pk])
    ada.patch(url, {"version": 0, "annotations": ANSWERS, "status": "submitted"})
    lead = client_of(lead_of(study))
    assert lead.post(act, {"reason": ""}).status_code == 422
    returned = lead.post(act, {"reason": "Look at the second comment."})
    assert (returned.status_code, returned.content) == (204, b"")
    state = ada.get(url).data
    assert (state["status"], state["return_reason"]) == ("returned", "Look at the second comment.")
    assert client_of(coders[1]).post(act, {"reason": "x"}).status_code == 403


def test_work_after_the_close_is_kept_and_refused(ada, coding_round, coders, study):
    close_round(coding_round=coding_round, missing="accept", by=lead_of(study))
    late = ada.patch(address(coding_round, coders[0]), {"version": 0, "memo": "too late"})
    assert late.status_code == 409
    assert "late draft" in late.json()["detail"]


def test_saving_and_the_next_unit_cost_a_fixed_number_of_queries(
    ada, coding_round, coders, django_assert_max_num_queries
):
    url = address(coding_round, coders[0])
    ada.get(url)
    with django_assert_max_num_queries(17):
        ada.patch(url, {"version": 0, "annotations": {"symptom": ["crash"]}})
    with django_assert_max_num_queries(30):
        ada.patch(url, {"version": 1, "annotations": ANSWERS, "status": "submitted"})
    with django_assert_max_num_queries(10):
        ada.get(reverse("api:queue-next", args=[coding_round.pk]))


def test_handing_in_costs_few_queries(ada, coding_round, coders, django_assert_max_num_queries):
    url = address(coding_round, coders[0])
    body = {"version": 0, "annotations": ANSWERS, "status": "submitted"}
    with django_assert_max_num_queries(15):
        answer = ada.patch(url, body, format="json")
    assert answer.data["status"] == "submitted"
    assert answer.data["submitted_at"] is not None


def test_what_cannot_be_handed_in_yet_is_kept_as_a_draft(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    body = {"version": 0, "annotations": {"symptom": ["crash"]}, "status": "submitted"}
    assert ada.patch(url, body, format="json").status_code == 422
    kept = ada.get(url).data
    assert (kept["status"], kept["annotations"]["symptom"]["categories"]) == ("draft", ["crash"])


def test_json_without_an_end_to_its_nesting_is_refused(ada, coding_round, coders):
    url = address(coding_round, coders[0])
    answer = ada.patch(url, "[" * 100_000, content_type="application/json")
    assert (answer.status_code, answer.data["detail"]) == (400, "The JSON is nested too deeply.")
