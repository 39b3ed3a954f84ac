import pytest
from django.urls import reverse

from labeling.models import Comment, Decision, Notice, Round
from labeling.services.rounds import close_round
from tests.factories import assignment_of, lead_of, make_member, make_round, make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def coders(study):
    return [make_member(study, user="ada"), make_member(study, user="ben")]


@pytest.fixture
def closed(study, coders):
    """Two units: of the first the cause is disputed, the second is agreed."""
    coding_round = make_round(study, state="open", coders=coders, units=2)
    for coder, cause in zip(coders, ("logic", "config"), strict=True):
        first, second = ({"symptom": "crash", "cause": each, "fix": ["call"]} for each in (cause, "logic"))
        make_submission(assignment_of(coding_round, coder, 0), answers=first, memo=f"memo of {coder.name}")
        make_submission(assignment_of(coding_round, coder, 1), answers=second)
    return close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))


@pytest.fixture
def disputed(closed):
    return Decision.objects.get(round_unit__round=closed, type="disagreed")


def url_of(decision):
    unit = decision.round_unit
    where = [unit.round.study.slug, unit.round.number, unit.unit_id, decision.dimension]
    return reverse("labeling:reconciliation-detail", args=where)


def agree_with(member):
    return {"answer": f"coder:{member.pk}", "rationale": "The trace shows it.", "version": "0"}


def test_the_home_leads_to_the_first_open_disagreement(client, study, coders, disputed):
    client.force_login(coders[0].user)
    page = client.get(reverse("labeling:reconciliation-home", args=[study.slug]), follow=True)
    assert page.redirect_chain[-1][0] == url_of(disputed)
    text = page.content.decode()
    assert "memo of ada" in text
    assert "memo of ben" in text
    assert "Logic / Config" in text or "Config / Logic" in text


def test_two_coders_decide_together(client, coders, disputed):
    for coder in coders:
        client.force_login(coder.user)
        answer = client.post(url_of(disputed), agree_with(coders[1]) | {"action": "propose"})
        assert answer.status_code == 302
        disputed.refresh_from_db()
        assert disputed.is_open == (coder is coders[0])
    assert (disputed.how, disputed.categories.get().code) == ("discussed", "config")
    assert disputed.rationale == "The trace shows it."
    assert "Nothing is open" in client.get(answer.headers["Location"]).content.decode()


