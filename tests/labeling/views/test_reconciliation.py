import pytest
from django.urls import reverse

from labeling.models import Comment, Decision, Evidence, Notice, Round
from labeling.services.rounds import close_round
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_dimension,
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


def test_a_page_whose_unit_another_round_hides_stops_asking(client, study, coders, disputed):
    client.force_login(coders[0].user)
    seen = seen_by(client, disputed)
    unit = disputed.round_unit.unit
    make_round(study, coders=coders[:1], units=[unit], kind="training")
    assert standing(client, disputed, seen).status_code == 404
    where = [study.slug, disputed.round_unit.round.number]
    asked = client.get(
        reverse("labeling:reconciliation-standing", args=[*where, unit.pk, disputed.dimension]),
        {"seen": seen},
        headers={"HX-Request": "true"},
    )
    assert asked.headers["HX-Redirect"] == reverse("labeling:disagreement-list", args=where)
    assert "hidden from you while you code it again" in client.get(asked.headers["HX-Redirect"]).text


@pytest.fixture
def disputed(closed):
    return Decision.objects.get(round_unit__round=closed, type="disagreed")


def url_of(decision):
    unit = decision.round_unit
    where = [unit.round.study.slug, unit.round.number, unit.unit_id, decision.dimension]
    return reverse("labeling:reconciliation-detail", args=where)


def agree_with(letter):
    return {"answer": f"coder:{letter}", "rationale": "The trace shows it.", "version": "0"}


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
        answer = client.post(url_of(disputed), agree_with("B") | {"action": "propose"})
        assert answer.status_code == 302
        disputed.refresh_from_db()
        assert disputed.is_open == (coder is coders[0])
    assert (disputed.how, disputed.categories.get().code) == ("discussed", "config")
    assert disputed.rationale == "The trace shows it."
    assert "Nothing is open" in client.get(answer.headers["Location"]).content.decode()


def standing(client, decision, seen):
    unit = decision.round_unit
    where = [unit.round.study.slug, unit.round.number, unit.unit_id, decision.dimension]
    return client.get(reverse("labeling:reconciliation-standing", args=where), {"seen": seen})


def seen_by(client, decision):
    return client.get(url_of(decision)).context["panel"].state


def test_nothing_is_sent_while_nobody_did_anything(client, coders, disputed):
    client.force_login(coders[1].user)
    answer = standing(client, disputed, seen_by(client, disputed))
    assert (answer.status_code, answer.content) == (204, b"")


def test_the_other_coder_sees_a_proposal_by_polling_and_keeps_the_form(client, coders, disputed):
    client.force_login(coders[1].user)
    seen = seen_by(client, disputed)
    client.force_login(coders[0].user)
    client.post(url_of(disputed), agree_with("B") | {"action": "propose"})
    client.force_login(coders[1].user)
    part = standing(client, disputed, seen).content.decode()
    assert '<div id="standing"' in part
    assert "The trace shows it." in part
    assert 'id="decision"' not in part
    assert Notice.objects.filter(member=coders[1], verb="decision.proposed").count() == 1


def test_a_decision_taken_elsewhere_replaces_the_form(client, study, coders, disputed):
    client.force_login(coders[0].user)
    seen = seen_by(client, disputed)
    client.force_login(lead_of(study).user)
    client.post(url_of(disputed), agree_with("A") | {"action": "record"})
    client.force_login(coders[0].user)
    part = standing(client, disputed, seen).content.decode()
    assert 'id="decision" tabindex="-1" hx-swap-oob="true"' in part
    assert "Propose &amp; next" not in part
    assert "Reopen this decision because" in part
    assert "<b>1</b> of 1 decided" in part


def test_quotes_of_both_are_marked_in_the_issue_and_lead_there_and_back(client, closed, coders, disputed):
    cause = closed.codebook.dimensions.get(key="cause")
    for coder, (start, end) in zip(coders, ((3, 10), (6, 15)), strict=True):
        submission = assignment_of(closed, coder, 0).submissions.get()
        Evidence.objects.create(
            submission=submission,
            dimension=cause,
            document="body",
            start=start,
            end=end,
            quote="It crashes when I start it."[start:end],
        )
    client.force_login(coders[0].user)
    page = client.get(url_of(disputed)).content.decode()
    body = page[page.index('data-document="body"') : page.index("reconcile-panel")]
    assert 'class="evidence evidence--a dim-2" id="quote-ca1">cra</mark>' in body
    assert 'class="evidence evidence--b dim-2" id="quote-cb1">shes</mark>' in body
    assert 'href="#answer-a" title="Coder A for Cause">CA1</a>' in body
    assert 'href="#quote-cb1" data-quote>CB1</a> “shes when”' in page


