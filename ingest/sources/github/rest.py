"""Reading issues by REST: works without a token, one timeline per issue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ingest.sources.base import SourceError
from ingest.sources.github.addresses import IssueAddress
from ingest.sources.github.client import Client, NotThereError, OverloadedError
from ingest.sources.github.fixes import closes, pull_key, strongest
from ingest.sources.github.rest_records import (
    closing_commits,
    comment_of,
    event_of,
    fix_of_commit,
    fix_of_source,
    issue_of,
    time_of,
    told_events,
)
from labeling.records import FixRecord, IssueRecord, UnitKind

#: Commits that merely name an issue are read, to look for a closing keyword, only as far as this.
NAMED_COMMITS = 5
#: Each divides the one before, so that a page number can be translated.
PAGE_SIZES = (100, 50, 25, 5)

#: A list is known again only if it is shorter than any batch: so it was stored with what it was called.
SHORT = 10

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository under the name it has now."""

    name: str
    id: int | None

    def own(self, row: Row) -> Row:
        """Return a row that says which repository it belongs to, as some of GitHub's answers do."""
        return {**row, "repository": {"full_name": self.name, "id": self.id}}


def find_repository(client: Client, name: str) -> Repository:
    """Ask for a repository; a renamed one answers under its new name."""
    try:
        _, told = client.get(f"/repos/{name}")
    except NotThereError as error:
        sentence = (
            f"{name} was not found, or this token may not see it. Check the spelling or use another token."
        )
        raise NotThereError(sentence, status=error.status, message=error.message) from error
    except OverloadedError:
        raise
    except SourceError as error:
        raise SourceError(f"{name}: {error.sentence}", permanent=error.permanent) from error
    return Repository(told.get("full_name") or name, told.get("id"))


class RestReader:
    """Completes rows of a list with comments, timeline and fixes."""

    #: Few, because without a token an hour allows 60 requests: what was read is stored before the next wait.
    batch = SHORT

    def __init__(self, client: Client) -> None:
        self._client = client

    def count(self, repository: str, kind: UnitKind) -> int | None:
        """Count what the repository has of a kind, None if GitHub does not say."""
        query = f"repo:{repository} is:{'issue' if kind == 'issue' else 'pr'}"
        try:
            _, told = self._client.get(
                "/search/issues", {"q": query, "per_page": 1, "advanced_search": "true"}, tries=1
            )
        except SourceError:
            return None
        return None if told.get("incomplete_results") else told.get("total_count")

    def find(self, addresses: Sequence[IssueAddress]) -> list[Row | None]:
        """Find nothing: each address costs a request of its own."""
        return [None] * len(addresses)

    def read(self, rows: Sequence[Row]) -> Iterator[IssueRecord]:
        """Complete each row, in order."""
        for row in rows:
            yield self.read_one(row)

    def read_one(self, row: Row) -> IssueRecord:
        """Complete one row of an issue list, or one that was found by its address alone."""
        if "title" not in row:
            _, row = self._client.get(f"/repos/{row['repository']['full_name']}/issues/{row['number']}")
        record = issue_of(row, host=self._client.host)
        try:
            events = self._pages(f"/repos/{record.repository}/issues/{record.number}/timeline")
        except NotThereError:
            return self._with_comments_only(record)
        fixes = [*self._pulls(events, record), *self._commits(events, record)]
        if record.kind == "pull_request":
            fixes.append(own_change(row, record))
        return replace(
            record,
            comments=tuple(comment_of(event) for event in events if event.get("event") == "commented"),
            timeline=tuple(event_of(event) for event in told_events(events)),
            fixes=strongest(fixes),
            carries=record.carries | {"comments", "timeline", "fixes"},
        )

    def _with_comments_only(self, record: IssueRecord) -> IssueRecord:
        """Read the comments where a server has no timeline."""
        rows = self._pages(f"/repos/{record.repository}/issues/{record.number}/comments")
        return replace(record, comments=tuple(map(comment_of, rows)), carries=record.carries | {"comments"})

    def _pages(self, path: str) -> list[Row]:
        rows: list[Row] = []
        for page in pages(self._client, path, {}):
            rows += page
        return rows

    def _pulls(self, events: Sequence[Row], record: IssueRecord) -> Iterator[FixRecord]:
        for event in events:
            source = (event.get("source") or {}).get("issue")
            if event.get("event") == "cross-referenced" and source:
                fix = fix_of_source(source, repository=record.repository, number=record.number or 0)
                if fix is not None:
                    yield fix

    def _commits(self, events: Sequence[Row], record: IssueRecord) -> Iterator[FixRecord]:
        """Read the commit that closed the issue, and look for keywords in a few that name it."""
        closing, named = closing_commits(events)
        for url in closing:
            commit = self._commit(url)
            if commit is not None:
                yield fix_of_commit(commit, repository=_home(url), evidence="closed_by")
        for url in named[:NAMED_COMMITS]:
            commit = self._commit(url)
            if commit is None:
                continue
            home, message = _home(url), str((commit.get("commit") or {}).get("message") or "")
            says_so = closes(
                message, written_in=home, repository=record.repository, number=record.number or 0
            )
            fixes = says_so and home.lower() == record.repository.lower()
            yield fix_of_commit(commit, repository=home, evidence="commit_keyword" if fixes else "mentioned")

    def _commit(self, url: str) -> Row | None:
        try:
            _, commit = self._client.get(url)
        except NotThereError:
            return None  # force-pushed away, or in a fork this token cannot see
        return commit if isinstance(commit, Mapping) and commit.get("sha") else None


