"""What an open round tells of itself."""

import pytest
from django.utils import timezone

from labeling.models import Assignment
from labeling.selectors.progress import round_progress
from tests.factories import assignment_of, lead_of, make_member, make_round, make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def coders(study):
    return [make_member(study, user="ada"), make_member(study, user="ben")]


@pytest.fixture
def coding_round(study, coders):
    coding_round = make_round(study, coders=coders, units=3)
    for place, seconds in enumerate((60, 90)):
        assignment = assignment_of(coding_round, coders[0], place)
        assignment.active_seconds, assignment.last_active_at = seconds, timezone.now()
        make_submission(assignment, exclude_reason="duplicate" if place else "")
    Assignment.objects.filter(pk=assignment_of(coding_round, coders[1]).pk).update(status="skipped")
    return coding_round


def test_a_lead_sees_of_each_coder_what_was_dealt_and_finished(coding_round, study):
    progress = round_progress(coding_round, lead_of(study))
    assert (progress["dealt"], progress["finished"]) == (6, 2)
    ada, ben = progress["coders"]
    assert ada["last_active"] is not None
    assert (ada["name"], ada["dealt"], ada["finished"], ada["median_seconds"]) == ("ada", 3, 2, 75)
    assert (ben["finished"], ben["median_seconds"], ben["last_active"]) == (0, None, None)


def test_nothing_tells_of_skipped_or_excluded_units(coding_round, study):
    (line, _) = round_progress(coding_round, lead_of(study))["coders"]
    assert set(line) == {"id", "name", "dealt", "finished", "median_seconds", "last_active"}


def test_a_coder_sees_their_own_line_and_the_total(coding_round, coders):
    progress = round_progress(coding_round, coders[1])
    assert [line["name"] for line in progress["coders"]] == ["ben"]
    assert progress["finished"] == 2


@pytest.mark.parametrize("role", ["observer", "adjudicator"])
def test_others_see_the_total_alone(coding_round, study, role):
    progress = round_progress(coding_round, make_member(study, role=role))
    assert (progress["coders"], progress["dealt"]) == ([], 6)


def test_a_closed_round_counts_what_came_late(coding_round, study, coders):
    coding_round.state, coding_round.closed_at = "closed", timezone.now()
    coding_round.save()
    Assignment.objects.filter(pk=assignment_of(coding_round, coders[1]).pk).update(draft_at=timezone.now())
    assert [line["late"] for line in round_progress(coding_round, lead_of(study))["coders"]] == [0, 1]


def test_progress_costs_as_many_queries_for_many_coders(coding_round, study, django_assert_num_queries):
    lead = lead_of(study)
    with django_assert_num_queries(2):
        round_progress(coding_round, lead)