def test_another_answer_than_both_can_be_chosen(client, study, disputed):
    client.force_login(lead_of(study).user)
    body = {"answer": "other", "other": "state:unclear", "version": "0", "action": "record"}
    client.post(url_of(disputed), body)
    disputed.refresh_from_db()
    assert (disputed.how, disputed.state) == ("discussed", "unclear")


def test_of_any_number_each_contested_category_is_decided_by_itself(client, study, coders):
    coding_round = make_round(study, state="open", coders=coders, units=1)
    for coder, fixes in zip(coders, (["call", "condition"], ["call", "rewrite"]), strict=True):
        answers = {"symptom": "crash", "cause": "logic", "fix": fixes}
        make_submission(assignment_of(coding_round, coder), answers=answers)
    close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))
    decision = Decision.objects.get(round_unit__round=coding_round, type="disagreed")
    client.force_login(lead_of(study).user)
    page = client.get(url_of(decision)).text
    assert 'name="choose:rewrite" value="yes"' in page
    assert 'name="other" value="call" checked' in page
    half = {"answer": "other", "other": "call", "choose:rewrite": "yes", "version": "0", "action": "record"}
    again = client.post(url_of(decision), half)
    assert (again.status_code, "Left: Condition" in again.text) == (422, True)
    assert 'name="choose:rewrite" value="yes" checked' in again.text
    client.post(url_of(decision), half | {"choose:condition": "no"})
    assert sorted(each.code for each in decision.categories.all()) == ["call", "rewrite"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"action": "propose"}, "Choose an answer"),
        ({"action": "propose", "answer": "coder:Z"}, "Choose an answer"),
        ({"action": "propose", "answer": "other", "other": "nope"}, "nope"),
        ({"action": "propose", "answer": "other", "disagreement_reason": "tired"}, "Choose one of"),
        ({"action": "comment", "comment": " "}, "Write a comment first"),
        ({"action": "comment", "comment": "x" * 10_001}, "Write at most 10,000 characters"),
        ({"action": "propose", "answer": "coder:A", "rationale": "kept words" * 1_001}, "at most 10,000"),
    ],
)
def test_mistakes_come_back_with_what_was_typed(client, coders, disputed, body, sentence):
    client.force_login(coders[0].user)
    answer = client.post(url_of(disputed), {"rationale": "kept words"} | body)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert sentence in page
    assert "kept words" in page


def test_of_two_who_decide_at_once_the_second_sees_both_answers(client, study, coders, disputed):
    client.force_login(lead_of(study).user)
    client.post(url_of(disputed), agree_with("A") | {"action": "record"})
    late = client.post(
        url_of(disputed), agree_with("B") | {"action": "record", "rationale": "The flag is wrong."}
    )
    assert late.status_code == 409
    page = late.content.decode()
    conflict = page[page.index('id="conflict"') : page.index('id="compare"')]
    assert "Somebody decided this while you were deciding" in conflict
    assert conflict.index("Logic") < conflict.index("The trace shows it.") < conflict.index("Yours")
    assert conflict.index("Config") < conflict.index("The flag is wrong.")
    # What was typed is not lost: it is the reason to open the decision again.
    assert 'name="reason" value="The flag is wrong."' in page
    disputed.refresh_from_db()
    assert (disputed.version, disputed.categories.get().code) == (1, "logic")


def test_who_may_not_decide_is_told(client, study, disputed, coders):
    client.force_login(make_member(study, role="adjudicator").user)
    refused = client.post(url_of(disputed), agree_with("A") | {"action": "record"})
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
    client.post(url_of(disputed), agree_with("A") | {"action": "record"})
    disputed.refresh_from_db()
    assert (disputed.how, disputed.decided_by) == ("adjudicated", adjudicator)


def test_a_decision_is_reopened_with_a_reason(client, study, coders, disputed):
    client.force_login(lead_of(study).user)
    client.post(url_of(disputed), agree_with("A") | {"action": "record"})
    assert client.post(url_of(disputed), {"action": "reopen", "reason": ""}).status_code == 422
    client.post(url_of(disputed), {"action": "reopen", "reason": "A comment was overlooked."})
    disputed.refresh_from_db()
    assert disputed.is_open
    assert disputed.versions.get().reason == "A comment was overlooked."
    history = client.get(url_of(disputed)).text.split("Decided before: 1")[1].split("</details>")[0]
    for told in ("Logic", "Discussed", "The trace shows it.", ": A comment was overlooked."):
        assert told in history


