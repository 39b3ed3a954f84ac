"""What a member sees of an issue: masked fields are absent wherever they could show."""

import pytest

from labeling.errors import StaleVersionError
from labeling.models import Assignment, Round
from labeling.selectors.coding import issue_view
from labeling.services import coding
from tests.factories import (
    assignment_of,
    lead_of,
    make_issue,
    make_member,
    make_round,
    make_snapshot,
    make_study,
    make_unit,
)

pytestmark = pytest.mark.django_db

PATCH = "@@ -1 +1 @@\n-old line\n+new line"
TIMELINE = [
    {"kind": "labeled", "at": "2024-03-01T12:00:00Z", "actor": "triager", "data": {"label": "SECRET-LABEL"}},
    {
        "kind": "closed",
        "at": "2024-03-02T12:00:00Z",
        "actor": "maintainer",
        "data": {"commit": "SECRETCOMMIT", "state_reason": "completed"},
    },
    {
        "kind": "cross-referenced",
        "at": "2024-03-02T13:00:00Z",
        "actor": "maintainer",
        "data": {
            "source": {"kind": "pull_request", "repository": "octo/secret-repo", "number": 9, "title": "x"}
        },
    },
    {"kind": "assigned", "at": None, "actor": "maintainer", "data": {"assignee": "SECRET-ASSIGNEE"}},
]


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def ada(study):
    return make_member(study, user="ada")


@pytest.fixture
def unit(study):
    issue = make_issue(
        study,
        repository="octo/secret-repo",
        number=77,
        body="It crashes, see #3.",
        comments=["me too", {"body": "MAINTAINER-WORDS", "association": "MEMBER", "author_kind": "bot"}],
        fixes=[
            {
                "key": "octo/secret-repo#9",
                "title": "SECRET-FIX",
                "message": "FIX-MESSAGE",
                "files": [{"path": "src/a.c", "patch": PATCH}, {"path": "b.bin", "note": "binary"}],
            }
        ],
        snapshot={
            "author": "SECRET-AUTHOR",
            "github_labels": ["SECRET-LABEL"],
            "state_reason": "completed",
            "timeline": TIMELINE,
        },
        rendered=False,
    )
    return make_unit(study, issue)


def seen(study, ada, unit, **settings):
    """The issue as ada sees it while coding it in a round with these settings."""
    coding_round = make_round(study, coders=[ada], units=[unit], **settings)
    return issue_view(assignment_of(coding_round, ada), ada)


def test_without_masks_everything_the_source_delivered_is_there(study, ada, unit):
    issue = seen(study, ada, unit)
    assert (issue["ref"], issue["number"]) == ("octo/secret-repo#77", 77)
    assert issue["repository"] == "octo/secret-repo"
    assert issue["url"] == "https://github.com/octo/secret-repo/issues/77"
    assert (issue["author"], issue["github_labels"]) == ("SECRET-AUTHOR", ["SECRET-LABEL"])
    assert [event["text"] for event in issue["timeline"]] == [
        "added the GitHub label SECRET-LABEL",
        "closed this as completed in commit SECRETCOMM",
        "mentioned this in pull request octo/secret-repo#9",
        "assigned SECRET-ASSIGNEE",
    ]
    assert issue["comments"][1]["is_bot"] is True
    assert issue["comments"][0]["created_at"].tzinfo is not None
    (fix,) = issue["fixes"]
    assert "FIX-MESSAGE" in fix["message_html"]
    assert [(line["kind"], line["text"]) for line in fix["files"][0]["lines"]] == [
        ("hunk", "@@ -1 +1 @@"),
        ("del", "-old line"),
        ("add", "+new line"),
    ]
    assert (fix["files"][1]["lines"], fix["files"][1]["note"]) == (None, "binary")
    assert 'class="issue-reference"' in issue["body"]["html"]
    assert (issue["masked"], issue["changed_since"]) == ([], False)


@pytest.mark.parametrize(
    ("field", "absent"),
    [
        ("github_labels", ["SECRET-LABEL"]),
        ("author", ["SECRET-AUTHOR", "commenter1", "triager", "SECRET-ASSIGNEE", "'maintainer'"]),
        ("repository", ["secret-repo", "issue-reference"]),
        ("maintainer_comments", ["MAINTAINER-WORDS"]),
        ("fix", ["SECRET-FIX", "FIX-MESSAGE", "SECRETCOMM", "old line", "src/a.c", "pull request"]),
        ("state", ["completed", "closed this", "closed_by"]),
    ],
)
def test_a_masked_field_is_nowhere_in_the_view(study, ada, unit, field, absent):
    issue = seen(study, ada, unit, masked_fields=[field])
    shown = repr(issue)
    assert [text for text in absent if text in shown] == []
    assert field in issue["masked"]
    assert "It crashes, see" in shown, "texts are left as they are"


