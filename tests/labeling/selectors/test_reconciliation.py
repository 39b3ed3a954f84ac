"""The queue of disagreements, with everything the coders said."""

import pytest

from labeling.models import UNIT, Evidence, Role, Round, RoundUnit
from labeling.selectors.reconciliation import disagreements, hidden_units, lettered, open_decisions
from labeling.services.reconciliation import Answer, propose_decision, record_decision
from tests.factories import assignment_of, lead_of, make_issue, make_member, make_round, make_study, make_unit
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed():
    study = make_study()
    units = [make_unit(study, make_issue(study, number=number, repository=name)) for number, name in UNITS]
    answers = {
        "ada": ["crash", "crash", "hang", "-duplicate", "crash"],
        "ben": ["hang", "crash", "crash", "hang", "warning"],
    }
    return close(coded_round(answers, study=study, units=units))


UNITS = [(1, "octo/spoon"), (2, "octo/spoon"), (3, "octo/fork"), (4, "octo/fork"), (5, "octo/fork")]


def shown(coding_round, member=None, **filters):
    items = disagreements(coding_round, member or lead_of(coding_round.study), **filters)
    return [(item.round_unit.unit.ref.rpartition("#")[2], item.dimension, item.type) for item in items]


def test_the_queue_holds_what_is_to_be_decided_by_unit(closed):
    assert shown(closed) == [
        ("3", "symptom", "disagreed"),
        ("4", UNIT, "excluded"),
        ("4", "symptom", "waiting"),
        ("5", "symptom", "disagreed"),
        ("1", "symptom", "disagreed"),
    ]
    assert open_decisions(closed).count() == 5


@pytest.mark.parametrize(
    ("filters", "units"),
    [
        ({"type": "excluded"}, ["4"]),
        ({"dimension": UNIT}, ["4"]),
        ({"cell": "crash|hang"}, ["3", "1"]),
        ({"repository": "octo/spoon"}, ["1"]),
        ({"decided": True}, []),
        ({"type": "disagreed", "decided": False}, ["3", "5", "1"]),
    ],
)
def test_the_queue_can_be_filtered(closed, filters, units):
    assert [unit for unit, _, _ in shown(closed, **filters)] == units


def test_the_queue_of_a_pair_holds_units_both_coded(closed):
    ada, ben = (coder_called(closed.study, name).pk for name in ("ada", "ben"))
    assert len(shown(closed, pair=(ada, ben))) == 5
    assert shown(closed, pair=(ada, make_member(closed.study).pk)) == []


def test_decided_items_stay_in_the_queue(closed):
    round_unit = closed.round_units.order_by("pk")[0]
    record_decision(
        round_unit=round_unit,
        dimension="symptom",
        by=lead_of(closed.study),
        answer=Answer(categories=("hang",)),
        version=0,
    )
    assert shown(closed, decided=True) == [("1", "symptom", "disagreed")]


def test_an_item_shows_what_each_coder_said(closed):
    submission = assignment_of(closed, coder_called(closed.study, "ada")).submissions.get()
    dimension = closed.codebook.dimensions.get()
    Evidence.objects.create(
        submission=submission, dimension=dimension, document="body", start=0, end=2, quote="It"
    )
    round_unit = closed.round_units.order_by("pk")[0]
    propose_decision(
        round_unit=round_unit,
        dimension="symptom",
        by=coder_called(closed.study, "ben"),
        answer=Answer(categories=("crash",)),
        rationale="You are right.",
    )
    (item,) = disagreements(closed, lead_of(closed.study), repository="octo/spoon")
    ada, ben = item.answers
    assert (ada.coder, ada.categories, ada.state) == ("ada", ("crash",), "coded")
    assert [quote.quote for quote in ada.evidence] == ["It"]
    assert (ben.coder, ben.categories) == ("ben", ("hang",))
    (proposal,) = item.proposals
    assert (proposal.by, proposal.categories, proposal.rationale) == ("ben", ("crash",), "You are right.")
    assert item.version == 0


def test_an_exclusion_shows_who_excluded_and_why(closed):
    (item,) = disagreements(closed, lead_of(closed.study), type="excluded")
    assert [(each.excluded, each.exclude_reason) for each in item.answers] == [
        (True, "duplicate"),
        (False, ""),
    ]


def test_who_is_a_in_an_anonymous_round_changes_from_unit_to_unit(closed):
    closed.anonymous = True
    orders = {tuple(lettered(RoundUnit(pk=pk, round=closed), [1, 2, 3])) for pk in range(1, 100)}
    assert len(orders) == 6


def test_units_that_are_coded_again_are_hidden_and_counted(closed):
    ada = coder_called(closed.study, "ada")
    unit = closed.round_units.order_by("pk")[0].unit
    make_round(closed.study, coders=[ada], units=[unit], kind=Round.Kind.RETEST, based_on=closed)
    assert [ref for ref, _, _ in shown(closed, ada)] == ["3", "4", "4", "5"]
    assert hidden_units(closed, ada) == 1
    assert hidden_units(closed, coder_called(closed.study, "ben")) == 0


def test_who_did_not_code_in_the_round_sees_nothing(closed):
    assert shown(closed, make_member(closed.study)) == []
    assert len(shown(closed, make_member(closed.study, role=Role.OBSERVER))) == 5


def test_the_number_of_queries_does_not_grow(closed, django_assert_num_queries):
    large = close(coded_round({"ada": ["crash"] * 12, "ben": ["hang"] * 12}))
    for coding_round in (closed, large):
        lead = lead_of(coding_round.study)
        with django_assert_num_queries(10):
            assert disagreements(coding_round, lead, type="disagreed")
