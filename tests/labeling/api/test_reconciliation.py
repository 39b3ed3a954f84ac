import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import AgreementReport, Round
from labeling.services.rounds import close_round
from tests.factories import assignment_of, lead_of, make_member, make_round, make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def coders(study):
    return [make_member(study, user="ada"), make_member(study, user="ben")]


@pytest.fixture
def running(study, coders):
    coding_round = make_round(study, state="open", coders=coders, units=3)
    for coder, cause in zip(coders, ("logic", "config"), strict=True):
        for unit, said in enumerate((cause, "logic", "config")):
            answers = {"symptom": "crash", "cause": said, "fix": ["call"]}
            make_submission(assignment_of(coding_round, coder, unit), answers=answers)
    return coding_round


@pytest.fixture
def closed(running, study):
    return close_round(coding_round=running, missing="refuse", by=lead_of(study))


def client_of(member):
    client = APIClient()
    client.force_authenticate(member.user)
    return client


def first_unit(closed):
    return closed.round_units.order_by("pk").first().unit_id


def where(closed, name="decision-detail", dimension="cause"):
    return reverse(f"api:{name}", args=[closed.pk, first_unit(closed), dimension])


def test_disagreements_are_listed_with_every_answer(closed, coders):
    listing = reverse("api:disagreement-list", args=[closed.pk])
    (row,) = client_of(coders[0]).get(listing, {"type": "disagreed", "dimension": "cause"}).data["results"]
    assert [each["categories"] for each in row["answers"]] in (
        [("logic",), ("config",)],
        [["logic"], ["config"]],
    )
    assert (row["decision"], row["version"], row["cell"]) == (None, 0, "config|logic")
    assert client_of(coders[0]).get(listing, {"dimension": "symptom"}).data["results"] == []


def test_rows_of_type_disagreed_are_what_agreement_misses(closed, coders):
    payload = AgreementReport.objects.get(round=closed).payload
    listing = reverse("api:disagreement-list", args=[closed.pk])
    for row in payload["dimensions"]:
        rows = client_of(coders[0]).get(listing, {"type": "disagreed", "dimension": row["key"]})
        assert len(rows.data["results"]) == round(row["n_both"] * (1 - row["observed"]["value"]))


@pytest.mark.parametrize("query", [{"type": "odd"}, {"decided": "maybe"}, {"pair": "1"}, {"pair": "a,b"}])
def test_odd_filters_are_told(closed, coders, query):
    listing = reverse("api:disagreement-list", args=[closed.pk])
    assert client_of(coders[0]).get(listing, query).status_code == 422


def test_an_open_round_is_refused_with_a_sentence(running, coders):
    client = client_of(coders[0])
    for name in ("disagreement-list", "agreement"):
        refused = client.get(reverse(f"api:{name}", args=[running.pk]))
        assert refused.status_code == 409
        assert "once it is closed" in refused.json()["detail"]
    comments = reverse("api:comment-list", args=[running.pk, first_unit(running)])
    assert client.post(comments, {"text": "psst"}).status_code == 409


def test_equal_proposals_decide(closed, coders):
    body = {"categories": ["config"], "rationale": "The flag was wrong."}
    first = client_of(coders[0]).post(where(closed, "decision-proposals"), body)
    second = client_of(coders[1]).post(where(closed, "decision-proposals"), body)
    assert (first.status_code, first.data["decision"]) == (201, None)
    assert second.data["decision"]["how"] == "discussed"
    assert second.data["version"] == 1


def test_a_lead_records_and_a_stale_version_is_refused(closed, study, coders):
    lead = client_of(lead_of(study))
    body = {"categories": ["logic"], "rationale": "Seen together.", "version": 0}
    recorded = lead.put(where(closed), body)
    assert recorded.data["decision"]["recorded_by"] == lead_of(study).name
    stale = lead.put(where(closed), body | {"categories": ["config"]})
    assert stale.status_code == 409
    assert stale.json()["conflicts"]["decision"]["theirs"]["categories"] == ["logic"]
    assert lead.put(where(closed), {"version": 1}).status_code == 422
    reopened = lead.post(where(closed, "decision-reopen"), {"reason": "Overlooked a comment."})
    assert reopened.data["decision"] is None


def test_a_coder_records_nothing_and_an_outsider_knows_nothing(closed, coders):
    body = {"categories": ["logic"], "version": 0}
    assert client_of(coders[0]).put(where(closed), body).status_code == 403
    outsider = client_of(lead_of(make_study()))
    assert outsider.get(where(closed)).status_code == 404