@pytest.mark.parametrize("field", ["github_labels", "author", "repository", "maintainer_comments", "fix"])
def test_while_anything_is_masked_there_is_no_link_to_github(study, ada, unit, field):
    issue = seen(study, ada, unit, masked_fields=[field])
    assert issue["url"] is None
    assert [fix["url"] for fix in issue["fixes"]] in ([], [None])


@pytest.mark.parametrize("masked", [[], ["fix"]])
def test_a_later_stage_is_revealed_when_the_earlier_one_is_handed_in(study, ada, unit, masked):
    stages = [{"dimensions": ["symptom"]}, {"dimensions": ["cause", "fix"], "reveals": ["fix"]}]
    coding_round = make_round(study, coders=[ada], units=[unit], stages=stages, masked_fields=masked)
    assignment = assignment_of(coding_round, ada)
    assert "SECRET-FIX" not in repr(issue_view(assignment, ada))
    coding.submit(assignment=assignment, by=ada, changes={"annotations": {"symptom": ["crash"]}}, version=0)
    issue = issue_view(Assignment.objects.get(pk=assignment.pk), ada)
    assert issue["fixes"][0]["title"] == "SECRET-FIX"
    assert issue["url"] is not None


def test_a_coder_finds_nothing_more_about_the_issue_elsewhere(study, ada, unit):
    other = make_unit(study, unit.issue, part=1, ref=f"{unit.ref}~1", split_from=unit)
    coding_round = make_round(study, coders=[ada], units=[unit], masked_fields=["author"])
    assert issue_view(other, ada)["author"] is None
    assert issue_view(other, lead_of(study))["author"] == "SECRET-AUTHOR"
    Round.objects.filter(pk=coding_round.pk).update(state="closed", closed_at=coding_round.opened_at)
    assert issue_view(other, ada)["author"] == "SECRET-AUTHOR"


def test_a_text_can_be_quoted_without_naming_the_hidden_repository(study, ada, unit):
    coding_round = make_round(study, coders=[ada], units=[unit], masked_fields=["repository"])
    assignment = assignment_of(coding_round, ada)
    name = issue_view(assignment, ada)["fixes"][0]["files"][0]["document"]
    assert name == "fix:1:file:src/a.c"
    quote = {"dimension": "fix", "document": name, "start": 12, "end": 21, "quote": "-old line"}
    saved = coding.save_draft(assignment=assignment, changes={"evidence": [quote]}, version=0, by=ada)
    assert saved.draft["fields"]["evidence"][0]["document"] == "fix:octo/secret-repo#9:file:src/a.c"
    assert coding.state_of(saved)["evidence"][0]["document"] == name
    assert "secret-repo" not in repr(coding.state_of(saved))
    with pytest.raises(StaleVersionError) as caught:
        coding.save_draft(
            assignment=assignment, changes={"evidence": [quote | {"category": "call"}]}, version=0, by=ada
        )
    assert "secret-repo" not in repr(caught.value.extra)


def test_the_pin_is_shown_and_a_newer_text_only_announced(study, ada, unit):
    issue = unit.issue
    issue.latest = make_snapshot(issue, title="Edited since")
    issue.save()
    shown = seen(study, ada, unit)
    assert shown["title"] == "Crash on start"
    assert shown["changed_since"] is True


def test_images_load_only_when_asked_for(study, ada):
    unit = make_unit(study, make_issue(study, body="![x](https://example.org/x.png)", rendered=False))
    make_round(study, coders=[ada], units=[unit])
    assert "<img" not in issue_view(unit, ada)["body"]["html"]
    assert "<img" in issue_view(unit, ada, show_images=True)["body"]["html"]


def test_an_issue_without_any_text_is_shown_as_it_is(study, ada):
    issue = make_issue(study)
    issue.latest = None
    issue.save()
    shown = issue_view(make_unit(study, issue, snapshot=None), ada)
    assert (shown["title"], shown["comments"]) == ("", [])


def test_a_view_asks_the_database_a_handful_of_times(study, ada, unit, django_assert_max_num_queries):
    coding_round = make_round(study, coders=[ada], units=[unit])
    assignment = Assignment.objects.select_related(
        "round_unit__round", "round_unit__unit__issue", "round_unit__unit__snapshot"
    ).get(round_unit__round=coding_round)
    issue_view(assignment, ada)
    with django_assert_max_num_queries(2):
        issue_view(assignment, ada)
