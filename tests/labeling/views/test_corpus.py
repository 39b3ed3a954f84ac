import re
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from labeling.models import Job, Role
from labeling.services.corpus import current_rules, set_rules
from labeling.views import corpus as corpus_views
from tests.factories import (
    assignment_of,
    lead_of,
    make_issue,
    make_member,
    make_round,
    make_study,
    make_submission,
    make_unit,
    make_user,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(study):
    return lead_of(study)


def address(name, study, *more):
    return reverse(f"labeling:{name}", args=[study.slug, *more])


def page_of(client, user, url, **query):
    client.force_login(user)
    return client.get(url, query)


# Who may look


@pytest.mark.parametrize(
    ("role", "open_to_coders", "status"),
    [
        (Role.LEAD, False, 200),
        (Role.CODER, False, 403),
        (Role.CODER, True, 200),
        (Role.ADJUDICATOR, False, 403),
        (Role.ADJUDICATOR, True, 200),
        (Role.OBSERVER, True, 403),
    ],
)
def test_the_corpus_is_open_to_the_roles_that_may_browse_it(client, study, role, open_to_coders, status):
    study.coders_see_corpus = open_to_coders
    study.save()
    issue = make_issue(study)
    member = make_member(study, role=role)
    for url in (address("issue-list", study), address("issue-detail", study, issue.pk)):
        assert page_of(client, member.user, url).status_code == status, url


def test_an_outsider_hears_of_nothing(client, study):
    issue = make_issue(study)
    client.force_login(make_user())
    assert client.get(address("issue-list", study)).status_code == 404
    assert client.get(address("issue-detail", study, issue.pk)).status_code == 404
    assert client.get(address("rule-edit", study)).status_code == 404
    assert client.post(address("issue-eligibility", study)).status_code == 404
    assert client.post(address("issue-duplicate", study, issue.pk)).status_code == 404
    assert client.post(address("issue-fetch-fix", study, issue.pk)).status_code == 404


def test_only_a_lead_changes_the_corpus(client, study):
    study.coders_see_corpus = True
    study.save()
    issue = make_issue(study)
    client.force_login(make_member(study).user)
    assert client.get(address("rule-edit", study)).status_code == 403
    assert client.post(address("issue-eligibility", study), {"issues": issue.pk}).status_code == 403
    assert client.post(address("issue-duplicate", study, issue.pk)).status_code == 403
    assert client.post(address("issue-fetch-fix", study, issue.pk)).status_code == 403
    assert "Leave out" not in client.get(address("issue-list", study)).content.decode()


def test_an_issue_of_another_study_is_not_found(client, study, lead):
    other = make_issue(make_study())
    assert page_of(client, lead.user, address("issue-detail", study, other.pk)).status_code == 404


# The list


def test_an_empty_corpus_offers_an_import(client, study, lead):
    page = page_of(client, lead.user, address("issue-list", study)).content.decode()
    assert "The corpus is empty" in page
    assert reverse("ingest:import-create", args=[study.slug]) in page


def test_htmx_gets_the_list_alone_and_a_browser_the_page(client, study, lead):
    make_issue(study, title="Kernel hangs")
    client.force_login(lead.user)
    url = address("issue-list", study)
    part = client.get(url, {"search": "hangs"}, headers=HTMX)
    assert part.content.decode().lstrip().startswith("<form")
    assert b"<html" not in part.content
    assert b"<html" in client.get(url).content
    assert part["Vary"].count("HX-Request") == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"search": "segfault"}, {"body"}),
        ({"search": "kernel hangs"}, {"title"}),
        ({"search": "reproduced here"}, {"comment"}),
        ({"repository": "octo/fork"}, {"fork"}),
        ({"state": "open"}, {"open"}),
        ({"github_label": "module: CUDA"}, {"label"}),
        ({"github_label": "cuda"}, set()),
        ({"github_label": "größe"}, {"umlaut"}),
        ({"has_fix": "true"}, {"fix"}),
        ({"created_after": "2025-01-01"}, {"late"}),
        ({"created_before": "2020-12-31"}, {"early"}),
        ({"eligible": "false"}, {"out"}),
    ],
)
def test_each_filter_finds_what_it_names(client, study, lead, query, found):
    issues = {
        "body": make_issue(study, body="A segfault in the loader."),
        "title": make_issue(study, title="The kernel hangs"),
        "comment": make_issue(study, comments=["I reproduced it here."]),
        "fork": make_issue(study, repository="octo/fork"),
        "open": make_issue(study, snapshot={"state": "open"}),
        "label": make_issue(study, snapshot={"github_labels": ["module: CUDA", 'with "quotes"']}),
        "umlaut": make_issue(study, snapshot={"github_labels": ["größe"]}),
        "fix": make_issue(study, fixes=[{"key": "octo/spoon#7"}]),
        "late": make_issue(study, snapshot={"opened_at": "2025-01-01T00:00:00Z"}),
        "early": make_issue(study, snapshot={"opened_at": "2020-12-31T23:59:59Z"}),
        "out": make_issue(study, eligible=False, because="State is closed"),
    }
    page = page_of(client, lead.user, address("issue-list", study), **query)
    ids = {issue.id for issue in page.context["page"].issues}
    assert ids == {issues[name].pk for name in found}


