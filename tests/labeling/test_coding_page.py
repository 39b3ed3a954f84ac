"""The coding page without a server: what the template prints, and what its script does in a browser."""

import json
import mimetypes
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, Route, expect

from labeling.models import Study, User

ORIGIN = "http://coding.test"
SAVE_PATH = "/api/v1/assignments/7/"
STATIC = Path(settings.BASE_DIR, "static")


def category(name: str, hotkey: str, **said: Any) -> dict[str, Any]:
    nothing = {"include": "", "exclude": "", "examples": [], "precedence": "", "checked": False}
    return (
        nothing
        | {"code": name.lower(), "name": name, "hotkey": hotkey, "definition": f"It is {name}."}
        | said
    )


def dimension(index: int, key: str, kind: str, *groups: dict[str, Any], **said: Any) -> dict[str, Any]:
    states = [{"value": value, "label": label, "checked": False} for value, label in STATES]
    plain = {"question": "", "help": "", "required": True, "states": states if groups else [], "text": ""}
    plain |= {"asked": True, "asked_if": None, "locked": False, "summary": "", "errors": []}
    name = {"key": key, "name": key.capitalize(), "kind": kind, "index": index, "tag": key[0].upper()}
    return plain | name | {"options": list(groups)} | said


STATES = (("unclear", "Unclear"), ("not_applicable", "Not applicable"))


def dimensions() -> list[dict[str, Any]]:
    crash = {"parent": "Crash", "items": [category("Abort", "a"), category("Memory", "m")]}
    slow = {"parent": None, "items": [category("Slow", "s")]}
    after_crash = {"dimension": "symptom", "any_of": ["abort", "memory"]}
    return [
        dimension(1, "symptom", "single", crash, slow),
        dimension(
            2,
            "fix",
            "multiple",
            {"parent": None, "items": [category("Revert", "r"), category("Patch", "pa")]},
        ),
        dimension(
            3,
            "trigger",
            "single",
            {"parent": None, "items": [category("Load", "l")]},
            asked=False,
            asked_if=after_crash,
        ),
        dimension(4, "practice", "text", required=False),
    ]


def issue(**said: Any) -> dict[str, Any]:
    lines: list[dict[str, Any]] = [{"kind": "hunk", "old": None, "new": None, "html": "@@ -1 +1 @@"}]
    lines += [{"kind": "add", "old": None, "new": 1, "html": "+free(buffer)"}]
    file: dict[str, Any] = {
        "document": "fix:1:file:a.c",
        "path": "a.c",
        "status": "modified",
        "additions": 1,
        "deletions": 0,
    }
    fix: dict[str, Any] = {
        "kind": "pull_request",
        "title": "Free the buffer",
        "url": None,
        "number": 12,
        "state": "merged",
    }
    comment = {
        "document": "comment:1",
        "html": "<p>Reproduced.</p>",
        "author": "kestrel",
        "association": "MEMBER",
    }
    return {
        "ref": "lumen/train#4",
        "url": "https://github.com/lumen/train/issues/4",
        "title": "Memory grows",
        "state": "closed",
        "state_reason": "completed",
        "author": "gradient",
        "opened_at": datetime(2025, 3, 14, 9, tzinfo=UTC),
        "closed_at": None,
        "github_labels": ["bug"],
        "body": {"key": "body", "html": "<p>It grows.</p>"},
        "comments": [comment | {"created_at": datetime(2025, 3, 15, 9, tzinfo=UTC), "is_bot": False}],
        "timeline": [{"kind": "closed", "at": None, "actor": "kestrel", "text": "closed this"}],
        "fixes": [
            fix
            | {
                "merged_at": None,
                "additions": 1,
                "deletions": 0,
                "message_html": "",
                "document": "fix:1:message",
            }
            | {"files": [file | {"lines": lines, "note": ""}]}
        ],
        "masked": [],
        "changed_since": False,
    } | said


def stored_state() -> dict[str, Any]:
    return {"version": 1, "annotations": {}, "memo": "", "confidence": None, "evidence": [], "status": "todo"}


