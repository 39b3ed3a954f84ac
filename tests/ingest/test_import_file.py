"""Imports of uploaded files."""

import io
import json
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from ingest.dry_run import try_file
from ingest.models import ImportRun, Upload
from ingest.pipeline import run_import
from ingest.services import keep_upload, path_of, start_import
from ingest.sources import files
from ingest.uploads import forget_uploads, import_upload, path_of_upload, take_upload, try_upload
from labeling.errors import InvalidInputError
from labeling.services.redaction import redact_issue
from tests.factories import lead_of, make_study

pytestmark = pytest.mark.django_db

CSV = "id,title,body,url,state\n" + "".join(
    f"{n},title {n},body {n},https://github.com/acme/train/issues/{n},open\n" for n in range(1, 121)
)


@pytest.fixture
def study(settings, tmp_path):
    settings.INTERCODER_DATA = tmp_path
    return make_study()


def start(study, content, name="issues.csv", **mapping):
    query = keep_upload(io.BytesIO(content.encode()), name, mapping=mapping)
    return start_import(study=study, source="file", query=query, by=lead_of(study))


def test_a_csv_fills_the_corpus(study):
    run = run_import(start(study, CSV).pk)

    assert (run.state, run.fetched, run.total, run.added) == (ImportRun.State.DONE, 120, 120, 120)
    issue = study.issues.get(number=7)
    assert issue.latest.documents.get(key="body").source == "body 7"
    assert set(issue.latest.carries) == {"title", "body", "state"}


def test_the_same_file_twice_adds_nothing(study):
    run_import(start(study, CSV).pk)

    run = run_import(start(study, CSV).pk)

    assert (run.added, run.changed, run.same) == (0, 0, 120)


def test_rows_that_are_no_issues_are_counted_and_named(study):
    run = run_import(start(study, CSV + "x,y,z,,,too many\n").pk)

    assert run.state == ImportRun.State.DONE
    assert (run.fetched, run.rejected, run.total) == (120, 1, 121)
    assert run.problems == ["Row 122: it has 6 cells, the header 5. Is a quote missing?"]


def test_an_issue_that_comes_again_is_rejected_with_its_row_on_any_page(study, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 2)
    run = start(study, "id,title,body\n1,a,b\n1,a2,b2\n2,c,d\n1,a3,b3\n")
    tried = try_upload(upload=Upload.objects.create(study=study, query=run.query))

    run = run_import(run.pk)

    again = "it is the issue of row 2 again. Keep one of the two."
    assert tried.problems == run.problems == [f"Row 3: {again}", f"Row 5: {again}"]
    assert (tried.new, tried.changed, tried.rejected) == (run.added, run.changed, run.rejected) == (2, 0, 2)
    assert study.issues.get(source_id="1").latest.title == "a"


def test_a_file_that_breaks_off_keeps_what_came_before(study):
    rows = [{"node_id": f"I_{n}", "number": n, "title": "t"} for n in range(1, 101)]
    run = run_import(start(study, json.dumps(rows)[:-10], "dump.json").pk)

    assert run.state == ImportRun.State.DONE
    assert study.issues.count() == 99
    assert "breaks off after 99 issues" in run.problems[0]


def test_a_file_import_goes_on_behind_the_last_stored_row(study, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 50)
    run = start(study, CSV)
    first = run_import(run.pk, turn=0.0)
    assert (first.state, first.fetched) == (ImportRun.State.QUEUED, 50)

    run_import(run.pk)

    run.refresh_from_db()
    assert (run.state, run.fetched, run.added) == (ImportRun.State.DONE, 120, 120)


def test_a_page_of_long_texts_ends_sooner(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH_TEXT", 1000)
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps({"id": n, "title": "t", "body": "x" * 600}) + "\n" for n in range(5)))

    assert [len(page.records) for page in files.read_pages(path)] == [2, 2, 1]


