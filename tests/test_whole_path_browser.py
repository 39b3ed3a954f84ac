"""The whole path in a browser: a lead and two coders with sessions of their own, hands on the keyboard."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.installation import Installation

pytestmark = pytest.mark.browser
UNITS = 6
WAIT = 40_000  # ms; the worker and the browser share this machine with other tests


@pytest.fixture
def issues(tmp_path: Path) -> Path:
    """A file as a researcher has it: one issue a line."""
    lines = [
        {
            "title": f"Training stops at step {number}00",
            "body": f"It stops with **error {number}**.\n\n```\ntrace line\n```",
            "url": f"https://github.com/acme/train/issues/{number}",
            "state": "closed",
        }
        for number in range(1, UNITS + 1)
    ]
    path = tmp_path / "issues.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def people(installation: Installation, browser: Browser) -> Iterator[dict[str, Page]]:
    installation.start("--demo")
    contexts: list[BrowserContext] = []
    pages: dict[str, Page] = {}
    for name in ("lead", "ada", "ben"):
        context = browser.new_context(base_url=f"http://127.0.0.1:{installation.port}", accept_downloads=True)
        context.set_default_timeout(WAIT)
        contexts.append(context)
        pages[name] = context.new_page()
        pages[name].goto(installation.links()[name])
    yield pages
    for context in contexts:
        context.close()


def test_two_coders_and_a_lead_walk_the_whole_path(people, issues, tmp_path):
    lead, ada, ben = people["lead"], people["ada"], people["ben"]
    slug = make_study(lead)
    for page in (ada, ben):
        join(lead, page, slug)
    import_file(lead, slug, issues)
    draw_sample(lead, slug)
    open_round(lead, slug)
    # Ben disagrees with Ada on the first unit he meets, and on nothing else.
    code_all(ada, slug, {})
    assert "ada" not in ben.locator("main").inner_text().lower()
    disputed = code_all(ben, slug, {0: "c"})
    close_round(lead, slug)
    show_agreement(lead, slug)
    settle_together(ada, ben, slug)
    finish_round(lead, slug)
    labels = download_labels(lead, slug, tmp_path)
    decided = [row for row in labels if row["how"] == "discussed"]
    assert {(row["unit"], row["dimension"]) for row in decided} == {(disputed, "symptom")}
    assert len({row["unit"] for row in labels}) == UNITS


def make_study(lead: Page) -> str:
    lead.get_by_role("link", name="New study").click()
    lead.get_by_label("Title").fill("Failures of training")
    lead.get_by_label("Codebook").select_option("template:dl-compilers")
    lead.get_by_role("button", name="Make the study").press("Enter")
    expect(lead.get_by_role("heading", name="Failures of training")).to_be_visible()
    return "failures-of-training"


def join(lead: Page, page: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/members/")
    lead.get_by_role("button", name="Make an invitation").press("Enter")
    lead.locator("select[name=role]").first.wait_for()
    page.goto(lead.locator("#new-address").inner_text())
    page.get_by_role("button", name="Join").press("Enter")
    expect(page.get_by_role("heading", name="Failures of training")).to_be_visible()


def import_file(lead: Page, slug: str, issues: Path) -> None:
    lead.goto(f"/studies/{slug}/imports/new/")
    lead.locator("input[type=file]").set_input_files(issues)
    lead.get_by_role("button", name="Upload the file").press("Enter")
    lead.get_by_role("button", name="Start the import").press("Enter")
    expect(lead.locator("#import")).to_contain_text("Done", timeout=WAIT)


def draw_sample(lead: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/samples/new/")
    lead.get_by_text("All", exact=True).click()
    lead.get_by_role("button", name="Draw the sample").press("Enter")
    expect(lead.get_by_text("Frozen").first).to_be_visible(timeout=WAIT)


def open_round(lead: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/rounds/new/")
    for name in ("ada", "ben"):
        lead.get_by_role("checkbox", name=name).check()
    lead.get_by_role("button", name="Make the draft").press("Enter")
    lead.get_by_role("button", name=re.compile("^Open")).press("Enter")
    confirm(lead)
    expect(lead.locator("main .pill", has_text="Open").first).to_be_visible()


def confirm(page: Page) -> None:
    """Press the button of the dialog that asks whether one is sure."""
    page.locator("#confirm[open] button[value=confirm]").press("Enter")


def code_all(coder: Page, slug: str, other: dict[int, str]) -> str:
    """Code every unit by keyboard alone: a digit opens a dimension, a letter chooses, Enter hands in."""
    coder.goto(f"/studies/{slug}/coding/")
    first_disputed = ""
    for number in range(UNITS):
        unit = coder.url
        expect(coder.locator("#codes")).to_be_visible()
        dimensions = coder.locator("[data-dimension]:not([hidden])")
        for place in range(dimensions.count()):
            fieldset = dimensions.nth(place)
            letters = fieldset.locator("input[data-keys]:not([value^='state:'])")
            wanted = letters.nth(1 if place == 0 and number in other else 0)
            if not fieldset.locator("details[open]").count():
                coder.keyboard.press(str(place + 1))
            coder.keyboard.press(wanted.get_attribute("data-keys") or "")
            expect(wanted).to_be_checked()
        if number in other:
            first_disputed = coder.locator(".issue__ref").inner_text().split()[0]
        expect(coder.locator("#save-state")).to_contain_text("Saved ")
        coder.keyboard.press("Enter")
        coder.wait_for_function("address => location.href !== address", arg=unit)
    return first_disputed


def close_round(lead: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/rounds/1/")
    lead.get_by_role("button", name=re.compile("^Close")).press("Enter")
    confirm(lead)
    expect(lead.locator("main .pill", has_text="Reconciling").first).to_be_visible()


def show_agreement(lead: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/rounds/1/agreement/")
    lead.get_by_role("button", name="Show the agreement").press("Enter")
    expect(lead.get_by_role("heading", name="For the paper")).to_be_visible()
    expect(lead.locator("table").first).to_contain_text("83.33%")


def settle_together(ada: Page, ben: Page, slug: str) -> None:
    """Ada proposes her answer; Ben, who has the page open, sees it come up and agrees."""
    for page in (ada, ben):
        page.goto(f"/studies/{slug}/reconciliation/")
        expect(page.get_by_role("heading", name=re.compile("Decision on"))).to_be_visible()
    ada.keyboard.press("a")
    ada.get_by_label(re.compile("Rationale")).fill("The trace shows it.")
    ada.get_by_role("button", name=re.compile("Propose")).press("Enter")
    expect(ben.locator("#standing")).to_contain_text("The trace shows it.", timeout=WAIT)
    ben.keyboard.press("a")
    ben.keyboard.press("Enter")
    expect(ben.get_by_role("heading", name="Nothing is open")).to_be_visible()


def finish_round(lead: Page, slug: str) -> None:
    lead.goto(f"/studies/{slug}/rounds/1/")
    lead.get_by_role("button", name=re.compile("^Finish")).press("Enter")
    confirm(lead)
    expect(lead.locator("main .pill", has_text="Done").first).to_be_visible()


def download_labels(lead: Page, slug: str, folder: Path) -> list[dict[str, str]]:
    lead.goto(f"/studies/{slug}/exports/")
    with lead.expect_download() as download:
        lead.get_by_role("button", name="Download labels.csv").press("Enter")
    path = folder / "labels.csv"
    download.value.save_as(path)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