def rendered(
    *, issue_said: dict[str, Any] | None = None, state: dict[str, Any] | None = None, **form: Any
) -> str:
    request = RequestFactory().get("/")
    request.user = User(pk=1, username="ada")
    unit = SimpleNamespace(ref="lumen/train#4")
    assignment = SimpleNamespace(
        round_unit=SimpleNamespace(unit=unit), status="draft", return_reason="", draft_at=None
    )
    nothing = {"dimensions": dimensions(), "memo": "", "confidence": "", "exclude": None, "errors": []}
    context = {
        "study": Study(slug="llm", title="LLM training"),
        "membership": SimpleNamespace(role="coder", get_role_display="Coder"),
        "unread_notices": 0,
        "assignment": assignment,
        "coding_round": SimpleNamespace(
            pk=9, number=4, state="open", codebook=SimpleNamespace(version=3), instructions=""
        ),
        "issue": issue(**(issue_said or {})),
        "form": nothing | {"reasons": ["not a bug", "duplicate"]} | form,
        "state": state or stored_state(),
        "save_url": SAVE_PATH,
        "progress": {"position": 2, "total": 9, "submitted": 1},
        "unit_url": "/unit",
        "queue_url": "/queue",
        "last_url": "/queue",
        "previous_url": "/previous",
        "next_url": "/next",
    }
    return render_to_string("labeling/coding_detail.html", context, request=request)


# What is printed


def test_without_script_every_answer_is_a_named_field_and_every_act_a_button():
    html = rendered()
    assert 'type="radio" name="d-symptom" value="memory"' in html
    assert 'type="checkbox" name="d-fix" value="revert"' in html
    assert 'name="d-symptom" value="state:unclear"' in html
    assert 'name="d-fix" value="state:coded"' in html
    assert 'name="d-symptom" value="state:coded"' not in html
    assert '<textarea class="textarea dimension__text" name="t-practice"' in html
    acts = set(re.findall(r'<button type="submit"[^>]*name="action" value="(\w+)"', html))
    assert acts == {"submit", "skip", "exclude", "save"}


def test_enter_in_a_field_submits_because_the_first_submit_button_of_the_form_does():
    form = rendered().split('id="codes"')[1]
    assert re.search(r'<button type="submit"[^>]*value="(\w+)"', form)[1] == "submit"


def test_a_hidden_field_is_named_and_its_content_is_nowhere():
    hidden = {"ref": "unit 4", "url": None, "author": None, "github_labels": []}
    html = rendered(issue_said=hidden | {"masked": ["author", "github_labels", "repository"]})
    assert "Hidden in this round: author, GitHub labels, repository." in html
    assert "gradient" not in html
    assert "lumen/train" not in html


def test_images_are_offered_where_there_are_some():
    assert "Show images" not in rendered()
    picture = '<p><span class="image-placeholder" data-src="https://example.org/a.png">curve</span></p>'
    assert 'href="?images="' in rendered(issue_said={"body": {"key": "body", "html": picture}})


def test_an_issue_without_text_says_so():
    assert "No text was imported." in rendered(issue_said={"body": {"key": "body", "html": ""}})


def test_the_cells_of_a_patch_hold_its_lines_unchanged():
    assert '<td class="diff__text">+free(buffer)</td>' in rendered()


def test_an_error_of_a_dimension_opens_it():
    wrong = dimensions()
    wrong[1]["errors"] = ["Choose at least one category."]
    html = rendered(dimensions=wrong, errors=["Fix has no answer yet."])
    assert html.count('<details name="dimension" open>') == 1
    assert "Choose at least one category." in html
    assert html.count("needs correction") == 1
    assert "Fix has no answer yet." in html


# What the script does


