"""Keeping issues: identity, snapshots, and the way back from rows to the record."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from labeling.models import IssueSnapshot
from labeling.models.issue import NO_DATE
from labeling.records import (
    CommentRecord,
    EventRecord,
    FileRecord,
    FixRecord,
    IssueRecord,
    content_hash,
)
from labeling.services.issues import add_issues
from labeling.services.snapshots import record_of
from tests.factories import make_study

pytestmark = pytest.mark.django_db

AT = datetime(2024, 3, 1, 12, 0, 5, tzinfo=UTC)
RECORD = IssueRecord(
    repository="acme/Train",
    repository_id=3,
    number=7,
    node_id="I_7",
    rest_id=5_700_000_007,
    url="https://github.com/acme/Train/issues/7",
    title="It crashes",
    body="text",
    state="closed",
    state_reason="completed",
    author="mara",
    author_kind="user",
    author_association="MEMBER",
    github_labels=("bug",),
    milestone="1.0",
    reactions={"+1": 2},
    opened_at=AT,
    closed_at=AT,
    updated_at=AT,
    comments=(CommentRecord("1", "Me too", "ines", "user", "NONE", AT, AT, {"eyes": 1}),),
    timeline=(EventRecord("closed", AT, "mara", {"commit": "abc"}),),
    fixes=(
        FixRecord(
            key="acme/train#9",
            kind="pull_request",
            evidence="closed_by",
            title="Fix",
            body="Fixes #7",
            number=9,
            merged_at=AT,
            additions=1,
            deletions=0,
            changed_files=2,
            files=(FileRecord("a.py", "modified", 1, 0, "+x"), FileRecord("b.png", "added", note="Binary")),
        ),
    ),
    carries=frozenset({"title", "body", "patches"}),
    notes=("a note",),
)


@pytest.fixture
def study():
    return make_study()


def add(study, *records):
    return add_issues(study=study, records=records)


def test_rows_turn_back_into_the_record_they_were_made_of(study):
    add(study, RECORD)

    snapshot = IssueSnapshot.objects.get()
    again = record_of(snapshot, snapshot.documents.all())

    assert again == RECORD
    assert content_hash(again) == snapshot.content_hash == content_hash(RECORD)


@pytest.mark.parametrize(
    "change",
    [
        {"repository": "acme/renamed"},
        {"repository": "acme/renamed", "node_id": None},
        {"repository": "acme/renamed", "node_id": None, "rest_id": None},
        {"node_id": None, "rest_id": None, "repository_id": None},
    ],
)
def test_an_issue_is_known_by_its_ids_before_its_name(study, change):
    add(study, RECORD)

    result = add(study, replace(RECORD, **change))

    issue = study.issues.get()
    assert (result.new, result.same) == (0, 1)
    assert issue.key == "github.com/acme/train#7"


def test_an_issue_is_known_by_a_former_name_when_nothing_else_is_told(study):
    add(study, RECORD)
    add(study, replace(RECORD, repository="acme/renamed"))

    bare = IssueRecord(repository="acme/renamed", number=7, title="It crashes")

    assert add(study, bare).new == 0


def test_issues_of_two_studies_are_kept_apart(study):
    other = make_study()

    assert add(study, RECORD).new == add(other, RECORD).new == 1


def test_the_same_record_twice_in_a_page_is_one_issue(study):
    add(study, RECORD, replace(RECORD, title="newer"))

    assert study.issues.get().latest.title == "newer"


def test_what_a_source_calls_a_duplicate_is_linked_but_never_against_a_lead(study):
    original = IssueRecord(repository="acme/train", number=1, title="original")
    copy = IssueRecord(repository="acme/train", number=2, title="copy", duplicate_of=original.key)
    add(study, original, copy)
    issue = study.issues.get(number=2)
    assert issue.duplicate_of == study.issues.get(number=1)

    issue.duplicate_of = None
    issue.save()
    add(study, copy)

    issue.refresh_from_db()
    assert issue.duplicate_of is None


def test_records_of_a_kind_the_study_does_not_code_are_rejected(study):
    result = add(study, replace(RECORD, kind="pull_request"))

    assert (result.new, result.rejected) == (0, 1)


def test_lists_by_date_follow_what_the_issue_says_now(study):
    first = replace(RECORD, opened_at=AT, closed_at=None)
    later = replace(first, closed_at=AT.replace(year=2025), updated_at=AT.replace(year=2025))
    dates = []
    for record in (first, later, first):  # reopened: it says again what it said before
        add_issues(study=study, records=[record])
        dates.append(study.issues.values_list("by_created", "by_updated", "by_closed").get())
    updated = first.updated_at or NO_DATE
    assert dates[0] == dates[2] == (AT, updated, NO_DATE)
    assert dates[1] == (AT, later.updated_at, later.closed_at)