def test_an_issue_from_a_file_is_the_one_that_was_there_before(study):
    run_import(start(study, CSV).pk)
    rest = {
        "id": 99,
        "node_id": "I_99",
        "number": 7,
        "title": "title 7",
        "html_url": "https://github.com/acme/train/issues/7",
    }

    run_import(start(study, json.dumps([rest]), "dump.json").pk)

    issue = study.issues.get(number=7)
    assert issue.node_id == "I_99"
    assert study.issues.count() == 120


def test_pull_requests_of_a_dump_are_rejected_by_a_study_of_issues(study):
    pull = {"node_id": "PR_1", "number": 1, "title": "t", "pull_request": {}}

    run = run_import(start(study, json.dumps([pull]), "dump.json").pk)

    assert run.rejected == 1
    assert not study.issues.exists()


def test_a_file_that_is_no_longer_kept_is_told(study):
    run = start(study, CSV)
    path_of(run).unlink()

    assert run_import(run.pk).error == "The file is no longer kept. Upload it again."


def test_a_file_of_which_every_row_is_rejected_fails_with_the_first_reason(study):
    run = run_import(start(study, "id,title\n,\nx,y,z\n").pk)

    assert run.state == ImportRun.State.FAILED
    assert run.error.startswith("Nothing was imported. Row 3: it has 3 cells")


def test_a_name_of_an_upload_leads_nowhere_else(study, tmp_path):
    run = start(study, CSV, "../../etc/passwd")

    assert path_of(run).parent == tmp_path / "uploads"