class FakeServer:
    """Answers for the page, its static files and the draft; keeps what was sent."""

    def __init__(self) -> None:
        self.state = stored_state()
        self.patches: list[dict[str, Any]] = []
        self.proposed: list[dict[str, Any]] = []
        self.posts: list[dict[str, list[str]]] = []
        self.refuse_with: tuple[int, dict[str, Any]] | None = None
        self.refuses: dict[str, list[str]] = {}
        self.is_reachable = True
        self.is_overloaded = False

    def answer(self, route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(ORIGIN).split("?")[0]
        if path.startswith("/static/"):
            file = STATIC / path.removeprefix("/static/")
            route.fulfill(
                body=file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0] or "text/plain"
            )
        elif path == SAVE_PATH:
            self.save(route)
        elif path == "/api/v1/rounds/9/proposals/":
            self.propose(route)
        elif request.method == "POST":
            fields = parse_qs(request.post_data or "")
            assert fields.pop("csrfmiddlewaretoken")
            self.posts.append(fields)
            route.fulfill(body="<title>What is wrong</title>", content_type="text/html")
        elif "?ahead" in request.url:
            route.fulfill(status=204)
        elif path == "/queue":
            route.fulfill(body="<title>All done</title>", content_type="text/html")
        else:
            route.fulfill(body=rendered(state=self.state), content_type="text/html")

    def save(self, route: Route) -> None:
        if not self.is_reachable:
            route.abort()
            return
        if route.request.method == "PATCH":
            sent = json.loads(route.request.post_data or "{}")
            self.patches.append(sent)
            if self.is_overloaded:
                route.fulfill(status=503)
                return
            if self.refuse_with:
                (status, problem), self.refuse_with = self.refuse_with, None
                route.fulfill(
                    status=status, body=json.dumps(problem), content_type="application/problem+json"
                )
                return
            if errors := {name: self.refuses[name] for name in self.refuses if name in sent}:
                problem = {"detail": " ".join(map(" ".join, errors.values())), "errors": errors}
                route.fulfill(status=422, body=json.dumps(problem), content_type="application/problem+json")
                return
            self.keep(sent)
        route.fulfill(body=json.dumps(self.state), content_type="application/json")

    def propose(self, route: Route) -> None:
        proposed = json.loads(route.request.post_data or "{}")
        self.proposed.append(proposed)
        if proposed["name"] == "Revert":
            problem = {"detail": "Fix has a category revert already. Choose that one."}
            route.fulfill(status=422, body=json.dumps(problem), content_type="application/problem+json")
        else:
            made = proposed | {"code": proposed["name"].lower()}
            route.fulfill(status=201, body=json.dumps(made), content_type="application/json")

    def keep(self, sent: dict[str, Any]) -> None:
        self.state["status"] = sent.get("status", "draft")
        self.state["annotations"] |= sent.get("annotations", {})
        self.state |= {field: sent[field] for field in ("memo", "confidence", "evidence") if field in sent}
        self.state["version"] += 1


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def coding(browser: Browser, server: FakeServer):
    """The coding page of one unit; an error in its script fails the test, a refused request does not."""
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(f"{ORIGIN}/**", server.answer)
    page.goto(ORIGIN)
    expect(page.locator("#filter")).to_be_visible()
    yield page
    context.close()
    assert errors == []


def expect_saved(page: Page) -> None:
    expect(page.locator("[data-save-text]")).to_contain_text(re.compile(r"Saved \d\d:\d\d"))


CRASH_MEMORY = "Crash \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Memory"
CODED_MEMORY = {"categories": ["memory"], "state": "coded", "text": ""}


@pytest.mark.browser
def test_a_letter_chooses_a_category_of_the_open_dimension_and_saves_it(coding, server):
    coding.keyboard.press("m")
    expect_saved(coding)
    assert server.patches == [{"version": 1, "annotations": {"symptom": CODED_MEMORY}}]
    expect(coding.locator("#d-symptom [data-summary]")).to_have_text(CRASH_MEMORY)


@pytest.mark.browser
def test_the_same_letter_takes_the_choice_back(coding, server):
    coding.keyboard.press("m")
    expect_saved(coding)
    coding.keyboard.press("m")
    expect(coding.locator("#d-symptom [data-summary]")).to_have_text("No category yet")
    expect_saved(coding)
    assert server.state["annotations"]["symptom"] is None


