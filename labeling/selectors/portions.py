"""Long units in portions: a page shows what comes first, the rest follows when its reader gets there. Pure.

An issue is what ``issue_view`` gives, with all its masks applied: nothing here reads anything else.
"""

from collections.abc import Iterator, Mapping
from typing import Any

COMMENTS = 50
LINES = 400
"""So many lines of patches a page shows; a file that would exceed them waits until it is unfolded."""

Issue = Mapping[str, Any]


def first_portion(issue: Issue) -> dict[str, Any]:
    """Give the issue as its page begins: ``comments_next`` and files that wait say what is still to come."""
    fixes = list(_waiting_fixes(issue))
    return {**issue, **comments_from(issue, 0), "fixes": fixes, "every_comment": issue["comments"]}


def comments_from(issue: Issue, start: int, count: int = COMMENTS) -> dict[str, Any]:
    comments = issue["comments"]
    stop = start + count
    return {
        "comments": comments[start:stop],
        "comments_count": len(comments),
        "comments_next": stop if stop < len(comments) else None,
        "comments_more": min(count, len(comments) - stop),
    }


def rest(issue: Issue) -> dict[str, Any]:
    """Give all that the first portion leaves out."""
    files = [
        file
        for shown, fix in zip(_waiting_fixes(issue), issue["fixes"], strict=True)
        for waiting, file in zip(shown["files"], fix["files"], strict=True)
        if waiting.get("waits")
    ]
    return {**comments_from(issue, COMMENTS, len(issue["comments"])), "files": files}


def file_named(issue: Issue, document: str) -> Mapping[str, Any] | None:
    files = (file for fix in issue["fixes"] for file in fix["files"])
    return next((file for file in files if file["document"] == document), None)


def _waiting_fixes(issue: Issue) -> Iterator[dict[str, Any]]:
    room = LINES
    for fix in issue["fixes"]:
        files = []
        for file in fix["files"]:
            count = len(file["lines"] or ())
            waits = count > room
            room -= 0 if waits else count
            files.append({**file, "lines": None, "waits": count} if waits else file)
        yield {**fix, "files": files}
