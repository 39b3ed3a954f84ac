"""A coder at work in a browser on a real server: what the tests of the coding page in the browser share."""

import re
from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from labeling.models import Category, Membership, Round, User
from tests.factories import assignment_of, make_issue, make_member, make_round, make_study, make_unit

HOTKEYS = {"crash": "c", "hang": "h", "logic": "l", "config": "o", "condition": "n", "call": "k"}


def session_cookie(user: User, url: str) -> Any:
    """Cookie of a new session of the user."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": url}


def coding_round_of(*issues: dict[str, Any], **fields: Any) -> tuple[Round, Membership]:
    """Make an open round with one coder, ada, and a unit for each issue; categories have letters."""
    study = make_study()
    ada = make_member(study, user="ada")
    units = [make_unit(study, make_issue(study, rendered=False, **each)) for each in issues]
    coding_round = make_round(study, coders=[ada], units=units, **fields)
    for code, hotkey in HOTKEYS.items():
        Category.objects.filter(dimension__codebook=coding_round.codebook, code=code).update(hotkey=hotkey)
    return coding_round, ada


def unit_address(coding_round: Round, ada: Membership, place: int = 0) -> str:
    unit = assignment_of(coding_round, ada, place).round_unit.unit_id
    return f"/studies/{coding_round.study.slug}/rounds/{coding_round.number}/units/{unit}/"


def open_unit(page: Page, server: str, coding_round: Round, ada: Membership, place: int = 0) -> None:
    """Sign ada in and open one of her units."""
    assert ada.user is not None
    page.context.add_cookies([session_cookie(ada.user, server)])
    page.goto(server + unit_address(coding_round, ada, place))
    expect(page.locator("#filter")).to_be_visible()


def select(page: Page, document: str, quote: str) -> None:
    """Select a text as a mouse would: from its first letter to behind its last one."""
    page.evaluate(
        """([name, quote]) => {
            const element = [...document.querySelectorAll("[data-document]")]
                .find((each) => each.dataset.document === name);
            const isPatch = element.tagName === "TBODY";
            const cells = isPatch ? [...element.querySelectorAll(".diff__text")] : [element];
            const places = [];
            let text = "";
            for (const cell of cells) {
                if (text) { text += "\\n"; places.push(null); }
                const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const node = walker.currentNode;
                    for (let at = 0; at < node.length; at += 1) places.push([node, at]);
                    text += node.data;
                }
            }
            const start = text.indexOf(quote);
            const [last, at] = places[start + quote.length - 1];
            const range = document.createRange();
            range.setStart(...places[start]);
            range.setEnd(last, at + 1);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        [document, quote],
    )
    expect(page.locator("#selection-bar")).to_be_visible()


def expect_saved(page: Page) -> None:
    expect(page.locator("[data-save-text]")).to_contain_text(re.compile(r"Saved \d\d:\d\d"))
