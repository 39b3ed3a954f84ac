import pytest
from django.urls import reverse
from django.utils import timezone

from labeling.models import Heartbeat, Job, Role, Sample
from labeling.services import samples
from tests.factories import (
    lead_of,
    make_issue,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_user,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SIMPLE = {"method": "random", "size_by": "size", "size": "4", "confidence": "95", "margin": "5", "seed": "7"}


@pytest.fixture
def study():
    study = make_study()
    for place in range(10):
        make_issue(study, repository="octo/spoon" if place % 2 else "octo/fork")
    return study


@pytest.fixture
def lead(client, study):
    lead = lead_of(study)
    client.force_login(lead.user)
    return lead


def address(name, study, *more):
    return reverse(f"labeling:{name}", args=[study.slug, *more])


def drawn(study, **options):
    chosen = {"method": "random", "size": 4, "seed": 7} | options
    return samples.draw(study=study, by=lead_of(study), **chosen)


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_samples_are_the_leads_business(client, study, role):
    study.coders_see_corpus = True
    study.save()
    sample = drawn(study)
    client.force_login(make_member(study, role=role).user)
    for url in (
        address("sample-list", study),
        address("sample-create", study),
        address("sample-size", study),
        address("sample-detail", study, sample.pk),
    ):
        assert client.get(url).status_code == 403, url
    for act in ("sample-top-up", "sample-replace", "sample-prepare"):
        assert client.post(address(act, study, sample.pk)).status_code == 403, act


def test_an_outsider_hears_of_nothing(client, study):
    sample = drawn(study)
    client.force_login(make_user())
    assert client.get(address("sample-list", study)).status_code == 404
    assert client.get(address("sample-detail", study, sample.pk)).status_code == 404


def test_a_sample_of_another_study_is_not_found(client, study, lead):
    other = make_sample(make_study())
    assert client.get(address("sample-detail", study, other.pk)).status_code == 404


def test_a_study_without_issues_is_sent_to_import_them(client):
    study = make_study()
    client.force_login(lead_of(study).user)
    page = client.get(address("sample-list", study)).content.decode()
    assert reverse("ingest:import-create", args=[study.slug]) in page
    assert "No issue is eligible yet" in client.get(address("sample-create", study)).content.decode()


def test_a_list_costs_the_same_for_one_sample_and_for_ten(client, study, lead, django_assert_num_queries):
    drawn(study)
    url = address("sample-list", study)
    client.get(url)
    with django_assert_num_queries(6):
        client.get(url)
    for seed in range(9):
        drawn(study, seed=seed)
    with django_assert_num_queries(6):
        client.get(url)


# Drawing


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {"method": "random", "size": 4}),
        ({"size_by": "margin", "margin": "20"}, {"method": "random", "size": 8, "margin": 0.2}),
        ({"method": "all"}, {"method": "all", "size": 10}),
        (
            {"method": "stratified", "strata": ["repository"], "allocation": "equal"},
            {"method": "stratified", "strata": "repository", "allocation": {"kind": "equal"}},
        ),
        (
            {
                "method": "stratified",
                "strata": ["repository", "state"],
                "allocation": "given",
                "sizes": "octo/spoon / closed = 3\nocto/fork / closed = 1",
            },
            {"size": 4, "strata": "repository + state"},
        ),
        (
            {"method": "stratified", "expression": "comments >= 1", "pilot": 1, "proportion": 20},
            {"strata": "comments >= 1", "pilot": 1, "proportion": 0.2},
        ),
    ],
)
def test_each_way_to_draw_ends_on_the_page_of_the_sample(client, study, lead, change, expected):
    answer = client.post(address("sample-create", study), SIMPLE | change)
    sample = Sample.objects.get()
    assert answer["Location"] == address("sample-detail", study, sample.pk)
    for name, value in expected.items():
        assert getattr(sample, name) == value, name
    assert sample.seed == 7
    again = client.post(address("sample-create", study), SIMPLE | change, follow=True)
    assert "This sample was drawn before and no round uses it yet" in again.content.decode()
    assert Sample.objects.count() == 1


