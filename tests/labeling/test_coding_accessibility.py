"""The coding page without a mouse, and for those who see it differently: axe in every state, and a walk."""

import pytest
from playwright.sync_api import Browser, Page, expect

from labeling.models import Submission
from tests.axe import violations
from tests.labeling.live_coding import coding_round_of, expect_saved, open_unit, select

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BODY = "It stops at step 1900.\n\n- [x] on one card\n- [ ] on two cards\n\nSee [the log](https://example.org/log)."
PATCH = '@@ -1 +1 @@\n-free(a);\n+free(b);\n+return "x" + 1;  // why\n-return 0;  // why'
FILE = {"path": "a.c", "patch": PATCH}
ISSUE = {"body": BODY, "comments": ["The same here."], "fixes": [{"key": "1", "files": [FILE]}]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_while_a_unit_is_coded(browser: Browser, live_server, scheme, width):
    coding_round, ada = coding_round_of(ISSUE)
    context = browser.new_context(
        color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    open_unit_anywhere(page, live_server.url, coding_round, ada)
    found = violations(page, scheme)
    select(page, "body", "step 1900")
    found += violations(page, scheme)
    page.keyboard.press("c")
    select(page, "fix:1:file:a.c", "free(b);")
    page.keyboard.press("Shift+W")
    found += violations(page, scheme)
    for opener in ("Shift+X", "Shift+C", "Shift+G", "?"):
        page.keyboard.press(opener)
        found += violations(page, scheme)
        page.keyboard.press("Escape")
    page.evaluate("document.getElementById('signed-out').showModal()")
    found += violations(page, scheme)
    context.close()
    assert found == []


def open_unit_anywhere(page: Page, server: str, coding_round, ada) -> None:
    """On a phone the filter lies behind the button that opens the dimensions."""
    if page.viewport_size is not None and page.viewport_size["width"] > 800:
        open_unit(page, server, coding_round, ada)
        return
    page.set_viewport_size({"width": 1440, "height": 900})
    open_unit(page, server, coding_round, ada)
    page.set_viewport_size({"width": 390, "height": 900})


def test_a_unit_is_coded_quoted_corrected_and_handed_in_without_a_mouse(page: Page, live_server):
    coding_round, ada = coding_round_of(ISSUE, {"title": "The second"})
    open_unit(page, live_server.url, coding_round, ada)
    keys = page.keyboard
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to the issue")).to_be_focused()
    keys.press("Shift+Q")
    keys.press("ArrowDown")
    keys.press("c")
    expect(page.locator("#live")).to_have_text("Quote added to Symptom")
    keys.press("2")
    expect(page.locator("#cause-logic")).to_be_focused()
    keys.press("ArrowDown")
    keys.press("/")
    keys.type("zzz")
    expect(page.locator("#filter-none")).to_have_text("No category matches “zzz”.")
    page.locator("#filter").fill("rewrite")
    keys.press("Enter")
    expect(page.locator("#fix-rewrite")).to_be_checked()
    keys.press("Shift+N")
    keys.type("Seen twice.")
    keys.press("Escape")
    keys.press("Shift+H")
    expect_saved(page)
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("The second")
    expect(page.locator("#issue")).to_be_focused()
    submission = Submission.objects.get()
    assert (submission.memo, submission.confidence) == ("Seen twice.", "high")
    assert submission.evidence.get().quote == "It stops at step 1900."


def test_at_400_percent_nothing_is_lost_and_an_error_is_shown(browser: Browser, live_server):
    coding_round, ada = coding_round_of(ISSUE)
    page = browser.new_page()
    open_unit(page, live_server.url, coding_round, ada)
    page.set_viewport_size({"width": 320, "height": 256})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    select(page, "body", "step 1900")
    bar = page.locator("#selection-bar").bounding_box()
    assert bar is not None
    assert bar["height"] < 64
    page.locator(".phone-bar").get_by_role("button", name="Submit").click()
    expect(page.locator("#codes [data-focus]").first).to_be_focused()
    page.close()
