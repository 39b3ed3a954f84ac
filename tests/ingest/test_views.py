from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from ingest.dry_run import try_file
from ingest.models import ImportRun, Upload
from ingest.uploads import path_of_upload
from labeling.models import Heartbeat, Role
from labeling.services.corpus import current_rules
from tests.factories import lead_of, make_member, make_study, make_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
GITHUB = {"kind": "repositories", "repositories": "octo/spoon", "state": "closed"}
QUERY = {
    "repositories": ["octo/spoon"],
    "issues": [],
    "search": "",
    "state": "closed",
    "created_from": "2024-01-01",
    "created_to": None,
    "unit_kinds": ["issue"],
    "api_base": "https://api.github.com",
}
OWN_NAMES = '{"headline": "Hang", "createdAt": "2024-01-31"}'
TABLE = "url,headline,text\nhttps://github.com/octo/spoon/issues/1,Hang,It hangs.\n"


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(client, study):
    lead = lead_of(study)
    client.force_login(lead.user)
    return lead


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path):
    settings.INTERCODER_DATA = tmp_path
    return tmp_path / "uploads"


def address(name, study, *more):
    return reverse(f"ingest:{name}", args=[study.slug, *more])


def make_run(study, **fields):
    row = {"source": "github", "query": QUERY, "state": "queued", "by": lead_of(study)} | fields
    return ImportRun.objects.create(study=study, **row)


def upload(name, content):
    return {"file": SimpleUploadedFile(name, content.encode())}


# Who may


def urls_of(study):
    run = make_run(study)
    pages = [address(name, study) for name in ("import-list", "import-create")]
    pages.append(address("import-detail", study, run.pk))
    upload = Upload.objects.create(study=study, query={"file": "gone.csv"})
    pages.append(address("import-file", study, upload.pk))
    acts = [address(f"import-{act}", study, run.pk) for act in ("pause", "resume", "cancel", "retry")]
    return pages, [*acts, address("import-create", study), address("import-upload", study)]


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_imports_are_the_leads_business(client, study, role):
    pages, acts = urls_of(study)
    client.force_login(make_member(study, role=role).user)
    assert {client.get(url).status_code for url in pages} == {403}
    assert {client.post(url).status_code for url in acts} == {403}
    assert ImportRun.objects.get().state == "queued"


def test_an_outsider_hears_of_nothing(client, study):
    pages, acts = urls_of(study)
    client.force_login(make_user())
    assert {client.get(url).status_code for url in pages} == {404}
    assert {client.post(url).status_code for url in acts} == {404}


def test_an_import_of_another_study_is_not_found(client, study, lead):
    other = make_run(make_study())
    assert client.get(address("import-detail", study, other.pk)).status_code == 404
    assert client.post(address("import-cancel", study, other.pk)).status_code == 404


def test_acts_need_a_post(client, study, lead):
    _, acts = urls_of(study)
    assert {client.get(url).status_code for url in acts if not url.endswith("new/")} == {405}


def test_a_list_costs_the_same_for_one_import_and_for_ten(client, study, lead, django_assert_num_queries):
    make_run(study)
    client.get(address("import-list", study))
    with django_assert_num_queries(9):
        client.get(address("import-list", study))
    for _ in range(9):
        make_run(study)
    with django_assert_num_queries(9):
        client.get(address("import-list", study))


# From GitHub