def test_a_list_is_drawn_from_names_and_addresses(client, study, lead):
    first, second = study.issues.order_by("pk")[:2]
    body = SIMPLE | {"method": "list", "issues": f"{first.ref}\n\n{second.url}\n{first.ref}"}
    client.post(address("sample-create", study), body)
    assert set(Sample.objects.get().units.values_list("issue", flat=True)) == {first.pk, second.pk}


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"size": ""}, "size", "Give a number."),
        ({"size_by": "margin", "margin": ""}, "margin", "Give a number."),
        ({"method": "stratified"}, "strata", "Choose what the strata are made of."),
        ({"method": "list"}, "issues", "Name the issues of the list"),
        (
            {"method": "stratified", "strata": "repository", "allocation": "given", "sizes": "octo/spoon 3"},
            "sizes",
            "Line 1: write it like",
        ),
        (
            {"method": "stratified", "strata": "repository", "allocation": "given"},
            "sizes",
            "Give the number of issues of each stratum.",
        ),
        ({"seed": "later"}, "seed", "whole number"),
        ({"size": "11"}, "__all__", "11"),
        ({"method": "list", "issues": "octo/other#1"}, "__all__", "in the corpus"),
    ],
)
def test_a_mistake_is_said_at_its_field_and_nothing_is_drawn(client, study, lead, change, field, sentence):
    answer = client.post(address("sample-create", study), SIMPLE | change)
    assert answer.status_code == 422
    assert sentence in " ".join(answer.context["form"].errors[field])
    assert not Sample.objects.exists()


# The calculator


def size_of(client, study, **change):
    return client.get(address("sample-size", study), SIMPLE | change, headers=HTMX)


def test_the_calculator_turns_a_margin_into_a_size_and_back(client, study, lead):
    from_margin = size_of(client, study, size_by="margin", margin="20").context["plan"]
    assert from_margin.size == 8
    from_size = size_of(client, study, size="8").context["plan"]
    assert from_size.margin == from_margin.margin <= 0.2
    assert from_size.population == 10


def test_the_calculator_shows_each_stratum_and_the_widest(client, study, lead):
    make_issue(study, repository="octo/tiny")
    plan = size_of(client, study, method="stratified", strata="repository", size="6").context["plan"]
    assert [(row.stratum, row.eligible, row.drawn) for row in plan.strata] == [
        ("octo/fork", 5, 3),
        ("octo/spoon", 5, 3),
        ("octo/tiny", 1, 0),
    ]
    assert plan.strata[2].margin is None
    assert plan.widest.stratum in ("octo/fork", "octo/spoon")
    assert plan.margin is not None
    equal = size_of(client, study, method="stratified", strata="repository", size="3", allocation="equal")
    assert equal.context["plan"].margin is None, "drawn from unequally, no one margin holds for the whole"
    assert "drawn from unequally" in equal.text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"size": "11"}, "11"),
        ({"size": ""}, "Give a number."),
        ({"confidence": "200"}, "less than or equal to 99.9"),
        ({"method": "all"}, "10 issues"),
        ({"method": "list"}, "no random sample"),
        ({"method": "nonsense"}, "No issue is eligible yet"),
    ],
)
def test_the_calculator_always_answers_with_a_sentence(client, study, lead, change, sentence):
    answer = size_of(client, study, **change)
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    assert b"<html" not in answer.content
    assert "HX-Push-Url" not in answer


def test_the_drawn_size_is_the_one_the_calculator_showed(client, study, lead):
    for change in ({"size_by": "margin", "margin": "15"}, {"size": "7"}):
        body = SIMPLE | {"method": "stratified", "strata": "repository"} | change
        shown = size_of(client, study, **body).context["plan"]
        client.post(address("sample-create", study), body)
        sample = Sample.objects.latest("pk")
        assert sample.size == shown.size
        table = [(row["stratum"], row["drawn"]) for row in samples.strata_table(sample)]
        assert table == [(row.stratum, row.drawn) for row in shown.strata]


# One sample


def test_a_frozen_sample_shows_what_a_paper_needs(client, study, lead):
    sample = drawn(study, method="stratified", strata="repository")
    page = client.get(address("sample-detail", study, sample.pk)).content.decode()
    for told in (sample.frame_hash, samples.statement(sample), "octo/fork", "40.00%"):
        assert told in page, told
    assert "every 2s" not in page


def test_a_sample_in_preparation_asks_again_until_it_is_frozen(client, study, lead):
    sample = drawn(study)
    Sample.objects.filter(pk=sample.pk).update(state="preparing", prepared=3)
    Heartbeat.objects.create(worker="w", at=timezone.now())
    url = address("sample-detail", study, sample.pk)
    part = client.get(url, headers=HTMX).content.decode()
    assert "Preparing, 3 of 4" in part
    assert "every 2s" in part
    assert "<html" not in part
    assert "No worker is running" not in part
    Sample.objects.filter(pk=sample.pk).update(state="frozen", frozen_at=timezone.now())
    assert "every 2s" not in client.get(url, headers=HTMX).content.decode()


