import re
from datetime import date

import pytest
from django.urls import reverse

from labeling.models import Role, Study
from labeling.selectors.dashboard import stages
from labeling.services.agreement import mark_read
from labeling.services.proposals import propose_category
from labeling.services.rounds import close_round
from labeling.services.samples import draw
from tests.factories import (
    assignment_of,
    lead_of,
    make_codebook,
    make_issue,
    make_member,
    make_round,
    make_sample,
    make_study,
    make_submission,
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


def test_a_new_user_is_told_how_to_begin(client):
    client.force_login(make_user())
    page = client.get("/").content.decode()
    assert "You are in no study yet" in page
    assert reverse("labeling:study-create") in page


def test_a_study_is_made_from_a_template(client):
    client.force_login(make_user())
    answer = client.post(
        reverse("labeling:study-create"), {"title": "Kernel bugs", "start": "template:gpu-kernel-libraries"}
    )
    study = Study.objects.get()
    assert answer.headers["Location"] == study.get_absolute_url()
    assert study.codebooks.get().dimensions.count() > 2


def test_a_taken_short_name_is_told_at_its_field(lead, study):
    answer = lead.post(reverse("labeling:study-create"), {"title": "T", "slug": study.slug})
    assert answer.status_code == 422
    assert f"The address {study.slug} is taken" in answer.content.decode()


def test_the_design_of_somebody_elses_study_cannot_be_copied(client, study):
    client.force_login(make_user())
    answer = client.post(reverse("labeling:study-create"), {"title": "T", "start": f"copy:{study.slug}"})
    assert answer.status_code == 422


def test_settings_are_saved_and_mistakes_told(lead, study):
    address = reverse("labeling:study-settings", args=[study.slug])
    form = lead.get(address).context["form"]
    body = {name: value for name, value in form.initial.items() if value is not False}
    assert lead.post(address, body | {"exclusion_reasons": "not a bug\n\noff topic\n"}).status_code == 302
    study.refresh_from_db()
    assert study.exclusion_reasons == ["not a bug", "off topic"]
    assert lead.post(address, body | {"title": ""}).status_code == 422


def test_deleting_asks_for_the_short_name_and_can_be_undone(lead, study):
    lead.post(reverse("labeling:study-delete", args=[study.slug]), {"confirm": "x"})
    assert lead.get(study.get_absolute_url()).status_code == 200
    lead.post(reverse("labeling:study-delete", args=[study.slug]), {"confirm": study.slug})
    assert lead.get(study.get_absolute_url()).status_code == 404
    assert "Bring back" in lead.get("/").content.decode()
    lead.post(reverse("labeling:study-restore", args=[study.slug]))
    assert lead.get(study.get_absolute_url()).status_code == 200


def test_the_dashboard_names_the_first_thing_to_do(lead, study):
    assert "Bring issues into the corpus" in lead.get(study.get_absolute_url()).content.decode()
    make_issue(study)
    assert "Write the codebook" in lead.get(study.get_absolute_url()).content.decode()


def test_the_dashboard_says_what_comes_first_and_what_comes_then(lead, study):
    make_issue(study)
    make_codebook(study)
    make_sample(study)
    proposing, coded = (make_round(study, units=2) for _ in range(2))
    ada, ben = coded.coders.order_by("number")
    propose_category(coding_round=proposing, by=proposing.coders.first(), dimension="cause", name="Race")
    make_submission(assignment_of(coded, ada), answers={"symptom": "crash"})
    make_submission(assignment_of(coded, ben), answers={"symptom": "hang"})
    for coding_round in (proposing, coded):
        close_round(coding_round=coding_round, by=lead_of(study), missing="accept")
    make_round(study, state="draft")
    steps = lead.get(study.get_absolute_url()).context["next_steps"]
    assert [step.title for step in steps] == [
        "Settle the 1 proposed category of Round 1",
        "Reconcile the 1 open disagreement of Round 2",
        "Open Round 3",
    ]


def test_the_dashboard_tells_a_coder_of_every_open_round_and_when_it_is_due(client, study):
    ada = make_member(study)
    make_round(study, coders=[ada], units=2, due_on=date(2030, 1, 31))
    make_round(study, coders=[ada], units=1, kind="training")
    client.force_login(ada.user)
    steps = client.get(study.get_absolute_url()).context["next_steps"]
    assert [step.title for step in steps] == ["Code your 2 units of Round 1", "Code your 1 unit of Round 2"]
    assert steps[0].text.startswith("Due on 31 Jan 2030. ")
    assert steps[1].text == "After each answer you see the known one."


def test_the_dashboard_counts_what_is_left_before_answers_are_final(lead, study):
    close(coded_round({"ada": ["crash", "hang", "hang"], "ben": ["crash", "crash", "hang"]}, study=study))
    page = lead.get(study.get_absolute_url()).text
    assert "1 with open disagreements" in page
    assert "2 settled, in a round to finish" in page
    assert "to reconcile" not in page


def test_the_dashboard_calls_no_unit_settled_while_proposed_categories_wait(lead, study):
    waiting = coded_round({"ada": ["crash", "hang"], "ben": ["crash", "crash"]}, study=study)
    propose_category(coding_round=waiting, by=waiting.coders.first(), dimension="symptom", name="Race")
    close_round(coding_round=waiting, by=lead_of(study))
    page = lead.get(study.get_absolute_url()).text
    assert "2 waiting for proposed categories to be settled" in page
    assert "in a round to finish" not in page


def test_the_dashboard_shows_agreement_of_coders_and_no_training_before_what_counts(lead, study):
    make_sample(study)
    answers = {"ada": ["crash", "hang"], "ben": ["crash", "crash"]}
    main = close(coded_round(answers, study=study))
    training = close(coded_round(answers, study=study, kind="training", counts_in_results=False))
    for each in (main, training):
        mark_read(each, lead_of(study))
    page = lead.get(study.get_absolute_url())
    shown = page.context
    assert shown["newest"].round == main
    assert reverse("labeling:feedback-list", args=[study.slug, training.number]) in page.text
    # The answers of the training are known: nothing of it waits for anybody.
    assert [step.title for step in shown["next_steps"]] == ["Reconcile the 1 open disagreement of Round 1"]


def test_the_dashboard_counts_what_was_drawn_for_the_pilot_apart(lead, study):
    for _ in range(6):
        make_issue(study)
    draw(study=study, method="random", size=4, pilot=1, seed=1, by=lead_of(study))
    sampled = lead.get(study.get_absolute_url()).context["stages"][2]
    assert (sampled.name, sampled.count, sampled.notes[-1]) == ("Sampled", 4, "1 more for the pilot alone")


def test_the_sample_that_is_described_is_one_a_round_uses():
    study = make_study()
    used = make_sample(study, pilot=1)
    make_sample(study, pilot=2)
    assert stages(study, lead_of(study))[2].notes[-1] == "2 more for the pilot alone"
    make_round(study, sample=used)
    assert stages(study, lead_of(study))[2].notes[-1] == "1 more for the pilot alone"


def test_the_dashboard_costs_the_same_for_many_issues(lead, study, django_assert_num_queries):
    lead.get(study.get_absolute_url())
    for _ in range(30):
        make_issue(study)
    with django_assert_num_queries(16):
        lead.get(study.get_absolute_url())


def test_members_are_listed_invited_and_changed(lead, study):
    members = reverse("labeling:member-list", args=[study.slug])
    ada = make_user("ada")
    lead.post(reverse("labeling:member-add", args=[study.slug]), {"username": "ada", "role": "coder"})
    member = study.memberships.get(user=ada)
    unknown = lead.post(
        reverse("labeling:member-add", args=[study.slug]), {"username": "bob", "role": "coder"}
    )
    assert unknown.status_code == 422
    assert "Send an invitation link instead" in unknown.content.decode()
    made = lead.post(reverse("labeling:invitation-create", args=[study.slug]), {"role": "observer"})
    token = re.search(r"/invitations/([\w-]+)/", made.content.decode()).group(1)
    assert token not in lead.get(members).content.decode()
    edit = reverse("labeling:member-edit", args=[study.slug, member.pk])
    body = {"role": "adjudicator", "pseudonym": "R2", "experience": "", "training": ""}
    assert lead.post(edit, body).status_code == 302
    member.refresh_from_db()
    assert (member.role, member.pseudonym) == (Role.ADJUDICATOR, "R2")
    own = reverse("labeling:member-edit", args=[study.slug, lead_of(study).pk])
    refused = lead.post(own, body | {"pseudonym": "R1"})
    assert refused.status_code == 422
    assert "needs a lead" in refused.content.decode()


def test_who_left_reads_nothing(lead, client, study):
    ada = make_member(study)
    lead.post(reverse("labeling:member-leave", args=[study.slug, ada.pk]))
    client.force_login(ada.user)
    assert client.get(study.get_absolute_url()).status_code == 404
