"""Files of the codebook over the API: down, up, and what differs."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from tests.factories import lead_of, make_codebook, make_member, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = make_study()
    make_codebook(study)
    make_codebook(study, frozen=False)
    return study


def client_of(study, user=None):
    client = APIClient()
    client.force_authenticate(user or lead_of(study).user)
    return client


def get(study, path, user=None, **query):
    return client_of(study, user).get(f"/api/v1/studies/{study.slug}/{path}", query)


def upload(study, name, content, user=None, **fields):
    file = SimpleUploadedFile(name, content)
    return client_of(study, user).post(
        f"/api/v1/studies/{study.slug}/codebook/upload/", {"file": file, **fields}, format="multipart"
    )


@pytest.mark.parametrize("name", ["yaml", "csv", "qdc", "md", "tex"])
def test_a_version_is_downloaded(study, name):
    answer = get(study, f"codebook.{name}", version=1)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="codebook-v1.{name}"'
    assert "Crash" in answer.content.decode()


def test_only_leads_download_the_draft(study):
    study.codebooks.get(version=2).dimensions.filter(key="cause").update(name="Unfinished thought")
    assert "Unfinished" in get(study, "codebook.yaml").content.decode()
    coder = make_member(study).user
    assert "Unfinished" not in get(study, "codebook.yaml", coder).content.decode()
    for version in ("2", "x", "99"):
        missed = get(study, "codebook.yaml", coder, version=version)
        assert missed.status_code == 404
        assert f"There is no version {version}; the newest is 1." in missed.text
    assert get(study, "codebook.yaml", lead_of(make_study()).user).status_code == 404


@pytest.mark.parametrize("name", ["yaml", "csv", "qdc"])
def test_a_file_that_was_downloaded_comes_back_as_the_draft(study, name):
    written = get(study, f"codebook.{name}").content.replace(b"Crash", b"Abort")
    tried = upload(study, f"book.{name}", written, dry_run=True).json()
    assert tried["changes"][0]["sentences"] == ["Crash is now called Abort."]
    assert "Crash" in get(study, "codebook.yaml").content.decode()
    stored = upload(study, f"book.{name}", written).json()
    assert stored["version"] == 2
    names = {each["code"]: each["name"] for each in stored["dimensions"][0]["categories"]}
    assert names["crash"] == "Abort"
    assert bool(stored["lost"]) == (name != "yaml")


def test_a_bad_file_names_line_and_reason_and_changes_nothing(study):
    before = get(study, "codebook/").json()
    answer = upload(study, "book.yaml", b"dimensions:\n- key: a\n  kind: scale\n")
    assert answer.status_code == 422
    assert json.loads(answer.content)["errors"]["file"] == [
        "Line 3: Choose one of single, multiple, ordinal, text."
    ]
    assert upload(study, "book.yaml", b"").status_code == 422
    assert upload(study, "book.yaml", b"#" * (2 * 2**20 + 1)).status_code == 422
    assert get(study, "codebook/").json() == before


def test_only_a_lead_uploads(study):
    assert upload(study, "book.yaml", b"dimensions: []", make_member(study).user).status_code == 403


def test_two_versions_are_compared(study):
    study.codebooks.get(version=2).dimensions.get(key="cause").categories.filter(code="logic").update(
        name="Reasoning"
    )
    answer = get(study, "codebook/diff/").json()
    assert (answer["from"], answer["to"]) == (1, 2)
    assert answer["changes"] == [
        {"dimension": "cause", "name": "Cause", "sentences": ["Logic is now called Reasoning."]}
    ]
    assert get(study, "codebook/diff/", to=1).status_code == 404
    assert get(study, "codebook/diff/", make_member(study).user).status_code == 404