def test_a_label_with_a_percent_sign_is_no_pattern(client, study, lead):
    make_issue(study, snapshot={"github_labels": ["100 done"]})
    page = page_of(client, lead.user, address("issue-list", study), github_label="100%")
    assert page.context["page"].issues == []


def test_a_date_that_is_none_is_refused_and_the_list_stays(client, study, lead):
    make_issue(study)
    page = page_of(client, lead.user, address("issue-list", study), created_after="yesterday")
    assert page.status_code == 422
    assert "Enter a valid date" in page.content.decode()
    assert len(page.context["page"].issues) == 1


def test_pages_follow_each_other_without_loss(client, study, lead, monkeypatch):
    monkeypatch.setattr("labeling.views.corpus.ISSUES_PER_PAGE", 2)
    made = {make_issue(study).pk for _ in range(5)}
    client.force_login(lead.user)
    url, seen = address("issue-list", study) + "?ordering=-created", []
    while url:
        page = client.get(url)
        seen += [issue.id for issue in page.context["page"].issues]
        url = page.context["page"].next and address("issue-list", study) + "?" + page.context["next_query"]
    assert sorted(seen) == sorted(made)


def test_a_cursor_of_another_order_begins_again(client, study, lead):
    make_issue(study)
    page = page_of(client, lead.user, address("issue-list", study), cursor="bent", ordering="nonsense")
    assert page.status_code == 200
    assert len(page.context["page"].issues) == 1


def test_the_list_costs_the_same_for_one_issue_and_for_fifty(client, study, lead, django_assert_num_queries):
    make_issue(study)
    client.force_login(lead.user)
    client.get(address("issue-list", study))
    with django_assert_num_queries(8):
        client.get(address("issue-list", study))
    for _ in range(49):
        make_issue(study)
    with django_assert_num_queries(8):
        client.get(address("issue-list", study))
    make_issue(study)
    with django_assert_num_queries(9):  # how many there are beyond the page
        client.get(address("issue-list", study))


# What a member may know


def test_coded_counts_only_what_the_member_may_know(client, study, lead):
    ada, ben = make_member(study), make_member(study)
    study.coders_see_corpus = True
    study.save()
    unit = make_unit(study)
    coding_round = make_round(study, coders=[ada, ben], units=[unit])
    make_submission(assignment_of(coding_round, ben))
    for member, expected in ((ben, 1), (ada, 0), (lead, 0)):
        page = page_of(client, member.user, address("issue-list", study), coded="true")
        assert page.context["count"] == expected, member
    coding_round.move_to("closed")
    for member in (ben, ada, lead):
        page = page_of(client, member.user, address("issue-list", study), coded="true")
        assert page.context["count"] == 1, member


@pytest.fixture
def masked(study, lead):
    """An issue the lead codes in a round that hides fields; returns it and what makes the round."""
    issue = make_issue(
        study,
        repository="secret/place",
        title="Open words",
        comments=[{"body": "The maintainer says lock order.", "association": "MEMBER"}],
        fixes=[{"key": "secret/place#9", "title": "Sentinel fix"}],
        snapshot={"github_labels": ["sentinel-label"], "author": "sentinel-author"},
    )
    unit = make_unit(study, issue)

    def open_with(*fields, **more):
        return make_round(study, coders=[lead], units=[unit], masked_fields=list(fields), **more)

    return issue, open_with


