"""One file of ``issues/`` as the record that every source delivers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from labeling.records import AuthorKind, CommentRecord, EventRecord, FileRecord, FixRecord, IssueRecord

CARRIES = frozenset({"title", "body", "state", "author", "github_labels", "comments", "timeline", "fixes"})


def read_issue(data: Mapping[str, Any]) -> IssueRecord:
    """Turn the content of a file into a record.

    It has no address: the repositories are invented, and a link would lead nowhere or to a stranger.
    """
    repository, number = data["repository"], data["number"]
    comments = tuple(
        _comment(each, f"{number}{position:02}") for position, each in enumerate(data["comments"], start=1)
    )
    fixes = tuple(_fix(each, repository) for each in data["fixes"])
    titles = {fix.key: fix.title for fix in fixes}
    return IssueRecord(
        repository=repository,
        number=number,
        title=data["title"],
        body=data["body"],
        state=data["state"],
        state_reason=data["state_reason"],
        author=data["author"],
        author_kind=_author_kind(data["author"]),
        author_association=data["author_association"],
        github_labels=tuple(data["github_labels"]),
        opened_at=data["opened_at"],
        closed_at=data["closed_at"],
        updated_at=_last_change(data),
        comments=comments,
        timeline=tuple(_event(each, titles) for each in data["timeline"]),
        fixes=fixes,
        carries=CARRIES,
    )


def _comment(data: Mapping[str, Any], comment_id: str) -> CommentRecord:
    return CommentRecord(
        id=comment_id,
        body=data["body"],
        author=data["author"],
        author_kind=_author_kind(data["author"]),
        association=data["association"],
        created_at=data["at"],
        updated_at=data["at"],
    )


def _event(data: Mapping[str, Any], titles: Mapping[str, str]) -> EventRecord:
    """An event with what a coder reads of it; ``titles`` are those of the fixes, by key."""
    details: dict[str, Any] = {}
    if "label" in data:
        details["label"] = data["label"]
    if "source" in data:
        repository, _, number = data["source"].partition("#")
        details["source"] = {
            "kind": data.get("kind", "pull_request"),
            "repository": repository,
            "number": int(number),
            "title": data.get("title") or titles[data["source"]],
            "url": "",
        }
    return EventRecord(kind=data["event"], at=data["at"], actor=data["by"], data=details)


def _fix(data: Mapping[str, Any], repository: str) -> FixRecord:
    is_pull = data["kind"] == "pull_request"
    files = tuple(_file(each) for each in data["files"])
    return FixRecord(
        key=f"{repository}#{data['number']}" if is_pull else f"{repository}@{data['sha']}",
        kind=data["kind"],
        evidence="linked_merged" if is_pull else "commit_keyword",
        title=data["title"],
        body=data["body"],
        number=data.get("number"),
        sha=data.get("sha"),
        state="merged" if is_pull else "",
        merged_at=data["merged_at"],
        additions=sum(each.additions for each in files),
        deletions=sum(each.deletions for each in files),
        changed_files=len(files),
        files=files,
    )


def _file(data: Mapping[str, Any]) -> FileRecord:
    """A changed file; its lines are counted from the patch, so that the two always agree."""
    patch = data.get("patch")
    # GitHub delivers a patch without a line end after its last line.
    lines = patch.rstrip("\n").split("\n") if patch else []
    return FileRecord(
        path=data["path"],
        status=data["status"],
        additions=sum(line.startswith("+") for line in lines),
        deletions=sum(line.startswith("-") for line in lines),
        patch="\n".join(lines) if patch else None,
        note=data.get("note", ""),
    )


def _author_kind(author: str | None) -> AuthorKind:
    if author is None:
        return "deleted"
    return "bot" if author.endswith("[bot]") else "user"


def _last_change(data: Mapping[str, Any]) -> datetime:
    times: list[datetime] = [
        data["opened_at"],
        *(each["at"] for each in [*data["comments"], *data["timeline"]]),
    ]
    return max(times)
