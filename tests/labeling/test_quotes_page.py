"""Quotes in the browser: selected, chosen by key or bar, shown, taken back, and read back exactly."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from labeling.models import Evidence, Membership, Round, SnapshotDocument
from labeling.services.exports import stream
from labeling.services.rounds import close_round
from tests.factories import assignment_of, lead_of
from tests.labeling.live_coding import coding_round_of, expect_saved, open_unit, select

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BODY = """\
Training **stops** at step 1900 \N{FIRE} with `nan` loss.

显存在第三步之后耗尽了

ينهار التدريب بعد الخطوة الثالثة

- \N{FAMILY} one
- two & \\<three>

```
step 1
step 2 \N{SKULL}
```
"""
COMMENT = "Same here \N{PILE OF POO}: the loss becomes **infinite** after the restart."
PATCH = "@@ -1,2 +1,3 @@\n int main() {\n-  free(a);\n+  free(b); // \N{GHOST} café\r\n+  return 0;"


def demanding_round() -> tuple[Round, Membership]:
    file = {"path": "a.c", "patch": PATCH}
    return coding_round_of(
        {
            "title": "Loss \N{FIRE}",
            "body": BODY,
            "comments": [COMMENT],
            "fixes": [{"key": "1", "files": [file]}],
        }
    )


@pytest.fixture
def coding(page, live_server):
    coding_round, ada = demanding_round()
    open_unit(page, live_server.url, coding_round, ada)
    page.coding_round, page.ada = coding_round, ada
    return page


def stored_quotes(page):
    """Give the quotes of the draft, and check each against the text that is stored."""
    assignment = assignment_of(page.coding_round, page.ada)
    assignment.refresh_from_db(fields=["draft"])
    quotes = assignment.draft["fields"].get("evidence", [])
    for quote in quotes:
        document = SnapshotDocument.objects.get(
            snapshot=assignment.round_unit.unit.snapshot, key=quote["document"]
        )
        assert document.text[quote["start"] : quote["end"]] == quote["quote"]
    return quotes


def painted(page: Page, colour: int) -> list[str]:
    return page.evaluate(
        "(colour) => [...CSS.highlights.get(`evidence-${colour}`) ?? []].map(String)", colour
    )


def test_the_key_of_a_category_chooses_it_and_adds_the_selected_text(coding):
    select(coding, "body", "at step 1900 \N{FIRE} with")
    coding.keyboard.press("c")
    expect_saved(coding)
    [quote] = stored_quotes(coding)
    assert (quote["quote"], quote["category"]) == ("at step 1900 \N{FIRE} with", "crash")
    expect(coding.locator("#symptom-crash")).to_be_checked()
    expect(coding.locator("#selection-bar")).to_be_hidden()
    assert painted(coding, 1) == ["at step 1900 \N{FIRE} with"]
    expect(
        coding.get_by_role("button", name=re.compile("Quote S1, Symptom: Runtime . Crash"))
    ).to_be_visible()


def test_a_second_quote_does_not_take_the_category_back(coding):
    for text in ("stops", "infinite"):
        select(coding, "body" if text == "stops" else "comment:1", text)
        coding.keyboard.press("c")
    expect_saved(coding)
    assert [quote["quote"] for quote in stored_quotes(coding)] == ["stops", "infinite"]
    expect(coding.locator("#symptom-crash")).to_be_checked()


def test_quotes_of_every_text_are_read_back_exactly_from_the_file(coding):
    wanted = {
        "title": "\N{FIRE}",
        "body": "显存在第三步之后耗尽了",
        "comment:1": "\N{PILE OF POO}: the loss becomes infinite",
        "fix:1:file:a.c": "free(b); // \N{GHOST} café\r\n+  return 0;",
    }
    for document, text in wanted.items():
        select(coding, document, text)
        coding.keyboard.press("c")
    select(coding, "body", "ينهار التدريب")
    coding.keyboard.press("h")
    expect_saved(coding)
    assert len(stored_quotes(coding)) == 5
    for digit, letter in (("2", "l"), ("3", "n")):
        coding.keyboard.press(digit)
        coding.keyboard.press(letter)
    coding.keyboard.press("Enter")
    expect(coding.get_by_role("heading", name="Your units in Round 1")).to_be_visible()
    rows = evidence_rows(coding.coding_round)
    assert {row["document"]: row["quote"] for row in rows if row["quote"] != "ينهار التدريب"} == wanted
    assert {row["category"] for row in rows} == {"hang"}
    snapshot = assignment_of(coding.coding_round, coding.ada).round_unit.unit.snapshot
    texts = dict(SnapshotDocument.objects.filter(snapshot=snapshot).values_list("key", "text"))
    for row in rows:
        assert texts[row["document"]][int(row["start"]) : int(row["end"])] == row["quote"]


def evidence_rows(coding_round: Round) -> list[dict[str, str]]:
    coding_round.refresh_from_db()
    lead = lead_of(coding_round.study)
    close_round(coding_round=coding_round, by=lead)
    export = stream(study=coding_round.study, member=lead, name="evidence.csv")
    text = b"".join(export.chunks).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_overlapping_quotes_of_two_dimensions_are_both_shown(coding):
    select(coding, "body", "at step 1900")
    coding.keyboard.press("c")
    coding.keyboard.press("2")
    select(coding, "body", "step 1900 \N{FIRE} with")
    coding.keyboard.press("l")
    expect_saved(coding)
    assert painted(coding, 1) == ["at step 1900"]
    assert painted(coding, 2) == ["step 1900 \N{FIRE} with"]


def test_the_bar_offers_the_chosen_categories_and_dimensions_without_any(coding):
    coding.keyboard.press("c")
    select(coding, "body", "stops")
    bar = coding.get_by_role("group", name="Selected text")
    expect(bar.get_by_role("button")).to_have_text(["S Crash c", "C Cause", "F Fix", ""])
    bar.get_by_role("button", name="Fix, no category yet").click()
    expect(coding.locator("#d-fix [data-summary]")).to_have_text("1 quote, no category yet")
    expect_saved(coding)
    [quote] = stored_quotes(coding)
    assert (quote["dimension"], quote["category"]) == ("fix", None)


def test_a_quote_without_category_gets_the_one_that_is_chosen_later(coding):
    coding.keyboard.press("2")
    select(coding, "body", "stops")
    coding.keyboard.press("Shift+W")
    expect_saved(coding)
    coding.keyboard.press("o")
    expect(coding.locator("#d-cause .code-row:has(#cause-config) .evidence-tag")).to_have_text("C1")
    expect_saved(coding)
    assert [quote["category"] for quote in stored_quotes(coding)] == ["config"]
    select(coding, "body", "loss")
    coding.keyboard.press("Shift+W")  # now that one is chosen, it is for that one
    expect(coding.locator("#d-cause .code-row:has(#cause-config) .evidence-tag")).to_have_text(["C1", "C2"])
    expect_saved(coding)
    assert [quote["category"] for quote in stored_quotes(coding)] == ["config", "config"]


def test_of_several_categories_the_list_says_which_one_a_quote_is_for(coding):
    coding.keyboard.press("3")
    coding.keyboard.press("n")
    select(coding, "body", "stops")
    coding.keyboard.press("k")
    coding.get_by_label("Category of quote F1").select_option("condition")
    expect_saved(coding)
    assert [quote["category"] for quote in stored_quotes(coding)] == ["condition"]


def test_a_quote_is_removed_from_the_list_and_undo_brings_it_back(coding):
    select(coding, "body", "stops")
    coding.keyboard.press("c")
    coding.get_by_role("button", name="Remove quote S1").press("Enter")
    expect(coding.locator("button[data-quote]")).to_have_count(0)
    coding.keyboard.press("Control+z")
    expect(coding.locator("button[data-quote]")).to_have_count(1)
    coding.keyboard.press("Control+z")
    expect(coding.locator("#symptom-crash")).not_to_be_checked()
    coding.keyboard.press("Control+y")
    expect(coding.locator("#symptom-crash")).to_be_checked()
    expect_saved(coding)
    assert [quote["quote"] for quote in stored_quotes(coding)] == ["stops"]


def test_quotes_survive_a_reload(coding):
    select(coding, "fix:1:file:a.c", "free(a);\n+  free(b);")
    coding.keyboard.press("c")
    expect_saved(coding)
    coding.reload()
    expect(coding.locator("button[data-quote]")).to_have_count(1)
    assert painted(coding, 1)[0].startswith("free(a);")
    coding.keyboard.press("1")
    select(coding, "fix:1:file:a.c", "return 0;")
    coding.keyboard.press("c")
    expect(coding.locator("button[data-quote]")).to_have_count(2)


def test_without_a_mouse_lines_and_paragraphs_are_picked(coding):
    coding.keyboard.press("Shift+Q")
    coding.keyboard.press("ArrowDown")
    picked = "getSelection().toString()"
    assert coding.evaluate(picked) == "Training stops at step 1900 \N{FIRE} with nan loss."
    coding.keyboard.press("Shift+ArrowDown")
    assert "显存在第三步之后耗尽了" in coding.evaluate(picked)
    for _ in range(3):
        coding.keyboard.press("ArrowDown")
    assert coding.evaluate(picked) == "two & <three>"
    coding.keyboard.press("ArrowDown")
    assert coding.evaluate(picked) == "step 1"
    coding.keyboard.press("ArrowRight")
    assert coding.evaluate(picked).strip() == "step 1\nstep 2 \N{SKULL}"
    coding.keyboard.press("c")
    expect_saved(coding)
    assert [quote["quote"] for quote in stored_quotes(coding)] == ["step 1\nstep 2 \N{SKULL}"]


def test_keys_go_from_quote_to_quote_and_hide_them_all(coding):
    for text in ("infinite", "stops"):
        select(coding, "comment:1" if text == "infinite" else "body", text)
        coding.keyboard.press("c")
    coding.keyboard.press("Shift+J")
    expect(coding.locator("button[data-quote]:focus")).to_have_attribute("data-tag", "S2")
    coding.keyboard.press("Shift+J")
    expect(coding.locator("button[data-quote]:focus")).to_have_attribute("data-tag", "S1")
    coding.keyboard.press("Shift+K")
    expect(coding.locator("button[data-quote]:focus")).to_have_attribute("data-tag", "S2")
    coding.keyboard.press("Shift+E")
    expect(coding.locator("button[data-quote]")).to_have_count(0)
    assert painted(coding, 1) == []
    expect(coding.get_by_label("Show 2 quotes")).not_to_be_checked()


def test_a_browser_without_highlights_marks_the_same_text(browser, live_server):
    coding_round, ada = demanding_round()
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("Object.defineProperty(CSS, 'highlights', { value: undefined })")
    open_unit(page, live_server.url, coding_round, ada)
    page.coding_round, page.ada = coding_round, ada
    text = "stops at step 1900 \N{FIRE} with nan"
    select(page, "body", text)
    page.keyboard.press("c")
    page.keyboard.press("2")
    select(page, "body", "with")
    page.keyboard.press("l")
    expect_saved(page)
    assert (
        "".join(page.locator("mark.evidence.dim-1").all_inner_texts())
        == "stops at step 1900 \N{FIRE} with nan"
    )
    assert [quote["quote"] for quote in stored_quotes(page)] == [text, "with"]
    context.close()


def test_what_was_submitted_keeps_its_quotes(coding):
    for digit, letter in (("1", "c"), ("2", "l"), ("3", "n")):
        coding.keyboard.press(digit)
        select(coding, "body", "stops")
        coding.keyboard.press(letter)
    expect_saved(coding)
    coding.keyboard.press("Enter")
    expect(coding.get_by_role("heading", name="Your units in Round 1")).to_be_visible()
    assert Evidence.objects.filter(quote="stops").count() == 3