@pytest.mark.browser
def test_a_digit_opens_its_dimension_and_closes_the_other(coding):
    coding.keyboard.press("2")
    expect(coding.locator("#d-fix details")).to_have_attribute("open", "")
    expect(coding.locator("#d-symptom details")).not_to_have_attribute("open", "")


@pytest.mark.browser
def test_two_letters_typed_one_after_the_other_are_one_key(coding, server):
    coding.keyboard.press("2")
    coding.keyboard.press("p")
    coding.keyboard.press("a")
    expect_saved(coding)
    assert server.state["annotations"]["fix"]["categories"] == ["patch"]


@pytest.mark.browser
def test_none_of_these_is_an_answer_and_excludes_the_categories(coding, server):
    coding.keyboard.press("2")
    coding.keyboard.press("r")
    coding.keyboard.press("0")
    expect_saved(coding)
    assert server.state["annotations"]["fix"] == {"categories": [], "state": "coded", "text": ""}


@pytest.mark.browser
def test_keys_do_nothing_while_somebody_types(coding, server):
    coding.keyboard.press("Shift+N")
    coding.keyboard.type("m2?")
    expect_saved(coding)
    assert server.state == stored_state() | {"version": 2, "memo": "m2?", "status": "draft"}


@pytest.mark.browser
def test_single_keys_can_be_switched_off(coding, server):
    coding.keyboard.press("?")
    coding.locator("#single-keys").uncheck()
    coding.keyboard.press("Escape")
    coding.keyboard.press("m")
    coding.keyboard.press("Control+Enter")
    expect(coding).to_have_title("All done")
    assert server.patches == [{"version": 1, "exclude": None, "status": "submitted"}]


@pytest.mark.browser
def test_a_dimension_is_asked_only_after_the_answers_it_depends_on(coding):
    expect(coding.locator("#d-trigger")).to_be_hidden()
    coding.keyboard.press("m")
    expect(coding.locator("#d-trigger")).to_be_visible()
    coding.keyboard.press("s")
    expect(coding.locator("#d-trigger")).to_be_hidden()


@pytest.mark.browser
def test_undo_brings_the_earlier_answer_back(coding, server):
    coding.keyboard.press("m")
    coding.keyboard.press("s")
    coding.keyboard.press("Control+z")
    expect(coding.locator("#d-symptom [data-summary]")).to_have_text(CRASH_MEMORY)
    expect_saved(coding)
    assert server.state["annotations"]["symptom"] == CODED_MEMORY


@pytest.mark.browser
def test_the_filter_shows_what_matches_and_enter_chooses_it(coding, server):
    coding.keyboard.press("/")
    coding.keyboard.type("rev")
    expect(coding.locator("#d-fix .code-row:visible")).to_have_count(1)
    expect(coding.locator("#d-symptom .code-row:visible")).to_have_count(0)
    coding.keyboard.press("Enter")
    expect_saved(coding)
    assert server.state["annotations"]["fix"]["categories"] == ["revert"]
    expect(coding.locator("#d-fix .code-row:visible")).to_have_count(5)


@pytest.mark.browser
def test_what_could_not_be_saved_is_kept_and_sent_by_the_next_visit(coding, server):
    server.is_reachable = False
    coding.keyboard.press("m")
    expect(coding.locator("#save-state")).to_contain_text("Not saved")
    server.is_reachable = True
    coding.goto(ORIGIN)
    expect_saved(coding)
    assert server.state["annotations"]["symptom"] == CODED_MEMORY
    assert coding.evaluate("localStorage.length") == 0


@pytest.mark.browser
def test_a_refused_save_is_tried_again(coding, server):
    server.is_overloaded = True
    coding.keyboard.press("m")
    expect(coding.locator("#save-state")).to_contain_text("Not saved")
    server.is_overloaded = False
    expect_saved(coding)
    assert server.patches == [{"version": 1, "annotations": {"symptom": CODED_MEMORY}}] * len(server.patches)
    assert len(server.patches) > 1


TOO_LONG = "A text may have at most 100,000 characters."


