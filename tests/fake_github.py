"""A stand-in for GitHub on this machine: REST and GraphQL as far as imports need them, and its faults.

Written from GitHub's documentation. Run it with ``python -m tests.fake_github --port 8081``, start Intercoder
with ``GITHUB_API_URLS=http://127.0.0.1:8081`` and import ``acme/train`` or ``acme/kernels``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.fakes import FakeCommit, FakeFile, FakeItem, FakeRepository, make_repository

GOOD_TOKEN = "good-token"
SEARCH_CAP = 1000


@dataclass
class Fault:
    """An answer given instead of the real one, for the next ``times`` requests it matches."""

    where: str
    status: int = 502
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    skip: int = 0
    drop: bool = False


@dataclass
class Request:
    """What a handler needs to know of a request."""

    method: str
    path: str
    query: dict[str, str]
    body: Mapping[str, Any]
    token: str | None

    @property
    def operation(self) -> str:
        """Name of a GraphQL query."""
        found = re.search(r"query (\w+)", str(self.body.get("query") or ""))
        return found[1] if found else ""

    @property
    def address(self) -> str:
        """What faults match: path and query, or ``graphql:Operation``."""
        if self.path.endswith("/graphql"):
            return f"graphql:{self.operation}"
        return f"{self.path}?{urlencode(self.query)}"


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class FakeGithub:
    """The state of the stand-in, and its switches."""

    def __init__(self, *repositories: FakeRepository) -> None:
        self.repositories = {repository.name.lower(): repository for repository in repositories}
        self.url = ""
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self.before: Callable[[Request], None] = lambda request: None
        self.renamed: dict[str, str] = {}
        self.moved: dict[tuple[str, int], tuple[str, int]] = {}
        self.deleted: dict[tuple[str, int], Answer] = {}
        self.has_graphql = True
        self.has_timeline = True
        self.largest_page = 100
        self.largest_graphql_page = 100
        self.patch_lines = 20_000
        self.incomplete_searches = 0
        self.remaining: int | None = None
        self.unchanged = 0

    def fail(self, where: str, **fault: Any) -> Fault:
        """Answer the next request whose address contains ``where`` with a fault."""
        made = Fault(where, **fault)
        self.faults.append(made)
        return made

    def count(self, where: str) -> int:
        """Count the requests whose address contains ``where``."""
        return sum(where in request.address for request in self.requests)

    def next_fault(self, request: Request) -> Fault | None:
        for fault in self.faults:
            if fault.where in request.address and fault.times > 0:
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    def answer(self, request: Request) -> Answer:
        """Answer like GitHub would."""
        if request.token is not None and request.token != GOOD_TOKEN:
            return Answer(401, {"message": "Bad credentials"})
        for pattern, handle in ROUTES:
            found = pattern.fullmatch(request.path)
            if found:
                answer = handle(self, request, *found.groups())
                return answer
        return _not_found()

    def repository(self, name: str) -> FakeRepository | None:
        return self.repositories.get(name.lower())

    def items(self, kind: str = "all") -> list[FakeItem]:
        every = [item for each in self.repositories.values() for item in each.items.values()]
        return [item for item in every if kind == "all" or item.is_pull == (kind == "pull")]

    def html(self, item: FakeItem) -> str:
        return f"https://github.com/{item.repository}/{'pull' if item.is_pull else 'issues'}/{item.number}"


# --- REST ---------------------------------------------------------------------------------------------------


def _get_repository(github: FakeGithub, request: Request, name: str) -> Answer:
    if name.lower() in github.renamed:
        return Answer(301, {"message": "Moved Permanently"}, _location(github, github.renamed[name.lower()]))
    repository = github.repository(name)
    if repository is None:
        return _not_found()
    return Answer(
        body={
            "id": repository.id,
            "full_name": repository.name,
            "has_issues": repository.has_issues,
            "private": False,
        }
    )


def _list_issues(github: FakeGithub, request: Request, name: str) -> Answer:
    if name.lower() in github.renamed:
        # GitHub's redirect keeps the query, but clients lose it.
        return Answer(301, {"message": "Moved"}, _location(github, f"{github.renamed[name.lower()]}/issues"))
    repository = github.repository(name)
    if repository is None:
        return _not_found()
    if not repository.has_issues:
        return Answer(410, {"message": "Issues are disabled for this repo"})
    if int(request.query.get("page", 1)) >= 100:
        return Answer(422, {"message": "In order to keep the API fast, please use cursor based pagination"})
    per_page = _per_page(github, request)
    if isinstance(per_page, Answer):
        return per_page
    items = _filtered(repository, request.query)
    after = request.query.get("after")
    if after:
        updated, number = after.split("~")
        items = [item for item in items if (stamp(item.updated_at), item.number) > (updated, int(number))]
    page = items[:per_page]
    headers = {}
    if len(items) > per_page:
        cursor = f"{stamp(page[-1].updated_at)}~{page[-1].number}"
        headers["Link"] = _link(github, request, after=cursor)
    return Answer(body=[issue_row(github, item) for item in page], headers=headers)


def _filtered(repository: FakeRepository, query: Mapping[str, str]) -> list[FakeItem]:
    state, since = query.get("state", "open"), query.get("since", "")
    items = [item for item in repository.items.values() if state in ("all", item.state)]
    items = [item for item in items if stamp(item.updated_at) >= since]
    newest_first = query.get("sort") != "updated" or query.get("direction", "desc") == "desc"
    return sorted(items, key=lambda item: (stamp(item.updated_at), item.number), reverse=newest_first)


def _get_issue(github: FakeGithub, request: Request, name: str, number: str) -> Answer:
    place = (name.lower(), int(number))
    if name.lower() in github.renamed:
        new_name = github.renamed[name.lower()]
        return Answer(301, {"message": "Moved"}, _location(github, f"{new_name}/issues/{number}"))
    if place in github.moved:
        repository, moved_to = github.moved[place]
        return Answer(301, {"message": "Moved"}, _location(github, f"{repository}/issues/{moved_to}"))
    if place in github.deleted:
        return github.deleted[place]
    item = _item(github, name, number)
    return Answer(body=issue_row(github, item)) if item else _not_found()


def _list_comments(github: FakeGithub, request: Request, name: str, number: str) -> Answer:
    item = _item(github, name, number)
    if item is None:
        return _not_found()
    return _paged(github, request, [_comment_row(github, item, each) for each in item.comments])


def _list_timeline(github: FakeGithub, request: Request, name: str, number: str) -> Answer:
    item = _item(github, name, number)
    if item is None or not github.has_timeline:
        return _not_found()
    rows = [{**_comment_row(github, item, each), "event": "commented"} for each in item.comments]
    rows += [_event_row(github, item, each) for each in item.events]
    return _paged(github, request, sorted(rows, key=lambda row: row["created_at"]))


def _search(github: FakeGithub, request: Request) -> Answer:
    told = request.query.get("q", "")
    names = re.findall(r"repo:(\S+)", told)
    for name in names:
        if github.repository(name) is None:
            return Answer(422, {"message": "Validation Failed"})
    items = github.items("pull" if "is:pr" in told else "issue")
    if names:
        items = [item for item in items if item.repository.lower() in {name.lower() for name in names}]
    created = re.search(r"created:(\S+)\.\.(\S+)", told)
    if created:
        items = [item for item in items if created[1] <= stamp(item.created_at) <= created[2]]
    for state in re.findall(r"state:(\w+)", told):
        items = [item for item in items if item.state == state]
    for label in re.findall(r"label:(\w+)", told):
        items = [item for item in items if label in item.labels]
    for word in re.findall(r"(?<!\S)([a-z]+)(?!\S)", told):
        items = [item for item in items if word in f"{item.title} {item.body}".lower()]
    items.sort(key=lambda item: (item.created_at, item.number))
    per_page, page = int(request.query.get("per_page", 30)), int(request.query.get("page", 1))
    if page * per_page > SEARCH_CAP:
        return Answer(422, {"message": "Only the first 1000 search results are available"})
    incomplete = github.incomplete_searches > 0
    github.incomplete_searches -= incomplete
    rows = [issue_row(github, item) for item in items[(page - 1) * per_page : page * per_page]]
    return Answer(body={"total_count": len(items), "incomplete_results": incomplete, "items": rows})


def _get_pull(github: FakeGithub, request: Request, name: str, number: str) -> Answer:
    item = _item(github, name, number)
    if item is None or not item.is_pull:
        return _not_found()
    counts = {
        "additions": sum(file.additions for file in item.files),
        "deletions": sum(file.deletions for file in item.files),
        "changed_files": len(item.files),
        "merged_at": item.merged_at and stamp(item.merged_at),
    }
    return Answer(body={**issue_row(github, item), **counts})


def _list_files(github: FakeGithub, request: Request, name: str, number: str) -> Answer:
    item = _item(github, name, number)
    if item is None or not item.is_pull:
        return _not_found()
    answer = _paged(github, request, [_file_row(file) for file in item.files[:3000]])
    lines = 0
    for row in answer.body if isinstance(answer.body, list) else []:
        lines += len((row.get("patch") or "").splitlines())
        if lines > github.patch_lines:
            # Without a mark, as observed: no counts, no patch.
            row.update(additions=0, deletions=0)
            row.pop("patch", None)
    return answer


def _get_commit(github: FakeGithub, request: Request, name: str, sha: str) -> Answer:
    repository = github.repository(name)
    commit = repository and repository.commits.get(sha)
    if not repository or not commit:
        return _not_found()
    return Answer(
        body={
            "sha": commit.sha,
            "html_url": f"https://github.com/{repository.name}/commit/{commit.sha}",
            "commit": {"message": commit.message},
            "stats": {"additions": 1, "deletions": 1, "total": 2},
            "files": [_file_row(file) for file in commit.files],
        }
    )


ROUTES: list[tuple[re.Pattern[str], Callable[..., Answer]]] = [
    (re.compile(r"/repos/([^/]+/[^/]+)"), _get_repository),
    (re.compile(r"/repos/([^/]+/[^/]+)/issues"), _list_issues),
    (re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)"), _get_issue),
    (re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)/comments"), _list_comments),
    (re.compile(r"/repos/([^/]+/[^/]+)/issues/(\d+)/timeline"), _list_timeline),
    (re.compile(r"/repos/([^/]+/[^/]+)/pulls/(\d+)"), _get_pull),
    (re.compile(r"/repos/([^/]+/[^/]+)/pulls/(\d+)/files"), _list_files),
    (re.compile(r"/repos/([^/]+/[^/]+)/commits/(\w+)"), _get_commit),
    (re.compile(r"/search/issues"), _search),
    (re.compile(r"/graphql"), lambda github, request: _graphql(github, request)),
]


def issue_row(github: FakeGithub, item: FakeItem) -> dict[str, Any]:
    """Return an issue as a REST list gives it."""
    row: dict[str, Any] = {
        "id": item.id,
        "node_id": item.node_id,
        "number": item.number,
        "title": item.title,
        "body": item.body,
        "user": _user(item.user),
        "state": item.state,
        "state_reason": item.state_reason,
        "labels": [{"name": label} for label in item.labels],
        "milestone": None,
        "author_association": "CONTRIBUTOR",
        "comments": len(item.comments),
        "reactions": {"url": "", "total_count": sum(item.reactions.values()), "+1": 0, **item.reactions},
        "created_at": stamp(item.created_at),
        "updated_at": stamp(item.updated_at),
        "closed_at": item.closed_at and stamp(item.closed_at),
        "html_url": github.html(item),
        "url": f"{github.url}/repos/{item.repository}/issues/{item.number}",
        "repository_url": f"{github.url}/repos/{item.repository}",
    }
    if item.is_pull:
        row["pull_request"] = {
            "merged_at": item.merged_at and stamp(item.merged_at),
            "html_url": github.html(item),
        }
    return row


def _comment_row(github: FakeGithub, item: FakeItem, comment: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": comment["id"],
        "body": comment["body"],
        "user": _user(comment["user"]),
        "created_at": stamp(comment["at"]),
        "updated_at": stamp(comment["at"]),
        "author_association": "MEMBER",
        "issue_url": f"{github.url}/repos/{item.repository}/issues/{item.number}",
    }


def _event_row(github: FakeGithub, item: FakeItem, event: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "event": event["kind"],
        "actor": _user(event["actor"]),
        "created_at": stamp(event["at"]),
    }
    commit = event.get("commit")
    if isinstance(commit, FakeCommit):
        row["commit_id"] = commit.sha
        row["commit_url"] = f"{github.url}/repos/{item.repository}/commits/{commit.sha}"
    if event["kind"] == "cross-referenced":
        row["source"] = {"type": "issue", "issue": issue_row(github, event["source"])}
    if "label" in event:
        row["label"] = {"name": event["label"]}
    if "state_reason" in event:
        row["state_reason"] = event["state_reason"]
    return row


def _file_row(file: FakeFile) -> dict[str, Any]:
    row = {
        "filename": file.filename,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "patch": file.patch,
        "previous_filename": file.previous_filename,
    }
    return {name: value for name, value in row.items() if value is not None}


def _paged(github: FakeGithub, request: Request, rows: list[dict[str, Any]]) -> Answer:
    per_page = _per_page(github, request)
    if isinstance(per_page, Answer):
        return per_page
    page = int(request.query.get("page", 1))
    if page * per_page > 30_000:
        return Answer(
            422, {"message": "In order to keep the API fast, pagination is limited for this resource."}
        )
    more = len(rows) > page * per_page
    headers = {"Link": _link(github, request, page=str(page + 1))} if more else {}
    return Answer(body=rows[(page - 1) * per_page : page * per_page], headers=headers)


def _per_page(github: FakeGithub, request: Request) -> int | Answer:
    per_page = min(int(request.query.get("per_page", 30)), 100)
    if per_page > github.largest_page:
        return Answer(502, {"message": "Server Error"})
    return per_page


# --- GraphQL ------------------------------------------------------------------------------------------------


def _graphql(github: FakeGithub, request: Request) -> Answer:
    if not github.has_graphql:
        return _not_found()
    if request.token is None:
        return Answer(401, {"message": "This endpoint requires you to be authenticated."})
    variables = request.body.get("variables") or {}
    match request.operation:
        case "Count":
            repository = github.repository(f"{variables['owner']}/{variables['name']}")
            if repository is None:
                missing = {"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve"}
                return Answer(body={"data": {"repository": None}, "errors": [missing]})
            counts = {
                "issues": {"totalCount": len(repository.issues)},
                "pullRequests": {"totalCount": len(repository.pulls)},
            }
            return Answer(body={"data": {"repository": counts}})
        case "Addresses":
            return _graphql_addresses(github, str(request.body["query"]))
        case "Issues":
            return _graphql_nodes(github, variables["ids"])
        case "MoreComments" | "MoreEvents":
            item = _by_node(github, variables["id"])
            assert item is not None
            name = "comments" if request.operation == "MoreComments" else "timelineItems"
            connection = _connection(_nodes_of(github, item, name), 100, variables.get("after"))
            return Answer(body={"data": {"node": {"connection": connection}}})
    return Answer(body={"errors": [{"message": f"No such query: {request.operation}"}]})


_ALIAS = re.compile(
    r'(\w+): repository\(owner: "([^"]+)", name: "([^"]+)"\) { found: issueOrPullRequest\(number: (\d+)\)'
)


def _graphql_addresses(github: FakeGithub, query: str) -> Answer:
    data: dict[str, Any] = {}
    for alias, owner, name, number in _ALIAS.findall(query):
        asked = github.repository(f"{owner}/{name}")
        place = asked and github.moved.get((asked.name, int(number)), (asked.name, int(number)))
        home = place and github.repository(place[0])
        item = None
        if home and place and (home.name, place[1]) not in github.deleted:
            item = home.items.get(place[1])
        node = _issue_node(github, item) if item else None
        data[alias] = {"found": node} if asked else None
    missing = [
        {"type": "NOT_FOUND", "path": [alias], "message": "Could not resolve"}
        for alias, told in data.items()
        if not (told and told["found"])
    ]
    return Answer(body={"data": data, **({"errors": missing} if missing else {})})


def _graphql_nodes(github: FakeGithub, ids: list[str]) -> Answer:
    if len(ids) > github.largest_graphql_page:
        error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits for this query exceeded."}
        return Answer(body={"data": {"nodes": [None] * len(ids)}, "errors": [error]})
    nodes = [_issue_node(github, item) if (item := _by_node(github, told)) else None for told in ids]
    errors = [
        {"type": "NOT_FOUND", "path": ["nodes", at], "message": "Could not resolve"}
        for at, node in enumerate(nodes)
        if node is None
    ]
    return Answer(body={"data": {"nodes": nodes}, **({"errors": errors} if errors else {})})


def _issue_node(github: FakeGithub, item: FakeItem) -> dict[str, Any]:
    repository = github.repositories[item.repository.lower()]
    node: dict[str, Any] = {
        "__typename": "PullRequest" if item.is_pull else "Issue",
        "id": item.node_id,
        "fullDatabaseId": str(item.id),
        "number": item.number,
        "url": github.html(item),
        "title": item.title,
        "body": item.body or "",
        "pullState" if item.is_pull else "issueState": "MERGED" if item.merged_at else item.state.upper(),
        "createdAt": stamp(item.created_at),
        "updatedAt": stamp(item.updated_at),
        "closedAt": item.closed_at and stamp(item.closed_at),
        "authorAssociation": "CONTRIBUTOR",
        "author": _actor(item.user),
        "milestone": None,
        "reactionGroups": [{"content": "THUMBS_UP", "reactors": {"totalCount": item.reactions.get("+1", 0)}}],
        "labels": {"nodes": [{"name": label} for label in item.labels]},
        "repository": {"nameWithOwner": item.repository, "databaseId": repository.id},
        "comments": _connection(_nodes_of(github, item, "comments"), 50, None),
        "timelineItems": _connection(_nodes_of(github, item, "timelineItems"), 50, None),
    }
    if item.is_pull:
        return {**_pull_node(github, item), **node}
    closers = [event["pull"] for event in item.events if event["kind"] == "closed" and event.get("pull")]
    node["stateReason"] = item.state_reason and item.state_reason.upper()
    node["duplicateOf"] = item.duplicate_of and {
        "number": item.duplicate_of,
        "repository": {"nameWithOwner": item.repository},
    }
    node["closedByPullRequestsReferences"] = {"nodes": [_pull_node(github, pull) for pull in closers]}
    return node


def _nodes_of(github: FakeGithub, item: FakeItem, name: str) -> list[dict[str, Any]]:
    if name == "timelineItems":
        return [_event_node(github, item, event) for event in item.events]
    return [
        {
            "id": f"IC_{comment['id']}",
            "fullDatabaseId": str(comment["id"]),
            "body": comment["body"],
            "createdAt": stamp(comment["at"]),
            "updatedAt": stamp(comment["at"]),
            "authorAssociation": "MEMBER",
            "author": _actor(comment["user"]),
            "reactionGroups": [],
        }
        for comment in item.comments
    ]


def _event_node(github: FakeGithub, item: FakeItem, event: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "closed": "ClosedEvent",
        "reopened": "ReopenedEvent",
        "labeled": "LabeledEvent",
        "cross-referenced": "CrossReferencedEvent",
        "referenced": "ReferencedEvent",
        "connected": "ConnectedEvent",
        "disconnected": "DisconnectedEvent",
        "merged": "MergedEvent",
    }
    node: dict[str, Any] = {
        "__typename": names[event["kind"]],
        "createdAt": stamp(event["at"]),
        "actor": _actor(event["actor"]),
    }
    commit = event.get("commit")
    if event["kind"] == "closed" and not item.is_pull:
        node["stateReason"] = str(event.get("state_reason") or "").upper() or None
        node["closer"] = None
        if event.get("pull"):
            node["closer"] = _pull_node(github, event["pull"])
        elif isinstance(commit, FakeCommit):
            node["closer"] = _commit_node(item, commit)
        elif event.get("project"):
            node["closer"] = {"__typename": "ProjectV2"}
    elif isinstance(commit, FakeCommit):
        node["commit"] = _commit_node(item, commit)
        node["commitRepository"] = {"nameWithOwner": item.repository}
    elif commit:
        node["commit"] = {"oid": commit}
    if "source" in event:
        where = "source" if event["kind"] == "cross-referenced" else "subject"
        node[where] = _pull_node(github, event["source"])
        node["willCloseTarget"] = bool(event.get("will_close"))
    if "label" in event:
        node["label"] = {"name": event["label"]}
    return node


def _pull_node(github: FakeGithub, item: FakeItem) -> dict[str, Any]:
    return {
        "__typename": "PullRequest" if item.is_pull else "Issue",
        "number": item.number,
        "title": item.title,
        "body": item.body or "",
        "url": github.html(item),
        "state": "MERGED" if item.merged_at else item.state.upper(),
        "merged": item.merged_at is not None,
        "mergedAt": item.merged_at and stamp(item.merged_at),
        "additions": sum(file.additions for file in item.files),
        "deletions": sum(file.deletions for file in item.files),
        "changedFiles": len(item.files),
        "mergeCommit": item.merge_sha and {"oid": item.merge_sha},
        "repository": {"nameWithOwner": item.repository},
    }


def _commit_node(item: FakeItem, commit: FakeCommit) -> dict[str, Any]:
    return {
        "__typename": "Commit",
        "oid": commit.sha,
        "message": commit.message,
        "url": f"https://github.com/{item.repository}/commit/{commit.sha}",
        "additions": 1,
        "deletions": 1,
        "changedFilesIfAvailable": len(commit.files),
        "repository": {"nameWithOwner": item.repository},
    }


def _connection(nodes: list[dict[str, Any]], first: int, after: str | None) -> dict[str, Any]:
    start = int(after or 0)
    end = start + first
    return {"pageInfo": {"hasNextPage": end < len(nodes), "endCursor": str(end)}, "nodes": nodes[start:end]}


# --- the rest -----------------------------------------------------------------------------------------------


def stamp(at: datetime) -> str:
    """Write a time as GitHub does."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _user(login: str | None) -> dict[str, Any] | None:
    return login and {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}  # type: ignore[return-value]


