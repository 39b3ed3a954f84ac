"""Pages of the rounds: list, plan, open, close, and what each role sees of them."""

import pytest
from django.urls import reverse

from labeling.models import Assignment, Event, Role, Round
from labeling.services.agreement import mark_read
from labeling.services.proposals import propose_category
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
    make_unit,
    make_user,
)
from tests.labeling.closing import close, coded_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(client, study):
    client.force_login(lead_of(study).user)
    return client


def address(name, coding_round):
    return reverse(f"labeling:round-{name}", args=[coding_round.study.slug, coding_round.number])


def draft(study, **fields):
    if not study.codebooks.exists():
        make_codebook(study)
    return make_round(study, state=Round.State.DRAFT, **fields)


def fields_for(study, sample, **fields):
    coders = study.memberships.filter(role=Role.CODER)
    return {
        "kind": "main",
        "source": f"sample:{sample.pk}",
        "coders": [str(each.pk) for each in coders],
        "coders_per_unit": 2,
        "overlap": 100,
        "decide": "together",
    } | fields


# The list and a new round


def test_the_list_shows_drafts_to_leads_only(client, lead, study):
    draft(study)
    assert "Round 1" in lead.get(reverse("labeling:round-list", args=[study.slug])).text
    client.force_login(make_member(study).user)
    page = client.get(reverse("labeling:round-list", args=[study.slug])).text
    assert "Round 1" not in page
    assert "no round for you yet" in page


def test_an_empty_list_says_what_to_do_first(lead, study):
    assert "Draw a sample" in lead.get(reverse("labeling:round-list", args=[study.slug])).text
    make_sample(study)
    assert "New round" in lead.get(reverse("labeling:round-list", args=[study.slug])).text


def test_a_round_is_planned_from_a_sample(lead, study):
    make_codebook(study)
    sample = make_sample(study)
    make_member(study), make_member(study)
    address_new = reverse("labeling:round-create", args=[study.slug])
    assert lead.get(address_new).status_code == 200
    fields = fields_for(
        study,
        sample,
        overlap=50,
        masked_fields=["author"],
        stages="symptom\ncause, fix > fix",
        goal="0.7",
        due_on="2031-02-03",
        seed=5,
    )
    answer = lead.post(address_new, fields)
    coding_round = Round.objects.get()
    assert answer.url == coding_round.get_absolute_url()
    assert (coding_round.overlap, coding_round.goal, coding_round.seed) == (0.5, 0.7, 5)
    assert coding_round.masked_fields == ["author"]
    assert coding_round.stages == [
        {"dimensions": ["symptom"], "reveals": []},
        {"dimensions": ["cause", "fix"], "reveals": ["fix"]},
    ]
    assert coding_round.coders.count() == 2
    assert coding_round.round_units.count() == 3


def test_a_round_takes_the_next_units_of_the_draw(lead, study):
    make_codebook(study)
    sample = make_sample(study, units=5)
    make_member(study), make_member(study)
    address_new = reverse("labeling:round-create", args=[study.slug])
    for _ in range(2):
        assert lead.post(address_new, fields_for(study, sample, size=2)).status_code == 302
    ranked = list(sample.sample_units.order_by("rank").values_list("unit", flat=True))
    taken = [
        sorted(each.round_units.values_list("unit", flat=True)) for each in Round.objects.order_by("number")
    ]
    assert taken == [sorted(ranked[:2]), sorted(ranked[2:4])]


def test_a_part_of_a_closed_round_is_coded_again(lead, study):
    earlier = coded_round({"ada": ["crash"] * 7, "ben": ["crash"] * 7}, study=study)
    close(earlier)
    fields = fields_for(study, earlier, kind="retest", source=f"round:{earlier.pk}", size=3)
    assert lead.post(reverse("labeling:round-create", args=[study.slug]), fields).status_code == 302
    assert Round.objects.get(kind="retest").round_units.count() == 3


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"overlap": 120}, "overlap"),
        ({"source": "sample:4711"}, "source"),
        ({"coders": ["4711"]}, "coders"),
        ({"stages": "weather\ncause"}, "stages"),
        ({"stages": "symptom"}, "stages"),
        ({"kind": "recode"}, None),
        ({"coders_per_unit": 0}, "coders_per_unit"),
    ],
)
def test_a_mistake_in_the_plan_is_told_on_the_page(lead, study, fields, field):
    make_codebook(study)
    sample = make_sample(study)
    answer = lead.post(
        reverse("labeling:round-create", args=[study.slug]), fields_for(study, sample, **fields)
    )
    assert answer.status_code == 422
    assert (field or "__all__") in answer.context["form"].errors
    assert not Round.objects.exists()


