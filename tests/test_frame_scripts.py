"""The scripts of the frame in a browser, on a page without a server."""

import mimetypes
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from django.conf import settings
from django.template import engines
from django.test import RequestFactory
from playwright.sync_api import Browser, Route, expect

from labeling.models import User

ORIGIN = "http://localhost:9"  # browsers give the clipboard to secure origins only; this one counts as such
STATIC = Path(settings.BASE_DIR, "static")
PAGE = """{% extends "base.html" %}{% load components %}
{% block title %}Sample{% endblock %}{% block heading %}Sample{% endblock %}
{% block content %}
<form method="post" action="/delete" data-confirm="Three rounds are lost."
  data-confirm-action="Delete the study">
  {% csrf_token %}<button name="slug" value="llm">Delete</button>
</form>
<time datetime="2025-03-14T23:30:00Z" data-local="minute">14 Mar 2025, 23:30</time>
<p id="sentence">Kappa was 0.75.</p>
{% include "components/copy_button.html" with target="sentence" label="Copy sentence" only %}
<label class="dropzone"><input type="file"><span data-dropzone-text>Drop a file here</span></label>
<div class="prose"><pre id="wide">{{ wide }}</pre><pre id="narrow">x</pre></div>
<p id="part"><button hx-get="/part" hx-target="#part" hx-swap="outerHTML" id="more">More</button></p>
{% endblock %}"""


class FakeServer:
    def __init__(self) -> None:
        self.posts: list[tuple[str, dict[str, list[str]]]] = []

    def answer(self, route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(ORIGIN)
        if path.startswith("/static/"):
            file = STATIC / path.removeprefix("/static/")
            route.fulfill(
                body=file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0] or "text/plain"
            )
        elif request.method == "POST":
            self.posts.append((path, parse_qs(request.post_data or "")))
            route.fulfill(body="<title>Done</title>", content_type="text/html")
        elif path == "/part":
            route.fulfill(body='<p id="part"><button id="more">Again</button></p>', content_type="text/html")
        else:
            route.fulfill(body=self.page(), content_type="text/html")

    def page(self) -> str:
        request = RequestFactory().get("/")
        request.user = User(pk=1, username="ada")
        context = {"unread_notices": 0, "wide": "wide " * 500}
        return str(engines["django"].from_string(PAGE).render(context, request))


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def frame(browser: Browser, server: FakeServer):
    context = browser.new_context(
        timezone_id="Europe/Berlin", permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(f"{ORIGIN}/**", server.answer)
    page.goto(ORIGIN)
    yield page
    context.close()
    assert errors == []


@pytest.mark.browser
def test_a_destructive_form_is_sent_only_after_it_was_confirmed(frame, server):
    frame.get_by_role("button", name="Delete", exact=True).click()
    dialog = frame.locator("#confirm")
    expect(dialog).to_contain_text("Three rounds are lost.")
    dialog.get_by_role("button", name="Cancel").click()
    assert server.posts == []
    frame.get_by_role("button", name="Delete", exact=True).click()
    dialog.get_by_role("button", name="Delete the study").click()
    expect(frame).to_have_title("Done")
    path, fields = server.posts[0]
    assert path == "/delete"
    assert fields["slug"] == ["llm"]


@pytest.mark.browser
def test_a_theme_is_applied_at_once_and_posted(frame, server):
    with frame.expect_request("**/account/theme/"):
        frame.get_by_role("button", name="Dark").click()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    expect(frame.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert frame.title().startswith("Sample")


@pytest.mark.browser
def test_times_are_shown_in_the_zone_of_the_browser(frame):
    expect(frame.locator("time")).to_have_text("15 Mar 2025, 00:30")


@pytest.mark.browser
def test_code_wider_than_its_box_can_be_reached_by_keyboard(frame):
    expect(frame.locator("#wide")).to_have_attribute("tabindex", "0")
    expect(frame.locator("#narrow")).not_to_have_attribute("tabindex", "0")


@pytest.mark.browser
def test_a_chosen_file_is_named(frame):
    frame.locator("input[type=file]").set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x"}
    )
    expect(frame.locator(".dropzone")).to_contain_text("a.csv")


@pytest.mark.browser
def test_the_focus_stays_where_a_part_was_replaced(frame):
    frame.locator("#more").focus()
    frame.keyboard.press("Enter")
    expect(frame.locator("#more")).to_have_text("Again")
    expect(frame.locator("#more")).to_be_focused()


@pytest.mark.browser
def test_a_sentence_is_copied_and_the_button_says_so(frame):
    frame.get_by_role("button", name="Copy sentence").click()
    expect(frame.get_by_role("button", name="Copied")).to_be_visible()
    expect(frame.locator("#live")).to_have_text("Copied")
    assert frame.evaluate("navigator.clipboard.readText()") == "Kappa was 0.75."
