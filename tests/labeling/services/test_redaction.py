"""Redacting an issue: no text of it is left anywhere a page, a search or an export reads."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from labeling.errors import InvalidInputError
from labeling.models import Assignment, Event, Evidence
from labeling.records import CommentRecord, EventRecord, FileRecord, FixRecord, IssueRecord
from labeling.selectors.search import mentioning
from labeling.services.issues import add_issues
from labeling.services.redaction import redact_issue
from labeling.services.word_index import index_batch
from tests.factories import (
    assignment_of,
    lead_of,
    make_member,
    make_round,
    make_study,
    make_submission,
    make_unit,
)

pytestmark = pytest.mark.django_db

AT = datetime(2024, 1, 1, tzinfo=UTC)
RECORD = IssueRecord(
    repository="acme/train",
    number=7,
    title="sentinel title",
    body="sentinel body",
    author="sentinel-author",
    state="closed",
    comments=(CommentRecord("1", "sentinel comment", author="sentinel-commenter", created_at=AT),),
    timeline=(EventRecord("renamed", AT, "sentinel-actor", {"from": "sentinel name"}),),
    fixes=(
        FixRecord(
            "acme/train#8",
            "pull_request",
            "closed_by",
            title="sentinel fix",
            body="sentinel message",
            merged_at=AT,
            files=(FileRecord("a.py", patch="+sentinel"),),
        ),
    ),
)


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def issue(study):
    add_issues(study=study, records=[replace(RECORD, body="sentinel before")])
    add_issues(study=study, records=[RECORD])
    index_batch(study)
    return study.issues.get()


def redact(issue):
    redact_issue(issue=issue, reason="Asked for by its author", by=lead_of(issue.study))
    issue.refresh_from_db()


def everything_of(issue):
    rows = [list(issue.snapshots.values()), list(issue.latest.documents.values())]
    rows += [list(snapshot.documents.values()) for snapshot in issue.snapshots.all()]
    return str(rows)


def test_no_text_and_no_author_is_left_in_any_snapshot(issue):
    hashes = list(issue.snapshots.values_list("content_hash", flat=True))

    redact(issue)

    assert "sentinel" not in everything_of(issue)
    assert list(issue.snapshots.values_list("content_hash", flat=True)) == hashes
    assert (issue.latest.title, issue.latest.state, issue.latest.has_merged_fix) == (
        "redacted",
        "closed",
        True,
    )
    assert issue.redacted_because == "Asked for by its author"


def test_the_search_finds_it_no_more(study, issue):
    assert study.issues.filter(mentioning(study, "sentinel")).exists()
    redact(issue)
    assert not study.issues.filter(mentioning(study, "sentinel")).exists()


def test_an_import_does_not_fill_it_again(study, issue):
    redact(issue)
    add_issues(study=study, records=[RECORD, replace(RECORD, title="sentinel again")])
    issue.refresh_from_db()
    assert "sentinel" not in everything_of(issue)


def test_what_coders_quoted_is_gone_and_their_answers_stay(study, issue):
    ada, ben = make_member(study), make_member(study)
    coding_round = make_round(study, coders=[ada, ben], units=[make_unit(study, issue=issue)])
    submission = make_submission(assignment_of(coding_round, ada))
    dimension = coding_round.codebook.dimensions.first()
    Evidence.objects.create(
        submission=submission,
        dimension=dimension,
        document="body",
        start=0,
        end=8,
        quote="sentinel",
        prefix="sentinel",
    )
    mine = assignment_of(coding_round, ben)
    draft = {"evidence": [{"quote": "sentinel", "document": "body", "start": 0}], "memo": "my own words"}
    Assignment.objects.filter(pk=mine.pk).update(draft=draft)
    answers = submission.annotations.count()

    redact(issue)

    evidence = Evidence.objects.get()
    assert (evidence.quote, evidence.prefix, evidence.start) == ("redacted", "", 0)
    kept = Assignment.objects.filter(pk=mine.pk).values_list("draft", flat=True).get()
    assert kept["evidence"][0] == {"quote": "redacted", "document": "body", "start": 0}
    assert kept["memo"] == "my own words"
    assert submission.annotations.count() == answers > 0


def test_it_takes_a_reason_and_leaves_a_trace(study, issue):
    with pytest.raises(InvalidInputError):
        redact_issue(issue=issue, reason=" ", by=lead_of(study))
    redact(issue)
    assert Event.objects.get(verb="issue.redacted").object == f"issue:{issue.pk}"


def test_a_lead_redacts_in_the_page_and_over_the_api(client, study, issue):
    client.force_login(lead_of(study).user)
    url = reverse("labeling:issue-detail", args=[study.slug, issue.pk])
    assert "Redact this issue" in client.get(url).content.decode()

    told = client.post(
        f"/api/v1/studies/{study.slug}/issues/{issue.pk}/redact/", {"reason": "private"}, "application/json"
    )

    assert told.status_code == 200, told.json()
    assert "sentinel" not in str(told.json())
    page = client.get(url).content.decode()
    assert "sentinel" not in page
    assert "Redact this issue" not in page


# What changed since it was pinned


def test_the_changes_since_the_pin_are_shown_line_by_line(client, study):
    add_issues(study=study, records=[replace(RECORD, body="one\ntwo", state="open")])
    issue = study.issues.get()
    make_unit(study, issue=issue, snapshot=issue.latest)
    url = reverse("labeling:issue-changes", args=[study.slug, issue.pk])
    client.force_login(lead_of(study).user)
    assert client.get(url).status_code == 404  # nothing changed yet

    later = (*RECORD.comments, CommentRecord("2", "added later", created_at=AT))
    add_issues(study=study, records=[replace(RECORD, body="one\n2", comments=later)])

    answer = client.get(url)
    changed = {
        text.name: [line.text for line in text.lines if line.kind in ("add", "del")]
        for text in answer.context["texts"]
    }
    assert changed == {"Description": ["-two", "+2"], "Comment 2": ["+added later"]}
    assert [(field.name, field.before, field.after) for field in answer.context["fields"]] == [
        ("State", "open", "closed")
    ]
    assert url in client.get(reverse("labeling:issue-detail", args=[study.slug, issue.pk])).content.decode()