@pytest.mark.browser
def test_a_field_the_server_does_not_take_keeps_no_other_back(coding, server):
    server.refuses = {"memo": [TOO_LONG]}
    coding.keyboard.press("Shift+N")
    coding.keyboard.type("too long")
    expect(coding.locator("#memo + .field__error")).to_have_text(TOO_LONG)
    coding.keyboard.press("Escape")
    coding.keyboard.press("m")
    expect(coding.locator("#d-symptom [data-summary]")).to_have_text(CRASH_MEMORY)
    expect(coding.locator("#save-state")).to_contain_text(f"Not all is saved: {TOO_LONG}")
    expect(coding.locator("#memo")).to_have_value("too long")
    coding.reload()
    expect(coding.locator("#memo")).to_have_value("too long")
    expect(coding.locator("#memo + .field__error")).to_have_text(TOO_LONG)
    assert server.state["annotations"]["symptom"] == CODED_MEMORY
    server.refuses = {}
    coding.keyboard.press("Shift+N")
    coding.keyboard.type(".")
    expect(coding.locator("#memo + .field__error")).to_have_count(0)
    expect_saved(coding)
    assert server.state["memo"] == "too long."


@pytest.mark.browser
def test_a_hand_in_that_was_taken_back_by_going_on_says_so(coding, server):
    server.is_reachable = False
    coding.keyboard.press("m")
    coding.keyboard.press("Enter")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in: no connection")
    coding.keyboard.press("s")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in: no connection")
    server.is_reachable = True
    expect(coding.locator("#save-state")).to_contain_text("but not handed in", timeout=15_000)
    assert "status" not in server.patches[-1]
    coding.keyboard.press("Enter")
    expect(coding).to_have_title("All done")


@pytest.mark.browser
def test_what_could_not_be_handed_in_is_handed_in_when_the_server_is_back(coding, server):
    server.is_reachable = False
    coding.keyboard.press("m")
    coding.keyboard.press("Enter")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in: no connection, retrying")
    server.is_reachable = True
    expect(coding).to_have_title("All done", timeout=15_000)
    assert server.state["annotations"]["symptom"] == CODED_MEMORY
    assert server.patches[-1]["status"] == "submitted"


@pytest.mark.browser
def test_who_answers_on_while_handing_in_fails_has_not_handed_in(coding, server):
    server.is_reachable = False
    coding.keyboard.press("Enter")
    expect(coding.locator("#save-state")).to_contain_text("Not handed in")
    coding.keyboard.press("m")
    server.is_reachable = True
    expect_saved(coding)
    assert server.patches == [{"version": 1, "annotations": {"symptom": CODED_MEMORY}}]


@pytest.mark.browser
def test_a_conflict_shows_both_versions_and_the_chosen_one_stays(coding, server):
    theirs = {"categories": ["slow"], "state": "coded", "text": ""}
    server.state |= {"version": 5, "annotations": {"symptom": theirs}}
    both = {"yours": CODED_MEMORY, "theirs": theirs, "saved_at": "2025-05-15T12:00:00Z"}
    server.refuse_with = (409, {"conflicts": {"annotations.symptom": both}})
    coding.keyboard.press("m")
    dialog = coding.locator("#conflict")
    expect(dialog).to_contain_text(CRASH_MEMORY)
    expect(dialog).to_contain_text("Slow")
    dialog.get_by_label("There:").check()
    dialog.get_by_role("button").click()
    expect(coding.locator("#d-symptom [data-summary]")).to_have_text("Slow")
    expect_saved(coding)
    assert server.state["annotations"]["symptom"] == theirs
    assert coding.evaluate("localStorage.length") == 0


@pytest.mark.browser
def test_one_own_version_of_a_conflict_is_sent_on_top_of_the_newer_one(coding, server):
    theirs = {"categories": ["slow"], "state": "coded", "text": ""}
    server.state |= {"version": 5, "annotations": {"symptom": theirs}}
    both = {"yours": CODED_MEMORY, "theirs": theirs, "saved_at": "2025-05-15T12:00:00Z"}
    server.refuse_with = (409, {"conflicts": {"annotations.symptom": both}})
    coding.keyboard.press("m")
    dialog = coding.locator("#conflict")
    dialog.get_by_role("button").click()
    expect(dialog).to_be_visible()  # nothing is chosen for the coder
    dialog.get_by_role("radio", name=re.compile("^Here")).check()
    dialog.get_by_role("button").click()
    expect_saved(coding)
    assert server.patches[-1] == {"version": 5, "annotations": {"symptom": CODED_MEMORY}}


