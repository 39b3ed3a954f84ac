from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotator.repeated import LARGEST_NUMBER, Given, RepeatedQuery
from labeling.models import Issue, Membership, Study, Unit
from tests.factories import lead_of, make_issue, make_member, make_study, make_unit

pytestmark = pytest.mark.django_db


def test_it_finds_what_the_query_finds_with_joins_and_conversions():
    study = make_study(exclusion_reasons=["out of scope"])
    member = make_member(study)
    make_member(study)
    repeated = RepeatedQuery(
        lambda: Membership.objects.filter(pk=Given("pk"), study__slug=Given("slug")).select_related("study")
    )
    for _ in range(2):
        found = repeated.first(pk=member.pk, slug=study.slug)
        with CaptureQueriesContext(connection) as asked:
            assert (found, found.study, found.study.exclusion_reasons) == (member, study, ["out of scope"])
        assert not asked.captured_queries
        assert found.created_at == member.created_at
    assert repeated.first(pk=member.pk, slug="another") is None


def test_a_join_that_meets_nothing_is_none():
    unit = make_unit(make_study())
    Unit.objects.update(snapshot=None)
    found = RepeatedQuery(lambda: Unit.objects.filter(pk=Given("pk")).select_related("snapshot")).first(
        pk=unit.pk
    )
    assert found.snapshot is None


def test_a_field_left_out_is_read_when_it_is_asked_for():
    study = make_study(title="Crashes")
    found = RepeatedQuery(lambda: Study.objects.filter(pk=Given("pk")).only("slug")).first(pk=study.pk)
    with CaptureQueriesContext(connection) as asked:
        assert (found.slug, found.title) == (study.slug, "Crashes")
    assert len(asked.captured_queries) == 1


def test_its_sql_is_written_once():
    made = []

    def make():
        made.append(1)
        return Study.objects.filter(slug=Given("slug"))

    repeated = RepeatedQuery(make)
    studies = [make_study(), make_study()]
    with CaptureQueriesContext(connection) as asked:
        assert [repeated.all(slug=each.slug) for each in studies] == [[each] for each in studies]
    assert (len(made), len(asked.captured_queries)) == (1, 2)


def test_rows_come_in_the_order_of_the_query():
    study = make_study()
    issues = [make_issue(study) for _ in range(3)]
    backwards = RepeatedQuery(lambda: Issue.objects.filter(study=Given("study")).order_by("-pk"))
    assert backwards.all(study=study.pk) == issues[::-1]


def test_a_number_no_database_holds_finds_nothing():
    by_number = RepeatedQuery(lambda: Membership.objects.filter(pk=Given("pk")))
    assert by_number.first(pk=LARGEST_NUMBER) is None
    assert by_number.first(pk=LARGEST_NUMBER + 1) is None


def test_a_session_that_ran_out_is_not_read(client):
    study = make_study()
    client.force_login(lead_of(study).user)
    assert client.get(f"/studies/{study.slug}/").status_code == 200
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get(f"/studies/{study.slug}/").status_code == 302


def test_a_huge_number_in_an_address_is_not_found(client):
    study = make_study()
    client.force_login(lead_of(study).user)
    assert client.get(f"/studies/{study.slug}/rounds/{LARGEST_NUMBER + 1}/").status_code == 404