@pytest.mark.parametrize(
    ("field", "value", "query"),
    [
        ("github_labels", "sentinel-label", {"github_label": "sentinel-label"}),
        ("author", "sentinel-author", {"search": "sentinel-author"}),
        ("fix", "Sentinel fix", {"has_fix": "true"}),
        ("state", "closed", {"state": "closed"}),
        ("repository", "secret/place", {"repository": "secret/place"}),
        ("maintainer_comments", "lock order", {"search": "lock order"}),
    ],
)
def test_a_masked_field_is_neither_shown_nor_found(client, study, lead, masked, field, value, query):
    issue, open_with = masked
    coding_round = open_with(field)
    listed = page_of(client, lead.user, address("issue-list", study), **query)
    assert listed.context["page"].issues == []
    shown = page_of(client, lead.user, address("issue-detail", study, issue.pk)).content.decode()
    assert "github.com" not in shown
    if field != "state":
        assert value not in shown
        plain = page_of(client, lead.user, address("issue-list", study)).content.decode()
        assert value not in plain
    coding_round.move_to("closed")
    assert value in page_of(
        client, lead.user, address("issue-detail", study, issue.pk)
    ).content.decode().replace("Closed", "closed")


def test_what_a_later_stage_reveals_is_hidden_while_the_round_is_open(client, study, lead, masked):
    issue, open_with = masked
    open_with(
        stages=[{"dimensions": ["symptom"], "reveals": []}, {"dimensions": ["fix"], "reveals": ["fix"]}]
    )
    shown = page_of(client, lead.user, address("issue-detail", study, issue.pk)).content.decode()
    assert "Sentinel fix" not in shown


def test_a_list_says_how_many_issues_it_leaves_out(client, study, lead, masked):
    _, open_with = masked
    make_issue(study)
    open_with("repository")
    page = page_of(client, lead.user, address("issue-facets", study)).content.decode()
    assert "1 is hidden while you code it" in page


# Counts of the filters


def facets_of(client, member, **query):
    """Text, count and whether it is chosen of every value, by facet."""
    client.force_login(member.user)
    shown = client.get(address("issue-facets", member.study), query, headers=HTMX).context["facets"]
    return {
        facet.name: [(each.text, each.count, each.chosen) for each, _ in values] for facet, values in shown
    }


@pytest.fixture
def four(study):
    make_issue(study, repository="octo/fork", snapshot={"state": "open", "github_labels": ["bug", "größe"]})
    make_issue(study, snapshot={"state": "closed", "github_labels": ["bug"], "has_merged_fix": True})
    make_issue(study, snapshot={"state": "closed", "github_labels": [], "has_merged_fix": True})
    make_issue(study, snapshot={"opened_at": datetime(2019, 5, 1, tzinfo=UTC), "github_labels": []})
    make_issue(make_study(), repository="other/study")


def test_each_value_is_counted_among_what_the_other_filters_leave(client, study, lead, four):
    everything = facets_of(client, lead)
    assert everything["repository"] == [("octo/spoon", 3, False), ("octo/fork", 1, False)]
    assert everything["state"] == [("closed", 3, False), ("open", 1, False)]
    assert everything["github_label"] == [("bug", 2, False), ("größe", 1, False)]
    assert everything["year"] == [("2024", 3, False), ("2019", 1, False)]
    assert everything["has_fix"] == [("no", 2, False), ("yes", 2, False)]

    closed = facets_of(client, lead, state="closed")
    assert closed["state"] == [("closed", 3, True), ("open", 1, False)]
    assert closed["github_label"] == [("bug", 1, False)]


def test_a_search_without_a_letter_or_digit_counts_nothing(client, study, lead, four):
    assert set(map(len, facets_of(client, lead, search="!!!").values())) == {0}


def test_a_value_leads_to_what_it_counts(client, study, lead, four):
    client.force_login(lead.user)
    for facet, values in client.get(address("issue-facets", study), headers=HTMX).context["facets"]:
        for value, query in values:
            page = client.get(f"{address('issue-list', study)}?{query}")
            assert page.context["count"] == value.count, (facet.name, value.text)


def test_a_browser_without_scripts_gets_the_counts_with_the_list(client, study, lead, four):
    page = page_of(client, lead.user, address("issue-facets", study)).content.decode()
    assert "<html" in page
    assert "4 issues in the corpus" in page
    assert "octo/fork" in page


