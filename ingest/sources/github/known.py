"""What whoever imports may know already. The source asks; it never looks into a database itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ingest.sources.base import SourceQuery
from ingest.sources.github.client import Client
from ingest.sources.github.listing import EARLIEST, Batch, read_address, stamp
from ingest.sources.github.rest import Row, find_repository, pages
from ingest.sources.github.rest_records import issue_of
from labeling.records import UnitKind


class Knows(Protocol):
    """Questions to whoever imports."""

    def numbers(self, repository: str, repository_id: int | None, kind: str) -> set[int]:
        """Give the numbers of a repository that an earlier import brought."""
        ...

    def changed(self, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Leave out the rows that are known as of the same change."""
        ...


class KnowsNothing:
    """What a first import knows."""

    def numbers(self, repository: str, repository_id: int | None, kind: str) -> set[int]:
        return set()

    def changed(self, rows: Sequence[Row]) -> list[Row]:
        return list(rows)


def vanished(
    client: Client, name: str, kind: UnitKind, query: SourceQuery, total: int | None, knows: Knows
) -> Iterator[Batch]:
    """Look up every issue that an earlier import brought and the repository no longer lists.

    Lists never tell of what was deleted or transferred. While the repository has as many as are known,
    nothing can be missing, and it is not listed for that alone.
    """
    repository = find_repository(client, name)
    known = knows.numbers(repository.name, repository.id, kind)
    is_whole = query.state == "all" and not query.created_from and not query.created_to
    if not known or (is_whole and total is not None and len(known) <= total):
        return
    asked = {"state": "all", "sort": "created", "direction": "asc", "since": stamp(EARLIEST)}
    listed = {
        issue_of(row).number
        for page in pages(client, f"/repos/{repository.name}/issues", asked)
        for row in page
    }
    for number in sorted(known - listed):
        found = read_address(client, f"{repository.name}#{number}", [kind])
        # By the id of the repository it is known under whatever name it was stored.
        yield replace(found, told=tuple(replace(each, repository_id=repository.id) for each in found.told))
