import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Role
from tests.factories import (
    assignment_of,
    lead_of,
    make_issue,
    make_member,
    make_round,
    make_snapshot,
    make_study,
    make_submission,
    make_unit,
    make_user,
)

pytestmark = pytest.mark.django_db
ALL_NAMES = ("rule-list", "issue-list")


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def member(study):
    return lead_of(study)


@pytest.fixture
def lead(member):
    return client_of(member.user)


def address(name, study, *more):
    return reverse(f"api:{name}", args=[study.slug, *more])


def ids_of(answer):
    return {row["id"] for row in answer.json()["results"]}


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
def test_the_corpus_is_read_by_the_roles_that_may_browse_it(study, role, open_to_coders, status):
    study.coders_see_corpus = open_to_coders
    study.save()
    issue = make_issue(study)
    client = client_of(make_member(study, role=role).user)
    for url in (*(address(name, study) for name in ALL_NAMES), address("issue-detail", study, issue.pk)):
        assert client.get(url).status_code == status, url


def test_an_outsider_hears_of_nothing(study):
    issue = make_issue(study)
    client = client_of(make_user())
    for url in (*(address(name, study) for name in ALL_NAMES), address("issue-detail", study, issue.pk)):
        assert client.get(url).status_code == 404, url
    for name in ("issue-eligibility", "issue-duplicates"):
        assert client.post(address(name, study), {}, format="json").status_code == 404
    assert client.put(address("rule-list", study), {"rules": []}, format="json").status_code == 404


def test_only_a_lead_changes_the_corpus(study):
    study.coders_see_corpus = True
    study.save()
    client = client_of(make_member(study).user)
    for name in ("issue-eligibility", "issue-duplicates"):
        assert client.post(address(name, study), {}, format="json").status_code == 403
    assert client.put(address("rule-list", study), {"rules": []}, format="json").status_code == 403


# The list


