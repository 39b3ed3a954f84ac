"""Rounds over the API."""

from datetime import date

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Assignment, CategoryProposal, Role, Round, Sample
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


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


def address(name, target, *parts):
    return reverse(f"api:{name}", args=[getattr(target, "slug", target.pk), *parts])


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(study):
    return client_of(lead_of(study).user)


def draft(study, **fields):
    make_codebook(study)
    return make_round(study, state=Round.State.DRAFT, **fields)


# Making and changing


def test_a_round_of_a_sample_is_made_and_read(lead, study):
    make_codebook(study)
    sample = make_sample(study)
    ada = make_member(study, user="ada")
    ben = make_member(study)
    body = {
        "kind": "pilot",
        "sample": sample.pk,
        "coders": ["ada", ben.pk],
        "seed": 7,
        "masked_fields": ["author"],
        "due_on": "2030-01-31",
        "goal": 0.7,
    }
    made = lead.post(address("round-list", study), body)
    assert made.status_code == 201
    assert made.headers["Location"] == reverse("api:round-detail", args=[made.data["id"]])
    told = lead.get(made.headers["Location"]).data
    assert (told["kind"], told["state"], told["number"], told["seed"]) == ("pilot", "draft", 1, 7)
    assert told["coders"] == [ada.pk, ben.pk]
    assert told["counts_in_results"] is False
    assert told["due_on"] == "2030-01-31"
    assert told["codebook_version"] is None
    units = lead.get(address("round-units", Round.objects.get())).data["results"]
    assert {each["id"] for each in units} == set(sample.units.values_list("pk", flat=True))


def test_a_draft_takes_the_units_of_another_sample_and_an_open_round_none(lead, study):
    make_codebook(study)
    coders = [make_member(study).pk, make_member(study).pk]
    first, second = make_sample(study), make_sample(study, units=2)
    made = lead.post(address("round-list", study), {"sample": first.pk, "coders": coders})
    changed = lead.patch(made.headers["Location"], {"sample": second.pk})
    assert (changed.status_code, changed.data["sample"]) == (200, second.pk)
    planned = Round.objects.get()
    assert set(planned.round_units.values_list("unit", flat=True)) == set(
        second.units.values_list("pk", flat=True)
    )
    assert lead.patch(made.headers["Location"], {"sample": 4711}).status_code == 422
    assert lead.post(address("round-open", planned)).status_code == 200
    assert lead.patch(made.headers["Location"], {"sample": first.pk}).status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "sample"),
        ({"sample": 4711}, "sample"),
        ({"units": [4711]}, "units"),
        ({"based_on": 4711}, "based_on"),
        ({"kind": "imported"}, "kind"),
        ({"kind": "retest"}, "based_on"),
        ({"coders": ["nobody"]}, "coders"),
        ({"coders": [True]}, "coders.0"),
        ({"overlap": 1.5}, "overlap"),
        ({"masked_fields": ["weather"]}, "masked_fields.0"),
        ({"dimensions": ["weather"]}, "dimensions"),
        ({"stages": [{"dimensions": ["symptom"], "reveal": []}]}, "stages.0.reveal"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_is_told_by_field(lead, study, body, field):
    make_codebook(study)
    if field not in ("sample", "units", "based_on"):
        body = {"sample": make_sample(study).pk} | body
    answer = lead.post(address("round-list", study), body, format="json")
    assert answer.status_code == 422
    assert field in answer.json()["errors"]
    assert not Round.objects.exists()


def test_rows_of_another_study_are_unknown(lead, study):
    other = make_study()
    make_codebook(study)
    sample, unit, member = make_sample(other), make_unit(other), make_member(other)
    for body in ({"sample": sample.pk}, {"units": [unit.pk]}):
        assert lead.post(address("round-list", study), body, format="json").status_code == 422
    own = {"sample": make_sample(study).pk, "coders": [member.pk]}
    assert lead.post(address("round-list", study), own, format="json").status_code == 422


def test_a_draft_changes_and_an_open_round_only_in_part(lead, study):
    coding_round = draft(study)
    changed = lead.patch(
        address("round-detail", coding_round), {"overlap": 0.5, "dimensions": ["cause"]}, format="json"
    )
    assert (changed.data["overlap"], changed.data["dimensions"]) == (0.5, ["cause"])
    opened = make_round(study)
    later = {"due_on": date(2031, 5, 1), "instructions": "Read on.", "counts_in_results": False}
    assert lead.patch(address("round-detail", opened), later).data["due_on"] == "2031-05-01"
    refused = lead.patch(address("round-detail", opened), {"overlap": 0.5})
    assert refused.status_code == 409
    assert "overlap" in refused.json()["detail"]


# Who may


@pytest.mark.parametrize("role", [Role.CODER, Role.ADJUDICATOR, Role.OBSERVER])
def test_a_draft_exists_for_leads_only(study, role):
    coding_round = draft(study)
    client = client_of(make_member(study, role=role).user)
    assert client.get(address("round-list", study)).data["results"] == []
    for name in ("round-detail", "round-preview", "round-units", "round-progress", "proposal-list"):
        assert client.get(address(name, coding_round)).status_code in (403, 404)
    assert client.get(address("round-detail", coding_round)).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "round-open",
        "round-close",
        "round-reopen",
        "round-finish",
        "round-discard",
        "round-to-draft",
        "round-coders",
        "round-redeal",
    ],
)
def test_only_a_lead_takes_steps(study, name):
    coding_round = make_round(study)
    coder = coding_round.coders.first()
    assert client_of(coder.user).post(address(name, coding_round), {}).status_code == 403
    assert client_of(make_user()).post(address(name, coding_round), {}).status_code == 404


