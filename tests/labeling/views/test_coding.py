import re

import pytest
from django.urls import reverse

from labeling.models import Assignment, Submission
from labeling.services.coding import save_draft
from labeling.services.proposals import propose_category
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

pytestmark = pytest.mark.django_db

ANSWERS = {"d-symptom": "crash", "d-cause": "logic", "d-fix": ["call", "rewrite"], "version": "0"}


@pytest.fixture
def coding_round():
    study = make_study()
    return make_round(study, state="open", coders=[make_member(study), make_member(study)], units=3)


@pytest.fixture
def ada(coding_round):
    return coding_round.coders.order_by("number").first()


@pytest.fixture
def own(client, ada):
    client.force_login(ada.user)
    return client


def page_of(coding_round, ada, place=0):
    assignment = assignment_of(coding_round, ada, place)
    unit = assignment.round_unit
    return reverse("labeling:coding-detail", args=[unit.round.study.slug, unit.round.number, unit.unit_id])


def home(coding_round):
    return reverse("labeling:coding-home", args=[coding_round.study.slug])


def test_the_home_of_coding_leads_to_the_next_unit_until_all_are_done(own, coding_round):
    for _ in range(3):
        unit = own.get(home(coding_round)).headers["Location"]
        assert own.get(unit).status_code == 200
        assert own.post(unit, ANSWERS | {"action": "submit"}).status_code == 302
    assert Submission.objects.count() == 3
    done = own.get(home(coding_round))
    assert "You have submitted all your units" in done.content.decode()


def test_without_script_the_form_saves_submits_and_shows_what_was_said(own, coding_round, ada):
    url = page_of(coding_round, ada)
    assert own.post(url, ANSWERS | {"action": "save", "memo": "look again"}).headers["Location"] == url
    page = own.get(url)
    assert "look again" in page.content.decode()
    dimension = page.context["form"].dimensions[0]
    assert dimension.summary.endswith("Crash")
    assert not Submission.objects.exists()


