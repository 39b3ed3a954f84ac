"""Searching issues although GitHub ends every search at 1,000 results: by slices of creation time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from ingest.sources.base import Checkpoint, SourceError, SourceQuery
from ingest.sources.github.addresses import read_repository
from ingest.sources.github.client import Client
from ingest.sources.github.listing import stamp
from ingest.sources.github.rest import Row
from ingest.sources.github.rest_records import time_of

CAP = 1000
PAGE = 100
#: GitHub's first issues are younger.
FIRST_DAY = datetime(2008, 1, 1, tzinfo=UTC)

_REPOSITORY = re.compile(r"(?<!\S)repo:(\S+)")
_CREATED = re.compile(r"(?<!\S)created:\S+")
_KIND = re.compile(r"(?<!\S)(?:is|type):(?:issue|pr|pull-request)(?!\S)")


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one page of a slice, the checkpoints before and after it, and the total of the search."""

    rows: Sequence[Row]
    before: Checkpoint
    after: Checkpoint
    total: int | None
    problems: tuple[str, ...] = ()


def texts(query: SourceQuery) -> list[str]:
    """Return the searches to make: one a repository and kind, since GitHub silently drops unreadable ones."""
    told = query.search.strip()
    if _CREATED.search(told):
        raise SourceError("Give the days of creation in their own fields, not in the search.", permanent=True)
    names = [*_REPOSITORY.findall(told), *query.repositories]
    places = [f"repo:{read_repository(name)}" for name in dict.fromkeys(names)] or [""]
    rest = _KIND.sub("", _REPOSITORY.sub("", told))
    state = "" if query.state == "all" else f"state:{query.state}"
    kinds = [f"is:{'issue' if kind == 'issue' else 'pr'}" for kind in query.unit_kinds]
    return [" ".join(f"{rest} {place} {kind} {state}".split()) for place in places for kind in kinds]


def search(
    client: Client, text: str, query: SourceQuery, checkpoint: Checkpoint, now: datetime
) -> Iterator[Found]:
    """Give the rows of one search, slice by slice, oldest first."""
    slices: list[list[str]] = checkpoint.get("slices", [[stamp(end) for end in _whole_range(query, now)]])
    total: int | None = checkpoint.get("total")
    page = int(checkpoint.get("page") or 1)
    while slices:
        start, end = slices[0]
        told = _ask(client, text, start, end, page)
        count = int(told.get("total_count") or 0)
        total = count if total is None else total
        problems: tuple[str, ...] = ()
        if count > CAP or told.get("incomplete_results"):
            halves = _halve(start, end)
            if halves:
                slices, page = [*halves, *slices[1:]], 1
                continue
            problems = (f"GitHub's search did not give everything created at {start} ({count} found).",)
        before = {"slices": slices, "page": page, "total": total}
        rows = told.get("items") or []
        if len(rows) < PAGE or page * PAGE >= min(count, CAP):
            slices, page = slices[1:], 1
        else:
            page += 1
        yield Found(rows, before, {"slices": slices, "page": page, "total": total}, total, problems)


def _ask(client: Client, text: str, start: str, end: str, page: int) -> Mapping[str, Any]:
    parameters = {
        "q": f"{text} created:{start}..{end}",
        "sort": "created",
        "order": "asc",
        "per_page": PAGE,
        "page": page,
        "advanced_search": "true",
    }
    told: Mapping[str, Any] = {}
    for _ in range(2):  # a search that timed out on GitHub's side often succeeds when asked again
        _, told = client.get("/search/issues", parameters)
        if not told.get("incomplete_results"):
            break
    return told


def _whole_range(query: SourceQuery, now: datetime) -> tuple[datetime, datetime]:
    start = datetime.combine(query.created_from, time(), UTC) if query.created_from else FIRST_DAY
    if query.created_to is None:
        return start, now
    return start, datetime.combine(query.created_to, time(23, 59, 59), UTC)


def _halve(start: str, end: str) -> list[list[str]] | None:
    """Split a range, both ends included, into two that do not overlap; None for a single second."""
    first, last = time_of(start), time_of(end)
    if first is None or last is None or last <= first:
        return None
    middle = first + timedelta(seconds=int((last - first).total_seconds()) // 2)
    return [[start, stamp(middle)], [stamp(middle + timedelta(seconds=1)), end]]