def test_nobody_who_codes_learns_the_seeds_of_an_open_round(lead, study):
    coding_round = make_round(study, seed=4711, overlap_seed=4712)
    assert lead.get(address("round-detail", coding_round)).data["overlap_seed"] == 4712
    coding_round.coders.add(lead_of(study))
    coder = client_of(coding_round.coders.first().user)
    for client in (lead, coder):
        for text in (
            client.get(address("round-detail", coding_round)).content,
            client.get(address("round-list", study)).content,
            client.get(address("round-units", coding_round)).content,
        ):
            assert b"471" not in text
            assert b'"overlap_seed"' not in text


def test_an_open_round_tells_a_coder_their_own_units_and_nobody_the_overlap(lead, study):
    coding_round = make_round(study)
    first = coding_round.coders.first()
    assignment_of(coding_round, first).delete()
    listed = client_of(first.user).get(address("round-units", coding_round)).data["results"]
    assert len(listed) == 2
    assert len(lead.get(address("round-units", coding_round)).data["results"]) == 3
    observer = client_of(make_member(study, role=Role.OBSERVER).user)
    assert observer.get(address("round-units", coding_round)).data["results"] == []
    assert set(listed[0]) == {"id", "ref", "stratum"}


def test_a_masked_repository_is_not_named(study):
    coding_round = make_round(study, masked_fields=["repository"])
    coding_round.round_units.update(stratum="octo/spoon")
    coder = client_of(coding_round.coders.first().user)
    assert b"octo" not in coder.get(address("round-units", coding_round)).content


def test_after_the_close_units_say_whether_they_are_decided(lead, study):
    coding_round = coded_round({"ada": ["crash", "hang"], "ben": ["crash", "crash"]}, study=study)
    close(coding_round)
    told = {each["decided"] for each in lead.get(address("round-units", coding_round)).data["results"]}
    assert told == {True, False}
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is not None


def test_nothing_is_decided_while_a_proposed_category_is_not_settled(lead, study):
    coding_round = coded_round({"ada": ["crash", "hang"], "ben": ["crash", "crash"]}, study=study)
    dimension = coding_round.codebook.dimensions.get(key="symptom")
    coding_round.proposals.create(
        dimension=dimension, by=coding_round.coders.first(), code="burn", name="Burn"
    )
    close(coding_round, reconcile=False)
    refused = lead.get(address("disagreement-list", coding_round))
    assert refused.status_code == 409
    assert "proposed categories" in refused.json()["detail"]
    coding_round.refresh_from_db()
    assert coding_round.first_unblinded_read_at is None  # nothing was shown
    listed = lead.get(address("round-units", coding_round)).data["results"]
    assert [each["decided"] for each in listed] == [False, False]


def test_units_being_coded_again_do_not_say_whether_they_are_decided(lead, study):
    coding_round = coded_round({"ada": ["crash", "hang"], "ben": ["crash", "crash"]}, study=study)
    close(coding_round)
    unit = coding_round.round_units.order_by("pk").first().unit
    make_round(study, units=[unit], coders=[lead_of(study)])
    listed = lead.get(address("round-units", coding_round)).data["results"]
    assert [each["decided"] for each in listed] == [None, False]


# Steps


