"""A coder's queue and how far they are."""

from datetime import UTC, datetime

import pytest

from labeling.models import Assignment, IssueSnapshot
from labeling.selectors.coding import (
    narrowing,
    neighbours,
    next_assignment,
    next_in_queue,
    own_annotations,
    own_progress,
    queue,
    shown_refs,
)
from tests.factories import (
    assignment_of,
    make_annotation,
    make_member,
    make_round,
    make_study,
    make_submission,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def ada(study):
    return make_member(study, user="ada")


@pytest.fixture
def ben(study):
    return make_member(study, user="ben")


@pytest.fixture
def coding_round(study, ada, ben):
    return make_round(study, coders=[ada, ben], units=5)


def set_status(assignment, status):
    Assignment.objects.filter(pk=assignment.pk).update(status=status)


def test_what_comes_next_is_returned_then_to_do_then_drafts_then_skipped(coding_round, ada):
    mine = [assignment_of(coding_round, ada, place) for place in range(5)]
    for assignment, status in zip(mine, ("skipped", "draft", "todo", "returned", "submitted"), strict=True):
        set_status(assignment, status)
    order = []
    while (found := next_assignment(ada, coding_round)) is not None:
        order.append(found)
        set_status(found, "submitted")
    assert order == [mine[3], mine[2], mine[1], mine[0]]


def test_the_unit_just_left_is_not_offered_again(coding_round, ada):
    first = next_assignment(ada, coding_round)
    assert next_assignment(ada, coding_round, after=first) == assignment_of(coding_round, ada, 1)


def test_nobody_is_offered_what_others_code(coding_round, study):
    assert next_assignment(make_member(study), coding_round) is None


def test_the_next_unit_costs_three_queries(coding_round, ada, django_assert_num_queries):
    with django_assert_num_queries(3):
        found = next_assignment(ada, coding_round)
        str(found.round_unit.unit.snapshot.title + found.round_unit.round.study.title)


def test_a_queue_is_filtered_by_status_and_by_what_was_said(coding_round, ada, ben):
    make_submission(assignment_of(coding_round, ada, 0), {"symptom": "hang"})
    make_submission(assignment_of(coding_round, ada, 1), {"symptom": "crash", "cause": "config"})
    make_submission(assignment_of(coding_round, ada, 1), {"symptom": "crash", "cause": "logic"})
    make_submission(assignment_of(coding_round, ben, 2), {"symptom": "hang"})
    assert queue(ada, coding_round).count() == 5
    assert [each.position for each in queue(ada, coding_round, status="submitted")] == [1, 2]
    hang = queue(ada, coding_round, dimension="symptom", category="hang")
    assert [each.position for each in hang] == [1], "what others said is not searched"
    assert not queue(ada, coding_round, category="config").exists(), "only the last submission counts"


def test_a_withdrawn_unit_is_in_no_queue(coding_round, ada):
    set_status(assignment_of(coding_round, ada), "withdrawn")
    assert queue(ada, coding_round).count() == 4
    assert own_progress(ada, coding_round)["total"] == 4


def test_a_queue_costs_one_query(coding_round, ada, django_assert_num_queries):
    with django_assert_num_queries(1):
        [each.round_unit.unit.issue.ref for each in queue(ada, coding_round)]


def test_a_list_names_its_units_in_one_query(coding_round, ada, django_assert_num_queries):
    listed = list(queue(ada, coding_round))
    with django_assert_num_queries(1):
        refs = shown_refs(listed, ada)
    assert set(refs.values()) == {each.round_unit.unit.ref for each in listed}
    coding_round.masked_fields = ["repository"]
    coding_round.save()
    assert not any("octo" in ref for ref in shown_refs(queue(ada, coding_round), ada).values())


def test_progress_counts_what_was_handed_in_apart_from_what_changed_since(coding_round, ada):
    mine = [assignment_of(coding_round, ada, place) for place in range(5)]
    for assignment in mine[:3]:
        make_submission(assignment)
    set_status(mine[1], "draft")
    set_status(mine[2], "returned")
    set_status(mine[3], "skipped")
    assert own_progress(ada, coding_round) == {
        "total": 5,
        "submitted": 3,
        "changed": 1,
        "returned": 1,
        "todo": 1,
        "draft": 0,
        "skipped": 1,
    }


def test_neighbours_are_those_beside_it_in_the_coders_order(coding_round, ada):
    before, after = neighbours(ada, assignment_of(coding_round, ada, 1), {})
    assert (before.position, after.position) == (1, 3)
    assert neighbours(ada, assignment_of(coding_round, ada, 0), {})[0] is None


def test_a_queue_in_an_order_of_ones_own_is_walked_in_that_order(coding_round, ada):
    mine = [assignment_of(coding_round, ada, place) for place in range(5)]
    for assignment, day in zip(mine, (3, None, 5, 3, 1), strict=True):
        opened = None if day is None else datetime(2025, 3, day, tzinfo=UTC)
        IssueSnapshot.objects.filter(pinned_by=assignment.round_unit.unit).update(opened_at=opened)
    walks = {"oldest": [2, 5, 1, 4, 3], "newest": [3, 1, 4, 5, 2]}
    for order, walk in walks.items():
        narrowed = narrowing({"order": order})
        assert [each.position for each in queue(ada, coding_round, **narrowed)] == walk
        beside = neighbours(ada, mine[walk[2] - 1], narrowed)
        assert [each.position for each in beside] == [walk[1], walk[3]]
        assert next_in_queue(ada, mine[walk[0] - 1], narrowed).position == walk[1]
    make_submission(mine[4])
    following = next_in_queue(ada, mine[1], narrowing({"order": "oldest"}))
    assert following.position == 1, "what is handed in is passed over"
    following = next_in_queue(ada, mine[2], narrowing({"order": "oldest"}))
    assert following.position == 2, "the end leads to the start"
    assert narrowing({"order": "random"}) == {}


def test_own_annotations_are_the_last_ones_and_nobody_elses(coding_round, ada, ben):
    make_annotation(coding_round, coder=ada, category="crash")
    make_annotation(coding_round, coder=ada, category="hang")
    make_annotation(coding_round, coder=ben, category="warning")
    mine = own_annotations(ada, dimension="symptom")
    assert [each.chosen.get().category.code for each in mine] == ["hang"]


def test_own_annotations_are_hidden_while_the_issue_is_coded_again(study, coding_round, ada, ben):
    make_annotation(coding_round, coder=ada)
    coding_round.state, coding_round.closed_at = "closed", coding_round.opened_at
    coding_round.save()
    assert own_annotations(ada).count() == 3
    unit = assignment_of(coding_round, ada).round_unit.unit
    make_round(study, coders=[ada], units=[unit])
    assert own_annotations(ada).count() == 0
