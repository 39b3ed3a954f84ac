"""Which issues to read: rows of a repository's list, of a search, or of addresses, and where to go on.

Each generator gives batches of rows with the checkpoint that holds once they are stored. A checkpoint
never holds a cursor of GitHub's, whose life is undocumented, but what can be asked again at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from ingest.sources.base import Checkpoint, SourceError, SourceQuery
from ingest.sources.github.addresses import IssueAddress, read_issue, read_repository, repository_of
from ingest.sources.github.client import Client, NotThereError
from ingest.sources.github.rest import Repository, Row, find_repository, pages
from ingest.sources.github.rest_records import issue_of, time_of
from labeling.records import IssueRecord, UnitKind

#: GitHub answers with nothing to an earlier day.
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows to complete, and what is known without completing anything."""

    rows: Sequence[Row] = ()
    checkpoint: Checkpoint = field(default_factory=dict)
    told: tuple[IssueRecord, ...] = ()
    total: int | None = None
    problems: tuple[str, ...] = ()
    unchanged: int = 0


class Renamed(Exception):  # noqa: N818 (a signal between the two generators below)
    """A list came back under another name: the redirect lost what we asked for."""


def follow_repository(
    client: Client, name: str, kind: UnitKind, query: SourceQuery, seen: str | None, batch: int
) -> Iterator[tuple[list[Row], str | None]]:
    """Give the rows of a repository with the time of the last one, also if it is renamed meanwhile."""
    repository = find_repository(client, name)
    while True:
        try:
            for rows, last in _filled(_wanted(client, repository, kind, query, seen), batch):
                seen = last or seen
                yield rows, seen
        except Renamed:
            now = find_repository(client, repository.name)
            if now.name == repository.name:
                sentence = f"GitHub answers for {name} with issues of another repository."
                raise SourceError(sentence, permanent=False) from None
            repository = now
        else:
            return


def _wanted(
    client: Client, repository: Repository, kind: UnitKind, query: SourceQuery, seen: str | None
) -> Iterator[tuple[list[Row], str | None]]:
    """Give what is wanted of each page of the list, and the time of the page's last row."""
    for page in _list(client, repository, seen):
        rows = [repository.own(row) for row in page if _is_wanted(row, kind, query, seen)]
        yield rows, page[-1].get("updated_at") if page else None


def _filled(
    pages: Iterator[tuple[list[Row], str | None]], batch: int
) -> Iterator[tuple[list[Row], str | None]]:
    """Give full batches over the ends of pages, each with the time to go on from behind it.

    Every batch is a request, and most rows of a page may be pull requests. The last batch may be empty: it
    says how far the list was read.
    """
    held: list[Row] = []
    last = None
    for rows, end in pages:
        held, last = held + rows, end or last
        while len(held) >= batch:
            full, held = held[:batch], held[batch:]
            yield full, full[-1].get("updated_at") if held else last
    yield held, last


def _list(client: Client, repository: Repository, seen: str | None) -> Iterator[Sequence[Row]]:
    """List what changed since ``seen``, oldest change first.

    In this order a row that changes meanwhile moves to the end and is seen again: nothing is skipped.
    """
    last = time_of(seen)
    since = last - timedelta(seconds=1) if last else EARLIEST
    asked = {"state": "all", "sort": "updated", "direction": "asc", "since": stamp(since)}
    for page in pages(client, f"/repos/{repository.name}/issues", asked, may_be_known=True):
        _refuse_other_name(page, repository)
        yield page


def _is_wanted(row: Row, kind: UnitKind, query: SourceQuery, seen: str | None) -> bool:
    """Whether a row is worth completing, by what the list says of it and where we went on from."""
    record = issue_of(row)
    is_new = not seen or str(row.get("updated_at") or seen) >= seen
    return is_new and record.kind == kind and query.wants(record)


def read_address(client: Client, told: str, kinds: Sequence[UnitKind]) -> Batch:
    """Look up one issue by its address: there, gone, or moved away."""
    address = read_issue(told, client.host)
    try:
        _, row = client.get(f"/repos/{address.repository}/issues/{address.number}")
    except NotThereError as error:
        return _gone(client, address, error)
    if _has_moved(client, address, row):
        moved_to = issue_of(row, host=client.host).key
        told_moved = replace(_placeholder(client, address), transferred_to=moved_to)
        sentence = f"{told} was transferred. Import {row.get('html_url') or moved_to} if you want it."
        return Batch(told=(told_moved,), problems=(sentence,))
    return of_kinds(told, row, kinds)


def of_kinds(told: str, row: Row, kinds: Sequence[UnitKind]) -> Batch:
    """Keep what an address names if the study codes its kind, or say that it does not."""
    kind: UnitKind = "pull_request" if "pull_request" in row else "issue"
    if kind not in kinds:
        said = "a pull request, and this study codes issues" if kind == "pull_request" else "no pull request"
        return Batch(problems=(f"{told} is {said}: left out.",))
    return Batch([row])


def _has_moved(client: Client, address: IssueAddress, row: Row) -> bool:
    """Whether it came back from another repository, and not merely under this one's new name."""
    home = repository_of(row.get("repository_url") or row.get("html_url")).lower()
    if not home or home == address.repository.lower():
        return False
    return home != find_repository(client, address.repository).name.lower()


def repository_names(query: SourceQuery) -> tuple[str, ...]:
    """Return the repositories of the query, each once."""
    return tuple(dict.fromkeys(read_repository(told) for told in query.repositories))


def _gone(client: Client, address: IssueAddress, error: NotThereError) -> Batch:
    said = error.message.lower()
    name = f"{address.repository}#{address.number}"
    if "disabled" in said:
        return Batch(problems=(f"{name}: issues are disabled in this repository.",))
    if "version" in said:
        raise SourceError(
            f"GitHub no longer supports what we ask. GitHub says: {error.message}", permanent=True
        )
    if error.status == HTTPStatus.NOT_FOUND:
        find_repository(client, address.repository)  # raises where the whole repository is not there
    record = replace(_placeholder(client, address), gone=True)
    return Batch(told=(record,), problems=(f"{name} was deleted, or is not visible to this token.",))


def _placeholder(client: Client, address: IssueAddress) -> IssueRecord:
    return IssueRecord(host=address.host or client.host, repository=address.repository, number=address.number)


def _refuse_other_name(page: Sequence[Mapping[str, Any]], repository: Repository) -> None:
    for row in page:
        home = repository_of(row.get("repository_url"))
        if home and home.lower() != repository.name.lower():
            raise Renamed


def stamp(at: datetime) -> str:
    """Write a time as GitHub reads it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
