"""``python manage.py agreement``."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from labeling.services.agreement import report_of
from tests.factories import make_study
from tests.labeling.closing import close, coded_round

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "hang"], "ben": ["crash", "crash", "hang", "crash"]}


@pytest.fixture
def closed():
    return close(coded_round(FOUR, study=make_study(slug="spoons")))


def printed(*arguments) -> str:
    out = io.StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_has_a_line_per_dimension(closed):
    heading, eligibility, symptom = printed("spoons").splitlines()
    assert heading.split() == ["round", "dimension", "n", "observed", "statistic", "value", "95%", "CI"]
    assert eligibility.split()[:6] == ["1", "eligibility", "4", "100.00%", "cohen_kappa", "undefined"]
    assert symptom.split()[:6] == ["1", "symptom", "4", "75.00%", "cohen_kappa", "0.50"]


def test_json_is_the_stored_report_in_full_precision(closed):
    (report,) = json.loads(printed("spoons", "--format", "json"))
    assert report["round"] == 1
    assert report["dimensions"][0]["kappa"] == report_of(closed).payload["dimensions"][0]["kappa"]
    assert report["dimensions"][0]["coders"] == ["ada", "ben"]


def test_csv_is_that_of_the_export(closed):
    rows = list(csv.DictReader(io.StringIO(printed("spoons", "--format", "csv", "--round", "1"))))
    (headline,) = [row for row in rows if row["dimension"] == "symptom" and row["headline"] == "true"]
    assert (headline["statistic"], headline["value"]) == ("cohen_kappa", "0.5")


def test_open_rounds_and_unknown_names_are_refused():
    coded_round(FOUR, study=make_study(slug="spoons"))
    assert len(printed("spoons").splitlines()) == 1
    with pytest.raises(CommandError, match="not closed"):
        printed("spoons", "--round", "1")
    with pytest.raises(CommandError, match="no round 7"):
        printed("spoons", "--round", "7")
    with pytest.raises(CommandError, match="no study"):
        printed("forks")