def test_an_import_is_asked_for_with_its_rules(client, study, lead):
    body = GITHUB | {
        "repositories": "octo/spoon\nhttps://github.com/octo/fork\n",
        "created_from": "2024-01-01",
        "github_labels": "bug, crash",
        "with_fix": "on",
    }
    answer = client.post(address("import-create", study), body)
    run, other = ImportRun.objects.order_by("pk")
    assert answer["Location"] == address("import-list", study)
    assert "2 imports are under way" in client.get(answer["Location"]).content.decode()
    assert (run.query["repositories"], other.query["repositories"]) == (["octo/spoon"], ["octo/fork"])
    assert (run.query["state"], run.query["created_from"]) == ("closed", "2024-01-01")
    assert [(rule.field, rule.value) for rule in current_rules(study)] == [
        ("github_labels", ["bug", "crash"]),
        ("has_fix", True),
    ]


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"kind": "issues", "issues": "https://github.com/octo/spoon/issues/7"}, "issues"),
        ({"kind": "search", "search": "org:octo hang in:title"}, "search"),
    ],
)
def test_only_what_the_choice_names_is_asked_for(client, study, lead, body, asked):
    client.post(address("import-create", study), GITHUB | body)
    query = ImportRun.objects.get().query
    assert query[asked]
    assert not query["repositories"]


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"repositories": ""}, "repositories", "Name at least one repository."),
        ({"repositories": "fathomgrid"}, "repositories", "owner/name"),
        ({"kind": "issues", "issues": "octo/spoon"}, "issues", "no address of an issue"),
        ({"kind": "issues"}, "issues", "Give at least one address."),
        ({"kind": "search"}, "search", "Say what to search for."),
        ({"state": "half"}, "state", "valid choice"),
        ({"created_from": "2024-02-01", "created_to": "2024-01-01"}, "created_to", "before the first"),
    ],
)
def test_a_mistake_is_said_at_its_field_and_nothing_is_asked(client, study, lead, change, field, sentence):
    answer = client.post(address("import-create", study), GITHUB | change)
    assert answer.status_code == 422
    assert sentence in " ".join(answer.context["form"].errors[field])
    assert not ImportRun.objects.exists()


def test_the_server_is_a_choice_where_the_installation_allows_several(client, study, lead, settings):
    assert "api_base" not in client.get(address("import-create", study)).context["form"].fields
    settings.GITHUB_API_URLS = ["https://api.github.com", "https://git.example.org/api/v3"]
    body = GITHUB | {"api_base": "https://git.example.org/api/v3"}
    client.post(address("import-create", study), body)
    assert ImportRun.objects.get().query["api_base"] == "https://git.example.org/api/v3"


def test_the_page_says_when_no_token_is_stored(client, study, lead, settings):
    assert "No GitHub token is stored" in client.get(address("import-create", study)).content.decode()
    settings.GITHUB_TOKEN = "ghp_x"
    page = client.get(address("import-create", study)).content.decode()
    assert "No GitHub token is stored" not in page
    assert "ghp_x" not in page


# From a file


def test_a_table_is_checked_column_by_column_before_it_is_imported(client, study, lead):
    answer = client.post(address("import-upload", study), upload("bugs.csv", TABLE))
    assert not ImportRun.objects.exists()
    url = answer["Location"]
    page = client.get(url)
    form = page.context["form"]
    assert [bound.value() for bound in form] == ["url", "", "body"]
    assert "It hangs." in page.content.decode()
    body = {"column0": "url", "column1": "title", "column2": "body"}
    tried = client.post(url, body | {"try": "yes"}, follow=True).content.decode()
    assert "All 1 row were read" in tried
    assert "headline → Title" in tried
    assert not ImportRun.objects.exists()
    answer = client.post(url, body)
    run = ImportRun.objects.get()
    assert answer["Location"] == address("import-detail", study, run.pk)
    assert run.query["mapping"] == {"url": "url", "headline": "title", "text": "body"}
    assert run.query["name"] == "bugs.csv"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"column0": "url"}, "the title or with the text"),
        ({"column0": "title", "column1": "title"}, "Two columns become the same: Title"),
        ({"column0": "colour", "column1": "title"}, "valid choice"),
    ],
)
def test_columns_that_make_no_issue_are_refused(client, study, lead, body, sentence):
    url = client.post(address("import-upload", study), upload("bugs.csv", TABLE))["Location"]
    answer = client.post(url, body)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not ImportRun.objects.exists()


def test_objects_of_a_program_are_shown_as_they_would_be_read(client, study, lead):
    objects = '[{"number": 1, "title": "Hang", "stateReason": null, "createdAt": "2024-01-31T10:00:00Z"}]'
    url = client.post(address("import-upload", study), upload("bugs.json", objects))["Location"]
    page = client.get(url).content.decode()
    for told in ("gh issue list --json", "createdAt", "not in the file"):
        assert told in page, told
    assert "<select" not in page
    assert "All 1 row" in client.post(url, {"try": "yes"}, follow=True).content.decode()
    client.post(url, {"start": "yes"})
    run = ImportRun.objects.get()
    assert (run.source, run.query["format"], run.total) == ("file", "json", 1)