def test_an_earlier_decision_is_told_with_why_it_was_reopened(closed, study):
    lead = client_of(lead_of(study))
    lead.put(where(closed), {"categories": ["logic"], "version": 0}, format="json")
    lead.post(where(closed, "decision-reopen"), {"reason": "Overlooked"}, format="json")
    (earlier,) = lead.get(where(closed)).json()["earlier"]
    assert (earlier["said"]["categories"], earlier["reason"]) == (["logic"], "Overlooked")
    assert earlier["decided_by"] == earlier["reopened_by"] == lead_of(study).name


def test_a_cell_is_decided_at_once(closed, study):
    bulk = reverse("api:decision-bulk", args=[closed.pk])
    body = {"dimension": "cause", "cell": "config|logic", "categories": ["config"], "rationale": "All alike."}
    lead = client_of(lead_of(study))
    assert lead.post(bulk, body).data == {"decided": 1}
    assert lead.post(bulk, body).status_code == 409


def test_nothing_here_changes_the_report(closed, study, coders):
    agreement = reverse("api:agreement", args=[closed.pk])
    client = client_of(coders[0])
    before = client.get(agreement).content
    client_of(lead_of(study)).put(where(closed), {"categories": ["config"], "version": 0})
    client.post(reverse("api:comment-list", args=[closed.pk, first_unit(closed)]), {"text": "Hm."})
    assert client.get(agreement).content == before


def test_agreement_is_served_with_breakdowns(closed, coders):
    client = client_of(coders[0])
    answer = client.get(reverse("api:agreement", args=[closed.pk]), {"by": "repository,pair"})
    assert [row["key"] for row in answer.data["dimensions"]] == ["symptom", "cause", "fix"]
    assert set(answer.data["by"]) == {"repository", "pair"}
    assert answer.data["eligibility"]["n_both"] == 3
    assert client.get(reverse("api:agreement", args=[closed.pk]), {"by": "moon"}).status_code == 422
    assert Round.objects.get(pk=closed.pk).first_unblinded_read_at is not None


def test_a_coder_of_another_round_reads_no_agreement(closed, study):
    assert client_of(make_member(study)).get(reverse("api:agreement", args=[closed.pk])).status_code == 403


def test_an_anonymous_round_tells_nobody_who_is_who(closed, study, coders):
    Round.objects.filter(pk=closed.pk).update(anonymous=True)
    ada, adjudicator = client_of(coders[0]), client_of(make_member(study, role="adjudicator"))
    ada.post(where(closed, "decision-proposals"), {"categories": ["logic"], "escalate": True}, format="json")
    ada.post(reverse("api:comment-list", args=[closed.pk, first_unit(closed)]), {"text": "Line 3?"})
    addresses = {
        reverse("api:disagreement-list", args=[closed.pk]): adjudicator,
        where(closed): adjudicator,
        reverse("api:comment-list", args=[closed.pk, first_unit(closed)]): adjudicator,
        reverse("api:event-list", args=[study.slug]) + "?page_size=5": client_of(lead_of(study)),
    }
    for address, client in addresses.items():
        body = client.get(address).content.decode()
        for coder in coders:
            assert coder.name not in body, address
            assert f'"{coder.pseudonym}"' not in body, address
            assert f'"member":{coder.pk}' not in body, address
    item = adjudicator.get(where(closed)).json()
    of_ada = next(each["letter"] for each in item["answers"] if each["categories"] == ["logic"])
    assert [each["letter"] for each in item["answers"]] == ["A", "B"]
    assert item["proposals"][0]["by"] == f"Coder {of_ada}"


def test_a_choice_of_any_number_is_decided_category_by_category(study, coders):
    coding_round = make_round(study, state="open", coders=coders, units=1)
    for coder, fixes in zip(coders, (["call", "condition"], ["call", "rewrite"]), strict=True):
        answers = {"symptom": "crash", "cause": "logic", "fix": fixes}
        make_submission(assignment_of(coding_round, coder), answers=answers)
    closed, lead = close_round(coding_round=coding_round, missing="refuse", by=lead_of(study)), lead_of(study)
    address = where(closed, dimension="fix")
    item = client_of(lead).get(address).json()
    assert item["shared"] == ["call"]
    assert [(each["category"], each["chosen_by"]) for each in item["contested"]] == [
        ("condition", ["A"]),
        ("rewrite", ["B"]),
    ]
    body = {"choose": {"condition": True}, "version": 0}
    refused = client_of(lead).put(address, body, format="json")
    assert (refused.status_code, "Left: rewrite" in str(refused.json()["errors"])) == (422, True)
    both = body | {"categories": ["call"]}
    assert client_of(lead).put(address, both, format="json").status_code == 422
    proposals, choices = where(closed, "decision-proposals", dimension="fix"), {"condition": True}
    for member, more in zip(coders, ({"rewrite": False}, {"rewrite": False, "call": True}), strict=True):
        said = client_of(member).post(proposals, {"choose": choices | more}, format="json").json()
    assert said["decision"]["categories"] == ["call", "condition"]
    assert said["decision"]["how"] == "discussed"