def test_a_missing_answer_comes_back_at_its_dimension_with_all_that_was_typed(own, coding_round, ada):
    answer = own.post(page_of(coding_round, ada), {"d-symptom": "hang", "memo": "kept", "action": "submit"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Choose a category for Cause" in page
    assert "kept" in page
    form = answer.context["form"]
    assert [bool(each.errors) for each in form.dimensions] == [False, True, True]
    assert form.dimensions[0].summary.endswith("Hang")


def test_an_empty_set_and_a_state_are_answers(own, coding_round, ada):
    body = ANSWERS | {"d-fix": "state:coded", "d-cause": "state:unclear", "action": "submit"}
    assert own.post(page_of(coding_round, ada), body).status_code == 302
    said = Submission.objects.get().annotations
    assert said.get(dimension__key="cause").state == "unclear"
    assert said.get(dimension__key="fix").chosen.count() == 0


def test_a_state_beside_a_category_is_a_mistake_that_is_told(own, coding_round, ada):
    answer = own.post(page_of(coding_round, ada), ANSWERS | {"d-fix": ["call", "state:unclear"]})
    assert answer.status_code == 422
    assert "Give either categories or a state" in answer.content.decode()


def test_excluding_needs_a_reason_of_the_study_and_submitting_takes_it_back(own, coding_round, ada):
    url = page_of(coding_round, ada)
    refused = own.post(url, {"action": "exclude", "exclude_reason": "bored", "version": "0"})
    assert refused.status_code == 422
    reason = coding_round.study.exclusion_reasons[0]
    own.post(url, {"action": "exclude", "exclude_reason": reason, "exclude_note": "see #3", "version": "0"})
    assert Submission.objects.get().exclude_reason == reason
    version = Assignment.objects.get(round_unit__unit_id=url.split("/")[-2], coder=ada).version
    own.post(url, ANSWERS | {"action": "submit", "version": version})
    assert Submission.objects.order_by("-n").first().exclude_reason == ""


def test_a_skipped_unit_comes_back_once_after_the_others(own, coding_round, ada):
    first = own.get(home(coding_round)).headers["Location"]
    following = own.post(first, {"action": "skip", "version": "0"}).headers["Location"]
    assert following != first
    for _ in range(2):
        unit = own.get(home(coding_round)).headers["Location"]
        assert unit != first
        own.post(unit, ANSWERS | {"action": "submit"})
    assert own.get(home(coding_round)).headers["Location"] == first


def test_without_script_two_windows_lose_nothing(own, coding_round, ada):
    url, assignment = page_of(coding_round, ada), assignment_of(coding_round, ada)
    save_draft(assignment=assignment, changes={"memo": "from the other window"}, version=0, by=ada)
    answer = own.post(url, ANSWERS | {"memo": "from this window", "action": "submit"})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "from this window" in page
    assert "from the other window" in page
    again = {"version": answer.context["state"]["version"], "memo": "from this window", "action": "submit"}
    assert own.post(url, ANSWERS | again).status_code == 302
    assert Submission.objects.get().memo == "from this window"


def test_a_double_click_is_one_submission(own, coding_round, ada):
    for _ in range(2):
        assert own.post(page_of(coding_round, ada), ANSWERS | {"action": "submit"}).status_code == 302
    assert Submission.objects.count() == 1


def test_another_coders_unit_is_unknown(client, coding_round, ada):
    url = page_of(coding_round, ada)
    client.force_login(lead_of(coding_round.study).user)
    assert client.get(url).status_code == 404
    assert client.post(url, ANSWERS).status_code == 404


def test_a_closed_round_keeps_what_is_typed_too_late_and_says_so(own, coding_round, ada):
    url = page_of(coding_round, ada)
    close_round(coding_round=coding_round, missing="accept", by=lead_of(coding_round.study))
    answer = own.post(url, ANSWERS | {"memo": "late", "action": "submit"}, follow=True)
    assert "kept as a late draft" in answer.content.decode()
    assert not Submission.objects.exists()


def test_the_queue_lists_own_units_and_filters_them(own, coding_round, ada):
    own.post(page_of(coding_round, ada), ANSWERS | {"action": "submit"})
    queue = reverse("labeling:coding-queue", args=[coding_round.study.slug, coding_round.number])
    assert f'class="unit-progress__queue" href="{queue}"' in own.get(page_of(coding_round, ada)).text
    assert len(own.get(queue).context["rows"]) == 3
    assert len(own.get(queue, {"status": "submitted"}).context["rows"]) == 1
    assert len(own.get(queue, {"status": "nonsense"}).context["rows"]) == 3


def test_remote_images_load_only_when_asked_for(own, coding_round, ada):
    url = page_of(coding_round, ada)
    assert "https:" not in own.get(url)["Content-Security-Policy"]
    assert "img-src 'self' data: https:" in own.get(url, {"images": "1"})["Content-Security-Policy"]


def test_the_queue_goes_on_with_its_own_round(own, ada):
    make_round(ada.study, coders=[ada], units=1)
    other = make_round(ada.study, coders=[ada], units=1)
    page = own.get(reverse("labeling:coding-queue", args=[ada.study.slug, other.number])).text
    unit = other.round_units.get().unit_id
    first = reverse("labeling:coding-detail", args=[ada.study.slug, other.number, unit])
    assert page.count(f'href="{first}"') == 2


def test_the_page_costs_the_same_for_a_long_queue(own, coding_round, ada, django_assert_max_num_queries):
    url = page_of(coding_round, ada)
    own.get(url)
    with django_assert_max_num_queries(22):
        own.get(url)


def test_a_narrowed_queue_is_followed_from_unit_to_unit(own, coding_round, ada):
    for place in (0, 2):
        make_submission(assignment_of(coding_round, ada, place), {"symptom": "hang"})
    make_submission(assignment_of(coding_round, ada, 1), {"symptom": "crash"})
    queue = reverse("labeling:coding-queue", args=[coding_round.study.slug, coding_round.number])
    page = own.get(f"{queue}?status=submitted&category=symptom:hang")
    told = "?status=submitted&dimension=symptom&category=hang"
    assert [href for _, href, _ in page.context["rows"]] == [
        page_of(coding_round, ada, place) + told for place in (0, 2)
    ]
    unit = own.get(page_of(coding_round, ada, 0) + told)
    assert unit.context["next_url"] == page_of(coding_round, ada, 2) + told
    answers = ANSWERS | {"action": "submit", "d-symptom": "hang", "version": "1"}
    sent = own.post(page_of(coding_round, ada, 0) + told, answers)
    assert sent.headers["Location"] == page_of(coding_round, ada, 2) + told
    last = own.post(page_of(coding_round, ada, 2) + told, answers)
    assert last.headers["Location"] == queue + told


def test_the_queue_tells_the_own_pace_and_the_work_left(own, coding_round, ada):
    queue = reverse("labeling:coding-queue", args=[coding_round.study.slug, coding_round.number])
    assert "units an hour" not in own.get(queue).content.decode()
    for unit in make_round(coding_round.study, coders=[ada], units=4).round_units.order_by("pk")[:3]:
        submission = make_submission(unit.assignments.get())
        Assignment.objects.filter(pk=submission.assignment_id).update(active_seconds=120)
    other = reverse("labeling:coding-queue", args=[coding_round.study.slug, 2])
    assert "30 units an hour: about 2 min of work left" in own.get(other).content.decode()


def test_own_units_tell_where_a_category_was_used(own, coding_round, ada):
    make_submission(assignment_of(coding_round, ada, 0), {"symptom": "hang"}, memo="A lock is never freed")
    make_submission(assignment_of(coding_round, ada, 1), {"symptom": "crash"})
    other = coding_round.coders.last()
    make_submission(assignment_of(coding_round, other, 2), {"symptom": "hang"}, memo="Somebody else's memo")
    address = reverse("labeling:own-units", args=[coding_round.study.slug])
    page = own.get(address, {"category": "symptom:hang"})
    assert [href for _, href, _, _ in page.context["rows"]] == [page_of(coding_round, ada, 0)]
    assert "Somebody else" not in page.content.decode()
    words = own.get(address, {"words": "never FREED"})
    assert len(words.context["rows"]) == 3


def test_a_unit_fetched_ahead_is_the_next_one_and_not_opened(own, coding_round, ada):
    ahead = own.get(page_of(coding_round, ada) + "?ahead", headers={"HX-Request": "true"})
    assert f'data-url="{page_of(coding_round, ada, 1)}"' in ahead.content.decode()
    assert [assignment_of(coding_round, ada, place).opened_at is None for place in range(2)] == [False, True]
    for place in (1, 2):
        make_submission(assignment_of(coding_round, ada, place))
    assert own.get(page_of(coding_round, ada) + "?ahead").status_code == 204


# Long units ---------------------------------------------------------------------------------------

LONG = "@@ -1,500 +1,500 @@\n" + "\n".join(f"+line {number}" for number in range(500))
FILES = [{"path": "short.txt", "patch": "@@ -1 +1 @@\n+x"}, {"path": "long.txt", "patch": LONG}]
WORDS = [f"Comment {number}." for number in range(119)]


def long_unit(**settings):
    """A round of a unit with 120 comments, the first by a maintainer, and a fix with a long patch."""
    study = make_study()
    ada = make_member(study)
    told = [{"body": "MAINTAINER", "association": "MEMBER"}, *WORDS]
    fix = {"key": "octo/spoon#9", "message": "Mend it", "files": FILES}
    unit = make_unit(study, make_issue(study, comments=told, fixes=[fix], rendered=False))
    coding_round = make_round(study, coders=[ada], units=[unit], **settings)
    page = page_of(coding_round, ada)
    return ada, page, f"{page}sections/"


def test_a_page_begins_with_the_first_portion_and_the_rest_follows_when_asked_for(client):
    ada, page, sections = long_unit()
    client.force_login(ada.user)
    html = client.get(page).text
    assert [f">Comment {number}." in html for number in (48, 49)] == [True, False]
    assert "Show 50 more comments of 120" in html
    assert ["+x<" in html, "+line 7<" in html] == [True, False]
    portion = client.get(sections, {"comments": "100"}).text
    assert [f">Comment {number}." in portion for number in (98, 99, 118)] == [False, True, True]
    assert "data-waiting" not in portion
    assert "+line 499<" in client.get(sections, {"file": "fix:octo/spoon#9:file:long.txt"}).text
    rest = client.get(sections).text
    whole = client.get(page, {"whole": ""}).text
    for number in (49, 118):
        assert f">Comment {number}." in rest
        assert f">Comment {number}." in whole
    assert "data-waiting" not in whole + rest


def test_a_part_that_does_not_exist_is_not_found(client):
    ada, _, sections = long_unit()
    client.force_login(ada.user)
    for query in (
        {"comments": "-1"},
        {"comments": "9" * 30},
        {"comments": ""},
        {"file": "body"},
        {"file": ""},
    ):
        assert client.get(sections, query).status_code == 404, query
    assert ">Comment" not in client.get(sections, {"comments": "120"}).text


def test_parts_hide_what_the_round_and_its_stages_hide(client):
    stages = [{"dimensions": ["symptom"]}, {"dimensions": ["cause", "fix"], "reveals": ["fix"]}]
    ada, page, sections = long_unit(masked_fields=["maintainer_comments", "author"], stages=stages)
    client.force_login(ada.user)
    file = {"file": "fix:octo/spoon#9:file:long.txt"}
    assert client.get(sections, file).status_code == 404
    assert "+line 7<" not in client.get(sections).text
    told = client.get(sections, {"comments": "0"}).text
    assert ["MAINTAINER" in told, "commenter" in told] == [False, False]
    client.post(page, {"d-symptom": "crash", "action": "submit", "version": "0"})
    assert "+line 7<" in client.get(sections, file).text


def test_the_raw_text_is_shown_as_it_was_written_and_takes_no_quotes(client):
    study = make_study()
    ada = make_member(study)
    unit = make_unit(study, make_issue(study, body="It **stops** <b>", comments=["*too*"], rendered=False))
    client.force_login(ada.user)
    page = page_of(make_round(study, coders=[ada], units=[unit]), ada)
    html = client.get(page, {"raw": "", "status": "todo"}).text
    assert "It **stops** &lt;b&gt;" in html
    assert "*too*" in html
    assert 'data-document="body"' not in html
    assert 'href="?status=todo">Formatted text' in html


def test_a_proposed_category_has_a_key_that_no_other_has_and_that_it_keeps(own, coding_round, ada):
    def key_of(code):
        page = own.get(page_of(coding_round, ada)).content.decode()
        fieldset = page.partition('id="d-cause"')[2].partition("</fieldset>")[0]
        rows = re.findall(r'class="code-row".*?<p', fieldset, re.DOTALL)
        keys = [
            re.search(r'data-keys="(\w+)"', row)[1] for row in rows if "<kbd" in row and "state:" not in row
        ]
        assert len(set(keys)) == len(keys)
        (row,) = (row for row in rows if f'value="{code}"' in row)
        (printed,) = re.findall(r'<kbd class="key">(\w+)</kbd>', row)
        assert f'data-keys="{printed}"' in row
        return printed

    propose_category(coding_round=coding_round, by=ada, dimension="cause", name="Zigzag")
    assert key_of("zigzag") == "z"
    propose_category(coding_round=coding_round, by=ada, dimension="cause", name="Zebra")  # sorted before it
    assert key_of("zigzag") == "z"
    assert key_of("zebra") == "e"
