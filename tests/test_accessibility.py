"""axe on every page of the demo study, light and dark, wide and narrow."""

from typing import Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

from annotator.sign_in import sign_in_link
from labeling.demo.load import load_demo_study
from labeling.models import Decision, Issue, Round, Sample, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Scheme = Literal["light", "dark"]
NARROW = ViewportSize(width=390, height=844)
WIDE = ViewportSize(width=1440, height=900)
# What a person meets first: rules of WCAG 2.2 at levels A and AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


@pytest.fixture
def demo(settings, live_server) -> str:
    settings.PUBLIC_URL = live_server.url
    load_demo_study()
    return str(live_server.url)


def pages_of_a_lead() -> list[str]:
    closed, running = Round.objects.order_by("number")
    issue, sample = Issue.objects.order_by("pk").first(), Sample.objects.get()
    assert issue is not None
    study = "/studies/demo/"
    below = [
        "",
        "settings/",
        "members/",
        f"members/{running.coders.order_by('pk')[0].pk}/",
        "corpus/",
        f"corpus/{issue.pk}/",
        "rules/",
        "imports/",
        "imports/new/",
        "codebook/",
        "codebook/edit/",
        "samples/",
        "samples/new/",
        f"samples/{sample.pk}/",
        "rounds/",
        "rounds/new/",
        f"rounds/{running.number}/",
        f"rounds/{closed.number}/",
        f"rounds/{closed.number}/agreement/",
        "agreement/",
        "exports/",
    ]
    return ["/", "/studies/new/", "/account/", "/inbox/", *(study + each for each in below)]


def pages_of_a_coder() -> list[str]:
    decision = Decision.objects.filter(type=Decision.Type.DISAGREED, how="").order_by("pk").first()
    assert decision is not None
    unit = decision.round_unit
    detail = f"rounds/{unit.round.number}/reconciliation/{unit.unit_id}/{decision.dimension}/"
    below = ["", "coding/", "coding/own/", "rounds/2/queue/", detail, "reconciliation/", "codebook/"]
    return [f"/studies/demo/{each}" for each in below]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize(("name", "pages"), [("lead", pages_of_a_lead), ("ada", pages_of_a_coder)])
def test_axe_finds_nothing(demo, browser, name, pages, size, scheme):
    page = signed_in(browser, demo, name, size, scheme)
    problems = {address: found for address in pages() if (found := violations(page, demo + address))}
    page.context.close()
    assert not problems


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_sign_in_page(demo, browser, scheme):
    context = browser.new_context(color_scheme=scheme)
    problems = violations(context.new_page(), demo + "/sign-in/")
    context.close()
    assert not problems


def signed_in(browser: Browser, base: str, name: str, size: ViewportSize, scheme: Scheme) -> Page:
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    link = urlsplit(sign_in_link(User.objects.get(username=name)))
    page.goto(f"{base}{link.path}?{link.query}")
    return page


def violations(page: Page, address: str) -> list[str]:
    """What axe says of a page, a line each: rule, how bad, where first."""
    response = page.goto(address)
    assert response is not None
    assert response.ok, (address, response.status)
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']} ({each['impact']}): {each['nodes'][0]['html'][:200]}" for each in found]