def test_settings_of_a_draft_change_and_of_an_open_round_only_in_part(lead, study):
    coding_round = draft(study, stages=[{"dimensions": ["cause"], "reveals": []}] * 2)
    page = lead.get(address("edit", coding_round)).text
    assert "Coders for each unit" in page
    coders = [str(each.pk) for each in coding_round.coders.all()]
    fields = {"coders": coders[:1], "coders_per_unit": 1, "overlap": 100, "decide": "lead", "anonymous": "on"}
    assert lead.post(address("edit", coding_round), fields).status_code == 302
    coding_round.refresh_from_db()
    assert (coding_round.coders_per_unit, coding_round.overlap, coding_round.anonymous) == (1, 0.0, True)
    assert coding_round.stages == []
    late = lead.post(address("edit", coding_round), fields | {"started_from": "before", "goal": 0.8})
    assert late.status_code == 422
    assert "changed in another window" in late.text
    assert 'value="0.8"' in late.text

    opened = make_round(study)
    page = lead.get(address("edit", opened)).text
    assert "Coders for each unit" not in page
    fields = {"instructions": "Read on.", "counts_in_results": "on", "coders_per_unit": 9}
    assert lead.post(address("edit", opened), fields).status_code == 302
    opened.refresh_from_db()
    assert (opened.instructions, opened.coders_per_unit) == ("Read on.", 2)


# Who sees what


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_only_a_lead_plans_and_takes_steps(client, study, role):
    opened, planned = make_round(study), draft(study)
    client.force_login(make_member(study, role=role).user)
    assert client.get(reverse("labeling:round-create", args=[study.slug])).status_code == 403
    assert client.get(address("detail", planned)).status_code == 404
    for name in ("open", "close", "reopen", "finish", "discard", "to-draft", "redeal"):
        assert client.post(address(name, opened)).status_code == 403
    for name in ("edit", "preview"):
        assert client.get(address(name, opened)).status_code == 403


def test_an_outsider_learns_nothing(client, study):
    coding_round = make_round(study)
    client.force_login(make_user())
    for name in ("detail", "edit", "preview"):
        assert client.get(address(name, coding_round)).status_code == 404
    assert client.post(address("close", coding_round)).status_code == 404


def test_an_open_round_shows_a_lead_every_coder_and_a_coder_themself(client, lead, study):
    ada, ben = make_member(study, user="ada"), make_member(study, user="ben")
    coding_round = make_round(study, coders=[ada, ben], anonymous=True)
    make_submission(assignment_of(coding_round, ada), {"symptom": "crash"})
    page = lead.get(address("detail", coding_round)).text
    assert page.index("> ada<") < page.index("> ben<")
    assert "<b>1</b> of 3" in page
    client.force_login(ben.user)
    page = client.get(address("detail", coding_round)).text
    assert "ada" not in page
    assert "<b>0</b> of 3" in page
    assert "All coders together: 1 of 6" in page
    client.force_login(make_member(study, role=Role.OBSERVER).user)
    page = client.get(address("detail", coding_round)).text
    assert "ben" not in page
    assert "answers handed in by all coders" in page


def test_an_open_round_names_its_units_to_leads_only(client, lead, study):
    coding_round = make_round(study)
    ref = coding_round.round_units.first().unit.ref
    assert ref in lead.get(address("detail", coding_round)).text
    client.force_login(make_member(study, role=Role.OBSERVER).user)
    assert ref not in client.get(address("detail", coding_round)).text


def test_a_page_of_an_open_round_tells_nothing_of_the_answers(lead, study):
    coding_round = make_round(study)
    coder = coding_round.coders.first()
    make_submission(assignment_of(coding_round, coder), {"symptom": "wrong-output"}, memo="MEMO-SENTINEL")
    page = lead.get(address("detail", coding_round)).text
    assert "wrong-output" not in page
    assert "MEMO-SENTINEL" not in page
    assert "Coded by" not in page