def pages(
    client: Client, path: str, parameters: Mapping[str, Any], *, may_be_known: bool = False
) -> Iterator[list[Row]]:
    """Follow a list page by page, by the addresses GitHub gives; smaller pages where GitHub breaks down.

    A list that may be known and did not change since it was read is empty.
    """
    size = PAGE_SIZES[0]
    url = f"{path}?{urlencode({**parameters, 'per_page': size})}"
    while url:
        try:
            etag = client.known_etags.get(url, "") if may_be_known else ""
            answer, rows = client.get(url, tries=2, etag=etag)
        except OverloadedError:
            if size == PAGE_SIZES[-1]:
                raise
            smaller = PAGE_SIZES[PAGE_SIZES.index(size) + 1]
            url, size = _with_page_size(url, size, smaller), smaller
            continue
        if not isinstance(rows, list):
            raise OverloadedError("GitHub's answer was no list.")
        if may_be_known and len(rows) < SHORT and not answer.next_url:
            client.etags[url] = answer.headers.get("etag") or etag
        yield rows
        url = answer.next_url or ""


def _with_page_size(url: str, size: int, smaller: int) -> str:
    """Return the address that goes on at the same row with a smaller page, be it counted or by cursor."""
    parts = urlsplit(url)
    asked = dict(parse_qsl(parts.query)) | {"per_page": str(smaller)}
    if "page" in asked:
        asked["page"] = str((int(asked["page"]) - 1) * size // smaller + 1)
    return urlunsplit(parts._replace(query=urlencode(asked)))


def own_change(row: Row, record: IssueRecord) -> FixRecord:
    """Return the change that a pull request, coded as a unit, consists of."""
    merged_at = time_of((row.get("pull_request") or {}).get("merged_at") or row.get("merged_at"))
    return FixRecord(
        key=pull_key(record.repository, record.number or 0),
        kind="pull_request",
        evidence="itself",
        number=record.number,
        url=record.url,
        title=record.title,
        state="merged" if merged_at else record.state or "",
        merged_at=merged_at,
    )


def _home(commit_url: str) -> str:
    """Return ``owner/repo`` of the API address of a commit."""
    _, _, rest = commit_url.partition("/repos/")
    return "/".join(rest.split("/")[:2])
