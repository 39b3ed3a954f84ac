"""Files of a study over the API."""

import csv
import io

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Role
from tests.factories import lead_of, make_member, make_round, make_study
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


@pytest.fixture
def study():
    return close(coded_round(FOUR)).study


def ask(user, study, name, *, headers=None, **query):
    client = APIClient()
    client.force_authenticate(user)
    return client.get(reverse("api:export-file", args=[study.slug, name]), query, headers=headers)


def rows_of(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def test_the_address_is_that_of_the_contract(study):
    expected = f"/api/v1/studies/{study.slug}/exports/labels.csv"
    assert reverse("api:export-file", args=[study.slug, "labels.csv"]) == expected


@pytest.mark.parametrize("accept", ["*/*", "text/csv", "application/json"])
def test_a_file_is_streamed_whatever_the_caller_accepts(study, accept):
    response = ask(lead_of(study).user, study, "agreement.csv", headers={"Accept": accept})
    assert response.status_code == 200
    assert response.streaming
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    kappa = next(
        row
        for row in rows_of(response)
        if (row["dimension"], row["scope"], row["statistic"]) == ("symptom", "whole", "cohen_kappa")
    )
    assert float(kappa["value"]) == pytest.approx(0.5)


def test_a_coder_has_their_own_annotations_alone(study):
    ada = coder_called(study, "ada")
    response = ask(ada.user, study, "own_annotations.csv")
    assert {row["coder"] for row in rows_of(response)} == {"ada"}
    refused = ask(ada.user, study, "annotations.csv")
    assert refused.status_code == 403
    assert refused["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("role", "name", "status"),
    [
        (Role.ADJUDICATOR, "own_annotations.csv", 200),
        (Role.ADJUDICATOR, "labels.csv", 403),
        (Role.OBSERVER, "labels.csv", 200),
        (Role.OBSERVER, "events.csv", 403),
    ],
)
def test_each_role_has_its_files(study, role, name, status):
    response = ask(make_member(study, role=role).user, study, name)
    assert response.status_code == status
    assert response.getvalue() if status == 200 else response.json()["detail"]


def test_an_unknown_name_and_an_outsider_get_404(study):
    assert ask(lead_of(study).user, study, "secrets.csv").status_code == 404
    assert ask(lead_of(make_study()).user, study, "labels.csv").status_code == 404


def test_options_are_read_and_misspelt_ones_refused(study):
    lead = lead_of(study).user
    response = ask(
        lead, study, "annotations.csv", bom="1", pseudonyms="1", all_rounds="1", spreadsheet="safe"
    )
    text = response.getvalue()
    assert text.startswith(b"\xef\xbb\xbf")
    assert b"ada" not in text
    refused = ask(lead, study, "annotations.csv", bom="yes")
    assert refused.status_code == 422
    assert refused.json()["errors"] == {"bom": ["bom is 1 or 0, or left out."]}


def test_units_the_caller_codes_again_are_counted_in_a_header(study):
    lead, coding_round = lead_of(study), study.rounds.get()
    unit = coding_round.round_units.first().unit
    make_round(study, coders=[lead], units=[unit])
    response = ask(lead.user, study, "annotations.csv")
    assert response["Intercoder-Hidden-Units"] == "1"
    assert unit.ref not in {row["unit"] for row in rows_of(response)}


def test_a_file_of_answers_makes_the_close_final(study):
    assert rows_of(ask(lead_of(study).user, study, "codebook.csv"))
    assert study.rounds.get().first_unblinded_read_at is None
    assert rows_of(ask(lead_of(study).user, study, "labels.csv"))
    assert study.rounds.get().first_unblinded_read_at is not None
