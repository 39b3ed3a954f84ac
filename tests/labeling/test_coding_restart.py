"""A server that is killed while somebody codes, and started again: nothing is lost."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.installation import Installation
from tests.labeling.live_coding import expect_saved

# What the page does without a server, test_coding_flow says in seconds; here one starts four times.
pytestmark = [pytest.mark.browser, pytest.mark.soak]
WAIT = 60_000  # ms; a start takes its time, and the page waits longer from try to try


@pytest.fixture
def ada(installation: Installation, browser: Browser) -> Iterator[Page]:
    installation.start("--demo", "--no-worker")
    context = browser.new_context(base_url=f"http://127.0.0.1:{installation.port}")
    page = context.new_page()
    page.goto(installation.links()["ada"])
    page.goto("/studies/demo/coding/")
    expect(page.locator("#filter")).to_be_visible()
    yield page
    context.close()


def first_letter(page: Page, dimension: int) -> str:
    """Open a dimension and choose its first category by key; the key that did it."""
    page.keyboard.press(str(dimension))
    letter = page.locator("[data-dimension]").nth(dimension - 1).locator("input[data-keys]").first
    keys = letter.get_attribute("data-keys") or ""
    page.keyboard.type(keys)
    expect(letter).to_be_checked()
    return keys


def test_a_server_restarted_in_the_middle_of_a_unit_loses_nothing(installation: Installation, ada: Page):
    ada.keyboard.press("Shift+N")
    ada.keyboard.type("Before the stop. ")
    expect_saved(ada)
    installation.stop()
    ada.keyboard.type("While it was down.")
    ada.keyboard.press("Escape")
    first_letter(ada, 1)
    expect(ada.locator("#save-state")).to_contain_text("Not saved: no connection, retrying")
    installation.start("--no-worker")
    expect(ada.locator("[data-save-text]")).to_contain_text("Saved ", timeout=WAIT)
    ada.reload()
    expect(ada.locator("#memo")).to_have_value("Before the stop. While it was down.")
    expect(ada.locator("[data-dimension]").first.locator("input:checked")).to_have_count(1)


def test_what_was_typed_while_the_server_was_down_survives_a_closed_window(
    installation: Installation, ada: Page
):
    address = ada.url
    installation.stop()
    ada.keyboard.press("Shift+N")
    ada.keyboard.type("Typed into the dark.")
    expect(ada.locator("#save-state")).to_contain_text("Not saved: no connection, retrying")
    window = ada.context.new_page()
    ada.close()
    installation.start("--no-worker")
    window.goto(address)
    expect(window.locator("#memo")).to_have_value("Typed into the dark.")
    expect_saved(window)
    window.evaluate("localStorage.clear()")
    window.reload()
    expect(window.locator("#memo")).to_have_value("Typed into the dark.")