def test_a_line_names_what_a_study_asks_of_an_issue(lead, study):
    issue = make_issue(study, title="Hang", fixes=[{"key": "octo/spoon#7"}])
    row = lead.get(address("issue-list", study)).json()["results"][0]
    assert (row["id"], row["key"], row["ref"]) == (issue.pk, issue.key, issue.ref)
    assert (row["title"], row["state"], row["github_labels"]) == ("Hang", "closed", ["bug"])
    assert row["created_at"] == "2024-03-01T12:00:00Z"
    assert (row["has_fix"], row["eligible"], row["sampled"], row["coded"]) == (True, True, False, False)
    assert row["masked"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"repository": "Octo/Fork"},
        {"state": "open"},
        {"github_label": "cuda"},
        {"search": "deadlock"},
        {"has_fix": "true"},
        {"created_after": "2025-01-01"},
        {"eligible": "false"},
        {"coded": "true"},
    ],
)
def test_each_filter_finds_the_one_issue_it_names(lead, member, study, query):
    make_issue(study)
    odd = make_issue(
        study,
        repository="octo/fork",
        body="A deadlock.",
        fixes=[{"key": "octo/fork#7"}],
        eligible=False,
        snapshot={"state": "open", "github_labels": ["cuda"], "opened_at": "2025-01-01T00:00:00Z"},
    )
    coding_round = make_round(study, coders=[member], units=[make_unit(study, odd)])
    make_submission(assignment_of(coding_round, member))
    assert ids_of(lead.get(address("issue-list", study), query)) == {odd.pk}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"eligible": "perhaps"}, "eligible"),
        ({"created_after": "spring"}, "created_after"),
        ({"ordering": "colour"}, "ordering"),
        ({"page_size": "0"}, "page_size"),
        ({"cursor": "bent"}, "cursor"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_names_its_field(lead, study, query, field):
    answer = lead.get(address("issue-list", study), query)
    assert answer.status_code == 422
    assert field in answer.json()["errors"]


@pytest.mark.parametrize("ordering", ["key", "-key", "created", "-created", "updated", "-closed"])
def test_pages_follow_each_other_in_every_order(lead, study, ordering):
    made = {
        make_issue(study, snapshot={"opened_at": None, "closed_at": None} if place % 2 else {}).pk
        for place in range(5)
    }
    seen, url, query = [], address("issue-list", study), {"ordering": ordering, "page_size": 2}
    while url:
        answer = lead.get(url, query)
        seen += [row["id"] for row in answer.json()["results"]]
        url, query = answer.json()["next"], {}
    assert len(seen) == 5
    assert set(seen) == made
    first = lead.get(answer.json()["previous"])
    assert [row["id"] for row in first.json()["results"]] == seen[2:4]


def test_the_list_costs_the_same_for_one_issue_and_for_forty(lead, study, django_assert_num_queries):
    make_issue(study)
    with django_assert_num_queries(4):
        lead.get(address("issue-list", study))
    for _ in range(39):
        make_issue(study)
    with django_assert_num_queries(4):
        assert len(ids_of(lead.get(address("issue-list", study)))) == 40


def test_coded_tells_nothing_of_what_others_do_in_an_open_round(study):
    study.coders_see_corpus = True
    study.save()
    ada, ben = make_member(study), make_member(study)
    coding_round = make_round(study, coders=[ada, ben], units=1)
    make_submission(assignment_of(coding_round, ben))
    seen = {
        each: client_of(each.user).get(address("issue-list", study)).json()["results"][0]["coded"]
        for each in (ada, ben, lead_of(study))
    }
    assert list(seen.values()) == [False, True, False]


# One issue


def test_an_issue_brings_its_texts_and_patches(lead, study):
    patch = "@@ -1 +1 @@\n-old\n+new"
    issue = make_issue(
        study,
        body="It **fails**.",
        comments=["Same here."],
        fixes=[{"key": "octo/spoon#7", "files": [{"path": "a.py", "patch": patch}]}],
        rendered=False,
    )
    body = lead.get(address("issue-detail", study, issue.pk)).json()
    assert (body["key"], body["masked"], body["changed_since"]) == (issue.key, [], False)
    assert body["content_hash"] == issue.latest.content_hash
    assert "fails" in body["body"]
    comment, fix = body["comments"][0], body["fixes"][0]
    assert (comment["body"].strip(), comment["author"]) == ("Same here.", "commenter1")
    assert fix["message"].strip() == "Check for null first."
    assert fix["files"][0]["patch"] == patch
    keys = {document["key"] for document in body["documents"]}
    assert keys == {
        "title",
        "body",
        "comment:1",
        "fix:octo/spoon#7:message",
        "fix:octo/spoon#7:file:a.py",
    }
    html = next(document["html"] for document in body["documents"] if document["key"] == "body")
    assert "<strong>fails</strong>" in html


def test_where_a_unit_is_pinned_the_pin_is_shown(lead, study):
    issue = make_issue(study, body="First words.")
    make_unit(study, issue)
    issue.latest = make_snapshot(issue, body="Second words.", fetched_at="2026-01-01T00:00:00Z")
    issue.save()
    body = lead.get(address("issue-detail", study, issue.pk)).json()
    assert (body["body"].strip(), body["changed_since"]) == ("First words.", True)


def test_an_issue_of_another_study_is_not_found(lead, study):
    other = make_issue(make_study())
    assert lead.get(address("issue-detail", study, other.pk)).status_code == 404


MASKED = {
    "github_labels": ("sentinel-label", {"github_label": "sentinel-label"}),
    "author": ("sentinel-author", {"search": "sentinel-author"}),
    "fix": ("Sentinel fix", {"has_fix": "true"}),
    "state": ("sentinel-state", {"state": "sentinel-state"}),
    "repository": ("sentinel/place", {"repository": "sentinel/place"}),
    "maintainer_comments": ("sentinel words", {"search": "sentinel words"}),
}


@pytest.mark.parametrize("field", MASKED)
def test_a_masked_field_is_neither_shown_nor_found_nor_sorted_by(lead, member, study, field):
    issue = make_issue(
        study,
        repository="sentinel/place",
        comments=[{"body": "These are sentinel words.", "association": "MEMBER"}],
        fixes=[{"key": "sentinel/place#9", "title": "Sentinel fix"}],
        snapshot={
            "github_labels": ["sentinel-label"],
            "author": "sentinel-author",
            "state": "sentinel-state",
        },
    )
    make_round(study, coders=[member], units=[make_unit(study, issue)], masked_fields=[field])
    value, query = MASKED[field]
    assert ids_of(lead.get(address("issue-list", study), query)) == set()
    listed = lead.get(address("issue-list", study))
    assert value not in listed.content.decode()
    assert "github.com" not in str([row["url"] for row in listed.json()["results"]])
    detail = lead.get(address("issue-detail", study, issue.pk))
    assert value not in detail.content.decode()
    assert detail.json()["masked"] == [field]
    assert detail.json()["url"] is None
    by_closing = lead.get(address("issue-list", study), {"ordering": "closed"})
    assert (issue.pk in ids_of(by_closing)) == (field not in ("state", "repository"))


# Rules


def rules(*told):
    return {"rules": [dict(zip(("field", "op", "value"), each, strict=True)) for each in told]}


def test_rules_are_put_and_come_back_with_the_funnel(lead, study):
    make_issue(study, fixes=[{"key": "octo/spoon#7"}])
    make_issue(study, fixes=[{"key": "octo/spoon#8"}], snapshot={"github_labels": ["question"]})
    make_issue(study)
    body = rules(("has_fix", "is", True), ("github_labels", "none", ["question"]))
    answer = lead.put(address("rule-list", study), body, format="json")
    assert answer.status_code == 200
    told = answer.json()
    assert told["version"] == 1
    assert [(rule["count"], rule["removed"]) for rule in told["rules"]] == [(2, 1), (1, 1)]
    steps = [(step["kind"], step["count"]) for step in told["funnel"]]
    assert steps[:4] == [("stored", 3), ("rule", 2), ("rule", 1), ("eligible", 1)]
    assert lead.get(address("rule-list", study)).json() == told
    again = lead.put(address("rule-list", study), told, format="json")
    assert again.status_code == 200


def test_a_list_that_was_changed_meanwhile_is_refused(lead, study):
    lead.put(address("rule-list", study), rules(("has_fix", "is", True)), format="json")
    answer = lead.put(address("rule-list", study), rules() | {"version": 0}, format="json")
    assert answer.status_code == 409
    assert "version 1" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "rules"),
        ({"rules": "none"}, "rules"),
        (rules(("colour", "is", "red")), "rules"),
        (rules(("has_fix", "is", True), ("state", "above", "x")), "rules"),
        (rules(("opened_at", "from", "spring")), "rules"),
        ({"rules": [{"field": "state", "op": "is"}]}, "rules"),
        (rules() | {"colour": 1}, "colour"),
    ],
)
def test_a_bad_rule_names_its_place(lead, study, body, field):
    answer = lead.put(address("rule-list", study), body, format="json")
    assert answer.status_code == 422
    assert all(name.startswith(field) for name in answer.json()["errors"])