def test_objects_with_names_of_their_own_are_mapped(client, study, lead):
    url = client.post(address("import-upload", study), upload("bugs.jsonl", '{"headline": "Hang"}'))[
        "Location"
    ]
    assert client.post(url, {"column0": "", "try": "yes"}).status_code == 422
    page = client.post(url, {"column0": "title", "try": "yes"}, follow=True).content.decode()
    assert "headline → Title" in page
    assert Upload.objects.get().new == 1


def test_two_tabs_start_one_file_once_and_the_second_is_told(client, study, lead):
    url = client.post(address("import-upload", study), upload("bugs.csv", TABLE))["Location"]
    body = {"column0": "url", "column1": "title", "column2": "body"}
    client.post(url, body)
    page = client.post(url, body | {"column1": ""}, follow=True)
    run = ImportRun.objects.get()
    assert page.request["PATH_INFO"] == address("import-detail", study, run.pk)
    assert "bugs.csv is imported already" in page.content.decode()
    assert run.query["mapping"]["headline"] == "title"


def test_a_long_file_is_asked_about_until_it_is_tried(client, study, lead, monkeypatch):
    monkeypatch.setattr("ingest.uploads.AT_ONCE", 0.0)
    monkeypatch.setattr("ingest.sources.files.BATCH", 1)
    lines = TABLE + "https://github.com/octo/spoon/issues/2,Slow,It is slow.\n"
    url = client.post(address("import-upload", study), upload("bugs.csv", lines))["Location"]
    client.post(url, {"column0": "url", "column1": "title", "try": "yes"})
    part = client.get(url, headers=HTMX).content.decode()
    assert "every 2s" in part
    assert "No worker is running" in part
    assert "being tried: 1 rows" in client.get(address("import-list", study)).content.decode()
    try_file(Upload.objects.get().pk)
    part = client.get(url, headers=HTMX).content.decode()
    assert "every 2s" not in part
    assert "All 2 rows were read" in part


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "This field is required."),
        (upload("empty.csv", ""), "empty"),
        (upload("blank.csv", " \n"), "The file is empty."),
        (upload("paper.pdf", "%PDF-1.7"), "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_not_kept(client, study, lead, uploads, files, sentence):
    for file in files.values():
        file.seek(0)
    answer = client.post(address("import-upload", study), files)
    assert answer.status_code == 422
    assert sentence in " ".join(answer.context["file_form"].errors["file"])
    assert not uploads.exists() or not list(uploads.iterdir())


def test_an_address_of_an_upload_serves_one_study_only(client, study, lead):
    url = client.post(address("import-upload", study), upload("bugs.csv", TABLE))["Location"]
    other = make_study(lead=lead.user)
    kept = Upload.objects.get()
    foreign = client.get(address("import-file", other, kept.pk), follow=True).content.decode()
    assert "It hangs." not in foreign
    assert "Choose the file again" in foreign
    path_of_upload(kept).unlink()
    assert "Choose the file again" in client.get(url, follow=True).content.decode()


# Watching


def test_a_running_import_is_asked_about_every_two_seconds(client, study, lead):
    Heartbeat.objects.create(worker="w", at=timezone.now())
    run = make_run(
        study, state="running", fetched=3408, total=5090, requests=41, problems=["octo/x is gone."]
    )
    url = address("import-detail", study, run.pk)
    part = client.get(url, headers=HTMX).content.decode()
    for told in ("every 2s", "3,408", "5,090", "41", "octo/x is gone.", "1 problem"):
        assert told in part, told
    assert "<html" not in part
    assert "No worker is running" not in part
    assert "<html" in client.get(url).content.decode()


@pytest.mark.parametrize("state", ["done", "failed", "paused", "cancelled"])
def test_an_import_at_rest_is_not_asked_about(client, study, lead, state):
    run = make_run(study, state=state)
    page = client.get(address("import-detail", study, run.pk), headers=HTMX).content.decode()
    assert "every 2s" not in page
    assert "No worker is running" not in page


def test_a_waiting_import_says_why_and_counts_down(client, study, lead):
    Heartbeat.objects.create(worker="w", at=timezone.now())
    until = timezone.now() + timedelta(minutes=12, seconds=41, milliseconds=900)
    run = make_run(study, state="waiting", waiting_until=until, progress={"reason": "GitHub asks to wait."})
    page = client.get(address("import-detail", study, run.pk)).content.decode()
    assert "GitHub asks to wait." in page
    assert "12:41 left" in page or "12:40 left" in page


def test_without_a_worker_the_page_says_what_to_do(client, study, lead):
    run = make_run(study)
    page = client.get(address("import-detail", study, run.pk)).content.decode()
    assert "No worker is running" in page
    assert "manage.py start" in page


# Stopping and going on


@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        ("pause", "running", "paused"),
        ("cancel", "waiting", "cancelled"),
        ("resume", "paused", "queued"),
        ("retry", "failed", "queued"),
        ("retry", "cancelled", "queued"),
    ],
)
def test_an_import_is_stopped_and_goes_on(client, study, lead, act, before, after):
    run = make_run(study, state=before, error="GitHub refuses the token.", checkpoint={"at": 3})
    answer = client.post(address(f"import-{act}", study, run.pk))
    assert answer["Location"] == address("import-detail", study, run.pk)
    run.refresh_from_db()
    assert (run.state, run.checkpoint) == (after, {"at": 3})


