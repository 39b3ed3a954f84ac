import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from ingest.models import ImportRun, Upload
from labeling.models import Role
from labeling.services.corpus import current_rules
from tests.factories import lead_of, make_member, make_study, make_user

pytestmark = pytest.mark.django_db
TABLE = b"url,headline,text\nhttps://github.com/octo/spoon/issues/1,Hang,It hangs.\nx,,\n"


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(study):
    return client_of(lead_of(study).user)


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path):
    settings.INTERCODER_DATA = tmp_path
    return tmp_path / "uploads"


def address(name, study, *more):
    return reverse(f"api_ingest:{name}", args=[study.slug, *more])


def ask(client, study, **body):
    told = {"source": "github", "repositories": ["octo/spoon"]} | body
    return client.post(address("import-list", study), told, format="json")


def send(client, study, content=TABLE, name="bugs.csv", **body):
    file = SimpleUploadedFile(name, content)
    return client.post(address("import-list", study), {"file": file} | body, format="multipart")


def test_an_import_is_accepted_and_read_again(lead, study):
    made = ask(lead, study, state="closed", created={"from": "2024-01-01", "to": "2024-06-30"})
    assert made.status_code == 202
    body = made.json()
    assert (body["status"], body["fetched"], body["total"], body["requests"]) == ("queued", 0, None, 0)
    assert (body["problems"], body["waiting_until"]) == ([], None)
    assert (body["query"]["created_from"], body["query"]["created_to"]) == ("2024-01-01", "2024-06-30")
    place = address("import-detail", study, body["id"])
    assert made.headers["Location"] == place
    assert body.pop("imports") == [lead.get(place).json()] == [body]
    assert lead.get(address("import-list", study)).json()["results"] == [body]


def test_several_repositories_are_an_import_each(lead, study):
    body = ask(lead, study, repositories=["octo/spoon", "octo/fork"], github_labels=["bug"]).json()
    asked = [each["query"]["repositories"] for each in body["imports"]]
    assert asked == [["octo/spoon"], ["octo/fork"]]
    assert body["id"] == body["imports"][0]["id"]
    assert len(current_rules(study)) == 1


def test_shorthands_become_rules_and_filter_nothing_at_the_source(lead, study):
    made = ask(
        lead, study, github_labels=["bug"], with_fix=True, since="2024-01-01", until="2024-12-31"
    ).json()
    assert (made["query"]["state"], made["query"]["created_from"]) == ("all", None)
    assert [(rule.field, rule.op, rule.value) for rule in current_rules(study)] == [
        ("github_labels", "any", ["bug"]),
        ("has_fix", "is", True),
        ("opened_at", "from", "2024-01-01"),
        ("opened_at", "to", "2024-12-31"),
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repositories": []}, "repositories"),
        ({"repositories": ["fathomgrid"]}, "repositories"),
        ({"repositories": "octo/spoon"}, "repositories"),
        ({"issues": ["https://github.com/octo/spoon/issues/1"]}, "repositories"),
        ({"repositories": [], "issues": ["octo/spoon"]}, "issues"),
        ({"repositories": [], "issues": ["https://gitlab.com/octo/spoon/issues/1"]}, "issues"),
        ({"repositories": ["https://gitlab.com/octo/spoon"]}, "repositories"),
        ({"state": "half"}, "state"),
        ({"created": {"from": "spring"}}, "created"),
        ({"created": {"from": "2024-02-01", "to": "2024-01-01"}}, "created.to"),
        ({"repositories": [], "issues": ["octo/spoon#99999999999999999999"]}, "issues"),
        ({"since": "spring"}, "since"),
        ({"api_base": "https://evil.example"}, "api_base"),
        ({"source": "gitlab"}, "source"),
        ({"source": "file"}, "file"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_names_its_field_and_nothing_is_asked(lead, study, body, field):
    answer = ask(lead, study, **body)
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in answer.json()["errors"])
    assert not ImportRun.objects.exists()


def test_a_body_that_is_a_list_is_refused(lead, study):
    assert lead.post(address("import-list", study), [], format="json").status_code == 422


def test_a_repeated_post_asks_once(lead, study):
    url, body = address("import-list", study), {"source": "github", "repositories": ["octo/spoon"]}
    first = lead.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
    second = lead.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
    assert (second.status_code, second.json()) == (202, first.json())
    assert ImportRun.objects.count() == 1


# Files


def test_a_file_is_accepted_with_its_mapping(lead, study, uploads):
    mapping = {"url": "url", "headline": "title", "text": "body"}
    made = send(lead, study, mapping=json.dumps(mapping))
    assert made.status_code == 202
    query = made.json()["query"]
    assert (query["name"], query["format"], query["mapping"]) == ("bugs.csv", "csv", mapping)
    assert (uploads / query["file"]).read_bytes() == TABLE


def test_a_dry_run_shows_how_the_file_would_be_read_and_what_it_would_bring(lead, study):
    answer = send(lead, study, dry_run="true")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["format"], body["columns"]) == ("csv", ["url", "headline", "text"])
    assert body["mapping"] == {"url": "url", "text": "body"}
    assert body["rows"][0]["key"] == "github.com/octo/spoon#1"
    assert body["rows"][0]["body"] == "It hangs."
    assert (body["would_be"]["new"], body["would_be"]["rejected"]) == (1, 1)
    assert lead.get(answer["Location"]).json() == body
    assert not ImportRun.objects.exists()