def test_a_round_goes_from_draft_to_done(lead, study):
    coding_round = draft(study, units=1)
    opened = lead.post(address("round-open", coding_round))
    assert (opened.data["state"], opened.data["codebook_version"]) == ("open", 1)
    for coder in coding_round.coders.all():
        make_submission(
            assignment_of(coding_round, coder), {"symptom": "crash", "cause": "logic", "fix": ["call"]}
        )
    assert lead.post(address("round-close", coding_round)).data["state"] == "closed"
    assert lead.post(address("round-finish", coding_round)).data["state"] == "reconciled"


def test_a_round_does_not_open_on_an_unfrozen_draft(lead, study):
    coding_round = draft(study)
    make_codebook(study, frozen=False)
    refused = lead.post(address("round-open", coding_round))
    assert refused.status_code == 409
    assert "not frozen" in refused.json()["detail"]
    opened = lead.post(address("round-open", coding_round), {"codebook_version": 1})
    assert opened.data["codebook_version"] == 1


def test_a_draft_is_frozen_with_the_round_that_opens(lead, study):
    coding_round = draft(study)
    make_codebook(study, frozen=False)
    assert lead.post(address("round-open", coding_round), {"freeze": True}).data["codebook_version"] == 2


def test_a_round_does_not_open_while_its_sample_is_prepared(lead, study):
    make_codebook(study)
    sample = make_sample(study, state=Sample.State.PREPARING, frozen_at=None, prepared=2)
    coding_round = make_round(study, state=Round.State.DRAFT, sample=sample)
    refused = lead.post(address("round-open", coding_round))
    assert refused.status_code == 409
    assert "2 of 3" in refused.json()["detail"]


def test_an_incomplete_round_is_closed_only_when_asked_to(lead, study):
    coding_round = make_round(study, units=2)
    make_submission(assignment_of(coding_round, coding_round.coders.first()), {"symptom": "crash"})
    refused = lead.post(address("round-close", coding_round))
    assert refused.status_code == 409
    assert len(refused.json()["missing"]) == 3
    assert refused.json()["changed"] == refused.json()["returned"] == []
    closed = lead.post(address("round-close", coding_round), {"missing": "accept"})
    assert (closed.data["state"], closed.data["missing"]) == ("closed", "accept")
    assert lead.post(address("round-close", coding_round), {"missing": "maybe"}).status_code == 422


def test_a_close_nobody_read_is_undone_and_a_read_one_is_recoded(lead, study):
    coding_round = coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study)
    close(coding_round)
    again = lead.post(address("round-reopen", coding_round), {"reason": "Too early."})
    assert (again.status_code, again.data["state"]) == (200, "open")
    close(Round.objects.get(pk=coding_round.pk))
    lead.get(address("round-units", coding_round))
    recode = lead.post(address("round-reopen", coding_round), {"reason": "A new category."})
    assert (recode.status_code, recode.data["kind"]) == (201, "recode")
    assert recode.data["based_on"] == coding_round.pk
    assert recode.headers["Location"] == reverse("api:round-detail", args=[recode.data["id"]])


def test_reopening_needs_a_reason(lead, study):
    coding_round = make_round(study, state=Round.State.CLOSED)
    answer = lead.post(address("round-reopen", coding_round), {})
    assert answer.status_code == 422
    assert "reason" in answer.json()["errors"]


@pytest.mark.parametrize(
    ("state", "name", "body"),
    [
        (Round.State.DRAFT, "round-close", {}),
        (Round.State.DRAFT, "round-finish", {}),
        (Round.State.DRAFT, "round-redeal", None),
        (Round.State.OPEN, "round-open", {}),
        (Round.State.OPEN, "round-finish", {}),
        (Round.State.OPEN, "round-reopen", {"reason": "x"}),
        (Round.State.CLOSED, "round-close", {"missing": "accept"}),
        (Round.State.CLOSED, "round-to-draft", {}),
        (Round.State.CLOSED, "round-discard", {}),
        (Round.State.RECONCILED, "round-finish", {}),
    ],
)
def test_a_step_out_of_turn_is_refused(lead, study, state, name, body):
    coding_round = make_round(study, state=state)
    before = Round.objects.filter(pk=coding_round.pk).values().get()
    if body is None:
        body = {"from": coding_round.coders.first().pk}
    answer = lead.post(address(name, coding_round), body)
    assert answer.status_code == 409
    assert answer.json()["detail"]
    assert Round.objects.filter(pk=coding_round.pk).values().get() == before