def test_a_comment_mentions_somebody(client, study, coders, disputed):
    client.force_login(coders[0].user)
    client.post(url_of(disputed), {"action": "comment", "comment": "@ben look at line 3"})
    assert Comment.objects.get().mentions.get() == coders[1]
    assert "look at line 3" in client.get(url_of(disputed)).content.decode()


def test_a_comment_is_taken_in_place(client, coders, disputed):
    client.force_login(coders[0].user)
    in_place = {"HX-Request": "true"}
    part = client.post(url_of(disputed), {"action": "comment", "comment": "Line 3"}, headers=in_place)
    assert part.content.decode().lstrip().startswith('<div id="standing"')
    assert "Line 3" in part.content.decode()
    refused = client.post(url_of(disputed), {"action": "comment", "comment": " "}, headers=in_place)
    assert refused.status_code == 422
    assert "Write a comment first" in refused.content.decode()


def test_asking_for_news_is_cheap(client, coders, disputed, django_assert_max_num_queries):
    client.force_login(coders[0].user)
    seen = seen_by(client, disputed)
    with django_assert_max_num_queries(24):
        assert standing(client, disputed, seen).status_code == 204


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
    client.post(url_of(disputed), {"action": "comment", "comment": "What about line 3?"})
    answer = client.get(url_of(disputed))
    panel = answer.context["panel"]
    assert {side.name for side in panel.sides} == {""}
    ((name, _),) = panel.comments
    assert name == f"Coder {panel.letters[coders[0].pk]}"
    main = answer.content.decode()
    main = main[main.index('<section class="reconcile-panel"') : main.index("</main>")]
    assert "ben" not in main.replace("memo of ben", "")
    assert coders[1].pseudonym not in main


def test_an_adjudicator_answers_first_where_the_round_says_so(client, study, coders):
    adjudicator = make_member(study, role="adjudicator")
    fields = {"decide": "adjudicator", "own_answer_first": True}
    coding_round = make_round(study, state="open", coders=coders, units=1, **fields)
    for coder, cause in zip(coders, ("logic", "config"), strict=True):
        answers = {"symptom": "crash", "cause": cause, "fix": ["call"]}
        make_submission(assignment_of(coding_round, coder), answers=answers)
    close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))
    decision = Decision.objects.get(round_unit__round=coding_round, type="disagreed")
    client.force_login(adjudicator.user)
    listing = reverse("labeling:disagreement-list", args=[study.slug, coding_round.number])
    page = client.get(listing).content.decode()
    assert "1 unit waits for your own answer" in page
    own = reverse(
        "labeling:coding-detail", args=[study.slug, coding_round.number, decision.round_unit.unit_id]
    )
    assert own in page
    assert client.get(url_of(decision)).status_code == 404
    answer = {"d-symptom": "crash", "d-cause": "api-misuse", "d-fix": "call", "version": "0"}
    assert client.get(own).status_code == 200
    assert client.post(own, answer | {"action": "submit"}).headers["Location"] == listing
    page = client.get(listing, follow=True).content.decode()
    assert "Your own answer, given before you saw these: <b>Api misuse</b>" in page
    client.post(url_of(decision), agree_with("A") | {"action": "record"})
    decision.refresh_from_db()
    assert (decision.how, decision.decided_by) == ("adjudicated", adjudicator)


def test_three_coders_are_shown_who_agrees_with_whom(client, study, coders):
    three = [*coders, make_member(study, user="cleo")]
    coding_round = make_round(study, state="open", coders=three, units=1)
    for coder, cause in zip(three, ("logic", "config", "logic"), strict=True):
        make_submission(assignment_of(coding_round, coder), {"cause": cause})
    close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))
    client.force_login(three[2].user)
    page = client.get(
        reverse("labeling:disagreement-list", args=[study.slug, coding_round.number]), follow=True
    ).content.decode()
    assert "Agree on A, C (2 of 3)<b>Logic</b>" in page
    assert "Agree on B (1 of 3)<b>Config</b>" in page


@pytest.fixture
def alike(study, coders):
    """Five units: of three the cause is ``logic`` to one and ``config`` to the other, of one another pair."""
    coding_round = make_round(study, state="open", coders=coders, units=5)
    met = [("logic", "api-misuse"), ("logic", "config"), ("config", "logic"), ("logic", "config")]
    for unit, causes in enumerate([*met, ("logic", "logic")]):
        for coder, cause in zip(coders, causes, strict=True):
            make_submission(assignment_of(coding_round, coder, unit), {"cause": cause})
    return close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))


def cell_url(coding_round):
    where = [coding_round.study.slug, coding_round.number, "cause"]
    return reverse("labeling:disagreement-cell", args=where) + "?cell=config%7Clogic"