@pytest.mark.parametrize(
    ("act", "state"), [("pause", "done"), ("resume", "running"), ("cancel", "failed"), ("retry", "running")]
)
def test_an_act_out_of_turn_changes_nothing_and_says_so(client, study, lead, act, state):
    run = make_run(study, state=state)
    page = client.post(address(f"import-{act}", study, run.pk), follow=True).content.decode()
    assert 'role="alert"' in page
    run.refresh_from_db()
    assert run.state == state
    assert ImportRun.objects.count() == 1


def test_two_tabs_that_start_the_same_share_an_import(client, study, lead):
    first, second = (client.post(address("import-create", study), GITHUB) for _ in range(2))
    run = ImportRun.objects.get()
    assert first["Location"] == second["Location"] == address("import-detail", study, run.pk)
    client.post(address("import-pause", study, run.pk))
    client.post(address("import-create", study), GITHUB)
    assert ImportRun.objects.get().state == "queued"
    client.post(address("import-create", study), GITHUB | {"state": "open"})
    assert ImportRun.objects.count() == 2


def test_two_tabs_that_pause_and_resume_do_not_undo_each_other(client, study, lead):
    run = make_run(study, state="running", lease_holder="a worker")
    pause, resume = (address(f"import-{act}", study, run.pk) for act in ("pause", "resume"))
    for act, said in ((pause, ""), (pause, "The import is paused"), (resume, ""), (resume, "is queued")):
        page = client.post(act, follow=True).content.decode()
        assert said in page
        assert ('role="alert"' in page) == bool(said)
    run.refresh_from_db()
    # The worker that read it meanwhile has lost it: another begins behind the last page that was stored.
    assert (run.state, run.lease_holder) == ("queued", "")


def test_a_finished_import_of_a_file_offers_nothing_more(client, study, lead):
    run = make_run(study, source="file", state="done", query={"file": "x", "name": "bugs.csv"})
    assert "Fetch what changed" not in client.get(address("import-detail", study, run.pk)).content.decode()
    page = client.post(address("import-retry", study, run.pk), follow=True).content.decode()
    assert "Upload a newer one." in page
    assert ImportRun.objects.count() == 1


def test_a_failed_import_says_why_and_offers_to_run_again(client, study, lead):
    run = make_run(study, state="failed", error="GitHub refuses the token.", fetched=3)
    page = client.get(address("import-detail", study, run.pk)).content.decode()
    assert "GitHub refuses the token." in page
    assert "without duplicates" in page
    assert address("import-retry", study, run.pk) in page


def test_a_finished_import_is_followed_by_one_that_asks_the_same(client, study, lead):
    run = make_run(study, state="done", checkpoint={"seen": {"octo/spoon issue": "2024"}})
    client.post(address("import-retry", study, run.pk))
    later = ImportRun.objects.exclude(pk=run.pk).get()
    assert later.query == run.query
    assert later.state == "queued"
    assert later.checkpoint["seen"] == {"octo/spoon issue": "2024"}
