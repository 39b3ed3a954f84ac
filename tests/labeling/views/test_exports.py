"""The files of a study on their page."""

import csv
import io

import pytest
from django.urls import reverse

from labeling.models import Role
from labeling.services.agreement import mark_read
from labeling.services.exports import NAMES, file_names
from labeling.views.exports import FILES as LISTED
from tests.factories import lead_of, make_member, make_round, make_study
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


@pytest.fixture
def coding_round():
    closed = close(coded_round(FOUR))
    mark_read(closed)
    return closed


def page_of(client, study, user):
    client.force_login(user)
    return client.get(reverse("labeling:export-list", args=[study.slug])).text


def download(client, study, name, user=None, **query):
    client.force_login(user or lead_of(study).user)
    return client.get(reverse("labeling:export-file", args=[study.slug, name]), query)


def rows_of(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def test_the_page_describes_every_file():
    assert {name for files in LISTED.values() for name in files} == NAMES


@pytest.mark.parametrize("role", [Role.LEAD, Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_a_member_is_offered_what_they_may_have_and_gets_it(client, coding_round, role):
    study = coding_round.study
    member = lead_of(study) if role == Role.LEAD else make_member(study, role=role)
    page = page_of(client, study, member.user)
    for name in NAMES:
        offered = f'/exports/{name}"' in page
        assert offered == (name in file_names(member)), name
        answer = download(client, study, name, member.user)
        assert answer.status_code == (200 if offered else 403), name
        assert not offered or answer.getvalue(), name


def test_a_file_is_streamed_as_a_download(client, coding_round):
    response = download(client, coding_round.study, "annotations.csv")
    assert response.streaming
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="annotations.csv"'
    assert "Intercoder-Hidden-Units" not in response
    assert [row["coder"] for row in rows_of(response)] == ["ada", "ben"] * 4


def test_a_table_for_latex_is_named_without_its_folder(client, coding_round):
    response = download(client, coding_round.study, "tables/agreement.tex")
    assert response["Content-Disposition"] == 'attachment; filename="agreement.tex"'
    assert rb"\label{tab:agreement-round-1}" in response.getvalue()


def test_options_change_how_it_is_written(client, coding_round):
    study = coding_round.study
    response = download(client, study, "annotations.csv", bom="1", pseudonyms="1", spreadsheet="safe")
    text = response.getvalue()
    assert text.startswith(b"\xef\xbb\xbf")
    assert b"ada" not in text


def test_a_misspelt_option_is_said_and_not_ignored(client, coding_round):
    client.force_login(lead_of(coding_round.study).user)
    address = reverse("labeling:export-file", args=[coding_round.study.slug, "labels.csv"])
    response = client.get(address, {"spreadsheet": "yes"}, follow=True)
    assert "spreadsheet is safe, or left out." in response.text


def test_an_unknown_file_and_an_outsider_find_nothing(client, coding_round):
    assert download(client, coding_round.study, "secrets.csv").status_code == 404
    assert download(client, coding_round.study, "labels.csv", lead_of(make_study()).user).status_code == 404


def test_hidden_units_are_counted_on_the_page_and_in_the_header(client, coding_round):
    study = coding_round.study
    lead = lead_of(study)
    unit = coding_round.round_units.first().unit
    make_round(study, coders=[lead], units=[unit])
    assert "1 unit of closed rounds is hidden while you code it again" in page_of(client, study, lead.user)
    response = download(client, study, "annotations.csv")
    assert response["Intercoder-Hidden-Units"] == "1"
    assert unit.ref not in {row["unit"] for row in rows_of(response)}


def test_the_page_warns_that_a_file_makes_a_close_final(client):
    unread = close(coded_round(FOUR))
    study = unread.study
    warning = "makes its close final"
    assert warning in page_of(client, study, lead_of(study).user)
    assert warning not in page_of(client, study, coder_called(study, "ada").user)
    assert rows_of(download(client, study, "labels.csv"))
    assert warning not in page_of(client, study, lead_of(study).user)