def test_the_worst_pair_comes_first_and_one_walks_on_by_key(client, coders, alike):
    client.force_login(coders[0].user)
    listing = reverse("labeling:disagreement-list", args=[alike.study.slug, alike.number])
    page = client.get(listing, follow=True)
    assert [unit.pairs[0].answers for unit in page.context["listed"]] == [
        *[["Config", "Logic"]] * 3,
        ["Api misuse", "Logic"],
    ]
    assert page.context["previous_url"] == ""
    second = client.get(page.context["following_url"])
    assert (second.context["position"], second.context["length"]) == (2, 4)
    assert second.context["previous_url"] == page.redirect_chain[-1][0]
    assert 'data-keys="["' in second.content.decode()


def test_a_cell_is_decided_at_once_with_one_rationale(client, study, alike):
    client.force_login(lead_of(study).user)
    page = client.get(cell_url(alike)).content.decode()
    assert "3 open units in which these answers met" in page
    refused = client.post(cell_url(alike), {"other": "config", "rationale": ""})
    assert refused.status_code == 422
    assert "Say why" in refused.content.decode()
    assert client.post(cell_url(alike), {"rationale": "x"}).status_code == 422
    client.post(cell_url(alike), {"other": "config", "rationale": "Flags are configuration."})
    rows = Decision.objects.filter(round_unit__round=alike, cell="config|logic")
    assert {(row.how, row.rationale) for row in rows} == {("discussed", "Flags are configuration.")}
    assert client.post(cell_url(alike), {"other": "config", "rationale": "Again"}).status_code == 409


def test_coders_and_observers_do_not_decide_cells(client, study, coders, alike):
    for member in (coders[0], make_member(study, role="observer")):
        client.force_login(member.user)
        assert client.get(cell_url(alike)).status_code == 403
        assert client.post(cell_url(alike), {"other": "config", "rationale": "x"}).status_code == 403
    client.force_login(make_member(study, role="adjudicator").user)
    assert client.post(cell_url(alike), {"other": "config", "rationale": "x"}).status_code == 403


def test_afterwards_a_coder_sees_where_the_final_differs_from_theirs(client, study, coders, alike):
    client.force_login(lead_of(study).user)
    client.post(cell_url(alike), {"other": "config", "rationale": "Flags are configuration."})
    listing = reverse("labeling:outcome-list", args=[study.slug, alike.number])
    client.force_login(coders[0].user)
    page = client.get(listing)
    assert [(row.mine, row.theirs, row.final) for row in page.context["rows"]] == [
        ("Logic", [("ben", "Config")], "Config")
    ] * 2
    assert "Flags are configuration." in page.content.decode()
    assert len(client.get(listing, {"show": "all"}).context["rows"]) == 3
    assert client.get(listing, {"dimension": "fix"}).context["rows"] == []
    assert client.get(listing, {"reason": "misread"}).context["rows"] == []
    client.force_login(make_member(study).user)
    assert client.get(listing).status_code == 404


def test_the_round_is_finished_from_here_when_nothing_is_open(client, study, alike):
    lead = lead_of(study)
    client.force_login(lead.user)
    client.post(cell_url(alike), {"other": "config", "rationale": "Flags are configuration."})
    last = Decision.objects.get(round_unit__round=alike, how="")
    done = client.post(url_of(last), agree_with("A") | {"action": "record"}, follow=True)
    page = done.content.decode()
    assert "Nothing is open" in page
    assert "Of the other 4, 4 were settled in discussion (100.00%)." in page
    assert reverse("labeling:round-finish", args=[study.slug, alike.number]) in page


def test_a_lead_writes_the_final_free_text(client, study, coders):
    make_dimension(study.codebooks.first() or make_codebook(study), "note", kind="text", required=False)
    coding_round = make_round(study, state="open", coders=coders, units=1)
    for coder, cause in zip(coders, ("logic", "config"), strict=True):
        answers = {"cause": cause, "note": f"{coder.name} saw it"}
        make_submission(assignment_of(coding_round, coder), answers)
    close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))
    unit = coding_round.round_units.get().unit_id
    url = reverse("labeling:reconciliation-detail", args=[study.slug, coding_round.number, unit, "note"])
    client.force_login(coders[0].user)
    assert "Propose &amp; next" not in client.get(url).content.decode()
    client.force_login(lead_of(study).user)
    page = client.get(url).content.decode()
    assert "ada saw it" in page
    assert "Record &amp; next" in page
    client.post(url, {"answer": "other", "text": "Both saw it", "version": "0", "action": "record"})
    assert Decision.objects.get(dimension="note").text == "Both saw it"


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
