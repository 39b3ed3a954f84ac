"""The page of how a codebook is used."""

import pytest
from django.urls import reverse
from django.utils import timezone

from labeling.models import Round
from labeling.services.codebook_acts import perform
from tests.factories import lead_of, make_study
from tests.labeling.closing import coded_round, coder_called
from tests.labeling.services.test_codebook_acts import merge

pytestmark = pytest.mark.django_db

FIRST = {"ada": ["crash", "crash", "hang"], "ben": ["hang", "crash", "hang"]}
SECOND = {"cleo": ["warning", "crash", "crash"]}


@pytest.fixture
def study():
    study = make_study()
    for answers in (FIRST, SECOND):
        coded_round(answers, study=study, state=Round.State.CLOSED, first_unblinded_read_at=timezone.now())
    return study


def ask(client, study, user, **query):
    client.force_login(user)
    return client.get(reverse("labeling:codebook-usage", args=[study.slug]), query)


def counts(response):
    (used,) = response.context["usage"].dimensions
    return {row.shown.category.code: row.counts for row in used.rows if row.total}


def test_answers_are_counted_by_round(client, study):
    page = ask(client, study, lead_of(study).user)
    assert counts(page) == {"crash": (3, 2), "hang": (3, 0), "warning": (0, 1)}
    (used,) = page.context["usage"].dimensions
    assert used.saturation.batches[0].new == ("Crash", "Hang", "Warning")
    assert used.saturation.batches[0].last == 6
    assert "Round 1" in page.text


def test_batches_follow_the_order_of_coding(client, study):
    page = ask(client, study, lead_of(study).user, batch="5")
    (used,) = page.context["usage"].dimensions
    assert [each.new for each in used.saturation.batches] == [("Crash", "Hang", "Warning"), ()]
    assert "The last 1 unit brought none." in page.text


def test_a_retest_is_used_and_brings_no_new_units(client, study):
    first = study.rounds.get(number=1)
    coded_round(
        {"ada": ["crash", "crash", "crash"]},
        study=study,
        units=[each.unit for each in first.round_units.all()],
        kind=Round.Kind.RETEST,
        based_on=first,
        state=Round.State.CLOSED,
        first_unblinded_read_at=timezone.now(),
    )
    page = ask(client, study, lead_of(study).user, batch="5")
    assert counts(page)["crash"] == (3, 2, 3)
    (used,) = page.context["usage"].dimensions
    assert used.saturation.batches[-1].last == 6


def test_merged_categories_are_counted_as_what_they_became(client, study):
    perform(study=study, act=merge("hang", into="crash"), by=lead_of(study))
    assert counts(ask(client, study, lead_of(study).user)) == {"crash": (6, 2), "warning": (0, 1)}
    assert counts(ask(client, study, lead_of(study).user, version="1"))["hang"] == (3, 0)


def test_nothing_is_told_of_open_rounds_and_of_those_nobody_looked_at(client, study):
    coded_round({"ada": ["wrong-output"]}, study=study)
    study.rounds.filter(number=2).update(first_unblinded_read_at=None)
    page = ask(client, study, lead_of(study).user)
    assert counts(page) == {"crash": (3,), "hang": (3,)}
    assert "Round 2 is left out" in page.text
    assert study.rounds.get(number=2).first_unblinded_read_at is None


def test_a_coder_reads_of_the_rounds_they_coded_in(client, study):
    assert counts(ask(client, study, coder_called(study, "cleo").user)) == {"crash": (2,), "warning": (1,)}
    nobody = ask(client, study, coder_called(study, "dora").user)
    assert "no closed round" in nobody.text
    assert ask(client, study, lead_of(make_study()).user).status_code == 404


def test_the_api_gives_counts_and_batches_as_the_page_does(client, study):
    client.force_login(lead_of(study).user)
    address = reverse("api:codebook-usage", args=[study.slug])
    told = client.get(address, {"batch": 5}).json()
    (used,) = told["dimensions"]
    assert (told["version"], told["rounds"], told["unread"]) == (1, [1, 2], [])
    assert {row["code"]: row["counts"] for row in used["categories"] if row["total"]} == {
        "crash": [3, 2],
        "hang": [3, 0],
        "warning": [0, 1],
    }
    assert used["saturation"]["batches"][0] == {
        "first": 1,
        "last": 5,
        "new": ["Crash", "Hang", "Warning"],
        "total": 3,
    }
    assert used["saturation"]["quiet"] == 1
    assert client.get(address, {"batch": "0"}).status_code == 422
    client.force_login(lead_of(make_study()).user)
    assert client.get(address).status_code == 404
