"""Rows that bring no issue come back as a file with the reason; limits are named where they refuse."""

import csv
import io
import json
import zipfile

import openpyxl
import pytest
from django.conf import settings
from django.urls import reverse

from ingest.models import ImportRun
from ingest.pipeline import run_import
from ingest.services import keep_upload, start_import
from ingest.sources.base import SourceError
from ingest.sources.files import formats, guess_format, read_issues, reading
from tests.factories import lead_of, make_study

pytestmark = pytest.mark.django_db

TABLE = 'id,title,body\n1,Good,text\n,,\n,"  ",\n2,Too,many,cells\n,=1+1,x\n3,Fine,text\n'
LINES = '{"id": 1, "title": "Good"}\n[1, 2]\nnot json\n{"state": "open"}\n{"id": 2, "title": "Fine"}\n'


@pytest.fixture
def study():
    return make_study()


def imported(study, name, content):
    query = keep_upload(io.BytesIO(content.encode()), name)
    run = start_import(study=study, source=ImportRun.Source.FILE, query=query, by=lead_of(study))
    return run_import(run.pk)


def rejected(client, run):
    client.force_login(lead_of(run.study).user)
    answer = client.get(reverse("ingest:import-rejected", args=[run.study.slug, run.pk]))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))


def test_the_rejected_rows_of_a_table_come_back_with_reason_and_cells(client, study):
    run = imported(study, "issues.csv", TABLE)

    header, *rows = rejected(client, run)

    assert header == ["row", "reason", "id", "title", "body"]
    assert len(rows) == run.rejected == 1
    assert rows[0][0] == "5"
    assert "4 cells" in rows[0][1]
    assert rows[0][2:] == ["2", "Too", "many", "cells"]


def test_rejected_json_comes_back_as_it_was_written(client, study):
    run = imported(study, "issues.jsonl", LINES)

    header, *rows = rejected(client, run)

    assert header == ["row", "reason", "content"]
    assert [row[2] for row in rows] == ["[1, 2]", "not json", '{"state": "open"}']
    assert len(rows) == run.rejected


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(client, study):
    run = imported(study, "issues.csv", "id,title\n1,Good\n,=HYPERLINK(1),more\n")

    assert rejected(client, run)[1][3] == "'=HYPERLINK(1)"


def test_what_is_no_unit_of_the_study_comes_back_too(client, study):
    pull = {"number": 1, "title": "A change", "node_id": "PR_1", "pull_request": {}}
    run = imported(study, "issues.jsonl", json.dumps(pull) + '\n{"id": 2, "title": "Fine"}\n')

    assert [row[2] for row in rejected(client, run)[1:]] == ["A change"]


def test_the_page_of_the_import_links_to_them(client, study):
    run = imported(study, "issues.csv", TABLE)
    client.force_login(lead_of(study).user)
    page = client.get(reverse("ingest:import-detail", args=[study.slug, run.pk])).content.decode()
    assert reverse("ingest:import-rejected", args=[study.slug, run.pk]) in page


def test_an_import_whose_file_is_no_longer_kept_has_none(client, study):
    run = imported(study, "issues.csv", TABLE)
    (settings.INTERCODER_DATA / "uploads" / run.query["file"]).unlink()
    client.force_login(lead_of(study).user)
    assert client.get(reverse("ingest:import-rejected", args=[study.slug, run.pk])).status_code == 404


# Limits


def packed(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


def test_a_zip_bomb_is_refused_with_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST_CONTENT", 2 * 1024**2)
    path = packed(tmp_path / "bomb.zip", a_json="[" + " " * 3 * 1024**2 + "]")
    with pytest.raises(SourceError, match="larger than 2 MB"):
        guess_format(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused_with_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST_WORKBOOK", 1024**2)
    path = packed(tmp_path / "bomb.xlsx", xl__workbook_xml="<x/>", xl__sharedStrings_xml=" " * 2 * 1024**2)
    with pytest.raises(SourceError, match="larger than 1 MB"):
        guess_format(path)


@pytest.mark.parametrize("kept", [0.5, 1.0])
def test_a_damaged_workbook_is_called_one(tmp_path, kept):
    path = tmp_path / "issues.xlsx"
    workbook = openpyxl.Workbook()
    for number in range(1000):
        workbook.active.append([f"title {number * 7919 % 1013}"])
    workbook.save(path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 500
    content[start : start + 8] = b"\0\xff" * 4
    path.write_bytes(content[: int(len(content) * kept)])

    with pytest.raises(SourceError, match="workbook is damaged"):
        list(read_issues(path))


def test_a_zip_of_too_many_files_is_refused_with_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_MEMBERS", 1)
    path = packed(tmp_path / "many.zip", a_json="[]", b_json="[]")
    with pytest.raises(SourceError, match="more than 1 files"):
        list(read_issues(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("long.csv", 'id,title\n1,"' + "x" * 3 * 1024**2 + '"\n'),
        ("long.jsonl", '{"id": 1, "title": "a"}\n{"id": 2, "title": "' + "x" * 3 * 1024**2 + '"}\n'),
        ("long.json", '[{"id": 1, "title": "a"},\n{"id": 2, "title": "' + "x" * 3 * 1024**2 + '"}]'),
    ],
)
def test_a_cell_that_is_too_long_is_refused_with_its_limit(tmp_path, monkeypatch, name, content):
    monkeypatch.setattr(reading, "LONGEST", 2 * 1024**2)
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(SourceError, match="longer than 2 MB"):
        list(read_issues(path))
