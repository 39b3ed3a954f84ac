"""Everything a query asks for, as batches of rows with the checkpoint behind each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from ingest.sources.base import Checkpoint, SourceError, SourceQuery
from ingest.sources.github.addresses import read_issue
from ingest.sources.github.client import Client, NotThereError
from ingest.sources.github.graphql import GraphqlReader
from ingest.sources.github.known import Knows, vanished
from ingest.sources.github.listing import (
    Batch,
    follow_repository,
    of_kinds,
    read_address,
    repository_names,
)
from ingest.sources.github.rest import RestReader, Row
from ingest.sources.github.search import search, texts

Reader = RestReader | GraphqlReader
T = TypeVar("T")


def batches_of(
    client: Client, reader: Reader, query: SourceQuery, checkpoint: Checkpoint, knows: Knows
) -> Iterator[Batch]:
    """Give what the query asks for, in batches a reader completes in one go."""
    if query.search or query.issues:
        found = (_searched if query.search else _addressed)(client, reader, query, checkpoint)
        return _changed(found, knows)
    return _listed(client, reader, query, checkpoint, knows)


def _changed(found: Iterator[Batch], knows: Knows) -> Iterator[Batch]:
    """Leave out what is known as it is: a search and a list of addresses find it again each time."""
    for batch in found:
        rows = knows.changed(batch.rows) if batch.rows else batch.rows
        yield replace(batch, rows=rows, unchanged=len(batch.rows) - len(rows))


def _listed(
    client: Client, reader: Reader, query: SourceQuery, checkpoint: Checkpoint, knows: Knows
) -> Iterator[Batch]:
    """Give the issues of each repository; one that cannot be read does not stop the others."""
    seen: dict[str, str] = dict(checkpoint.get("seen") or {})
    totals: dict[str, int | None] = dict(checkpoint.get("totals") or {})
    unreadable = int(checkpoint.get("unreadable") or 0)
    before = list(checkpoint.get("before") or ())
    targets = [(name, kind) for name in repository_names(query) for kind in query.unit_kinds]

    def batch(at: int, rows: Sequence[Row] = (), problems: tuple[str, ...] = ()) -> Batch:
        told = {"at": at, "seen": dict(seen), "totals": dict(totals), "unreadable": unreadable}
        told |= {"before": before} if before else {}
        return Batch(rows, told, total=_sum(totals), problems=problems)

    for at, (name, kind) in enumerate(targets):
        if at < int(checkpoint.get("at") or 0):
            continue
        target = f"{name} {kind}"
        try:
            listed = follow_repository(client, name, kind, query, seen.get(target), reader.batch)
            for (rows, last), is_last in _with_end(listed):
                if target not in totals:
                    totals[target] = reader.count(name, kind)
                if last:
                    seen[target] = last
                # Asking once more for what changed since would find the last one again, for ever.
                yield batch(at + 1 if is_last and target not in before else at, rows)
            if target in before:
                missing = vanished(client, name, kind, query, totals.get(target), knows)
                yield from (replace(each, checkpoint=batch(at).checkpoint, total=None) for each in missing)
                yield batch(at + 1)
        except SourceError as error:
            if not error.permanent or _is_about_the_token(error):
                raise
            unreadable += 1
            if unreadable == len(targets):
                raise
            yield batch(
                at + 1, problems=(error.sentence if name in error.sentence else f"{name}: {error.sentence}",)
            )


def _with_end(items: Iterator[T]) -> Iterator[tuple[T, bool]]:
    """Give each item and whether it is the last one."""
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        yield item, following is None
        item = following


def _addressed(client: Client, reader: Reader, query: SourceQuery, checkpoint: Checkpoint) -> Iterator[Batch]:
    total = len(query.issues)
    unreadable: set[str] = set()
    for at in range(int(checkpoint.get("at") or 0), total, reader.batch):
        asked = query.issues[at : at + reader.batch]
        rows = reader.find([read_issue(told, client.host) for told in asked])
        found = [
            of_kinds(told, row, query.unit_kinds) if row else _look_up(client, told, query, unreadable)
            for told, row in zip(asked, rows, strict=True)
        ]
        yield Batch(
            [row for batch in found for row in batch.rows],
            {"at": at + reader.batch},
            told=tuple(record for batch in found for record in batch.told),
            total=total,
            problems=tuple(sentence for batch in found for sentence in batch.problems),
        )


def _look_up(client: Client, told: str, query: SourceQuery, unreadable: set[str]) -> Batch:
    """Ask for one issue, unless its whole repository was not there before."""
    repository = read_issue(told).repository.lower()
    try:
        return read_address(client, told, query.unit_kinds) if repository not in unreadable else Batch()
    except NotThereError as error:
        unreadable.add(repository)
        return Batch(problems=(error.sentence,))


def _searched(client: Client, reader: Reader, query: SourceQuery, checkpoint: Checkpoint) -> Iterator[Batch]:
    totals: dict[str, int | None] = dict(checkpoint.get("totals") or {})
    start_at = int(checkpoint.get("at") or 0)
    for at, text in enumerate(texts(query)):
        if at < start_at:
            continue
        within, skip = (
            (checkpoint.get("within") or {}, int(checkpoint.get("skip") or 0)) if at == start_at else ({}, 0)
        )
        for found in search(client, text, query, within, datetime.now(UTC)):
            totals[text] = found.total
            for start in range(skip, max(len(found.rows), skip + 1), reader.batch):
                end = start + reader.batch
                place = (
                    {"within": found.after, "skip": 0}
                    if end >= len(found.rows)
                    else {"within": found.before, "skip": end}
                )
                told = {"at": at, "totals": dict(totals), **place}
                yield Batch(
                    found.rows[start:end], told, total=_sum(totals), problems=() if start else found.problems
                )
            skip = 0


def _sum(totals: Mapping[str, int | None]) -> int | None:
    """Add up, if all are known: a part would look like the whole."""
    known = [count for count in totals.values() if count is not None]
    return sum(known) if len(known) == len(totals) else None


def _is_about_the_token(error: SourceError) -> bool:
    """A refused token is refused everywhere: asking on would only annoy GitHub."""
    return "refuses the token" in error.sentence
