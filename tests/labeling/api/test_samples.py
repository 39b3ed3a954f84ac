import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Role, Sample
from labeling.sampling.size import margin_of, sample_size
from tests.factories import lead_of, make_issue, make_member, make_round, make_study, make_user

pytestmark = pytest.mark.django_db


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def study():
    study = make_study()
    for place in range(8):
        make_issue(study, repository="octo/spoon" if place % 2 else "octo/fork")
    return study


@pytest.fixture
def lead(study):
    return client_of(lead_of(study).user)


def draw(client, study, **body):
    url = reverse("api:sample-list", args=[study.slug])
    return client.post(url, {"method": "random", "size": 3, "seed": 5} | body, format="json")


def test_a_sample_is_drawn_and_read_again(lead, study):
    made = draw(lead, study, method="stratified", strata="repository", size=4, allocation="equal")
    assert made.status_code == 201
    body = made.json()
    assert [row["stratum"] for row in body["strata_table"]] == ["octo/fork", "octo/spoon"]
    assert [row["drawn"] for row in body["strata_table"]] == [2, 2]
    assert {"id", "ref", "stratum", "rank"} <= set(body["units"][0])
    assert (body["state"], body["prepared"], body["problems"]) == ("frozen", 4, [])
    assert len(body["frame_hash"]) == 64
    assert "seed 5" in body["statement"]
    assert made.headers["Location"] == reverse("api:sample-detail", args=[body["id"]])
    assert lead.get(made.headers["Location"]).json() == body


def test_the_same_draw_again_is_the_same_sample(lead, study):
    first, second = draw(lead, study), draw(lead, study)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()


def test_a_seed_is_chosen_and_told_where_none_is_given(lead, study):
    url = reverse("api:sample-list", args=[study.slug])
    made = lead.post(url, {"method": "random", "confidence": 0.95, "margin": 0.2}, format="json").json()
    assert isinstance(made["seed"], int)
    assert made["size"] == 7


def test_a_list_is_drawn_from_ids_and_names(lead, study):
    first, second = study.issues.order_by("pk")[:2]
    made = draw(lead, study, method="list", size=None, issues=[first.pk, second.ref])
    assert {unit["ref"] for unit in made.json()["units"]} == {first.ref, second.ref}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"method": "guess"}, "method"),
        ({"size": None}, "size"),
        ({"size": 3, "margin": 0.1}, "size"),
        ({"size": 0}, "size"),
        ({"size": None, "margin": 5, "confidence": 0.95}, "margin"),
        ({"method": "stratified"}, "strata"),
        ({"method": "stratified", "strata": "colour"}, "strata"),
        ({"allocation": "fair"}, "allocation"),
        ({"allocation": {"kind": "given", "sizes": {"octo/spoon": "two"}}}, "allocation"),
        ({"method": "list", "size": None}, "issues"),
        ({"method": "list", "size": None, "issues": [{}]}, "issues"),
        ({"filters": {"colour": "red"}}, "filters"),
        ({"filters": {"created_after": "spring"}}, "created_after"),
        ({"seed": 2**63}, "seed"),
        ({"sizes": 3}, "sizes"),
    ],
)
def test_bad_input_names_its_field(lead, study, body, field):
    answer = draw(lead, study, **body)
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in answer.json()["errors"])
    assert not Sample.objects.exists()


def test_more_than_there_is_breaks_a_rule(lead, study):
    answer = draw(lead, study, size=9)
    assert answer.status_code == 409
    assert "8" in answer.json()["detail"]


def test_a_sample_grows_and_a_unit_is_replaced(lead, study):
    made = draw(lead, study).json()
    grown = lead.post(reverse("api:sample-top-up", args=[made["id"]]), {"size": 2}, format="json")
    assert [unit["drawn"] for unit in grown.json()["units"]] == ["draw"] * 3 + ["top_up"] * 2
    url = reverse("api:sample-replace", args=[made["id"]])
    unit = made["units"][0]
    changed = lead.post(url, {"unit": unit["id"], "reason": "spam"}, format="json").json()
    assert changed["units"][0]["replaced_by"] == changed["units"][-1]["ref"]
    assert changed["units"][-1]["drawn"] == "replacement"
    again = lead.post(url, {"unit": unit["id"], "reason": "spam"}, format="json")
    assert again.status_code == 409
    for body in ({"unit": unit["id"]}, {"unit": 0, "reason": "spam"}, {"unit": unit["id"], "reason": ""}):
        assert lead.post(url, body, format="json").status_code == 422, body


