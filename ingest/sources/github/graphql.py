"""Reading issues by GraphQL: 50 at a time with comments, timeline and what closed them. Needs a token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.sources.base import SourceError
from ingest.sources.github.addresses import IssueAddress
from ingest.sources.github.client import Client, NotThereError, OverloadedError
from ingest.sources.github.graphql_queries import (
    COUNT_QUERY,
    ISSUES_QUERY,
    MORE_COMMENTS_QUERY,
    MORE_ISSUE_EVENTS_QUERY,
    MORE_PULL_EVENTS_QUERY,
    OLDER_ISSUES_QUERY,
    addresses_query,
)
from ingest.sources.github.graphql_records import Node, issue_of_node
from ingest.sources.github.rest import RestReader, Row
from labeling.records import IssueRecord, UnitKind

#: 25 issues cost one point and 50 two. The larger page makes up for the list, which costs requests too and
#: counts pull requests; where GitHub's time limit is too near, pages shrink.
PAGE_SIZES = (50, 25, 10, 5, 1)
#: After so many good pages a larger one is tried again.
GOOD_PAGES = 20


class NoGraphqlError(Exception):
    """The server has no GraphQL, or an older one without the fields we ask for."""


class GraphqlReader:
    """Completes rows of a list by their node ids; what GraphQL cannot carry, REST reads one by one."""

    batch = PAGE_SIZES[0]

    def __init__(self, client: Client, fallback: RestReader) -> None:
        self._client = client
        self._fallback = fallback
        self._size = PAGE_SIZES[0]
        self._good = 0
        self._query: str | None = ISSUES_QUERY

    def count(self, repository: str, kind: UnitKind) -> int | None:
        """Count what the repository has of a kind."""
        owner, _, name = repository.partition("/")
        try:
            told = self._ask(COUNT_QUERY, {"owner": owner, "name": name})
        except (NoGraphqlError, SourceError):
            return self._fallback.count(repository, kind)
        counts = told.get("repository") or {}
        return (counts.get("issues" if kind == "issue" else "pullRequests") or {}).get("totalCount")

    def find(self, addresses: Sequence[IssueAddress]) -> list[Row | None]:
        """Find what is where an address says, in one request; of all else REST tells what became of it."""
        try:
            told = self._ask(addresses_query(addresses), {})
        except (NoGraphqlError, SourceError):
            return [None] * len(addresses)
        found = ((told.get(f"a{at}") or {}).get("found") for at in range(len(addresses)))
        return [
            _row(node) if node and _home(node) == each.repository.lower() else None
            for each, node in zip(addresses, found, strict=True)
        ]

    def read(self, rows: Sequence[Row]) -> Iterator[IssueRecord]:
        """Complete the rows, in order, in pages as large as GitHub can carry at the moment."""
        waiting = list(rows)
        while waiting:
            if self._query is None or not all(row.get("node_id") for row in waiting):
                yield from self._fallback.read(waiting)
                return
            page, rest = waiting[: self._size], waiting[self._size :]
            try:
                yield from self._read_page(page, self._query)
            except OverloadedError:
                self._good = 0
                if self._size > PAGE_SIZES[-1]:
                    self._size = PAGE_SIZES[PAGE_SIZES.index(self._size) + 1]
                    continue
                yield from self._fallback.read(page)
            except NoGraphqlError:
                self._query = OLDER_ISSUES_QUERY if self._query == ISSUES_QUERY else None
                continue
            waiting = rest

    def _read_page(self, rows: Sequence[Row], query: str) -> list[IssueRecord]:
        """Read a page whole: part of one is never handed on as complete."""
        told = self._ask(query, {"ids": [row["node_id"] for row in rows]})
        nodes = {node["id"]: node for node in told.get("nodes") or () if node and node.get("id")}
        records = []
        for row in rows:
            # A node id in GitHub's old format comes back in the new one: then the number tells.
            node = nodes.get(row["node_id"]) or next(
                (each for each in nodes.values() if each.get("number") == row.get("number")), None
            )
            records.append(self._record(node) if node else self._fallback.read_one(row))
        self._climb()
        return records

    def _record(self, node: Node) -> IssueRecord:
        is_pull = node.get("__typename") == "PullRequest"
        more_events = MORE_PULL_EVENTS_QUERY if is_pull else MORE_ISSUE_EVENTS_QUERY
        comments = self._all(node, "comments", MORE_COMMENTS_QUERY)
        events = self._all(node, "timelineItems", more_events)
        return issue_of_node(node, comments, events, host=self._client.host)

    def _all(self, node: Node, name: str, query: str) -> list[Node]:
        """Return all nodes of an inner connection, page by page."""
        connection = node.get(name) or {}
        found = [each for each in connection.get("nodes") or () if each]
        while (connection.get("pageInfo") or {}).get("hasNextPage"):
            told = self._ask(query, {"id": node["id"], "after": connection["pageInfo"]["endCursor"]})
            connection = (told.get("node") or {}).get("connection") or {}
            found += [each for each in connection.get("nodes") or () if each]
        return found

    def _climb(self) -> None:
        self._good += 1
        if self._good >= GOOD_PAGES and self._size < PAGE_SIZES[0]:
            self._size = PAGE_SIZES[PAGE_SIZES.index(self._size) - 1]
            self._good = 0

    def _ask(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask and judge: GitHub reports errors of GraphQL with status 200."""
        for attempt in (1, 2, 3, 4):
            try:
                answer, told = self._client.post_graphql(query, variables)
            except NotThereError as error:
                raise NoGraphqlError from error
            errors = [error for error in told.get("errors") or () if isinstance(error, Mapping)]
            if not any(_kind(error) == "RATE_LIMITED" for error in errors):
                break
            self._client.wait_for_limit(answer, attempt)
        _judge(errors)
        data = told.get("data")
        if not isinstance(data, Mapping):
            raise NoGraphqlError
        return data


def _home(node: Node) -> str:
    return str((node.get("repository") or {}).get("nameWithOwner")).lower()


def _row(node: Node) -> Row:
    """Say of a node what a list of REST would, as far as it is needed to complete it."""
    row = {"node_id": node["id"], "number": node["number"], "updated_at": node.get("updatedAt")}
    row |= {"html_url": node.get("url"), "repository": {"full_name": node["repository"]["nameWithOwner"]}}
    return row | ({"pull_request": {}} if node.get("__typename") == "PullRequest" else {})


def _kind(error: Mapping[str, Any]) -> str:
    return str(error.get("type") or (error.get("extensions") or {}).get("code") or "")


def _judge(errors: Sequence[Mapping[str, Any]]) -> None:
    """Raise what the errors mean. A node that is not there is no error: REST will say what became of it."""
    serious = [error for error in errors if _kind(error) != "NOT_FOUND"]
    if not serious:
        return
    kind, message = _kind(serious[0]), str(serious[0].get("message") or "")
    # What a server does not understand in a query has a camelCase code: undefinedField, fieldConflict.
    if kind[:1].islower() or "doesn't exist on type" in message:
        raise NoGraphqlError
    if kind in {"FORBIDDEN", "INSUFFICIENT_SCOPES", "SAML_FAILURE"}:
        raise SourceError(
            f"GitHub does not allow this token to read it. GitHub says: {message}", permanent=True
        )
    # RESOURCE_LIMITS_EXCEEDED, MAX_NODE_LIMIT_EXCEEDED, "Something went wrong": a smaller page may pass.
    raise OverloadedError(f"GitHub could not answer. GitHub says: {message}")
