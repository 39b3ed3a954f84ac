"""The text rules every source goes through, and the hash that tells whether an issue changed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ingest.normalise import clean_text, normalise_issue
from labeling.records import (
    CommentRecord,
    EventRecord,
    FileRecord,
    FixRecord,
    IssueRecord,
    content_hash,
    without_patches,
)

AT = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
FIX = FixRecord(
    key="acme/train#2",
    kind="pull_request",
    evidence="closed_by",
    merged_at=AT,
    files=(FileRecord("a.py", additions=1, patch="+x"),),
)
RECORD = IssueRecord(
    repository="acme/Train",
    number=7,
    title="It crashes",
    body="text",
    state="closed",
    author="mara",
    author_kind="user",
    github_labels=("bug",),
    opened_at=AT,
    comments=(CommentRecord(id="1", body="Me too", author="ines", author_kind="user", created_at=AT),),
    timeline=(EventRecord("closed", AT, "mara", {"commit": "abc"}),),
    fixes=(FIX,),
    carries=frozenset({"title", "body"}),
)


@pytest.mark.parametrize(
    ("told", "clean"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud83db", "a\ufffdb"),
        ("\U0001f600 \u0301e", "\U0001f600 \u0301e"),
        (None, ""),
    ],
)
def test_text_is_kept_but_for_line_ends_and_what_cannot_be_stored(told, clean):
    assert clean_text(told) == clean


def test_every_text_of_an_issue_is_cleaned_and_the_changes_are_noted():
    dirty = replace(
        RECORD,
        body="a\x00\r\n",
        comments=(CommentRecord(id="1", body="b\x00"),),
        timeline=(EventRecord("labeled", AT, "mara", {"label": "c\x00"}),),
        fixes=(replace(FIX, files=(FileRecord("a.py", patch="+d\x00"),)),),
    )

    clean, notes = normalise_issue(dirty)

    assert "\x00" not in repr(clean)
    assert clean.body == "a\ufffd\n"
    assert clean.timeline[0].data["label"] == "c\ufffd"
    assert notes == (
        "Characters no database can store, replaced by \ufffd: 4.",
        "Line ends changed to LF: 1.",
    )


def test_an_issue_that_was_clean_is_the_same_afterwards():
    assert normalise_issue(RECORD) == (RECORD, ())


def test_a_missing_body_is_an_empty_one():
    clean, _ = normalise_issue(replace(RECORD, body=None))

    assert clean.body == ""


def test_a_title_is_one_line():
    clean, _ = normalise_issue(replace(RECORD, title="  two\r\n lines "))

    assert clean.title == "two lines"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "", None])
def test_only_addresses_of_the_web_are_kept(url):
    told = replace(RECORD, url=url, fixes=(replace(FIX, url=url),))

    clean, _ = normalise_issue(told)

    assert clean.url is None
    assert clean.fixes[0].url is None
    kept, _ = normalise_issue(replace(told, url="https://github.com/acme/train/issues/7"))
    assert kept.url == "https://github.com/acme/train/issues/7"


def test_comments_without_an_id_of_their_own_keep_their_texts_apart():
    told = (CommentRecord(id="", body="a"), CommentRecord(id="5", body="b"), CommentRecord(id="5", body="c"))

    clean, _ = normalise_issue(replace(RECORD, comments=told))

    assert [comment.id for comment in clean.comments] == ["place-1", "5", "place-3"]


@pytest.mark.parametrize(
    ("author", "kind", "expected"),
    [
        ("ghost", "user", (None, "deleted")),
        (None, "deleted", (None, "deleted")),
        (None, "unknown", (None, "unknown")),
        ("renovate[bot]", "unknown", ("renovate[bot]", "bot")),
        ("mara", "user", ("mara", "user")),
    ],
)
def test_deleted_users_and_bots_are_recognised_whatever_the_source_said(author, kind, expected):
    clean, _ = normalise_issue(replace(RECORD, author=author, author_kind=kind))

    assert (clean.author, clean.author_kind) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"title": "other"},
        {"body": "other"},
        {"state": "open"},
        {"state_reason": "duplicate"},
        {"author": None},
        {"github_labels": ()},
        {"milestone": "1.0"},
        {"reactions": {"+1": 1}},
        {"opened_at": None},
        {"comments": ()},
        {"timeline": ()},
        {"fixes": ()},
    ],
)
def test_the_hash_changes_with_whatever_a_coder_sees(change):
    assert content_hash(replace(RECORD, **change)) != content_hash(RECORD)


@pytest.mark.parametrize(
    "change",
    [
        {"updated_at": AT},
        {"repository": "acme/renamed"},
        {"url": "https://github.com/acme/renamed/issues/7"},
        {"node_id": "I_1", "rest_id": 1, "repository_id": 2},
        {"carries": frozenset()},
        {"notes": ("a note",)},
    ],
)
def test_the_hash_does_not_depend_on_where_and_when_it_was_read(change):
    assert content_hash(replace(RECORD, **change)) == content_hash(RECORD)


def test_the_hash_covers_the_patches_once_they_are_there():
    assert content_hash(without_patches(RECORD)) != content_hash(RECORD)


def test_the_hash_is_the_same_on_every_machine_and_in_every_version():
    assert content_hash(RECORD) == "ff0657679561268e6c5a1dba6aa7e86319928209857d9945e04b47e7b3a629d7"


def test_the_key_of_an_issue_is_its_address_in_lower_case():
    assert RECORD.key == "github.com/acme/train#7"


def test_without_an_address_the_key_comes_from_the_id_or_else_from_the_text():
    by_id = IssueRecord(source_id="BUG-1", title="a")
    by_text = IssueRecord(title="a", body="b")

    assert by_id.key == IssueRecord(source_id="BUG-1", title="changed").key
    assert by_text.key == IssueRecord(title="a", body="b", state="open").key
    assert len({by_id.key, by_text.key, IssueRecord(title="a", body="c").key}) == 3
    assert by_text.key.startswith("file:")
    assert len(by_text.key) == len("file:") + 64


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"merged_at": None}, False),
        ({"evidence": "mentioned"}, False),
        ({"kind": "commit", "merged_at": None}, True),
    ],
)
def test_a_fix_is_in_the_code_and_not_merely_mentioned(change, counts):
    assert replace(RECORD, fixes=(replace(FIX, **change),)).has_fix == counts
