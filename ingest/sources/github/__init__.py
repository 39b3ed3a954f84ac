"""Issues from GitHub: ``fetch_issues`` for a corpus, ``fetch_patches`` for the diff of one fix."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.sources.base import Checkpoint, Page, SourceError, SourceQuery, Waiting
from ingest.sources.github.batches import Reader, batches_of
from ingest.sources.github.client import PUBLIC_API, Client, Pacing
from ingest.sources.github.graphql import GraphqlReader
from ingest.sources.github.known import Knows, KnowsNothing
from ingest.sources.github.listing import Batch
from ingest.sources.github.patches import read_patches
from ingest.sources.github.rest import RestReader
from labeling.records import FixRecord, IssueRecord

__all__ = ["PUBLIC_API", "Pacing", "fetch_issues", "fetch_patches"]


def fetch_issues(
    query: SourceQuery,
    checkpoint: Checkpoint | None = None,
    *,
    token: str | None = None,
    api_base: str = PUBLIC_API,
    pacing: Pacing | None = None,
    knows: Knows | None = None,
) -> Iterator[Page]:
    """Read what the query asks for, page by page, going on from ``checkpoint``.

    A caller stores the records and the checkpoint of a page together and may then stop at any time. The
    checkpoint of a finished run is where a later run of the same query finds only what changed since;
    ``knows`` spares it what it would find again and lets it look for what is missing.
    Raises ``Waiting`` and ``SourceError``; what was read before is handed over first.
    """
    client = Client(token=token, api_base=api_base, pacing=pacing)
    rest = RestReader(client)
    reader = GraphqlReader(client, rest) if token else rest
    asked = 0
    done = dict(checkpoint or {})
    client.known_etags = done.get("etags") or {}
    try:
        for batch in batches_of(client, reader, query, dict(done), knows or KnowsNothing()):
            records, stopped = _complete(reader, batch, query)
            # What broke off in the middle is stored as far as it came, and read again from the place before.
            if not stopped:
                done = batch.checkpoint | ({"etags": dict(client.etags)} if client.etags else {})
            yield Page(
                records,
                done,
                batch.total,
                client.requests - asked,
                batch.problems,
                unchanged=batch.unchanged,
                quota=dict(client.quota),
            )
            asked = client.requests
            if stopped:
                raise stopped
    except (SourceError, Waiting):
        if client.requests > asked:
            # What was asked in vain counts too.
            yield Page((), done, requests=client.requests - asked, quota=dict(client.quota))
        raise


def fetch_patches(
    fix: FixRecord, *, token: str | None = None, api_base: str = PUBLIC_API, pacing: Pacing | None = None
) -> FixRecord:
    """Return the fix with its files and their patches; what GitHub keeps back is noted at the file."""
    return read_patches(Client(token=token, api_base=api_base, pacing=pacing), fix)


def _complete(
    reader: Reader, batch: Batch, query: SourceQuery
) -> tuple[tuple[IssueRecord, ...], SourceError | Waiting | None]:
    """Complete a batch of rows as far as the source lets us."""
    records = list(batch.told)
    try:
        for record in reader.read(batch.rows):
            if query.wants(record):
                records.append(record)
    except (SourceError, Waiting) as stopped:
        return tuple(records), stopped
    return tuple(records), None
