"""Training over the API: known answers given and taken back, and feedback after one's own submission."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Round
from labeling.services import rounds
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_round,
    make_sample,
    make_study,
    make_submission,
)

pytestmark = pytest.mark.django_db

KNOWN = {"symptom": ["crash"], "cause": ["logic"], "fix": ["call"]}


def client_of(member):
    client = APIClient()
    client.force_login(member.user)
    return client


@pytest.fixture
def training():
    study = make_study()
    make_codebook(study)
    return make_round(study, units=2, kind="training", state=Round.State.DRAFT)


def test_a_coder_reads_a_known_answer_after_their_own_and_no_other(training):
    lead = lead_of(training.study)
    reference = reverse("api:round-reference", args=[training.pk])
    feedback = reverse("api:round-feedback", args=[training.pk])
    units = [each.unit for each in training.round_units.select_related("unit")]
    body = {each.ref: {"annotations": KNOWN, "memo": "Because."} for each in units}
    assert client_of(lead).put(reference, body, format="json").status_code == 200
    assert set(client_of(lead).get(reference).data) == {each.ref for each in units}
    opened = rounds.open_round(coding_round=training, by=lead)
    ada, ben = opened.coders.order_by("number")
    make_submission(
        assignment_of(opened, ada, units[0]), answers={"symptom": "hang", "cause": "logic", "fix": ["call"]}
    )
    assert list(client_of(ada).get(reference).data) == [units[0].ref]
    assert not client_of(ben).get(reference).data
    told = client_of(ada).get(feedback).data
    (unit,) = told["units"]
    assert (unit["why"], unit["known"]["annotations"]["symptom"]["categories"]) == ("Because.", ["crash"])
    assert unit["matches"] == {"symptom": False, "cause": True, "fix": True}
    assert {"dimension": "symptom", "matched": 0, "of": 1} in told["matches"]
    assert "coders" not in client_of(lead).get(feedback).data
    rounds.close_round(coding_round=opened, by=lead, missing=Round.Missing.ACCEPT)
    assert [each["name"] for each in client_of(lead).get(feedback).data["coders"]] == [ada.name]
    training.refresh_from_db()
    assert training.first_unblinded_read_at is not None


def test_an_answer_changed_after_it_was_handed_in_is_refused_as_final_and_is_no_conflict(training):
    lead = lead_of(training.study)
    body = {each.unit.ref: KNOWN for each in training.round_units.select_related("unit")}
    client_of(lead).put(reverse("api:round-reference", args=[training.pk]), body, format="json")
    ada = rounds.open_round(coding_round=training, by=lead).coders.order_by("number")[0]
    where = reverse("api:assignment-detail", args=[assignment_of(training, ada).pk])
    said = {"version": 0, "annotations": KNOWN, "status": "submitted"}
    assert client_of(ada).patch(where, said, format="json").status_code == 200
    # The page that "Back" shows knows nothing of what it handed in.
    again = client_of(ada).patch(where, {"version": 0, "annotations": {"symptom": ["hang"]}}, format="json")
    assert (again.status_code, "conflicts" in again.data) == (409, False)
    assert "final" in again.data["detail"]


def test_a_training_with_known_answers_keeps_its_sample(training):
    lead = client_of(lead_of(training.study))
    where = reverse("api:round-detail", args=[training.pk])
    lead.put(
        reverse("api:round-reference", args=[training.pk]),
        {training.round_units.all()[0].unit.ref: KNOWN},
        format="json",
    )
    assert lead.patch(where, {"sample": make_sample(training.study).pk}, format="json").status_code == 409
    assert training.round_units.count() == 2


def test_known_answers_are_taken_back_while_the_training_is_planned(training):
    lead = client_of(lead_of(training.study))
    reference = reverse("api:round-reference", args=[training.pk])
    lead.put(reference, {training.round_units.all()[0].unit.ref: KNOWN}, format="json")
    assert lead.delete(reference).data["codebook_version"] is None
    assert lead.put(reference, {}, format="json").data["codebook_version"] is None, "nothing was given"
    assert not lead.get(reference).data
    main = make_round(training.study)
    assert lead.get(reverse("api:round-feedback", args=[main.pk])).status_code == 409
