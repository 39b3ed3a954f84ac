"""From GraphQL nodes to records. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.sources.github.fixes import closes, commit_key, pull_key, strongest
from ingest.sources.github.rest_records import EVENT_NAMES, host_of, time_of
from labeling.records import AuthorKind, CommentRecord, EventRecord, Evidence, FixRecord, IssueRecord

Node = Mapping[str, Any]

_REACTION_NAMES = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "HOORAY": "hooray",
    "CONFUSED": "confused",
    "HEART": "heart",
    "ROCKET": "rocket",
    "EYES": "eyes",
}
_CARRIES = frozenset(
    {
        "title",
        "body",
        "state",
        "author",
        "github_labels",
        "milestone",
        "reactions",
        "comments",
        "timeline",
        "fixes",
    }
)


def issue_of_node(node: Node, comments: Sequence[Node], events: Sequence[Node], *, host: str) -> IssueRecord:
    """Turn an Issue or PullRequest node, with all its comments and events, into a record."""
    host = host_of(node.get("url")) or host
    author, author_kind = _author(node.get("author"))
    is_pull = node.get("__typename") == "PullRequest"
    repository = node["repository"]["nameWithOwner"]
    state = str(node.get("issueState") or node.get("pullState") or "").lower()
    reason = node.get("stateReason")
    twin = node.get("duplicateOf")
    return IssueRecord(
        kind="pull_request" if is_pull else "issue",
        host=host,
        repository=repository,
        repository_id=node["repository"].get("databaseId"),
        number=node["number"],
        node_id=node.get("id"),
        rest_id=_integer(node.get("fullDatabaseId")),
        url=node.get("url"),
        title=node.get("title") or "",
        body=node.get("body") or "",
        state="closed" if state == "merged" else state,
        state_reason="merged" if state == "merged" else reason and str(reason).lower(),
        author=author,
        author_kind=author_kind,
        author_association=node.get("authorAssociation"),
        github_labels=tuple(label["name"] for label in _nodes(node.get("labels"))),
        milestone=(node.get("milestone") or {}).get("title"),
        reactions=reaction_names(node.get("reactionGroups") or ()),
        opened_at=time_of(node.get("createdAt")),
        closed_at=time_of(node.get("closedAt")),
        updated_at=time_of(node.get("updatedAt")),
        comments=tuple(_comment(each) for each in comments),
        timeline=tuple(_event(each) for each in events if each.get("__typename") in EVENT_NAMES),
        fixes=strongest(_candidates(node, events, repository)),
        carries=_CARRIES,
        duplicate_of=f"{host}/{twin['repository']['nameWithOwner']}#{twin['number']}".lower()
        if twin
        else None,
    )


def _candidates(node: Node, events: Sequence[Node], repository: str) -> Iterator[FixRecord]:
    """Collect what may be the fix, with the evidence each event gives."""
    if node.get("__typename") == "PullRequest":
        yield _pull({**node, "state": node.get("pullState")}, "itself")
    yield from _closers(events)
    for pull in _nodes(node.get("closedByPullRequestsReferences")):
        yield _pull(pull, "linked_merged" if pull.get("merged") else "mentioned")
    for event in events:
        source, subject, commit = event.get("source"), event.get("subject"), event.get("commit")
        match event.get("__typename"):
            case "CrossReferencedEvent" if source and source.get("__typename") == "PullRequest":
                will_close = event.get("willCloseTarget") and source.get("merged")
                yield _pull(source, "will_close" if will_close else "mentioned")
            case "ConnectedEvent" if subject and subject.get("__typename") == "PullRequest":
                yield _pull(
                    subject, "mentioned" if _was_disconnected(subject, event, events) else "linked_manual"
                )
            case "ReferencedEvent" if commit:
                yield _named_commit(event, repository=repository, number=node["number"])


def _closers(events: Sequence[Node]) -> Iterator[FixRecord]:
    """Give what closed the issue last as its fix; what closed it before a reopening is only mentioned."""
    last = max(
        (at for at, each in enumerate(events) if each.get("__typename") == "ReopenedEvent"), default=-1
    )
    for at, event in enumerate(events):
        closer = event.get("closer") if event.get("__typename") == "ClosedEvent" else None
        evidence: Evidence = "closed_by" if at > last else "mentioned"
        # A project board closes issues too, by automation: that is no fix.
        if closer and closer.get("__typename") == "PullRequest":
            yield _pull(closer, evidence)
        elif closer and closer.get("__typename") == "Commit":
            yield _commit(closer, evidence)


def _was_disconnected(subject: Node, connected: Node, events: Sequence[Node]) -> bool:
    later = False
    for event in events:
        if event is connected:
            later = True
        elif later and event.get("__typename") == "DisconnectedEvent":
            other = event.get("subject") or {}
            if _number_in(other) == _number_in(subject):
                return True
    return False


def _number_in(source: Node) -> tuple[Any, Any]:
    return (source.get("repository") or {}).get("nameWithOwner"), source.get("number")


def _named_commit(event: Node, *, repository: str, number: int) -> FixRecord:
    commit = event["commit"]
    home = (event.get("commitRepository") or commit["repository"])["nameWithOwner"]
    says_so = closes(commit.get("message") or "", written_in=home, repository=repository, number=number)
    fixes = says_so and home.lower() == repository.lower()
    return _commit(commit, "commit_keyword" if fixes else "mentioned")


def _pull(pull: Node, evidence: Evidence) -> FixRecord:
    return FixRecord(
        key=pull_key(pull["repository"]["nameWithOwner"], pull["number"]),
        kind="pull_request",
        evidence=evidence,
        number=pull["number"],
        sha=(pull.get("mergeCommit") or {}).get("oid"),
        url=pull.get("url"),
        title=pull.get("title") or "",
        # The text of a pull request that is itself the unit stands there as the body already.
        body="" if evidence == "itself" else pull.get("body") or "",
        state=str(pull.get("state") or "").lower(),
        merged_at=time_of(pull.get("mergedAt")),
        additions=pull.get("additions"),
        deletions=pull.get("deletions"),
        changed_files=pull.get("changedFiles"),
    )


def _commit(commit: Node, evidence: Evidence) -> FixRecord:
    title, _, body = str(commit.get("message") or "").partition("\n")
    return FixRecord(
        key=commit_key(commit["repository"]["nameWithOwner"], commit["oid"]),
        kind="commit",
        evidence=evidence,
        sha=commit["oid"],
        url=commit.get("url"),
        title=title,
        body=body.lstrip("\n"),
        state="committed",
        additions=commit.get("additions"),
        deletions=commit.get("deletions"),
        changed_files=commit.get("changedFilesIfAvailable"),
    )


def _comment(node: Node) -> CommentRecord:
    author, author_kind = _author(node.get("author"))
    return CommentRecord(
        id=str(node.get("fullDatabaseId") or node["id"]),
        body=node.get("body") or "",
        author=author,
        author_kind=author_kind,
        association=node.get("authorAssociation"),
        created_at=time_of(node.get("createdAt")),
        updated_at=time_of(node.get("updatedAt")),
        reactions=reaction_names(node.get("reactionGroups") or ()),
    )


def _event(node: Node) -> EventRecord:
    actor, _ = _author(node.get("actor"))
    reason = node.get("stateReason")
    details = {
        "label": (node.get("label") or {}).get("name"),
        "from": node.get("previousTitle") or (node.get("fromRepository") or {}).get("nameWithOwner"),
        "to": node.get("currentTitle"),
        "milestone": node.get("milestoneTitle"),
        "assignee": (node.get("assignee") or {}).get("login"),
        "state_reason": reason and str(reason).lower(),
        "commit": ((node.get("commit") or node.get("closer")) or {}).get("oid"),
        "reason": node.get("lockReason") and str(node["lockReason"]).lower(),
        "source": _source(node.get("source") or node.get("subject")),
    }
    return EventRecord(
        kind=EVENT_NAMES[node["__typename"]],
        at=time_of(node.get("createdAt")),
        actor=actor,
        data={name: value for name, value in details.items() if value},
    )


def _source(source: Node | None) -> dict[str, Any] | None:
    if not source or "number" not in source:
        return None
    return {
        "kind": "pull_request" if source.get("__typename") == "PullRequest" else "issue",
        "repository": (source.get("repository") or {}).get("nameWithOwner") or "",
        "number": source["number"],
        "title": source.get("title") or "",
        "url": source.get("url") or "",
    }


def _author(actor: Node | None) -> tuple[str | None, AuthorKind]:
    """Return login and kind; a bot's login is given its REST form, with ``[bot]``."""
    if not actor or actor.get("login") in (None, "", "ghost"):
        return None, "deleted"
    login = str(actor["login"])
    if actor.get("__typename") == "Bot" or login.endswith("[bot]"):
        return login if login.endswith("[bot]") else f"{login}[bot]", "bot"
    return login, "user"


def reaction_names(groups: Sequence[Node]) -> dict[str, int]:
    """Return the reactions there are, by GitHub's REST names."""
    counts = {
        _REACTION_NAMES.get(group["content"], group["content"].lower()): int(
            (group.get("reactors") or group.get("users") or {}).get("totalCount") or 0
        )
        for group in groups
    }
    return {name: count for name, count in sorted(counts.items()) if count}


def _nodes(connection: Node | None) -> list[Node]:
    return [node for node in (connection or {}).get("nodes") or () if node]


def _integer(told: Any) -> int | None:
    return int(told) if told is not None else None