def test_the_other_coder_sees_a_proposal_by_polling(client, coders, disputed):
    client.force_login(coders[0].user)
    client.post(url_of(disputed), agree_with(coders[1]) | {"action": "propose"})
    client.force_login(coders[1].user)
    part = client.get(url_of(disputed), headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<div id="standing"')
    assert "The trace shows it." in part
    assert Notice.objects.filter(member=coders[1], verb="decision.proposed").count() == 1


def test_another_answer_than_both_can_be_chosen(client, study, disputed):
    client.force_login(lead_of(study).user)
    body = {"answer": "other", "other": "state:unclear", "version": "0", "action": "record"}
    client.post(url_of(disputed), body)
    disputed.refresh_from_db()
    assert (disputed.how, disputed.state) == ("discussed", "unclear")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"action": "propose"}, "Choose an answer"),
        ({"action": "propose", "answer": "coder:999999"}, "Choose an answer"),
        ({"action": "propose", "answer": "other", "other": "nope"}, "nope"),
        ({"action": "propose", "answer": "other", "disagreement_reason": "tired"}, "Choose one of"),
        ({"action": "comment", "comment": " "}, "Write a comment first"),
    ],
)
def test_mistakes_come_back_with_what_was_typed(client, coders, disputed, body, sentence):
    client.force_login(coders[0].user)
    answer = client.post(url_of(disputed), body | {"rationale": "kept words"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert sentence in page
    assert "kept words" in page


def test_of_two_who_decide_at_once_the_second_sees_the_first_decision(client, study, coders, disputed):
    client.force_login(lead_of(study).user)
    client.post(url_of(disputed), agree_with(coders[0]) | {"action": "record"})
    late = client.post(url_of(disputed), agree_with(coders[1]) | {"action": "record"})
    assert late.status_code == 409
    page = late.content.decode()
    assert "Somebody decided this while you were deciding" in page
    assert "Logic" in page
    disputed.refresh_from_db()
    assert (disputed.version, disputed.categories.get().code) == (1, "logic")


def test_who_may_not_decide_is_told(client, study, disputed, coders):
    client.force_login(make_member(study, role="adjudicator").user)
    refused = client.post(url_of(disputed), agree_with(coders[0]) | {"action": "record"})
    assert refused.status_code == 403
    assert "the coders decide together" in refused.content.decode()
    client.force_login(make_member(study, role="observer").user)
    page = client.get(url_of(disputed)).content.decode()
    assert "Propose &amp; next" not in page
    assert client.post(url_of(disputed), {"action": "comment", "comment": "x"}).status_code == 403


def test_a_deadlock_goes_to_the_adjudicator(client, study, coders, disputed):
    adjudicator = make_member(study, role="adjudicator")
    client.force_login(coders[0].user)
    client.post(url_of(disputed), {"action": "escalate", "rationale": "We cannot agree."})
    assert Notice.objects.filter(member=adjudicator, verb="decision.escalated").exists()
    client.force_login(adjudicator.user)
    client.post(url_of(disputed), agree_with(coders[0]) | {"action": "record"})
    disputed.refresh_from_db()
    assert (disputed.how, disputed.decided_by) == ("adjudicated", adjudicator)


def test_a_decision_is_reopened_with_a_reason(client, study, coders, disputed):
    client.force_login(lead_of(study).user)
    client.post(url_of(disputed), agree_with(coders[0]) | {"action": "record"})
    assert client.post(url_of(disputed), {"action": "reopen", "reason": ""}).status_code == 422
    client.post(url_of(disputed), {"action": "reopen", "reason": "A comment was overlooked."})
    disputed.refresh_from_db()
    assert disputed.is_open
    assert disputed.versions.get().reason == "A comment was overlooked."


def test_a_comment_mentions_somebody(client, study, coders, disputed):
    client.force_login(coders[0].user)
    client.post(url_of(disputed), {"action": "comment", "comment": "@ben look at line 3"})
    assert Comment.objects.get().mentions.get() == coders[1]
    assert "look at line 3" in client.get(url_of(disputed)).content.decode()


def test_filters_lead_to_what_fits_and_say_so_when_nothing_does(client, study, coders, closed, disputed):
    client.force_login(coders[0].user)
    listing = reverse("labeling:disagreement-list", args=[study.slug, closed.number])
    assert client.get(listing, {"dimension": "cause"}).headers["Location"].startswith(url_of(disputed))
    assert client.get(listing, {"cell": disputed.cell}).status_code == 302
    assert "No disagreement fits" in client.get(listing, {"dimension": "fix"}).content.decode()


def test_an_open_round_and_anothers_round_are_unknown(client, study, coders, closed, disputed):
    running = make_round(study, state="open", coders=coders, units=1)
    client.force_login(coders[0].user)
    listing = reverse("labeling:disagreement-list", args=[study.slug, running.number])
    assert client.get(listing).status_code == 404
    client.force_login(make_member(study).user)
    assert client.get(url_of(disputed)).status_code == 404


def test_names_can_be_kept_out_of_it(client, coders, closed, disputed):
    Round.objects.filter(pk=closed.pk).update(anonymous=True)
    client.force_login(coders[0].user)
    panel = client.get(url_of(disputed)).context["sides"]
    assert {side.name for side in panel} == {""}


def test_the_page_costs_the_same_for_many_disagreements(client, study, coders, django_assert_max_num_queries):
    coding_round = make_round(study, state="open", coders=coders, units=12)
    for unit in range(12):
        for coder, cause in zip(coders, ("logic", "config"), strict=True):
            answers = {"symptom": "crash", "cause": cause, "fix": ["call"]}
            make_submission(assignment_of(coding_round, coder, unit), answers=answers)
    close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))
    client.force_login(coders[0].user)
    decision = Decision.objects.filter(round_unit__round=coding_round, type="disagreed").first()
    client.get(url_of(decision))
    with django_assert_max_num_queries(60):
        client.get(url_of(decision))