def test_what_a_round_hides_is_not_counted(client, study, lead, masked):
    _, open_with = masked
    open_with("state")
    assert facets_of(client, lead)["state"] == []


def test_a_long_list_says_that_there_are_more(client, study, lead, monkeypatch):
    monkeypatch.setattr(corpus_views, "MOST_COUNTED", 2)
    for _ in range(3):
        make_issue(study)
    assert "More than 2 issues" in page_of(client, lead.user, address("issue-list", study)).content.decode()


# Deciding by hand


def test_ticked_issues_are_left_out_with_a_reason(client, study, lead):
    first, second = make_issue(study), make_issue(study)
    client.force_login(lead.user)
    answer = client.post(
        address("issue-eligibility", study),
        {"issues": [first.pk], "eligible": "false", "reason": "a question"},
    )
    assert answer.status_code == 302
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.eligible, first.override, first.override_reason) == (False, False, "a question")
    assert second.eligible


def test_all_that_match_are_changed_at_once_and_the_filter_stays(client, study, lead):
    kept = make_issue(study)
    fork = [make_issue(study, repository="octo/fork") for _ in range(3)]
    client.force_login(lead.user)
    answer = client.post(
        address("issue-eligibility", study) + "?repository=octo/fork",
        {"all_matching": "on", "eligible": "false", "reason": "a fork"},
    )
    assert answer["Location"].endswith("?repository=octo%2Ffork")
    assert study.issues.filter(eligible=False).count() == len(fork)
    kept.refresh_from_db()
    assert kept.eligible


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"eligible": "false", "reason": "x"}, "Tick the issues this is about"),
        ({"eligible": "false", "issues": "1"}, "the reason is printed in the funnel"),
        ({"eligible": "false", "issues": "9" * 20, "reason": "x"}, "Tick the issues this is about"),
    ],
)
def test_a_decision_without_issues_or_reason_is_refused(client, study, lead, body, sentence):
    make_issue(study)
    client.force_login(lead.user)
    answer = client.post(address("issue-eligibility", study), body)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()


def test_what_was_ticked_stays_ticked_when_the_reason_is_missing(client, study, lead):
    ticked, other = make_issue(study), make_issue(study)
    client.force_login(lead.user)
    text = client.post(address("issue-eligibility", study), {"eligible": "false", "issues": ticked.pk}).text
    assert re.search(rf'value="{ticked.pk}"[^>]* checked', text)
    assert not re.search(rf'value="{other.pk}"[^>]* checked', text)


def test_an_issue_of_another_study_is_not_changed(client, study, lead):
    other = make_issue(make_study())
    client.force_login(lead.user)
    body = {"issues": [other.pk], "eligible": "false", "reason": "x"}
    client.post(address("issue-eligibility", study), body)
    other.refresh_from_db()
    assert other.eligible


def test_a_duplicate_is_marked_and_an_unknown_original_refused(client, study, lead):
    original, copy = make_issue(study), make_issue(study)
    client.force_login(lead.user)
    url = address("issue-duplicate", study, copy.pk)
    answer = client.post(url, {"duplicate_of": "octo/spoon#999999"})
    assert answer.status_code == 422
    assert "is not in this corpus" in answer.content.decode()
    assert client.post(url, {"duplicate_of": original.url}).status_code == 302
    copy.refresh_from_db()
    assert (copy.duplicate_of, copy.eligible) == (original, False)
    client.post(url, {"duplicate_of": ""})
    copy.refresh_from_db()
    assert (copy.duplicate_of, copy.eligible) == (None, True)


# The diff of one issue


def from_github(study, **fields):
    fix = {"key": "octo/spoon#7", "evidence": "closed_by"}
    told = {"carries": ["title", "body", "fixes"]}
    return make_issue(study, node_id="I_1", fixes=[fix], snapshot=told, **fields)


def test_the_diff_of_an_issue_is_fetched_once(client, study, lead):
    issue = from_github(study)
    client.force_login(lead.user)
    detail, url = address("issue-detail", study, issue.pk), address("issue-fetch-fix", study, issue.pk)
    assert "Fetch the diff" in client.get(detail).content.decode()
    client.post(url)
    client.post(url)
    job = Job.objects.get()
    assert (job.kind, job.options, job.state) == ("fetch_fix", {"issue": issue.pk}, "queued")
    page = client.get(detail).content.decode()
    assert "The diff is being fetched" in page
    assert "Fetch the diff" not in page
    Job.objects.update(state="failed", error="GitHub refuses the token.")
    assert "GitHub refuses the token." in client.get(detail).content.decode()


