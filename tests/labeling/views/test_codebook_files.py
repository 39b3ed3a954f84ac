"""The pages of the codebook's files and of what changed."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from labeling.codebook_files import FORMATS
from labeling.services.codebooks import draft_or_current
from tests.factories import lead_of, make_codebook, make_member, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = make_study()
    make_codebook(study)
    make_codebook(study, frozen=False)
    return study


@pytest.fixture
def lead(client, study):
    client.force_login(lead_of(study).user)
    return client


def address(study, name):
    return reverse(f"labeling:codebook-{name}", args=[study.slug])


def test_every_format_is_offered_and_comes(lead, study):
    page = lead.get(address(study, "files")).text
    for name, each in FORMATS.items():
        url = address(study, f"file-{name}")
        assert url in page
        answer = lead.get(url, {"version": 1})
        assert answer["Content-Type"] == each.content_type
        assert "codebook-v1" in answer["Content-Disposition"]


def test_the_page_says_what_a_file_cannot_carry(lead, study):
    assert "not in a .qdc file" in lead.get(address(study, "files")).text


def test_an_upload_is_shown_before_it_is_stored(lead, study):
    written = lead.get(address(study, "file-qdc")).content.replace(b"Crash", b"Abort")
    shown = lead.post(address(study, "files"), {"file": SimpleUploadedFile("book.qdc", written)})
    assert "Crash is now called Abort." in shown.text
    assert "not in a .qdc file" in shown.text
    names = draft_or_current(study).dimensions.get(key="symptom").categories
    assert not names.filter(name="Abort").exists()
    lead.post(address(study, "files"), {"data": shown.context["tried"]["data"], "confirm": "1"})
    assert names.model.objects.filter(dimension__codebook=draft_or_current(study), name="Abort").exists()


def test_a_bad_file_names_its_line(lead, study):
    answer = lead.post(
        address(study, "files"), {"file": SimpleUploadedFile("book.yaml", b"dimensions:\n- [")}
    )
    assert answer.status_code == 422
    assert "Line 2" in answer.text
    assert lead.post(address(study, "files"), {}).status_code == 422


def test_what_was_tampered_with_is_not_stored(lead, study):
    for data in ("{", "[]", '{"dimensions": [{"key": "_x"}]}'):
        answer = lead.post(address(study, "files"), {"data": data, "confirm": "1"}, follow=True)
        assert "was not stored" in answer.text


def test_a_coder_downloads_frozen_versions_and_uploads_nothing(client, study):
    client.force_login(make_member(study).user)
    page = client.get(address(study, "files"))
    assert "Version 1" in page.text
    assert "Upload" not in page.text
    assert client.get(address(study, "file-yaml"), {"version": 2}).status_code == 404
    assert client.post(address(study, "files"), {"confirm": "1", "data": "{}"}).status_code == 403


def test_without_a_codebook_there_is_nothing_to_download(client):
    study = make_study()
    client.force_login(lead_of(study).user)
    assert "nothing to download" in client.get(address(study, "files")).text
    assert client.get(address(study, "file-csv")).status_code == 404
    assert client.get(address(study, "changes")).status_code == 404


def test_the_changes_between_two_versions_are_told(lead, client, study):
    draft_or_current(study).dimensions.get(key="cause").categories.filter(code="logic").update(
        name="Reasoning"
    )
    page = lead.get(address(study, "changes"))
    assert "From version 1 to 2" in page.text
    assert "Logic is now called Reasoning." in page.text
    client.force_login(make_member(study).user)
    assert client.get(address(study, "changes")).status_code == 404
