"""The page with the paragraphs on method."""

import pytest
from django.urls import reverse

from labeling.models import Role
from tests.factories import lead_of, make_member, make_study
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}


@pytest.fixture
def study():
    study = make_study()
    close(coded_round(FOUR, study=study))
    return study


def ask(client, study, user, **query):
    client.force_login(user)
    return client.get(reverse("labeling:methods-detail", args=[study.slug]), query)


def test_a_round_that_nobody_read_is_told_of_only_on_demand(client, study):
    lead = lead_of(study).user
    page = ask(client, study, lead)
    assert "can no longer be opened again" in page.text
    assert "κ" not in page.text
    assert study.rounds.get().first_unblinded_read_at is None
    assert "κ was 0.20" in ask(client, study, lead, show="1").text
    assert study.rounds.get().first_unblinded_read_at is not None
    assert "data-copy" in ask(client, study, lead).text


def test_leads_and_observers_read_it(client, study):
    assert ask(client, study, make_member(study, role=Role.OBSERVER).user).status_code == 200
    assert ask(client, study, coder_called(study, "ada").user).status_code == 403
    assert ask(client, study, lead_of(make_study()).user).status_code == 404