def test_a_preparation_without_a_worker_says_what_to_do(client, study, lead):
    sample = drawn(study)
    Sample.objects.filter(pk=sample.pk).update(state="preparing")
    page = client.get(address("sample-detail", study, sample.pk)).content.decode()
    assert "No worker is running" in page
    assert "manage.py start" in page


def test_a_failed_preparation_says_why_and_stops_asking(client, study, lead):
    sample = drawn(study)
    Sample.objects.filter(pk=sample.pk).update(state="preparing", problems=["octo/spoon#1 is gone."])
    Job.objects.create(
        kind=Job.Kind.PREPARE_SAMPLE, study=study, sample=sample, state="failed", error="The disk is full."
    )
    page = client.get(address("sample-detail", study, sample.pk)).content.decode()
    assert "The disk is full." in page
    assert "octo/spoon#1 is gone." in page
    assert "every 2s" not in page


def test_a_preparation_that_stopped_goes_on_where_it_was(client, study, lead):
    sample = drawn(study)
    url = address("sample-prepare", study, sample.pk)
    assert "prepared already" in client.post(url, follow=True).content.decode()
    Sample.objects.filter(pk=sample.pk).update(state="preparing")
    stopped = Job.objects.create(
        kind=Job.Kind.PREPARE_SAMPLE, study=study, sample=sample, state="failed", progress={"done": 2}
    )
    client.post(url)
    job = Job.objects.exclude(pk=stopped.pk).get()
    assert (job.state, job.sample, job.progress) == ("queued", sample, {"done": 2})
    client.post(url)
    assert Job.objects.count() == 2


def test_a_page_of_units_costs_the_same_for_two_units_and_for_ten(
    client, study, lead, django_assert_num_queries
):
    small, large = drawn(study, size=2), drawn(study, size=10)
    client.get(address("sample-detail", study, small.pk))
    with django_assert_num_queries(13):
        client.get(address("sample-detail", study, small.pk))
    with django_assert_num_queries(13):
        client.get(address("sample-detail", study, large.pk))


def test_a_hidden_repository_is_hidden_in_the_sample_too(client, study, lead):
    sample = drawn(study, method="stratified", strata="repository", size=10)
    unit = sample.units.filter(issue__repository="octo/fork").first()
    make_round(study, coders=[lead], units=[unit], masked_fields=["repository"])
    page = client.get(address("sample-detail", study, sample.pk))
    assert unit.ref not in page.content.decode()
    hidden = [row for row in page.context["units"] if row.id == unit.pk]
    assert [(row.ref, row.stratum) for row in hidden] == [(None, None)]


def test_a_sample_grows_and_says_by_how_much(client, study, lead):
    sample = drawn(study)
    answer = client.post(address("sample-top-up", study, sample.pk), {"size": "2"}, follow=True)
    assert "2 issues were added to the sample." in answer.content.decode()
    assert sample.sample_units.count() == 6
    used_up = make_sample(study, units=[each.unit for each in sample.sample_units.all()])
    assert "Draw more" not in client.get(address("sample-detail", study, used_up.pk)).text


@pytest.mark.parametrize("size", ["", "0", "7", "many"])
def test_a_top_up_that_cannot_be_is_refused_with_a_sentence(client, study, lead, size):
    sample = drawn(study)
    answer = client.post(address("sample-top-up", study, sample.pk), {"size": size})
    assert answer.status_code == 422
    assert answer.context["top_up_form"].errors
    assert sample.sample_units.count() == 4


def test_a_unit_is_replaced_with_a_reason(client, study, lead):
    sample = drawn(study)
    unit = sample.units.first()
    form = client.get(address("sample-detail", study, sample.pk), {"replace": unit.pk})
    assert f"Replace {unit.ref}" in form.content.decode()
    url = address("sample-replace", study, sample.pk)
    assert client.post(url, {"unit": unit.pk, "reason": " "}).status_code == 422
    assert client.post(url, {"unit": unit.pk, "reason": "spam"}).status_code == 302
    replaced = sample.sample_units.get(unit=unit)
    assert (replaced.reason, replaced.replaced_by is not None) == ("spam", True)
    again = client.post(url, {"unit": unit.pk, "reason": "spam"})
    assert again.status_code == 422
    assert "was replaced before" in again.content.decode()


def test_a_unit_of_another_sample_cannot_be_replaced_here(client, study, lead):
    sample, other = drawn(study), make_sample(study, units=1)
    body = {"unit": other.units.get().pk, "reason": "spam"}
    assert client.post(address("sample-replace", study, sample.pk), body).status_code == 404