def test_looking_at_a_closed_round_does_not_keep_it_from_being_undone(lead, study):
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study)
    close(coding_round)
    assert "Open it again" in lead.get(address("detail", coding_round)).text
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is None


def test_the_part_of_the_progress_is_swapped_alone(lead, study):
    coding_round = make_round(study)
    answer = lead.get(address("detail", coding_round), headers={"HX-Request": "true"})
    assert f'id="progress-{coding_round.number}"' in answer.text
    assert "<html" not in answer.text


def test_progress_that_asks_after_the_close_reloads_the_page(lead, study):
    coding_round = make_round(study, state=Round.State.CLOSED)
    answer = lead.get(address("detail", coding_round), headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


# Steps


def test_a_draft_shows_the_work_it_will_be_and_is_opened_with_the_codebook_draft(lead, study):
    coding_round = draft(study, units=4)
    make_codebook(study, frozen=False)
    page = lead.get(address("detail", coding_round)).text
    assert "The work it will be" in page
    assert "Freeze the draft as version 2" in page
    answer = lead.post(address("open", coding_round), {"codebook": "freeze"}, follow=True)
    assert "Round 1 is open" in answer.text
    coding_round.refresh_from_db()
    assert coding_round.codebook.version == 2
    assert Assignment.objects.filter(round_unit__round=coding_round).count() == 8


def test_what_keeps_a_round_from_opening_is_said_on_its_page(lead, study):
    coding_round = draft(study)
    coding_round.coders.clear()
    answer = lead.post(address("open", coding_round), {"codebook": "1"})
    assert answer.status_code == 409
    assert "Name more coders" in answer.text


def test_units_coded_elsewhere_are_listed_when_they_keep_a_round_from_opening(lead, study):
    opened = make_round(study, units=7)
    units = [each.unit for each in opened.round_units.select_related("unit")]
    coding_round = draft(study, coders=list(opened.coders.all()), units=units)
    answer = lead.post(address("open", coding_round), {"codebook": "1"})
    assert answer.status_code == 409
    for unit in units:
        assert unit.ref in answer.text


def test_a_close_lists_who_has_not_submitted_what(lead, study):
    ada, ben = make_member(study, user="ada"), make_member(study, user="ben")
    coding_round = make_round(study, coders=[ada, ben], units=2)
    make_submission(assignment_of(coding_round, ada), {"symptom": "crash"})
    answer = lead.post(address("close", coding_round), {"missing": "refuse"})
    assert answer.status_code == 409
    assert "Not submitted: 3" in answer.text
    assert f"{assignment_of(coding_round, ben).round_unit.unit.ref}</span> ben" in answer.text
    closed = lead.post(address("close", coding_round), {"missing": "accept"}, follow=True)
    assert "Round 1 is closed" in closed.text
    assert "without waiting for missing answers" in closed.text


def test_a_lead_who_codes_sees_who_has_how_much_left_and_what_cannot_be_taken_back(lead, study):
    ben = make_member(study, user="ben")
    coding_round = make_round(study, coders=[lead_of(study), ben], units=2)
    page = lead.get(coding_round.get_absolute_url()).text
    assert address("to-draft", coding_round) in page
    assert address("discard", coding_round) in page
    make_submission(assignment_of(coding_round, ben), {"symptom": "crash"})
    answer = lead.post(address("close", coding_round), {"missing": "refuse"})
    assert "ben: 1 unit<" in answer.text
    assert address("to-draft", coding_round) not in answer.text
    assert address("discard", coding_round) not in answer.text
    assert "Coders have submitted in round 1: close it instead of discarding it." in answer.text


def test_a_close_without_a_choice_refuses(lead, study):
    coding_round = make_round(study)
    assert lead.post(address("close", coding_round), {}).status_code == 409
    coding_round.refresh_from_db()
    assert coding_round.state == Round.State.OPEN


def test_a_closed_round_is_opened_again_or_asked_again(lead, study):
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study)
    close(coding_round)
    answer = lead.post(address("reopen", coding_round), {"reason": "Too early."}, follow=True)
    assert "Round 1 is open again" in answer.text
    coding_round.refresh_from_db()
    close(coding_round)
    assert (
        "Round 1 is closed already." in lead.post(address("close", coding_round), {"missing": "accept"}).text
    )
    mark_read(coding_round)
    answer = lead.post(address("reopen", coding_round), {"reason": "A new category."}, follow=True)
    assert "Round 2 asks its units again" in answer.text


