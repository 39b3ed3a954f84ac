"""What no database stores is told to the sender, whatever the endpoint."""

import json

import pytest
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from labeling.api.parsers import misfit
from tests.factories import assignment_of, lead_of, make_round, make_study

pytestmark = pytest.mark.django_db

HALF = "\ud800"
HUGE = 10**30


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def coding_round(study):
    return make_round(study, state="open", coders=[lead_of(study)], units=1)


@pytest.fixture
def lead(study):
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(lead_of(study).user)
    return client


def addresses(study, coding_round):
    return {
        "assignment-detail": [assignment_of(coding_round, lead_of(study)).pk],
        "inbox-read": [],
        "round-units": [coding_round.pk],
        "round-redeal": [coding_round.pk],
    }


@pytest.mark.parametrize(
    ("method", "name", "body", "field"),
    [
        (
            "patch",
            "assignment-detail",
            {"version": 0, "annotations": {"symptom": [f"x{HALF}"]}},
            "annotations",
        ),
        ("patch", "assignment-detail", {"version": 0, "annotations": {f"symptom{HALF}": []}}, "annotations"),
        ("patch", "assignment-detail", {"version": 0, "annotations": {"symptom": ["\0"]}}, "annotations"),
        ("put", "rule-list", {"rules": [{"field": "state", "op": "is", "value": HALF}]}, "rules"),
        ("post", "round-list", {"coders": [HALF]}, "coders"),
        ("post", "round-list", {"coders": [HUGE]}, "coders"),
        ("post", "round-redeal", {"from": HALF}, "from"),
        ("post", "round-units", {"units": [10**19]}, "units"),
        ("post", "issue-eligibility", {"issues": [HALF], "eligible": True}, "issues"),
        ("post", "issue-eligibility", {"issues": [HUGE], "eligible": True}, "issues"),
        ("post", "sample-list", {"method": "random", "filters": {"search": HALF}}, "filters"),
        ("post", "inbox-read", {"ids": [HUGE]}, "ids"),
        ("post", "inbox-read", {f"x{HALF}": 1}, "x\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_field(lead, study, coding_round, method, name, body, field):
    address = reverse(f"api:{name}", args=addresses(study, coding_round).get(name, [study.slug]))
    answer = getattr(lead, method)(address, json.dumps(body), content_type="application/json")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert answer.json()["detail"].startswith(("The text holds NUL", "The number is out of range"))


@pytest.mark.parametrize(
    "address", ["rounds/99999999999999999999/", "jobs/²/", "jobs/99999999999999999999/", "nowhere/"]
)
def test_an_address_no_row_can_have_is_not_found(lead, address):
    answer = lead.get(f"/api/v1/{address}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_the_schema_says_what_a_body_means_and_nothing_of_how_it_is_read():
    schemas = SchemaGenerator().get_schema(public=True)["components"]["schemas"]
    assert "unknown" not in json.dumps([each.get("description") for each in schemas.values()])
    quote = schemas["EvidenceInputRequest"]["properties"]
    assert all(quote[name]["description"] for name in ("document", "start", "end", "quote"))
    assert "more" in schemas["TopUpInputRequest"]["properties"]["size"]["description"]


def test_the_outermost_numbers_a_column_holds_are_taken():
    assert misfit([-(2**63), 2**63 - 1, True, None, 0.5, {"\N{GRINNING FACE}": []}]) == ""
    assert all(misfit(beyond) for beyond in (-(2**63) - 1, 2**63, float("inf"), float("nan")))