def test_an_opened_round_goes_back_to_draft_and_is_discarded(lead, study):
    coding_round = make_round(study)
    assert lead.post(address("round-to-draft", coding_round)).data["state"] == "draft"
    assert lead.post(address("round-discard", coding_round)).status_code == 200
    assert lead.get(address("round-detail", coding_round)).status_code == 404
    assert lead.get(address("round-list", study)).data["results"] == []


# Units and coders


def test_units_and_coders_are_added(lead, study):
    coding_round = make_round(study, units=1)
    unit = make_unit(study)
    tried = lead.post(address("round-units", coding_round), {"units": [unit.pk], "dry_run": True}).data
    assert (tried["new"], [each["units"] for each in tried["coders"]]) == ([unit.pk], [1, 1])
    assert coding_round.round_units.count() == 1
    assert lead.post(address("round-units", coding_round), {"units": [unit.pk]}).status_code == 200
    assert Assignment.objects.filter(round_unit__unit=unit).count() == 2
    member = make_member(study, user="cleo")
    told = lead.post(address("round-coders", coding_round), {"coders": ["cleo"]})
    assert member.pk in told.data["coders"]


def test_an_observer_is_no_coder(lead, study):
    coding_round = make_round(study)
    observer = make_member(study, role=Role.OBSERVER)
    answer = lead.post(address("round-coders", coding_round), {"coders": [observer.pk]})
    assert answer.status_code == 422


def test_redealing_shows_what_would_move_before_it_moves(lead, study):
    first, second, third = (make_member(study) for _ in range(3))
    coding_round = make_round(study, coders=[first, second], units=4)
    coding_round.coders.add(third)
    make_submission(assignment_of(coding_round, first), {"symptom": "crash"})
    body = {"from": first.user.username, "dry_run": True}
    planned = lead.post(address("round-redeal", coding_round), body).data
    assert len(planned["moves"]) == 3
    assert {each["to"] for each in planned["moves"]} == {third.pk}
    assert not Assignment.objects.filter(coder=third).exists()
    moved = lead.post(address("round-redeal", coding_round), {"from": first.pk}).data
    assert moved["moves"] == planned["moves"]
    assert Assignment.objects.active().filter(coder=third).count() == 3


def test_a_lead_who_codes_in_the_round_is_told_how_many_units_are_left_and_not_which(lead, study):
    ben, cyd = make_member(study, user="ben"), make_member(study, user="cyd")
    coding_round = make_round(study, coders=[lead_of(study), ben], units=3)
    coding_round.coders.add(cyd)
    make_submission(assignment_of(coding_round, ben), {"symptom": "crash"})
    refused = lead.post(address("round-close", coding_round)).json()
    assert refused["missing"] == [{"coder": lead_of(study).name, "units": 3}, {"coder": "ben", "units": 2}]
    assert "5 missing" in refused["detail"]
    for body in ({"from": "ben", "dry_run": True}, {"from": "ben"}):
        told = lead.post(address("round-redeal", coding_round), body).json()
        assert (told["moves"], told["stuck"]) == ([{"units": 2, "to": cyd.pk}], 0)


# Preview, progress, proposals


def test_a_preview_shows_three_units_under_the_masks_and_stores_nothing(lead, study):
    coding_round = draft(study, units=5, masked_fields=["repository"])
    shown = lead.get(address("round-preview", coding_round)).json()
    assert len(shown["units"]) == 3
    assert shown["units"][0]["repository"] is None
    assert shown["workload"]["units"] == 5
    assert not Assignment.objects.exists()


def test_progress_tells_a_lead_of_each_coder_and_a_coder_of_themself(lead, study):
    coding_round = make_round(study)
    first, second = coding_round.coders.all()
    make_submission(assignment_of(coding_round, first), {"symptom": "crash"})
    told = lead.get(address("round-progress", coding_round)).data
    assert [(each["dealt"], each["finished"]) for each in told["coders"]] == [(3, 1), (3, 0)]
    own = client_of(second.user).get(address("round-progress", coding_round)).data
    assert [each["id"] for each in own["coders"]] == [second.pk]
    assert own["finished"] == 1


def test_a_proposal_is_its_coders_until_the_close(lead, study):
    coding_round = make_round(study)
    first, second = coding_round.coders.all()
    body = {"dimension": "cause", "name": "Race", "definition": "Order of events.", "parent": None}
    made = client_of(first.user).post(address("proposal-list", coding_round), body, format="json")
    assert made.status_code == 201
    assert (made.data["code"], made.data["dimension"], made.data["state"]) == ("race", "cause", "proposed")
    assert len(client_of(first.user).get(address("proposal-list", coding_round)).data["results"]) == 1
    assert client_of(second.user).get(address("proposal-list", coding_round)).data["results"] == []
    assert lead.get(address("proposal-list", coding_round)).data["results"] == []
    close(coding_round, reconcile=False)
    assert len(lead.get(address("proposal-list", coding_round)).data["results"]) == 1
    assert CategoryProposal.objects.get().by == first


