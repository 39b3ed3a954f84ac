"""axe in the browser: what it is asked in each colour scheme, and what it says."""

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

Scheme = Literal["light", "dark"]
#: What a person meets first: rules of WCAG 2.2 at levels A and AA. Dark changes colours and nothing else.
RULES: dict[Scheme, Any] = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}


def violations(page: Page, scheme: Scheme) -> list[str]:
    """What axe says of the page as it is: rule, how bad, where first."""
    options = {"runOnly": RULES[scheme], "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{each['id']} ({each['impact']}): {each['nodes'][0]['html'][:200]}" for each in found]