def test_what_has_no_diff_at_github_offers_none(client, study, lead):
    issue = make_issue(study)
    client.force_login(lead.user)
    assert "Fetch the diff" not in client.get(address("issue-detail", study, issue.pk)).content.decode()
    page = client.post(address("issue-fetch-fix", study, issue.pk), follow=True).content.decode()
    assert "There is no diff left to fetch" in page
    assert not Job.objects.exists()


def test_a_hidden_fix_offers_no_diff(client, study, lead):
    issue = from_github(study)
    make_round(study, coders=[lead], units=[make_unit(study, issue)], masked_fields=["fix"])
    page = page_of(client, lead.user, address("issue-detail", study, issue.pk)).content.decode()
    assert "Fetch the diff" not in page


# Rules

FIRST = {"criterion": ["has_fix.is.true", "github_labels.none"], "value": ["", "question, wontfix"]}


def test_rules_are_saved_in_order_with_what_each_takes_away(client, study, lead):
    make_issue(study, fixes=[{"key": "octo/spoon#7"}])
    make_issue(study)
    client.force_login(lead.user)
    url = address("rule-edit", study)
    assert client.post(url, FIRST | {"action": "save"}).status_code == 302
    rules = [(rule.field, rule.op, rule.value) for rule in current_rules(study)]
    assert rules == [("has_fix", "is", True), ("github_labels", "none", ["question", "wontfix"])]
    assert "takes out 1, leaves 1" in client.get(url).content.decode()


@pytest.mark.parametrize(
    ("action", "order"),
    [
        ("up:1", ["github_labels.none", "has_fix.is.true"]),
        ("down:0", ["github_labels.none", "has_fix.is.true"]),
        ("up:0", ["has_fix.is.true", "github_labels.none"]),
        ("down:1", ["has_fix.is.true", "github_labels.none"]),
        ("remove:0", ["github_labels.none"]),
        ("remove:7", ["has_fix.is.true", "github_labels.none"]),
        ("add", ["has_fix.is.true", "github_labels.none", "github_labels.any"]),
    ],
)
def test_a_line_moves_without_script_and_without_saving(client, study, lead, action, order):
    client.force_login(lead.user)
    page = client.post(address("rule-edit", study), FIRST | {"action": action})
    assert page.status_code == 200
    assert [row.criterion for row in page.context["rules"].rows] == order
    assert current_rules(study) == []
    part = client.post(address("rule-edit", study), FIRST | {"action": action}, headers=HTMX)
    assert b"<html" not in part.content


def test_a_mistake_in_a_rule_is_said_at_its_line(client, study, lead):
    client.force_login(lead.user)
    body = {"criterion": ["has_fix.is.true", "opened_at.from"], "value": ["", "spring"], "action": "save"}
    answer = client.post(address("rule-edit", study), body)
    assert answer.status_code == 422
    assert answer.context["rules"].rows[0].errors == []
    assert "2024-01-31" in answer.context["rules"].rows[1].errors[0]


def test_a_criterion_nobody_offered_is_refused(client, study, lead):
    client.force_login(lead.user)
    for criterion in ("nonsense", "state.any", "state.is.true", ""):
        body = {"criterion": [criterion], "value": ["x"], "action": "save"}
        assert client.post(address("rule-edit", study), body).status_code in (302, 422), criterion
        client.post(address("rule-edit", study), body | {"action": "add"})
    assert [rule.field for rule in current_rules(study) if rule.field not in ("state",)] == []


def test_every_rule_of_the_page_can_be_written_and_read_back(client, study, lead):
    from labeling.forms.corpus import RuleRow

    for rule in (
        {"field": "state", "op": "is", "value": ["closed"]},
        {"field": "opened_at", "op": "from", "value": "2024-01-31"},
        {"field": "has_fix", "op": "is", "value": False},
    ):
        set_rules(study=study, rules=[rule], by=lead)
        assert RuleRow.of_rule(current_rules(study)[0]).as_rule() == rule
