"""Pages of the acts: tried first, then done, then undone."""

import re

import pytest
from django.urls import reverse

from labeling.models import Category, Round
from labeling.services.codebooks import draft_or_current
from tests.factories import lead_of, make_codebook, make_study
from tests.labeling.closing import coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}


@pytest.fixture
def study():
    study = make_study()
    coded_round(FOUR, study=study, state=Round.State.CLOSED)
    return study


@pytest.fixture
def lead(client, study):
    client.force_login(lead_of(study).user)
    return client


def address(study, act, code="hang"):
    category = Category.objects.get(dimension__codebook=draft_or_current(study), code=code)
    return reverse(f"labeling:codebook-act-{act}", args=[study.slug, "symptom", category.concept])


def plain(study, name):
    return reverse(f"labeling:codebook-{name}", args=[study.slug])


ASKED = {
    "rename": {"name": "Freeze", "code": "freeze"},
    "move": {"parent": "output"},
    "merge": {"into": "crash"},
    "split": {"parts": "Livelock: it runs in circles\nDeadlock: all wait", "as_heading": "False"},
    "archive": {},
}


@pytest.mark.parametrize("act", ASKED)
def test_every_act_is_shown_before_it_is_done(lead, study, act):
    url = address(study, act)
    assert "Show what it touches" in lead.get(url).text
    tried = lead.post(url, ASKED[act] | {"csrf": "x"})
    assert tried.status_code == 200
    assert "3 answers on 2 units are touched" in tried.text
    ids = re.findall(r'\bid="([^"]+)"', tried.text)
    assert len(ids) == len(set(ids))
    assert study.codebooks.count() == 1, "trying stores nothing"
    done = lead.post(url, ASKED[act] | {"confirm": "1"})
    assert done.status_code == 302
    assert draft_or_current(study).version == 2


def test_several_categories_are_merged_into_one_as_one_step(lead, study):
    url = address(study, "merge")
    itself = lead.post(url, {"into": "crash", "others": ["crash"]})
    assert itself.status_code == 422
    assert "Take it out here" in itself.text
    tried = lead.post(url, {"into": "crash", "others": ["warning"]})
    along = {code for code, _ in tried.context["form"].fields["others"].choices}
    assert along == {"wrong-output", "warning"}, "what stays does not go along"
    assert 'type="hidden" name="others" value="warning"' in tried.text
    lead.post(url, {"into": "crash", "others": ["warning"], "confirm": "1"})
    kept = Category.objects.filter(dimension__codebook=draft_or_current(study), archived=True)
    assert set(kept.values_list("code", flat=True)) == {"hang", "warning"}
    lead.post(plain(study, "undo"))
    assert draft_or_current(study).version == 1


def test_the_preview_shows_agreement_before_and_after(lead, study):
    page = lead.post(address(study, "merge"), ASKED["merge"]).text
    assert "Cohen&#x27;s κ" in page
    assert ">0.20</td>" in page
    assert ">0.00</td>" in page


def test_the_page_warns_before_it_reads_a_round_that_nobody_read(lead, study):
    assert "can no longer be opened again" in lead.get(address(study, "merge")).text
    lead.post(address(study, "merge"), ASKED["merge"])
    assert "can no longer be opened again" not in lead.get(address(study, "merge")).text


def test_what_makes_no_sense_is_told_at_its_field(lead, study):
    answer = lead.post(address(study, "split"), {"parts": "Only one"})
    assert answer.status_code == 422
    assert "at least two" in answer.context["form"].errors["parts"][0]
    assert lead.post(address(study, "merge"), {"into": "output"}).status_code == 422


def test_a_merge_offers_answers_for_answers_and_headings_for_headings(lead, study):
    answers = lead.get(address(study, "merge")).context["form"].fields["into"].choices
    assert {code for code, _ in answers} == {"", "crash", "wrong-output", "warning"}
    headings = lead.get(address(study, "merge", "output")).context["form"].fields["into"].choices
    assert {code for code, _ in headings} == {"", "runtime"}


def test_the_last_change_is_undone_from_the_draft(lead, study):
    lead.post(address(study, "merge"), ASKED["merge"] | {"confirm": "1"})
    assert "Hang is merged into Crash." in lead.get(plain(study, "edit")).text
    answer = lead.post(plain(study, "undo"), follow=True)
    assert "Undone: Hang is merged into Crash." in answer.text
    assert draft_or_current(study).version == 1
    assert "nothing to undo" in lead.post(plain(study, "undo"), follow=True).text


def test_after_a_split_a_recode_round_asks_the_coders_concerned(lead, study):
    page = lead.post(address(study, "split"), ASKED["split"] | {"confirm": "1"}, follow=True).text
    refs = [each.unit.ref for each in study.rounds.get().round_units.order_by("pk")]
    assert refs[0] in page
    assert refs[1] not in page
    answer = lead.post(plain(study, "recode"), {"round": "1"})
    planned = study.rounds.get(number=2)
    assert answer.url == planned.get_absolute_url()
    assert (planned.kind, planned.based_on.number, planned.dimensions) == ("recode", 1, ["symptom"])
    assert {each.unit.ref for each in planned.round_units.all()} == {refs[0], refs[2]}
    assert {each.name for each in planned.coders.all()} == {"ada", "ben"}
    assert "No answer of a closed round" in lead.get(plain(study, "recode")).text
    assert lead.post(plain(study, "recode"), {"round": "1"}).status_code == 404


def test_only_a_lead_acts(client, study):
    client.force_login(coder_called(study, "ada").user)
    for act in ASKED:
        assert client.get(address(study, act)).status_code == 403
    assert client.post(plain(study, "undo")).status_code == 403
    assert client.get(plain(study, "recode")).status_code == 403


def test_a_category_that_the_draft_does_not_have_is_not_found(lead, study):
    other = make_codebook(make_study()).dimensions.get(key="symptom").categories.get(code="hang")
    url = reverse("labeling:codebook-act-merge", args=[study.slug, "symptom", other.concept])
    assert lead.get(url).status_code == 404