# Deciding by hand


def test_issues_are_left_out_and_given_back(lead, study):
    first, second = make_issue(study), make_issue(study)
    url = address("issue-eligibility", study)
    body = {"issues": [first.pk, second.ref], "eligible": False, "reason": "off topic"}
    answer = lead.post(url, body, format="json")
    assert [(row["eligible"], row["override"]) for row in answer.json()["issues"]] == [(False, False)] * 2
    answer = lead.post(url, {"issues": [first.url], "eligible": None}, format="json")
    assert [(row["id"], row["eligible"], row["override"]) for row in answer.json()["issues"]] == [
        (first.pk, True, None)
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"issues": []}, "issues"),
        ({"issues": ["octo/other#1"]}, "issues"),
        ({"issues": [0]}, "issues"),
        ({"eligible": "perhaps"}, "eligible"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(lead, study, change, field):
    issue = make_issue(study)
    body = {"issues": [issue.pk], "eligible": False, "reason": "off topic"} | change
    answer = lead.post(address("issue-eligibility", study), body, format="json")
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in answer.json()["errors"])
    issue.refresh_from_db()
    assert issue.eligible


def test_duplicates_are_marked_and_unmarked(lead, study):
    original, copy = make_issue(study), make_issue(study)
    url = address("issue-duplicates", study)
    marked = lead.post(url, {"issues": [copy.pk], "duplicate_of": original.ref}, format="json").json()
    assert [(row["duplicate_of"], row["eligible"]) for row in marked["issues"]] == [(original.pk, False)]
    circular = lead.post(url, {"issues": [original.pk], "duplicate_of": copy.pk}, format="json")
    assert circular.status_code == 409
    unknown = lead.post(url, {"issues": [copy.pk], "duplicate_of": "octo/other#1"}, format="json")
    assert "duplicate_of" in unknown.json()["errors"]
    freed = lead.post(url, {"issues": [copy.pk], "duplicate_of": None}, format="json").json()
    assert [(row["duplicate_of"], row["eligible"]) for row in freed["issues"]] == [(None, True)]


# The diff of one issue


def test_the_diff_of_an_issue_is_asked_for_as_a_job(lead, study):
    told = {"carries": ["title", "body", "fixes"]}
    issue = make_issue(study, rest_id=7, fixes=[{"key": "octo/spoon#7"}], snapshot=told)
    answer = lead.post(address("issue-fetch-fix", study, issue.pk))
    assert answer.status_code == 202
    assert (answer.json()["kind"], answer.json()["state"]) == ("fetch_fix", "queued")
    assert lead.get(answer.headers["Location"]).json() == answer.json()
    again = lead.post(address("issue-fetch-fix", study, issue.pk))
    assert again.json()["id"] == answer.json()["id"]


def test_an_issue_without_a_diff_to_fetch_breaks_a_rule(lead, study):
    issue = make_issue(study)
    assert lead.post(address("issue-fetch-fix", study, issue.pk)).status_code == 409
    assert lead.post(address("issue-fetch-fix", study, 0)).status_code == 404
    coder = client_of(make_member(study).user)
    assert coder.post(address("issue-fetch-fix", study, issue.pk)).status_code == 403