def test_reopening_without_a_reason_is_refused(lead, study):
    coding_round = make_round(study, state=Round.State.CLOSED)
    answer = lead.post(address("reopen", coding_round), {"reason": " "})
    assert answer.status_code == 422
    assert "Say why" in answer.text


def test_a_round_with_open_disagreements_does_not_finish(lead, study):
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study)
    close(coding_round)
    answer = lead.post(address("finish", coding_round))
    assert answer.status_code == 409
    assert answer.context["refusal"].message in answer.text


def test_an_agreed_round_is_finished(lead, study):
    coding_round = coded_round({"ada": ["crash"], "ben": ["crash"]}, study=study)
    close(coding_round)
    assert "is done" in lead.post(address("finish", coding_round), follow=True).text


def test_an_opened_round_goes_back_to_draft_and_is_discarded(lead, study):
    coding_round = make_round(study)
    assert "draft again" in lead.post(address("to-draft", coding_round), follow=True).text
    assert "was discarded" in lead.post(address("discard", coding_round), follow=True).text
    assert lead.get(address("detail", coding_round)).status_code == 404


def test_steps_are_taken_by_post_only(lead, study):
    coding_round = make_round(study)
    for name in ("open", "close", "reopen", "finish", "discard", "to-draft", "redeal"):
        assert lead.get(address(name, coding_round)).status_code == 405


def test_redealing_is_shown_before_it_is_done(lead, study):
    first, second, third = (make_member(study) for _ in range(3))
    coding_round = make_round(study, coders=[first, second], units=4)
    coding_round.coders.add(third)
    planned = lead.post(address("redeal", coding_round), {"leaving": first.pk})
    assert f"4 to {third.name}" in planned.text
    assert not Assignment.objects.filter(coder=third).exists()
    done = lead.post(address("redeal", coding_round), {"leaving": first.pk, "confirm": "yes"}, follow=True)
    assert "4 units" in done.text
    assert Assignment.objects.active().filter(coder=third).count() == 4


def test_redealing_from_somebody_else_is_refused(lead, study):
    coding_round = make_round(study)
    stranger = make_member(study)
    assert lead.post(address("redeal", coding_round), {"leaving": stranger.pk}).status_code == 422


# Preview


def test_a_preview_shows_a_unit_as_a_coder_sees_it_and_stores_nothing(lead, study):
    units = [make_unit(study) for _ in range(4)]
    coding_round = draft(study, units=units, masked_fields=["author"])
    page = lead.get(address("preview", coding_round), {"unit": "2"})
    assert "Preview, unit 2 of 3" in page.text
    assert "Crash on start" in page.text
    assert "<b>reporter</b>" not in page.text
    assert "What crash means." in page.text
    assert "<form" not in page.text.split('id="main"')[1].split("</main>")[0]
    assert lead.get(address("preview", coding_round), {"unit": "99"}).status_code == 200
    assert not Assignment.objects.exists()


def test_a_round_without_units_has_no_preview(lead, study):
    coding_round = draft(study, units=0)
    assert "no units to preview" in lead.get(address("preview", coding_round), follow=True).text


# Queries


@pytest.mark.parametrize("state", [Round.State.DRAFT, Round.State.OPEN, Round.State.CLOSED])
def test_a_round_takes_the_same_number_of_queries_for_many_units(
    lead, study, state, django_assert_max_num_queries
):
    make_codebook(study)
    coding_round = make_round(study, state=state, units=30)
    with django_assert_max_num_queries(32):
        assert lead.get(address("detail", coding_round)).status_code == 200


# Proposed categories