def test_the_calculator_tells_size_and_margin_and_draws_nothing(lead, study):
    url = reverse("api:sample-size", args=[study.slug])
    whole = study.issues.filter(eligible=True).count()
    needed = lead.post(url, {"margin": 0.2}, format="json").json()
    assert needed["population"] == whole
    assert needed["size"] == sample_size(whole, 0.95, 0.2)
    given = lead.post(url, {"size": needed["size"], "strata": "repository"}, format="json").json()
    assert given["margin"] == pytest.approx(margin_of(needed["size"], whole))
    assert sum(each["drawn"] for each in given["strata"]) == needed["size"]
    assert not Sample.objects.exists()
    sizes = [
        lead.post(url, {"population": n, "margin": 0.05}, format="json").json()["size"]
        for n in (300, 500, 1_000, 5_000)
    ]
    assert sizes == [169, 218, 278, 357]
    equal = {"size": 4, "strata": "repository", "allocation": "equal"}
    assert lead.post(url, equal, format="json").json()["margin"] is None
    for wrong, field in (
        ({"population": 300, "size": 5, "strata": "repository"}, "size"),
        ({"size": whole + 1}, "size"),
        ({"size": 3, "margin": 0.1}, "size"),
        ({"margin": 2}, "margin"),
        ({"margin": 0}, "margin"),
        ({"size": 3, "proportion": 0}, "proportion"),
        ({"confidence": 1}, "confidence"),
        ({"strata": "colour"}, "strata"),
        ({"size": "x"}, "size"),
    ):
        answer = lead.post(url, wrong, format="json")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field]), wrong


def test_a_repeated_post_draws_once(lead, study):
    url = reverse("api:sample-list", args=[study.slug])
    body = {"method": "random", "size": 3}
    first = lead.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
    second = lead.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
    assert second.json() == first.json()
    assert Sample.objects.count() == 1


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_samples_are_the_leads_business(study, lead, role):
    made = draw(lead, study).json()
    client = client_of(make_member(study, role=role).user)
    assert draw(client, study).status_code == 403
    assert client.get(reverse("api:sample-list", args=[study.slug])).status_code == 403
    assert client.get(reverse("api:sample-detail", args=[made["id"]])).status_code == 403
    assert client.post(reverse("api:sample-top-up", args=[made["id"]]), {"size": 1}).status_code == 403


def test_an_outsider_hears_of_nothing(study, lead):
    made = draw(lead, study).json()
    client = client_of(make_user())
    assert draw(client, study).status_code == 404
    assert client.get(reverse("api:sample-detail", args=[made["id"]])).status_code == 404
    assert client.get(reverse("api:sample-detail", args=[0])).status_code == 404


def test_a_sample_costs_the_same_for_two_units_and_for_eight(study, lead, django_assert_num_queries):
    small, large = draw(lead, study, size=2).json(), draw(lead, study, size=8).json()
    for sample in (small, large):
        with django_assert_num_queries(6):
            lead.get(reverse("api:sample-detail", args=[sample["id"]]))


def test_the_list_is_paged_and_light(study, lead, django_assert_num_queries):
    for seed in range(3):
        draw(lead, study, seed=seed)
    with django_assert_num_queries(2):
        page = lead.get(reverse("api:sample-list", args=[study.slug]), {"page_size": 2}).json()
    assert [row["seed"] for row in page["results"]] == [2, 1]
    assert "units" not in page["results"][0]
    assert lead.get(page["next"]).json()["results"][0]["seed"] == 0


def test_what_the_lead_codes_blind_is_hidden_in_the_sample(study, lead):
    member = lead_of(study)
    made = draw(lead, study, method="stratified", strata="repository", size=8).json()
    unit = Sample.objects.get().units.first()
    make_round(study, coders=[member], units=[unit], masked_fields=["repository"])
    body = lead.get(reverse("api:sample-detail", args=[made["id"]])).json()
    hidden = [row for row in body["units"] if row["id"] == unit.pk]
    assert [(row["ref"], row["stratum"]) for row in hidden] == [(None, None)]
