"""Training on the pages: known answers are given unit by unit, and shown to a coder after their own."""

import pytest
from django.urls import reverse

from labeling.models import Assignment, Event, Round, Submission
from labeling.services import codebooks, rounds
from labeling.services.agreement import mark_read
from labeling.services.training import set_reference
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_issue,
    make_round,
    make_study,
    make_submission,
    make_unit,
)

pytestmark = pytest.mark.django_db

WHY = "The traceback names the call; the fix changes its argument."
KNOWN = {"symptom": ["crash"], "cause": ["logic"], "fix": ["call"]}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def planned(study):
    make_codebook(study)
    return make_round(study, units=2, kind="training", state=Round.State.DRAFT, counts_in_results=False)


@pytest.fixture
def lead(study):
    return lead_of(study)


@pytest.fixture
def opened(planned, lead):
    answers = {ref: {"annotations": KNOWN, "memo": WHY} for ref in refs(planned)}
    set_reference(coding_round=planned, answers=answers, by=lead)
    return rounds.open_round(coding_round=planned, by=lead)


def refs(coding_round):
    return list(coding_round.round_units.order_by("unit__ref").values_list("unit__ref", flat=True))


def address(name, coding_round, *args):
    return reverse(f"labeling:{name}", args=[coding_round.study.slug, coding_round.number, *args])


def form(**answers):
    return {"d-symptom": "crash", "d-cause": "logic", "d-fix": ["call"], "memo": WHY} | answers


def code(client, assignment, **answers):
    client.force_login(assignment.coder.user)
    where = address("coding-detail", assignment.round_unit.round, assignment.round_unit.unit_id)
    return client.post(where, {"action": "submit"} | form(memo="", **answers))


def test_a_lead_gives_a_known_answer_with_its_reason_and_goes_on_to_the_next_unit(client, planned, lead):
    client.force_login(lead.user)
    first, second = planned.round_units.order_by("unit__ref")
    where = address("known-answer-detail", planned, first.unit_id)
    refused = client.post(where, {"d-cause": "logic", "memo": WHY})
    assert refused.status_code == 422
    assert "Choose a category for Symptom" in refused.text
    assert WHY in refused.text
    stored = client.post(where, form())
    assert stored["Location"] == address("known-answer-detail", planned, second.unit_id)
    assert Submission.objects.get().memo == WHY
    assert "checked" in client.get(where).text
    client.post(where, form(action="exclude", exclude_reason="duplicate", exclude_note="of #1"))
    shown = client.get(address("known-answer-list", planned)).text
    assert "1 of 2 units have one" in shown
    assert "Excluded: duplicate" in shown
    assert Event.objects.filter(verb="round.reference_given").count() == 2


def test_the_next_unit_is_that_of_the_list_where_names_are_hidden(client, study, lead):
    """A lead who codes blind in another round must not learn from the order what the names are."""
    codebook = make_codebook(study)
    later, sooner = (make_unit(study, make_issue(study, repository=name)) for name in ("z/z", "a/a"))
    units = [later, sooner]
    make_round(study, coders=[lead], units=units, masked_fields=["repository"], codebook=codebook)
    planned = make_round(study, units=units, kind="training", state=Round.State.DRAFT)
    client.force_login(lead.user)
    shown = client.get(address("known-answer-list", planned))
    assert [each.unit_id for each, *_ in shown.context["rows"]] == [later.pk, sooner.pk]
    assert shown.context["next_url"] == address("known-answer-detail", planned, later.pk)
    stored = client.post(address("known-answer-detail", planned, later.pk), form())
    assert stored["Location"] == address("known-answer-detail", planned, sooner.pk)


def test_a_lead_who_is_named_as_a_coder_gives_known_answers_and_is_shown_none(client, planned, lead):
    set_reference(
        coding_round=planned, answers={refs(planned)[0]: {"annotations": KNOWN, "memo": WHY}}, by=lead
    )
    planned.coders.add(lead)
    client.force_login(lead.user)
    unit = planned.round_units.order_by("unit__ref")[0].unit_id
    for where in (address("known-answer-list", planned), address("known-answer-detail", planned, unit)):
        shown = client.get(where).text
        assert WHY not in shown
        assert "You are" in shown


def test_known_answers_are_given_anew_under_a_newer_version(client, planned, study, lead):
    set_reference(coding_round=planned, answers=dict.fromkeys(refs(planned), KNOWN), by=lead)
    data = codebooks.current_data(study)
    data["dimensions"][0]["categories"][0]["definition"] = "Another one."
    codebooks.save_draft(study=study, data=data, by=lead)
    codebooks.freeze(study=study, by=lead)
    client.force_login(lead.user)
    assert "use version 2" in client.get(address("known-answer-list", planned)).text
    client.post(address("known-answer-renew", planned))
    assert (
        "0 of 2 units have one, under codebook version 2"
        in client.get(address("known-answer-list", planned)).text
    )
    set_reference(coding_round=planned, answers=dict.fromkeys(refs(planned), KNOWN), by=lead)
    assert rounds.open_round(coding_round=planned, by=lead).codebook.version == 2


def test_the_known_answer_comes_after_the_own_one_and_ends_it(client, opened):
    ada = opened.coders.order_by("number")[0]
    assignment = assignment_of(opened, ada)
    unit = assignment.round_unit.unit_id
    client.force_login(ada.user)
    assert client.get(address("coding-detail", opened, unit))["Cache-Control"] == "no-store"
    early = client.get(address("feedback-detail", opened, unit))
    assert early.status_code == 302
    assert "feedback" not in early["Location"]
    handed_in = code(client, assignment, **{"d-symptom": "hang"})
    assert handed_in["Location"] == address("feedback-detail", opened, unit) + "#codes"
    shown = client.get(handed_in["Location"]).text
    assert WHY in shown
    assert "2 of 3 match" in shown
    assert 'data-keys="Enter ]"' in shown
    assert (
        assignment.round_unit.round.codebook.dimensions.get(key="symptom")
        .categories.get(code="crash")
        .definition
        in shown
    )
    again = client.get(address("coding-detail", opened, unit))
    assert again["Location"] == handed_in["Location"]
    assert code(client, assignment).status_code == 409
    assert Submission.objects.filter(assignment=assignment).count() == 1


def test_a_coder_counts_their_own_matches_and_a_lead_those_of_all_after_the_close(client, opened, lead):
    ada, ben = opened.coders.order_by("number")
    for coder, symptom in ((ada, "crash"), (ben, "hang")):
        for assignment in Assignment.objects.filter(coder=coder):
            make_submission(assignment, answers={"symptom": symptom, "cause": "logic", "fix": ["call"]})
    where = address("feedback-list", opened)
    client.force_login(ada.user)
    assert client.get(where).text.count("<b>2</b> of 2") == 3
    client.force_login(lead.user)
    assert ben.name not in client.get(where).text
    closed = rounds.close_round(coding_round=opened, by=lead)
    assert ben.name not in client.get(where).text, "nobody has chosen to look at the round"
    assert (
        "Symptom: 2 of 4 answers matched the known ones (50.00%)"
        in client.get(closed.get_absolute_url()).text
    )
    mark_read(closed, lead)
    assert "Plan a new training" in client.post(address("round-reopen", closed), {"reason": "Again."}).text
    assert not closed.study.rounds.filter(kind="recode").exists()
    rows = client.get(where).context["coders"]["rows"]
    assert [(member.pk, units, cells[0].matched, cells[0].of) for member, units, cells in rows] == [
        (ada.pk, 2, 2, 2),
        (ben.pk, 2, 0, 2),
    ]
