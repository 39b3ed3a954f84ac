"""Reading a unit in the browser: a long one in portions, other scripts, paper, and without hurry."""

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Assignment, SnapshotDocument
from tests.labeling.live_coding import coding_round_of, expect_saved, open_unit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATCH = "@@ -0,0 +1,450 @@\n" + "\n".join(f"+    value = {number}" for number in range(450))
ARABIC = "ينهار التدريب"
LONG = {
    "comments": [*(f"Comment {number}." for number in range(119)), "The Needle\nof the 🔥 thread."],
    "fixes": [{"key": "1", "files": [{"path": "a.py", "patch": PATCH + "\n+    needle(of='é')"}]}],
}


@pytest.fixture
def coding(page: Page, live_server):
    coding_round, ada = coding_round_of(LONG)
    open_unit(page, live_server.url, coding_round, ada)
    return page


def stored_quotes() -> list[tuple[str, str]]:
    """Give document and text of the quotes in the draft, each checked against what is stored."""
    quotes = (Assignment.objects.defer(None).get().draft or {})["fields"]["evidence"]
    texts = {each.key: each.text or "" for each in SnapshotDocument.objects.all()}
    for quote in quotes:
        assert texts[quote["document"]][quote["start"] : quote["end"]] == quote["quote"]
    return [(quote["document"], quote["quote"]) for quote in quotes]


def test_words_are_found_where_nothing_has_come_yet_and_quoted_from_there(coding):
    expect(coding.locator("[data-waiting]")).to_have_count(2)
    coding.keyboard.press("Shift+G")
    coding.keyboard.type("needle of")
    expect(coding.locator("#find-count")).to_have_text("1 of 1")
    coding.locator("#find-words").fill("needle")
    expect(coding.locator("#find-count")).to_have_text("1 of 2")
    coding.keyboard.press("Enter")
    expect(coding.locator("#find-count")).to_have_text("2 of 2")
    expect(coding.locator(".diff-file")).to_have_attribute("open", "")
    coding.keyboard.press("Escape")
    expect(coding.locator("#issue")).to_be_focused()
    coding.keyboard.press("c")
    expect(coding.locator("button[data-quote]")).to_be_visible()
    expect_saved(coding)
    assert stored_quotes() == [("fix:1:file:a.py", "needle")]


def test_the_keys_for_quotes_lead_into_what_has_not_come_yet(coding):
    text = SnapshotDocument.objects.get(key="comment:120").text or ""
    quote = "Needle\nof the 🔥"
    start = text.index(quote)
    place = {"document": "comment:120", "start": start, "end": start + len(quote), "quote": quote}
    coding.evaluate(
        """(quote) => fetch(document.getElementById("codes").dataset.saveUrl, {
            method: "PATCH",
            headers: {
                "Content-Type": "application/json",
                "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value,
            },
            body: JSON.stringify({ version: 0, evidence: [quote] }),
        })""",
        place | {"dimension": "symptom", "category": None},
    )
    coding.reload()
    expect(coding.locator("[data-quote-count]")).to_have_text("1 quote")
    coding.keyboard.press("Shift+J")
    expect(coding.locator("button[data-quote]")).to_be_focused()
    assert coding.evaluate("[...CSS.highlights.get('evidence-1')].map(String)") == [quote]


def test_more_comments_come_when_the_reader_gets_there_and_the_focus_stays_with_them(coding):
    address = coding.url
    more = coding.get_by_role("link", name="Show 50 more comments of 120")
    more.evaluate("(link) => { link.focus({ preventScroll: true }); link.click(); }")
    expect(coding.locator('[data-document="comment:100"]')).to_be_attached()
    expect(coding.locator(".comment:has([data-document='comment:51'])")).to_be_focused()
    assert coding.url == address
    coding.locator(".diff-file > summary").click()
    expect(coding.locator('[data-document="fix:1:file:a.py"]')).to_be_visible()


def test_who_reads_for_minutes_is_heard_of(page: Page, live_server):
    page.clock.install()
    coding_round, ada = coding_round_of({})
    open_unit(page, live_server.url, coding_round, ada)
    page.wait_for_load_state("networkidle")
    page.clock.fast_forward(61_000)
    with page.expect_request(lambda request: "ahead" in request.url):
        page.keyboard.press("Shift+Q")


def test_a_paragraph_runs_the_way_its_script_does_and_code_does_not(page: Page, live_server):
    coding_round, ada = coding_round_of(
        {"body": f"{ARABIC}\n\nIt stops\n\n显存耗尽\n\n```\n{ARABIC} x = 1\n```"}
    )
    open_unit(page, live_server.url, coding_round, ada)
    sides = page.evaluate(
        """() => [...document.querySelectorAll("#body p, #body code")].map((block) => {
            const text = document.createRange();
            text.selectNodeContents(block);
            const { left, right } = text.getBoundingClientRect();
            const frame = block.closest("p, pre").getBoundingClientRect();
            return left - frame.left > frame.right - right ? "right" : "left";
        })"""
    )
    assert sides == ["right", "left", "left", "left"]


def test_on_paper_all_of_a_unit_is_there_and_nothing_of_the_page_around_it(coding):
    coding.evaluate(
        "window.print = () => (window.printed = document.querySelectorAll('[data-waiting]').length)"
    )
    coding.get_by_role("button", name="Print").click()
    expect(coding.locator("[data-waiting]")).to_have_count(0)
    assert coding.evaluate("window.printed") == 0
    coding.emulate_media(media="print")
    expect(coding.locator(".diff-file .diff__text").last).to_be_visible()
    for hidden in (".app-bar", ".section-nav", ".coding-panel__foot", "#print"):
        expect(coding.locator(hidden)).to_be_hidden()


HOSTILE = """\
<script>window.taken = 1</script><img src="x" onerror="window.taken = 1"><svg onload="window.taken = 1"></svg>
<a href="javascript:window.taken = 1">press</a><style>body { display: none }</style><iframe src="/"></iframe>
<form action="/"><input name="memo" autofocus><button>send</button></form></div></article></main>
<div id="codes" style="position: fixed; inset: 0">over all</div><h1 class="app-bar">a bar</h1>

"""
WIDE = [
    "W" * 5_000,
    f"`{'c' * 3_000}`",
    f"https://example.org/{'p' * 3_000}",
    f"|a|b|\n|-|-|\n|{'x' * 3_000}|y|",
    ">" * 10_000 + "deep",
    "- " * 90 + "deep",
]


def test_hostile_texts_neither_run_nor_leave_their_place(page: Page, live_server):
    comments = ["\n\n".join(WIDE), HOSTILE, "word " * 220_000]
    coding_round, ada = coding_round_of({"title": "T" * 400, "body": HOSTILE, "comments": comments})
    open_unit(page, live_server.url, coding_round, ada)
    page.get_by_text("press").first.click()
    assert page.evaluate("window.taken ?? 0") == 0
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("#codes, .app-bar, main")).to_have_count(3)
    expect(
        page.locator(".prose :is(script, style, iframe, form, svg, button, [style], [onerror])")
    ).to_have_count(0)
    # With "plaintext", as a browser has it, the line of a megabyte takes seconds to lay out.
    expect(page.locator("pre.plain-text")).to_have_css("unicode-bidi", "isolate")
