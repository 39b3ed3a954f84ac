"""axe on every page of the demo study, light and dark, wide and narrow."""

from itertools import product
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, ViewportSize

from annotator.sign_in import sign_in_link
from labeling.demo.load import load_demo_study
from labeling.models import Decision, Issue, Round, RoundUnit, Sample, User
from tests.axe import RULES, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = {
    "wide": ViewportSize(width=1440, height=900),
    "narrow": ViewportSize(width=390, height=844),
}


@pytest.fixture
def demo(settings, live_server) -> str:
    settings.PUBLIC_URL = live_server.url
    load_demo_study()
    return str(live_server.url)


def pages_of_a_lead() -> list[str]:
    closed, running, training = Round.objects.order_by("number")
    known = f"rounds/{training.number}/known/"
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
        known,
        f"{known}{training.round_units.order_by('pk')[0].unit_id}/",
        "agreement/",
        "exports/",
    ]
    return ["/", "/studies/new/", "/account/", "/inbox/", *(study + each for each in below)]


def pages_of_a_coder() -> list[str]:
    decision = Decision.objects.filter(type=Decision.Type.DISAGREED, how="").order_by("pk").first()
    assert decision is not None
    unit = decision.round_unit
    detail = f"rounds/{unit.round.number}/reconciliation/{unit.unit_id}/{decision.dimension}/"
    trained = RoundUnit.objects.get(round__kind=Round.Kind.TRAINING, unit__ref="lumen-train/lumen#2251")
    training = f"rounds/{trained.round.number}/"
    below = ["", "coding/", "coding/own/", "rounds/2/queue/", detail, "reconciliation/", "codebook/"]
    below += [training, f"{training}feedback/", f"{training}units/{trained.unit_id}/feedback/"]
    return [f"/studies/demo/{each}" for each in below]


# All pages, each in two sizes and two schemes, take minutes.
@pytest.mark.soak
@pytest.mark.parametrize(("name", "pages"), [("lead", pages_of_a_lead), ("ada", pages_of_a_coder)])
def test_axe_finds_nothing(demo, browser, name, pages):
    page = browser.new_page(reduced_motion="reduce")
    link = urlsplit(sign_in_link(User.objects.get(username=name)))
    page.goto(f"{demo}{link.path}?{link.query}")
    problems = {address: found for address in pages() if (found := problems_of(page, demo + address))}
    page.close()
    assert not problems


def test_axe_finds_nothing_on_the_sign_in_page(live_server, browser):
    page = browser.new_page(reduced_motion="reduce")
    problems = problems_of(page, live_server.url + "/sign-in/")
    page.close()
    assert not problems


def problems_of(page: Page, address: str) -> list[str]:
    """What axe says of a page in every size and colour, a line each."""
    response = page.goto(address)
    assert response is not None
    assert response.ok, (address, response.status)
    found: list[str] = []
    for (width, size), scheme in product(SIZES.items(), RULES):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        # The page hears of a new size with the next picture that it draws.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found += [f"{width}, {scheme}: {each}" for each in violations(page, scheme)]
    return found
