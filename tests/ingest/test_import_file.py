"""Imports of uploaded files."""

import io
import json

import pytest

from ingest.dry_run import dry_run
from ingest.models import ImportRun
from ingest.pipeline import run_import
from ingest.services import keep_upload, path_of, start_import
from ingest.sources import files
from labeling.errors import InvalidInputError
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
    tried = dry_run(study, path_of(run))

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


def test_a_name_of_an_upload_leads_nowhere_else(study, tmp_path):
    run = start(study, CSV, "../../etc/passwd")

    assert path_of(run).parent == tmp_path / "uploads"


def test_a_file_that_cannot_be_read_is_refused_and_not_kept(study, tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        start(study, "%PDF-1.7", "paper.pdf")
    assert not list((tmp_path / "uploads").iterdir())


def test_a_dry_run_tells_new_same_changed_and_rejected_rows_and_stores_nothing(study, tmp_path, monkeypatch):
    address = "https://github.com/acme/train/issues"
    run_import(start(study, f"url,title\n{address}/1,One\n{address}/2,Two\n").pk)
    path = tmp_path / "issues.csv"
    path.write_text(f"url,title\n{address}/1,One\n{address}/2,Second\n{address}/3,Three\n,\nx,y,z\n")

    tried = dry_run(study, path)

    assert (tried.new, tried.changed, tried.same, tried.rejected) == (1, 1, 1, 1)
    assert tried.is_whole
    assert "Row 6" in tried.problems[0]
    assert study.issues.count() == 2
    monkeypatch.setattr("ingest.dry_run.MOST_ROWS", 1)
    monkeypatch.setattr("ingest.sources.files.BATCH", 1)
    assert not dry_run(study, path).is_whole