def test_proposed_categories_are_shown_after_the_close_and_settled(lead, study):
    coding_round = make_round(study)
    for coder, name in zip(coding_round.coders.all(), ("Race", "Time-out"), strict=True):
        propose_category(coding_round=coding_round, by=coder, dimension="cause", name=name)
    assert "Race" not in lead.get(address("proposals", coding_round), follow=True).text
    close(coding_round, reconcile=False)
    assert "2 proposed categories" in lead.get(address("detail", coding_round)).text
    page = lead.get(address("proposals", coding_round)).text
    assert "Race" in page
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None
    for name, fields in (("Race", {"act": "accept"}), ("Time-out", {"act": "map", "map_to": "config"})):
        proposal = coding_round.proposals.get(name=name)
        path = reverse("labeling:round-proposal", args=[study.slug, coding_round.number, proposal.pk])
        assert lead.post(path, fields).status_code == 302
    coding_round.refresh_from_db()
    assert coding_round.reconciliation_opened_at is not None
    assert lead.post(path, {"act": "reject"}).status_code == 409
    assert "Mapped to Config" in lead.get(address("proposals", coding_round)).text


def test_a_proposal_is_settled_by_a_lead_in_a_known_way(client, lead, study):
    coding_round = make_round(study)
    coder = coding_round.coders.first()
    proposal = propose_category(coding_round=coding_round, by=coder, dimension="cause", name="Race")
    path = reverse("labeling:round-proposal", args=[study.slug, coding_round.number, proposal.pk])
    assert lead.post(path, {"act": "accept"}).status_code == 404
    close(coding_round, reconcile=False)
    assert lead.post(path, {"act": "burn"}).status_code == 404
    assert lead.post(path, {"act": "map", "map_to": "nowhere"}).status_code == 422
    client.force_login(coder.user)
    assert client.post(path, {"act": "accept"}).status_code == 403
    assert client.get(address("proposals", coding_round)).status_code == 403


def test_a_training_says_how_many_answers_are_known(lead, study):
    coding_round = draft(study, kind="training")
    assert "0 of 3 units have a known answer" in lead.get(address("detail", coding_round)).text


def test_units_and_coders_come_into_an_open_round_after_a_look_at_what_that_means(lead, study):
    coding_round = make_round(study, units=2)
    carol = make_member(study, user=make_user("carol"))
    add = address("add-coders", coding_round)
    assert lead.post(add, {"more": ["999"]}).status_code == 422
    lead.post(add, {"more": [str(carol.pk)]})
    unit = make_unit(study)
    where = address("add-units", coding_round)
    assert "Not drawn in any sample: no/such#1" in lead.post(where, {"refs": "no/such#1"}).text
    there = coding_round.round_units.first().unit.ref
    shown = lead.post(where, {"refs": f"{unit.ref}\n{there}"}).text
    assert "1 unit would come in" in shown
    assert "1 to carol" in shown
    assert "1 is in the round already" in shown
    assert coding_round.round_units.count() == 2
    for _ in range(2):
        lead.post(where, {"refs": unit.ref, "confirm": "yes"})
    assert Assignment.objects.filter(coder=carol, round_unit__unit=unit).count() == 1
    assert set(Event.objects.values_list("verb", flat=True)) >= {"round.units_added", "round.coders_added"}


def test_the_next_units_of_a_sample_are_named_before_they_are_added(lead, study):
    sample = make_sample(study, units=4)
    drawn = list(sample.units.order_by("sample_units__rank"))
    coding_round = make_round(study, units=drawn[:1], sample=sample)
    shown = lead.post(address("add-units", coding_round), {"size": 2})
    assert shown.context["units_form"].data["refs"].split() == [unit.ref for unit in drawn[1:3]]


def test_a_sample_that_is_used_up_is_said_in_one_sentence(lead, study):
    coding_round = make_round(study, sample=(sample := make_sample(study)), units=list(sample.units.all()))
    shown = lead.post(address("add-units", coding_round), {"size": 5})
    assert shown.context["units_form"].errors == {
        "__all__": ["Every unit of the sample is in a round already."]
    }
    assert "No unit would come in" not in shown.text
    assert 'value="5"' in shown.text


def test_a_round_that_was_copied_without_units_takes_its_sample(lead, study):
    sample = make_sample(study, units=3)
    make_codebook(study)
    coding_round = make_round(study, units=0, state=Round.State.DRAFT)
    where = address("add-units", coding_round)
    assert "Sample of the round" in lead.get(address("detail", coding_round)).text
    shown = lead.post(where, {"sample": sample.pk})
    assert "3 units would come in" in shown.text
    lead.post(where, dict(shown.context["units_form"].data) | {"confirm": "yes"})
    coding_round.refresh_from_db()
    assert (coding_round.sample, coding_round.round_units.count()) == (sample, 3)
