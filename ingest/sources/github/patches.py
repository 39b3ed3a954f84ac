"""The diff of one fix, which REST alone delivers, and not always whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ingest.sources.github.client import Client
from ingest.sources.github.rest import Row, pages
from labeling.records import FileRecord, FixRecord

NOT_DELIVERED = "The diff was not delivered by GitHub."
NO_TEXT = "Binary or too large: GitHub shows no diff."
#: GitHub stops filling in patches somewhere in a large answer, without a mark; a small page brings them back.
SMALL_PAGE = 10
#: GitHub lists no more files of one change than this.
MOST_FILES = 3000


def read_patches(client: Client, fix: FixRecord) -> FixRecord:
    """Return the fix with its files, in GitHub's order."""
    if fix.kind == "commit":
        return _read_commit(client, fix)
    repository = fix.key.partition("#")[0]
    if fix.additions is None:  # REST's cross-references do not tell the counts, GraphQL does
        _, pull = client.get(f"/repos/{repository}/pulls/{fix.number}")
        fix = replace(
            fix,
            additions=pull.get("additions"),
            deletions=pull.get("deletions"),
            changed_files=pull.get("changed_files"),
        )
    path = f"/repos/{repository}/pulls/{fix.number}/files"
    rows: list[Row] = [row for page in pages(client, path, {}) for row in page]
    rows = _complete(client, path, rows)
    return replace(fix, files=tuple(_file(row) for row in rows))


def _read_commit(client: Client, fix: FixRecord) -> FixRecord:
    repository, _, sha = fix.key.partition("@")
    rows: list[Row] = []
    url: str | None = f"/repos/{repository}/commits/{sha}"
    stats: Mapping[str, Any] = {}
    while url and len(rows) < MOST_FILES:
        answer, commit = client.get(url)
        stats = commit.get("stats") or stats
        rows += commit.get("files") or ()
        url = answer.next_url
    return replace(
        fix,
        additions=stats.get("additions", fix.additions),
        deletions=stats.get("deletions", fix.deletions),
        changed_files=len(rows),
        files=tuple(_file(row) for row in rows),
    )


def _complete(client: Client, path: str, rows: list[Row]) -> list[Row]:
    """Ask again, in small pages, for files that came without counts and patch."""
    asked: dict[int, list[Row]] = {}
    for at, row in enumerate(rows):
        if not _is_hollow(row):
            continue
        number = at // SMALL_PAGE + 1
        if number not in asked:
            _, asked[number] = client.get(path, {"per_page": SMALL_PAGE, "page": number})
    again = {row["filename"]: row for page in asked.values() for row in page}
    return [again.get(row["filename"], row) for row in rows]


def _is_hollow(row: Row) -> bool:
    """Whether a file was changed, so GitHub says, by no line at all."""
    changes = (row.get("additions") or 0) + (row.get("deletions") or 0)
    return row.get("status") == "modified" and not changes and not row.get("patch")


def _file(row: Row) -> FileRecord:
    patch = row.get("patch")
    note = ""
    if patch is None and row.get("status") != "renamed":
        note = NOT_DELIVERED if _is_hollow(row) else NO_TEXT
    return FileRecord(
        path=row["filename"],
        status=row.get("status") or "modified",
        additions=row.get("additions") or 0,
        deletions=row.get("deletions") or 0,
        patch=patch,
        previous_path=row.get("previous_filename"),
        note=note,
    )
