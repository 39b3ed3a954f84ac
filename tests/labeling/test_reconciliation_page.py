"""Reconciliation in browsers: two coders and an adjudicator at the same disagreement, each in their own."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from labeling.models import Decision, Evidence, Membership, Role, Round
from labeling.services.rounds import close_round
from tests.factories import (
    assignment_of,
    lead_of,
    make_issue,
    make_member,
    make_round,
    make_study,
    make_submission,
    make_unit,
)
from tests.labeling.live_coding import session_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BODY = "The pool is full although a third of its blocks is free. " + "More of the log. " * 200


@pytest.fixture
def closed() -> Round:
    """Two units whose cause is disputed; of the first both coders quote, and what they quote overlaps."""
    study = make_study()
    coders = [make_member(study, user="ada"), make_member(study, user="ben")]
    make_member(study, user="adjudicator", role=Role.ADJUDICATOR)
    units = [make_unit(study, make_issue(study, number=number, body=BODY)) for number in (1, 2)]
    coding_round = make_round(study, state="open", coders=coders, units=units)
    assert coding_round.codebook is not None
    cause = coding_round.codebook.dimensions.get(key="cause")
    quotes = ("a third of its blocks", "blocks is free")
    for coder, said, quote in zip(coders, ("logic", "config"), quotes, strict=True):
        for place in (0, 1):
            answers = {"symptom": "crash", "cause": said, "fix": ["call"]}
            submission = make_submission(assignment_of(coding_round, coder, place), answers)
            start = BODY.index(quote)
            Evidence.objects.create(
                submission=submission,
                dimension=cause,
                document="body",
                start=start,
                end=start + len(quote),
                quote=quote,
            )
    return close_round(coding_round=coding_round, missing="refuse", by=lead_of(study))


class Sessions:
    """A page for each member, in a browser profile of their own; what a console calls an error fails."""

    def __init__(self, browser: Browser, url: str, coding_round: Round) -> None:
        self.browser, self.url, self.coding_round = browser, url, coding_round
        self.contexts: list[Any] = []
        self.errors: list[str] = []

    def open(self, name: str, **options: Any) -> Page:
        member = Membership.objects.get(study=self.coding_round.study, user__username=name)
        context: Any = self.browser.new_context(**options)
        self.contexts.append(context)
        assert member.user is not None
        context.add_cookies([session_cookie(member.user, self.url)])
        page: Page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        where = [self.coding_round.study.slug, self.coding_round.number]
        page.goto(self.url + reverse("labeling:disagreement-list", args=where))
        expect(page.locator("#compare")).to_be_visible()
        return page


@pytest.fixture
def sessions(browser: Browser, live_server: Any, closed: Round) -> Iterator[Sessions]:
    opened = Sessions(browser, live_server.url, closed)
    yield opened
    for context in opened.contexts:
        context.close()
    assert opened.errors == []


def cause_of(closed: Round, place: int = 0) -> Decision:
    rows = Decision.objects.filter(round_unit__round=closed, dimension="cause")
    return rows.order_by("round_unit__unit__ref")[place]


def test_two_coders_agree_by_keyboard_and_go_on(sessions, closed):
    ada, ben = sessions.open("ada"), sessions.open("ben")
    for keys, quote in (("Shift+J", "CA1"), ("Shift+J", "CB1"), ("Shift+J", "CA1"), ("Shift+K", "CB1")):
        ada.keyboard.press(keys)
        expect(ada.locator("#body").get_by_role("link", name=quote)).to_be_focused()
    ada.keyboard.press("b")
    ada.get_by_label(re.compile("^Rationale")).fill("The flag was wrong.")
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_text("Proposed. It is decided once all coders")).to_be_visible()
    expect(ben.locator("#standing")).to_contain_text("The flag was wrong.")
    first = ben.url
    ben.keyboard.press("b")
    ben.keyboard.press("Enter")
    ben.wait_for_url(lambda url: url != first)
    decision = cause_of(closed)
    assert (decision.how, decision.categories.get().code) == ("discussed", "config")
    # "[" and "]" walk through the list, where what is decided is no longer among the open ones.
    expect(ben.locator(".reconcile-way")).to_contain_text("1 of 1")


def test_what_others_do_takes_no_typed_word_no_focus_and_no_place(sessions, closed):
    ada, ben = sessions.open("ada"), sessions.open("ben")
    field = ada.get_by_label(re.compile("^Rationale"))
    ada.keyboard.press("a")
    field.fill("The trace")
    field.press("End")
    place = ada.evaluate("() => { scrollTo(0, 300); return scrollY; }")
    assert place > 100
    for text in ("Look at line 3", "And at line 4"):
        ben.get_by_label("Write to the discussion").fill(text)
        ben.get_by_role("button", name="Send").press("Enter")
        expect(ada.locator("#standing")).to_contain_text(text)
        ada.keyboard.type(" shows it")
    expect(field).to_have_value("The trace shows it shows it")
    comment = ada.get_by_label("Write to the discussion")
    comment.fill("I see")
    comment.press("Control+Enter")
    expect(ada.locator("#standing")).to_contain_text("I see")
    expect(comment).to_have_value("")
    expect(field).to_have_value("The trace shows it shows it")
    field.focus()
    expect(field).to_be_focused()
    assert ada.locator("input[name=answer]:checked").get_attribute("value") == "coder:A"
    assert ada.evaluate("scrollY") == place


def test_a_decision_taken_elsewhere_turns_the_form_and_keeps_what_was_typed(sessions, closed):
    ada = sessions.open("ada")
    first = ada.url
    ada.get_by_role("button", name="Ask adjudicator to decide").press("Enter")
    ada.wait_for_url(lambda url: url != first)
    ada.go_back()
    field = ada.get_by_label(re.compile("^Rationale"))
    field.fill("But the flag is documented.")
    adjudicator = sessions.open("adjudicator")
    adjudicator.keyboard.press("a")
    adjudicator.get_by_label(re.compile("^Rationale")).fill("The condition is the wrong way round.")
    adjudicator.keyboard.press("Control+Enter")
    expect(ada.locator("#standing")).to_contain_text("Adjudicated by adjudicator")
    expect(ada.get_by_role("button", name=re.compile("Propose"))).to_have_count(0)
    expect(ada.get_by_label("Reopen this decision because")).to_have_value("But the flag is documented.")
    expect(ada.locator("#decision")).to_be_focused()
    expect(ada.locator("#resolved")).to_contain_text("1 of 2 decided")
    assert cause_of(closed).how == "adjudicated"


def test_other_leads_into_the_list_and_a_conflict_shows_both(sessions, closed):
    ada = sessions.open("ada")
    ada.keyboard.press("o")
    expect(ada.get_by_label("Other answer")).to_be_focused()
    ada.get_by_label("Other answer").select_option("api-misuse")
    ada.get_by_label(re.compile("^Rationale")).fill("It calls it twice.")
    # Meanwhile somebody decides, and this page has not asked again yet.
    ada.route("**/standing/**", lambda route: route.fulfill(status=204))
    decision = cause_of(closed)
    Decision.objects.filter(pk=decision.pk).update(how="discussed", version=1, decided_at="2026-01-01T00:00Z")
    ada.get_by_role("button", name=re.compile("Propose")).press("Enter")
    conflict = ada.locator("#conflict")
    expect(conflict).to_contain_text("decided already")
    expect(conflict).to_contain_text("Api misuse")
    expect(conflict).to_contain_text("It calls it twice.")
    expect(conflict).to_be_focused()


def test_one_jumps_between_a_quote_and_the_text_without_script(sessions):
    page = sessions.open("ada", java_script_enabled=False, viewport={"width": 1440, "height": 700})
    marks = page.locator("#body mark.evidence")
    assert marks.count() >= 4  # the overlap carries both marks
    page.locator("#answer-b").get_by_role("link", name="CB1").click()
    assert page.url.endswith("#quote-cb1")
    expect(page.locator("#quote-cb1")).to_be_in_viewport()
    page.locator("#body").get_by_role("link", name="CA1").click()
    assert page.url.endswith("#answer-a")


def test_the_page_holds_on_a_phone(sessions):
    page = sessions.open("ada", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