def test_a_file_is_tried_again_with_other_columns_and_then_imported_once(lead, study):
    place = send(lead, study, b"headline\nHang\n", dry_run="true")["Location"]
    mapping = {"mapping": {"headline": "title"}}
    assert lead.post(place, mapping, format="json").json()["would_be"]["new"] == 1
    started = [lead.post(f"{place}start/", mapping, format="json") for _ in range(2)]
    assert [answer.status_code for answer in started] == [202, 202]
    assert started[0].json() == started[1].json()
    assert ImportRun.objects.get().query["mapping"] == mapping["mapping"]
    assert lead.post(place, mapping, format="json").status_code == 409


def test_a_dry_run_that_takes_long_is_answered_before_its_end(lead, study, monkeypatch):
    monkeypatch.setattr("ingest.uploads.AT_ONCE", 0.0)
    monkeypatch.setattr("ingest.sources.files.BATCH", 1)
    answer = send(lead, study, dry_run="true")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert answer.json()["would_be"]["rows"] == 1


@pytest.mark.parametrize(
    ("content", "body", "field"),
    [
        (b"%PDF-1.7", {}, "file"),
        (b"[]", {}, "file"),
        (b"title,body\n", {}, "file"),
        (b"title,title\na,b\n", {}, "file"),
        (TABLE, {"mapping": "[]"}, "mapping"),
        (TABLE, {"mapping": "{"}, "mapping"),
        (TABLE, {"mapping": '{"url": "colour"}'}, "mapping"),
        (TABLE, {"mapping": '{"heading": "title"}'}, "mapping"),
        (TABLE, {"mapping": '{"headline": "title", "text": "title"}'}, "mapping"),
        (TABLE, {"mapping": r'{"\ud800": "url"}'}, "mapping"),
        (TABLE, {"colour": "red"}, "colour"),
    ],
)
def test_a_bad_file_or_mapping_names_its_field(lead, study, uploads, content, body, field):
    answer = send(lead, study, content, **body)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert not uploads.exists() or not list(uploads.iterdir())


# Stopping and going on


def make_run(study, **fields):
    return ImportRun.objects.create(study=study, source="github", by=lead_of(study), **fields)


@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        ("pause", "running", "paused"),
        ("resume", "paused", "queued"),
        ("resume", "failed", "queued"),
        ("cancel", "queued", "cancelled"),
    ],
)
def test_an_act_answers_with_the_import(lead, study, act, before, after):
    run = make_run(study, state=before)
    answer = lead.post(address(f"import-{act}", study, run.pk))
    assert (answer.status_code, answer.json()["status"]) == (200, after)


@pytest.mark.parametrize(
    ("act", "state"), [("pause", "done"), ("resume", "running"), ("cancel", "cancelled")]
)
def test_an_act_out_of_turn_breaks_a_rule(lead, study, act, state):
    run = make_run(study, state=state)
    answer = lead.post(address(f"import-{act}", study, run.pk))
    assert answer.status_code == 409
    assert answer.json()["detail"]


# Who may


def calls(client, study, run):
    yield ask(client, study)
    yield send(client, study)
    yield client.get(address("import-list", study))
    yield client.get(address("import-detail", study, run.pk))
    upload = Upload.objects.create(study=study, query={"file": "gone.csv"})
    yield client.get(address("import-file", study, upload.pk))
    yield client.post(address("import-file-start", study, upload.pk))
    for act in ("pause", "resume", "cancel"):
        yield client.post(address(f"import-{act}", study, run.pk))


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_imports_are_the_leads_business(study, role):
    run = make_run(study, state="running")
    client = client_of(make_member(study, role=role).user)
    assert {answer.status_code for answer in calls(client, study, run)} == {403}


def test_an_outsider_hears_of_nothing(study):
    run = make_run(study, state="running")
    assert {answer.status_code for answer in calls(client_of(make_user()), study, run)} == {404}


def test_an_import_of_another_study_is_not_found(lead, study):
    run = make_run(make_study())
    assert lead.get(address("import-detail", study, run.pk)).status_code == 404


def test_the_list_costs_the_same_for_one_import_and_for_ten(lead, study, django_assert_num_queries):
    make_run(study)
    with django_assert_num_queries(2):
        lead.get(address("import-list", study))
    for _ in range(9):
        make_run(study)
    with django_assert_num_queries(2):
        assert len(lead.get(address("import-list", study)).json()["results"]) == 10


def test_a_dry_run_shows_halves_of_characters_as_they_would_be_stored(lead, study, uploads):
    content = rb'{"title": "half \ud800", "number": 1, "html_url": "https://github.com/octo/spoon/issues/1"}'
    (row,) = send(lead, study, content, "issues.jsonl", dry_run="true").json()["rows"]
    assert row["title"] == "half \N{REPLACEMENT CHARACTER}"