def test_a_file_that_cannot_be_read_is_refused_and_not_kept(study, tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        start(study, "%PDF-1.7", "paper.pdf")
    assert not list((tmp_path / "uploads").iterdir())


ADDRESS = "https://github.com/acme/train/issues"
HERE = f"url,title\n{ADDRESS}/1,One\n{ADDRESS}/2,Two\n"
LATER = f"url,title\n{ADDRESS}/1,One\n{ADDRESS}/2,Second\n{ADDRESS}/3,Three\n,\nx,y,z\n"


def take(study, content, name="issues.csv"):
    return take_upload(study=study, file=io.BytesIO(content.encode()), name=name, by=lead_of(study))


def numbers(row):
    return row.new, row.changed, row.same, row.rejected


def test_a_dry_run_tells_new_same_changed_and_rejected_rows_and_stores_nothing(study):
    run_import(start(study, HERE).pk)

    tried = try_upload(upload=take(study, LATER))

    assert (tried.state, tried.rows, numbers(tried)) == (Upload.State.DONE, 4, (1, 1, 1, 1))
    assert "Row 6" in tried.problems[0]
    assert study.issues.count() == 2


def test_what_rows_lose_is_told_before_the_import_after_it_and_at_the_issue(study, client):
    rows = (
        "title,created_at,repository,number,state,url\nFine,2024-01-31,,,open,\nCrash,31.01.2024,,,open,\n"
        "Hang,,bad repo,two,maybe,javascript:x\nHalf \ufffd,,,,,\n" + f"Long,{'x' * 99},,,,\n"
    )

    tried = try_upload(upload=take(study, rows))
    run = run_import(import_upload(upload=tried, by=lead_of(study)).pk)

    assert (tried.noted, tried.notes) == (run.noted, run.notes)
    assert (run.noted, run.fetched) == (4, 5)
    first, second, third, last = run.notes
    assert first.startswith("Row 3: Its created date “31.01.2024” was not understood as a time and left out.")
    for told in ("repository “bad repo” and number “two”", "state “maybe”", "address “javascript:x”"):
        assert told in second
    assert third == "Row 5: Damaged characters, shown as \ufffd: 1."
    assert f"“{'x' * 40}…”" in last
    client.force_login(lead_of(study).user)
    issue = study.issues.get(latest__title="Crash")
    for url in (
        reverse("ingest:import-file", args=[study.slug, tried.pk]),
        reverse("ingest:import-detail", args=[study.slug, run.pk]),
        reverse("labeling:issue-detail", args=[study.slug, issue.pk]),
    ):
        assert "“31.01.2024”" in client.get(url, follow=True).content.decode(), url
    hang = study.issues.get(latest__title="Hang")
    shown = client.get(reverse("labeling:issue-detail", args=[study.slug, hang.pk])).content.decode()
    assert "Maybe</span>" in shown
    told = client.get(reverse("api_ingest:import-detail", args=[study.slug, run.pk])).json()
    assert (told["noted"], told["notes"]) == (4, run.notes)


def test_redacting_an_issue_reaches_what_its_imports_and_tried_files_noted(study):
    rows = "title,created_at\nCrash,31.01.2024\nHang,30.01.2024\n"
    tried = try_upload(upload=take(study, rows))
    first = run_import(import_upload(upload=tried, by=lead_of(study)).pk)
    again = run_import(start(study, rows).pk)

    issue = study.issues.get(latest__title="Crash")
    redact_issue(issue=issue, reason="Asked for by its author", by=lead_of(study))

    for kept in (tried, first, again):
        kept.refresh_from_db()
        assert kept.notes[0] == "Row 2: redacted"
        assert "30.01.2024" in kept.notes[1]


def test_a_worker_reads_a_long_file_to_its_end_from_where_the_request_stopped(study, monkeypatch):
    monkeypatch.setattr("ingest.uploads.AT_ONCE", 0.0)
    monkeypatch.setattr(files, "BATCH", 50)
    upload = try_upload(upload=take(study, CSV + ",,,,\nx,y,z,,,too many\n"))
    assert (upload.state, upload.rows) == (Upload.State.QUEUED, 50)

    try_file(upload.pk)

    upload.refresh_from_db()
    assert (upload.state, upload.rows, numbers(upload)) == (Upload.State.DONE, 121, (120, 0, 0, 1))


def test_a_dry_run_with_other_columns_begins_anew(study):
    upload = take(study, "name,note\nOne,\nTwo,\n")
    assert numbers(try_upload(upload=upload)) == (0, 0, 0, 2)

    assert numbers(try_upload(upload=upload, mapping={"name": "title"})) == (2, 0, 0, 0)
    assert upload.problems == []


def test_a_file_is_imported_once_and_its_import_knows_how_many_rows_come(study):
    upload = try_upload(upload=take(study, LATER))

    run = import_upload(upload=upload, by=lead_of(study))

    assert import_upload(upload=upload, by=lead_of(study)) == run
    assert (run.total, ImportRun.objects.count()) == (4, 1)
    done = run_import(run.pk)
    assert (done.added, done.changed, done.same, done.rejected) == numbers(upload)


def test_a_dry_run_that_is_under_way_ends_with_the_import(study, monkeypatch):
    monkeypatch.setattr("ingest.uploads.AT_ONCE", 0.0)
    monkeypatch.setattr(files, "BATCH", 1)
    upload = try_upload(upload=take(study, LATER))
    import_upload(upload=upload, by=lead_of(study))

    try_file(upload.pk)

    upload.refresh_from_db()
    assert upload.rows == 1


def test_a_file_that_breaks_off_is_tried_up_to_there(study):
    rows = [{"node_id": f"I_{n}", "number": n, "title": "t"} for n in range(1, 101)]

    tried = try_upload(upload=take(study, json.dumps(rows)[:-10], "dump.json"))

    assert (tried.state, tried.new) == (Upload.State.DONE, 99)
    assert "breaks off after 99 issues" in tried.problems[0]


def test_a_file_nobody_imports_is_taken_away_after_a_day(study, tmp_path):
    old, imported, young = (take(study, HERE) for _ in range(3))
    run = import_upload(upload=imported, by=lead_of(study))
    Upload.objects.exclude(pk=young.pk).update(created_at=datetime(2020, 1, 1, tzinfo=UTC))

    forget_uploads(study)

    assert set((tmp_path / "uploads").iterdir()) == {path_of(run), path_of_upload(young)}
    assert not Upload.objects.filter(pk=old.pk).exists()