@pytest.mark.browser
def test_a_conflict_waits_until_nobody_types(coding, server):
    server.state |= {"version": 5, "memo": "theirs"}
    server.refuse_with = (409, {"conflicts": {"memo": {"yours": "I", "theirs": "theirs"}}})
    coding.keyboard.press("Shift+N")
    coding.keyboard.type("I")
    expect(coding.locator("#save-state")).to_contain_text("Changed in two places")
    coding.keyboard.type(" go on")
    expect(coding.locator("#conflict")).to_be_hidden()
    coding.keyboard.press("Escape")
    expect(coding.locator("#conflict")).to_contain_text("I go on")


@pytest.mark.browser
def test_enter_hands_in_what_is_not_saved_yet_in_one_request(coding, server):
    coding.keyboard.press("m")
    coding.keyboard.press("Enter")
    expect(coding).to_have_title("All done")
    [sent] = server.patches
    assert sent == {
        "version": 1,
        "annotations": {"symptom": CODED_MEMORY},
        "exclude": None,
        "status": "submitted",
    }


@pytest.mark.browser
def test_what_the_server_refuses_is_sent_as_a_form_whose_page_says_why(coding, server):
    coding.keyboard.press("m")
    expect_saved(coding)
    server.refuse_with = (
        422,
        {"detail": "Something is missing.", "errors": {"annotations.fix": ["Choose."]}},
    )
    coding.keyboard.press("Enter")
    expect(coding).to_have_title("What is wrong")
    assert server.posts == [{"version": ["1"], "d-symptom": ["memory"], "action": ["submit"]}]


@pytest.mark.browser
def test_excluding_takes_a_reason_by_its_digit_and_cancelling_forgets_it(coding, server):
    coding.keyboard.press("Shift+X")
    expect(coding.locator("[name=exclude_reason]").first).to_be_focused()
    coding.keyboard.press("2")
    coding.keyboard.press("Escape")
    expect(coding.locator("#exclude")).to_be_hidden()
    expect(coding.locator("[name=exclude_reason]:checked")).to_have_count(0)
    coding.keyboard.press("Shift+X")
    coding.keyboard.press("1")
    coding.keyboard.press("Enter")
    expect(coding).to_have_title("All done")
    exclude = {"reason": "not a bug", "note": ""}
    assert server.patches == [{"version": 1, "exclude": exclude, "status": "submitted"}]


@pytest.mark.browser
def test_a_proposed_category_is_chosen_at_once(coding, server):
    coding.keyboard.press("2")
    coding.keyboard.press("r")
    coding.keyboard.press("Shift+P")
    coding.keyboard.type("Rewrite")
    coding.keyboard.press("Enter")
    expect(coding.locator("#propose")).to_be_hidden()
    expect(coding.locator("#issue")).to_be_focused()
    assert server.state["annotations"]["fix"]["categories"] == ["revert", "rewrite"]


@pytest.mark.browser
def test_a_proposal_that_is_refused_says_why_and_keeps_what_was_typed(coding, server):
    coding.keyboard.press("2")
    coding.keyboard.press("Shift+P")
    coding.keyboard.type("Revert")
    coding.keyboard.press("Enter")
    expect(coding.locator("#propose-error")).to_have_text(
        "Fix has a category revert already. Choose that one."
    )
    expect(coding.locator("#propose-name")).to_have_value("Revert")
    assert server.patches == []
    # A name that is much like another one is refused once: sent again, it is meant.
    with coding.expect_response("**/proposals/"):
        coding.keyboard.press("Enter")
    assert [each["unless_similar"] for each in server.proposed] == [True, False]
