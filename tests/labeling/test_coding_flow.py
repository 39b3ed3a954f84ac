"""From unit to unit in the browser, on a real server: handing in, going back, and what may go wrong."""

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from labeling.models import Assignment, Submission
from tests.factories import assignment_of
from tests.labeling.live_coding import (
    coding_round_of,
    expect_saved,
    open_unit,
    select,
    session_cookie,
    unit_address,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def coding(browser: Any, live_server: Any):
    """Three units, the first of them on the page. Requests may fail here, so the console may complain."""
    coding_round, ada = coding_round_of(*({"title": f"Issue {name}"} for name in ("one", "two", "three")))
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.coding_round, page.ada, page.server = coding_round, ada, live_server.url
    open_unit(page, live_server.url, coding_round, ada)
    yield page
    context.close()
    assert errors == []


def answer(page: Page) -> None:
    for digit, letter in (("1", "c"), ("2", "l"), ("3", "n")):
        page.keyboard.press(digit)
        page.keyboard.press(letter)


def expect_unit(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Issue {name}")


def test_twenty_units_are_coded_with_the_keyboard_alone(page, live_server):
    names = [str(number) for number in range(1, 21)]
    coding_round, ada = coding_round_of(*({"title": f"Issue {name}"} for name in names))
    open_unit(page, live_server.url, coding_round, ada)
    for name in names:
        expect_unit(page, name)
        answer(page)
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your units in Round 1")).to_be_visible()
    assert Submission.objects.filter(assignment__coder=ada).count() == len(names)


def test_the_next_unit_is_there_before_it_is_asked_for(coding):
    coding.wait_for_load_state("networkidle")
    asked: list[str] = []
    coding.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    answer(coding)
    expect_saved(coding)
    coding.evaluate("window.stillHere = true")
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    assert coding.evaluate("window.stillHere") is True
    expect(coding).to_have_title(re.compile("^2 of 3, Round 1"))
    expect(coding.locator("#progress")).to_have_js_property("value", 1)
    assert coding.url.endswith(unit_address(coding.coding_round, coding.ada, 1))
    assert not any(f"GET {coding.url}" == each for each in asked)


def test_a_unit_that_was_only_fetched_ahead_is_not_opened(coding):
    coding.wait_for_load_state("networkidle")
    opened = [
        assignment_of(coding.coding_round, coding.ada, place).opened_at is not None for place in range(3)
    ]
    assert opened == [True, False, False]


def test_the_back_button_shows_the_unit_before_as_it_is_now(coding):
    answer(coding)
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    coding.go_back()
    expect_unit(coding, "one")
    expect(coding.locator("#symptom-crash")).to_be_checked()


def test_two_presses_hand_in_one_unit_once(coding):
    answer(coding)
    expect_saved(coding)
    coding.evaluate(
        "() => { const form = document.getElementById('codes'); form.requestSubmit(); form.requestSubmit(); }"
    )
    expect_unit(coding, "two")
    coding.keyboard.press("Enter")
    expect(coding.get_by_text("Choose a category for Symptom")).to_be_visible()  # it has no answers yet
    expect_unit(coding, "two")
    assert Submission.objects.count() == 1


def test_what_is_missing_is_said_on_the_page_and_nothing_is_lost(coding):
    coding.keyboard.press("c")
    coding.keyboard.press("Enter")
    expect(coding.get_by_text("Choose a category for Cause")).to_be_visible()
    expect(coding.locator("#symptom-crash")).to_be_checked()
    assert Submission.objects.count() == 0


def test_a_skipped_unit_is_put_off(coding):
    coding.keyboard.press("Shift+S")
    expect_unit(coding, "two")
    assert assignment_of(coding.coding_round, coding.ada).status == Assignment.Status.SKIPPED
    expect(coding.locator("#progress")).to_have_js_property("value", 0)


def test_undo_goes_back_to_the_unit_where_something_was_done(coding):
    answer(coding)
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    coding.keyboard.press("Control+z")
    expect_unit(coding, "one")
    expect(coding.locator("#fix-condition")).not_to_be_checked()
    expect_saved(coding)
    expect(coding.locator("#cause-logic")).to_be_checked()
    coding.keyboard.press("Control+y")
    expect(coding.locator("#fix-condition")).to_be_checked()


def test_undo_takes_an_exclusion_back(coding):
    coding.keyboard.press("Shift+X")
    coding.keyboard.press("1")
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    coding.keyboard.press("[")
    expect(coding.get_by_text("You excluded this unit")).to_be_visible()
    coding.keyboard.press("]")
    expect_unit(coding, "two")
    coding.context.set_offline(True)
    coding.keyboard.press("]")
    expect(coding.locator("#save-state")).to_contain_text("No connection: this unit stays")
    coding.context.set_offline(False)
    coding.keyboard.press("Control+z")
    expect_unit(coding, "one")
    expect(coding.get_by_text("You excluded this unit")).to_have_count(0)
    one = assignment_of(coding.coding_round, coding.ada)
    assert Assignment.objects.defer(None).get(pk=one.pk).draft["fields"]["exclude"] is None


def test_quotes_are_marked_in_a_unit_that_came_without_loading_the_page(coding):
    answer(coding)
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    select(coding, "body", "crashes")
    coding.keyboard.press("h")
    expect(coding.locator("button[data-quote]")).to_have_attribute("data-tag", "S1")
    expect_saved(coding)
    draft = Assignment.objects.defer(None).get(pk=assignment_of(coding.coding_round, coding.ada, 1).pk).draft
    assert [quote["quote"] for quote in draft["fields"]["evidence"]] == ["crashes"]


# What goes wrong ----------------------------------------------------------------------------------


def test_an_answer_lost_on_its_way_back_is_asked_for_again_and_counts_once(coding):
    cut: list[str] = []

    def cut_off(route: Route) -> None:
        if route.request.method == "PATCH" and "submitted" in (route.request.post_data or ""):
            if not cut:
                route.fetch()
            cut.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    coding.route("**/api/v1/assignments/*/", cut_off)
    answer(coding)
    coding.keyboard.press("Enter")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in: no connection, retrying")
    assert Submission.objects.count() == 1
    coding.unroute("**/api/v1/assignments/*/", cut_off)
    expect_unit(coding, "two")
    assert Submission.objects.count() == 1


def test_the_network_may_be_cut_while_a_unit_is_handed_in(coding):
    coding.wait_for_load_state("networkidle")
    coding.context.set_offline(True)
    answer(coding)
    coding.keyboard.press("Enter")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in: no connection, retrying")
    coding.context.set_offline(False)
    expect_unit(coding, "two")
    submission = Submission.objects.get()
    assert submission.annotations.count() == 3


def test_who_was_signed_out_signs_in_again_and_goes_on(coding):
    coding.keyboard.press("c")
    expect_saved(coding)
    Session.objects.all().delete()
    coding.keyboard.press("2")
    coding.keyboard.press("l")
    dialog = coding.get_by_role("dialog", name="You are signed out")
    expect(dialog.get_by_role("link", name="Sign in in a new tab")).to_have_attribute("target", "_blank")
    dialog.get_by_role("button", name="I am signed in again").click()
    expect(dialog).to_contain_text("You are not signed in yet")
    coding.context.add_cookies([session_cookie(coding.ada.user, coding.server)])
    dialog.get_by_role("button", name="I am signed in again").click()
    expect(dialog).to_be_hidden()
    expect_saved(coding)
    coding.keyboard.press("3")
    coding.keyboard.press("n")
    coding.keyboard.press("Enter")
    expect_unit(coding, "two")
    assert Submission.objects.get().annotations.count() == 3