def _actor(login: str | None) -> dict[str, Any] | None:
    if login is None or login == "ghost":
        return None
    is_bot = login.endswith("[bot]")
    return {"login": login.removesuffix("[bot]"), "__typename": "Bot" if is_bot else "User"}


def _item(github: FakeGithub, name: str, number: str) -> FakeItem | None:
    repository = github.repository(name)
    return repository.items.get(int(number)) if repository else None


def _by_node(github: FakeGithub, node_id: str) -> FakeItem | None:
    return next((item for item in github.items() if item.node_id == node_id), None)


def _not_found() -> Answer:
    return Answer(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


def _location(github: FakeGithub, path: str) -> dict[str, str]:
    return {"Location": f"{github.url}/repos/{path}"}


def _link(github: FakeGithub, request: Request, **change: str) -> str:
    return f'<{github.url}{request.path}?{urlencode({**request.query, **change})}>; rel="next"'


class Handler(BaseHTTPRequestHandler):
    """Turns HTTP into requests of the stand-in and back."""

    github: FakeGithub
    protocol_version = "HTTP/1.1"
    wbufsize = (
        -1
    )  # head and body in one packet, or each answer waits for the other side's delayed acknowledgement

    def do_GET(self) -> None:
        self._serve("GET", {})

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._serve("POST", json.loads(text or b"{}"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (name of the base class)
        """Keep quiet."""

    def _serve(self, method: str, body: Mapping[str, Any]) -> None:
        address = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        token = (self.headers.get("Authorization") or "").partition(" ")[2] or None
        request = Request(method, address.path, query, body, token)
        self.github.before(request)
        self.github.requests.append(request)
        fault = self.github.next_fault(request)
        if fault is None:
            self._send(self.github.answer(request))
        elif fault.drop:
            self._drop()
        else:
            self._send(
                Answer(
                    fault.status, {"message": "Fault"} if fault.body is None else fault.body, fault.headers
                )
            )

    def _send(self, answer: Answer) -> None:
        is_text = isinstance(answer.body, str)
        text = answer.body if is_text else json.dumps(answer.body)
        content = text.encode()
        if isinstance(answer.body, list) and answer.status == HTTPStatus.OK:
            answer.headers["ETag"] = f'W/"{hashlib.sha256(content).hexdigest()}"'
            if self.headers.get("If-None-Match") == answer.headers["ETag"]:
                self.github.unchanged += 1
                self.send_response(HTTPStatus.NOT_MODIFIED)
                self.end_headers()
                return
        self.send_response(answer.status)
        self.send_header("Content-Type", "text/html" if is_text else "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in {**self._limits(), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _limits(self) -> dict[str, str]:
        if self.github.remaining is None:
            return {}
        self.github.remaining -= 1
        return {
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": str(max(self.github.remaining, 0)),
            "X-RateLimit-Reset": str(int(time.time()) + 1800),
        }

    def _drop(self) -> None:
        """Break the connection in the middle of an answer."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'[{"id":')
        self.wfile.flush()
        self.close_connection = True


@contextmanager
def running(github: FakeGithub, port: int = 0) -> Iterator[FakeGithub]:
    """Serve the stand-in on a loopback port while the block runs."""
    handler = type("BoundHandler", (Handler,), {"github": github})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    github.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serve two repositories until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--items", type=int, default=300, help="issues and pull requests of each repository")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = [
        make_repository(name, items=options.items, seed=options.seed)
        for name in ("acme/train", "acme/kernels")
    ]
    with running(FakeGithub(*made), options.port) as github:
        print(f"GitHub stand-in on {github.url}, token {GOOD_TOKEN}", flush=True)  # noqa: T201 (its purpose)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped")  # noqa: T201


if __name__ == "__main__":
    main()
