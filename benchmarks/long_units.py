"""How soon a long unit is read: beside a short one, on the same server in the same run.

``python -m benchmarks.long_units`` prints the figures; nothing is asserted. The long unit has a body of
262,144 bytes, 1,000 comments and a patch of 3,000 lines. The goal: first contentful paint in Chromium under
a second.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks import databases
from benchmarks.label_loop import web_server
from tests.servers import find_chromium

BODY, COMMENTS, LINES = 262_144, 1_000, 3_000
RUNS = 9
FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
    const [first] = list.getEntriesByName("first-contentful-paint");
    if (first) done(first.startTime);
}).observe({ type: "paint", buffered: true }))"""
WORDS = ["the", "loss", "gradient", "step", "kernel", "memory", "allocator", "rank", "overflow", "becomes"]


def measure() -> Iterator[str]:
    """Yield one line per figure."""
    for database, figure in databases.on_each("benchmarks.long_units", "--child"):
        yield f"{database}: {figure}"


def run() -> None:
    """Measure on the database of this process."""
    databases.set_up()
    from labeling.models import User
    from tests.factories import make_member, make_round, make_study, make_unit
    from tests.labeling.live_coding import session_cookie

    study = make_study()
    ada = make_member(study)
    units = [make_unit(study, short_issue(study)), make_unit(study, long_issue(study))]
    coding_round = make_round(study, coders=[ada], units=units)
    pages = [f"/studies/{study.slug}/rounds/{coding_round.number}/units/{unit.pk}/" for unit in units]
    with web_server("annotator.wsgi") as server:
        base = f"http://127.0.0.1:{server.port}"
        cookie = session_cookie(User.objects.get(memberships=ada), base)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            page = chromium.new_page(base_url=base)
            page.context.add_cookies([cookie])
            for figure in figures(page, *pages):
                databases.say(figure)
            chromium.close()


def short_issue(study: Any) -> Any:
    from tests.factories import make_issue

    fix = {"key": "octo/spoon#2", "files": [{"path": "a.py", "patch": patch(20)}]}
    return make_issue(study, body=prose(1_000), comments=[prose(200)] * 3, fixes=[fix], rendered=False)


def long_issue(study: Any) -> Any:
    from labeling.services.rendering import render_documents
    from tests.factories import make_issue

    fix = {"key": "octo/spoon#4", "files": [{"path": "a.py", "patch": patch(LINES)}]}
    comments = [prose(250) for _ in range(COMMENTS)]
    issue = make_issue(study, body=prose(BODY), comments=comments, fixes=[fix], rendered=False)
    began = time.process_time()
    render_documents(issue.snapshots.get())
    databases.say(f"rendered once, when it is pinned: {time.process_time() - began:.2f} s of the processor")
    return issue


def prose(size: int) -> str:
    """Give paragraphs and code of a size."""
    rng = random.Random(size)  # noqa: S311 - measured, not secret

    def blocks() -> Iterator[str]:
        while True:
            yield " ".join(rng.choices(WORDS, k=60)) + "\n\n"
            if rng.random() < 0.2:
                lines = [f"x_{line} = step({line})  # {rng.choice(WORDS)}\n" for line in range(40)]
                yield "```python\n" + "".join(lines) + "```\n\n"

    return "".join(islice(blocks(), size // 300 + 1))[:size].ljust(size, ".")


def patch(lines: int) -> str:
    rng = random.Random(lines)  # noqa: S311 - measured, not secret
    code = [f"{rng.choice(' +-')}    value_{line} = compute({line}, 'x')" for line in range(lines)]
    return "\n".join([f"@@ -1,{lines} +1,{lines} @@", *code])


def figures(page: Page, short: str, long: str) -> Iterator[str]:
    """Open both in turns, then ask for all of the long one."""
    opened = {address: [paint(page, address) for _ in range(RUNS)][1:] for address in (short, long)}
    # On a busy machine the slower ones were interrupted.
    painted = {address: min(each[0] for each in times) for address, times in opened.items()}
    answered = {address: min(each[1] for each in times) for address, times in opened.items()}
    for name, address in (("short", short), ("long", long)):
        yield f"{name} unit: answered in {answered[address]:.0f} ms, first paint at {painted[address]:.0f} ms"
    yield f"long / short: {painted[long] / painted[short]:.1f} times until the first paint"
    yield f"all of it on one page (?whole): first paint at {paint(page, f'{long}?whole')[0]:.0f} ms"
    yield f"50 more comments: {portion(page, long):.0f} ms"
    yield f"all of it searched for a word: {found(page, long):.0f} ms"


def paint(page: Page, address: str) -> tuple[float, float]:
    """Milliseconds until the first contentful paint, and until the last byte of the page."""
    page.goto(address)
    first = page.evaluate(FIRST_PAINT)
    return first, page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")


def portion(page: Page, address: str) -> float:
    page.goto(address)
    return took(
        lambda: page.evaluate("document.querySelector('[data-waiting=comments]').scrollIntoView()"),
        lambda: page.wait_for_selector('[data-document="comment:51"]', state="attached"),
    )


def found(page: Page, address: str) -> float:
    page.goto(address)
    page.keyboard.press("Shift+G")
    return took(
        lambda: page.keyboard.insert_text("becomes"),
        lambda: page.locator("#find-count", has_text=" of ").wait_for(),
    )


def took(act: Callable[[], object], wait: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    wait()
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    """Measure here as a child, or print what the children measured."""
    if "--child" in sys.argv:
        run()
        return
    for line in measure():
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
