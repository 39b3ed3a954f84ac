"""Categories that coders propose, and what a lead makes of them."""

import pytest

from labeling.errors import CodebookError, InvalidInputError, RoundStateError
from labeling.models import AnnotationCategory, Assignment, Category, CategoryProposal, Decision
from labeling.services import coding, proposals, rounds
from labeling.services.codebooks import draft_or_current
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
    return make_round(study, coders=coders, units=1)


def propose(coding_round, by, **fields):
    proposal = {"dimension": "symptom", "name": "Wrong colour", "parent": "output"} | fields
    return coding.propose_category(coding_round=coding_round, by=by, **proposal)


@pytest.fixture
def proposal(coding_round, coders):
    proposal = propose(coding_round, coders[0])
    answers = {"symptom": ["wrong-colour"], "cause": ["logic"], "fix": []}
    mine = assignment_of(coding_round, coders[0])
    coding.submit(assignment=mine, by=coders[0], changes={"annotations": answers}, version=0)
    make_submission(assignment_of(coding_round, coders[1]), {"symptom": "crash"})
    rounds.close_round(coding_round=coding_round, by=lead_of(coding_round.study))
    return proposal


def resolve(proposal, act, **asked):
    lead = lead_of(proposal.round.study)
    return proposals.resolve_proposal(proposal=proposal, act=act, by=lead, **asked)


def test_an_accepted_category_enters_the_codebook_draft_with_its_concept(proposal, study):
    assert resolve(proposal, "accept").state == "accepted"
    draft = draft_or_current(study)
    assert draft.frozen_at is None
    entered = Category.objects.get(dimension__codebook=draft, code="wrong-colour")
    assert (entered.concept, entered.parent.code) == (proposal.concept, "output")


def test_a_mapped_category_counts_as_another(proposal):
    mapped = resolve(proposal, "map", map_to="warning")
    assert (mapped.state, mapped.target.code) == ("mapped", "warning")
    assert AnnotationCategory.objects.get(proposal=proposal).category is None, "what was said stays"


def test_a_category_is_mapped_only_to_one_of_its_dimension(proposal):
    with pytest.raises(InvalidInputError):
        resolve(proposal, "map", map_to="logic")


def test_reconciliation_opens_when_the_last_proposal_is_settled(proposal):
    assert not Decision.objects.exists()
    resolve(proposal, "reject")
    assert Decision.objects.filter(dimension="symptom").exists()
    with pytest.raises(RoundStateError, match="before"):
        resolve(proposal, "accept")


def test_a_code_that_two_coders_proposed_enters_once(coding_round, coders, study):
    for coder in coders:
        propose(coding_round, coder)
    for assignment in Assignment.objects.all():
        make_submission(assignment)
    rounds.close_round(coding_round=coding_round, by=lead_of(study))
    first, second = CategoryProposal.objects.order_by("by__number")
    resolve(first, "accept")
    with pytest.raises(CodebookError, match="Map this one"):
        resolve(second, "accept")


def test_nothing_is_settled_while_the_round_is_open(coding_round, coders):
    with pytest.raises(RoundStateError):
        resolve(propose(coding_round, coders[0]), "accept")


def test_a_name_like_another_is_refused_where_the_coder_wants_to_think_twice(coding_round, coders):
    with pytest.raises(InvalidInputError, match="easily taken for Wrong output"):
        propose(coding_round, coders[0], name="Wrong outputs", unless_similar=True)
    assert propose(coding_round, coders[0], name="Wrong outputs").code == "wrong-outputs"
    # Nobody hears of what another coder proposed.
    assert propose(coding_round, coders[0], name="Flicker", unless_similar=True)
    assert propose(coding_round, coders[1], name="Flickers", unless_similar=True)


def test_only_coders_of_the_round_propose(coding_round, study):
    with pytest.raises(RoundStateError, match="Only a coder"):
        propose(coding_round, make_member(study))
