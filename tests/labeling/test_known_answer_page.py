"""Known answers in the browser: given by keyboard, with the questions that depend on an answer."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from labeling.models import Annotation, Round
from tests.factories import lead_of, make_round, make_study
from tests.labeling.closing import conditional_codebook
from tests.labeling.live_coding import session_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_question_that_depends_on_an_answer_comes_up_and_is_stored(page: Page, live_server):
    study = make_study()
    conditional_codebook(study)
    planned = make_round(study, units=1, kind=Round.Kind.TRAINING, state=Round.State.DRAFT)
    lead, unit = lead_of(study).user, planned.round_units.get().unit_id
    assert lead is not None
    page.context.add_cookies([session_cookie(lead, live_server.url)])
    page.goto(
        live_server.url + reverse("labeling:known-answer-detail", args=[study.slug, planned.number, unit])
    )
    detail = page.locator("#d-detail")
    expect(page.locator("#symptom-crash")).to_be_visible()
    expect(detail).to_be_hidden()
    page.locator("#symptom-crash").press("Space")
    expect(page.locator("#d-symptom [data-summary]")).to_contain_text("Crash")
    page.keyboard.press("2")
    page.locator("#detail-abort").press("Space")
    expect(detail.locator("[data-summary]")).to_have_text("Abort")
    page.get_by_role("button", name="Store & next").press("Enter")
    expect(page.get_by_text("1 of 1 units have one")).to_be_visible()
    detailed = Annotation.objects.get(dimension__key="detail")
    assert list(detailed.chosen.values_list("category__code", flat=True)) == ["abort"]