def test_a_list_of_rounds_takes_the_same_number_of_queries_for_many(
    lead, study, django_assert_max_num_queries
):
    for _ in range(6):
        make_round(study, units=1)
    with django_assert_max_num_queries(6):
        assert len(lead.get(address("round-list", study)).data["results"]) == 6


def test_a_list_of_units_takes_the_same_number_of_queries_for_many(
    lead, study, django_assert_max_num_queries
):
    coding_round = make_round(study, units=12)
    with django_assert_max_num_queries(10):
        assert len(lead.get(address("round-units", coding_round)).data["results"]) == 12


# Known answers and proposals


def known(**more):
    return {"symptom": ["crash"], "cause": ["logic"], "fix": ["call"]} | more


def test_known_answers_are_given_by_id_or_ref_before_the_training_opens(lead, study):
    coding_round = draft(study, units=2, kind="training")
    assert lead.post(address("round-open", coding_round)).status_code == 409
    first, second = (each.unit for each in coding_round.round_units.select_related("unit"))
    given = lead.put(
        address("round-reference", coding_round),
        {str(first.pk): known(), second.ref: known(symptom=["hang"])},
        format="json",
    )
    assert (given.status_code, given.data["codebook_version"]) == (200, 1)
    assert Assignment.objects.filter(coder__kind="reference").count() == 2
    assert lead.post(address("round-open", coding_round)).data["state"] == "open"
    again = lead.put(address("round-reference", coding_round), {second.ref: known()}, format="json")
    assert again.status_code == 409


@pytest.mark.parametrize("body", [[], {"octo/spoon#0": known()}, {"octo/spoon#0": "crash"}])
def test_known_answers_that_make_no_sense_are_refused(lead, study, body):
    coding_round = draft(study, kind="training")
    assert lead.put(address("round-reference", coding_round), body, format="json").status_code == 422
    assert not Assignment.objects.exists()


def test_known_answers_belong_to_trainings(lead, study):
    coding_round = draft(study, units=1)
    ref = coding_round.round_units.get().unit.ref
    answer = lead.put(address("round-reference", coding_round), {ref: known()}, format="json")
    assert answer.status_code == 409


def proposed(coding_round, coder, name="Race"):
    client_of(coder.user).post(
        address("proposal-list", coding_round), {"dimension": "cause", "name": name}, format="json"
    )
    return CategoryProposal.objects.get(by=coder, name=name)


@pytest.mark.parametrize(
    ("body", "state"),
    [({"accept": True}, "accepted"), ({"map_to": "config"}, "mapped"), ({"reject": True}, "rejected")],
)
def test_a_proposal_is_settled_once_after_the_close(lead, study, body, state):
    coding_round = make_round(study)
    proposal = proposed(coding_round, coding_round.coders.first())
    path = reverse("api:proposal-resolve", args=[proposal.pk])
    # Before the close a lead does not even learn that it is there.
    assert lead.post(path, body).status_code == 404
    close(coding_round, reconcile=False)
    settled = lead.post(path, body)
    assert (settled.status_code, settled.data["state"]) == (200, state)
    assert settled.data["target"] == body.get("map_to")
    assert lead.post(path, body).status_code == 409
    coding_round.refresh_from_db()
    assert coding_round.reconciliation_opened_at is not None


@pytest.mark.parametrize("body", [{}, {"accept": True, "reject": True}, {"map_to": "nowhere"}])
def test_a_proposal_is_settled_in_one_way(lead, study, body):
    coding_round = make_round(study)
    proposal = proposed(coding_round, coding_round.coders.first())
    close(coding_round, reconcile=False)
    answer = lead.post(reverse("api:proposal-resolve", args=[proposal.pk]), body)
    assert answer.status_code == 422


def test_only_a_lead_settles_a_proposal(study):
    coding_round = make_round(study)
    coder = coding_round.coders.first()
    proposal = proposed(coding_round, coder)
    close(coding_round, reconcile=False)
    path = reverse("api:proposal-resolve", args=[proposal.pk])
    assert client_of(coder.user).post(path, {"accept": True}).status_code == 403
    assert client_of(make_user()).post(path, {"accept": True}).status_code == 404
