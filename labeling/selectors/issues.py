"""An issue as one member may see it: the one place where masks and stages are applied.

A masked field is absent, not greyed out. While anything is masked there is no link to GitHub, which would
show it. Texts are left as they are: the page says "fields hidden, texts unchanged".
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from labeling.markdown import render_plain, with_images, without_references
from labeling.models import Assignment, IssueSnapshot, Membership, Round, Unit
from labeling.patches import patch_lines
from labeling.selectors.masks import Masks
from labeling.services.rendering import document_view

MASKABLE = ("author", "fix", "github_labels", "maintainer_comments", "repository", "state")
"""What a round can mask or reveal in a later stage."""

MAINTAINERS = {"OWNER", "MEMBER", "COLLABORATOR"}

# Events that tell a masked field, and words for the others.
_TELLING = {
    "github_labels": {"labeled", "unlabeled"},
    "fix": {"closed", "connected", "cross-referenced", "disconnected", "merged", "referenced"},
    "state": {"closed", "converted_to_discussion", "marked_as_duplicate", "merged", "reopened"},
    "repository": {"cross-referenced", "connected", "disconnected", "transferred"},
}
_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "assigned": lambda data: f"assigned {data.get('assignee', 'somebody')}",
    "closed": lambda data: "closed this" + _as_reason(data) + _in_commit(data),
    "connected": lambda data: f"linked {_source(data)}",
    "converted_to_discussion": lambda data: "turned this into a discussion",
    "cross-referenced": lambda data: f"mentioned this in {_source(data)}",
    "demilestoned": lambda data: f"took this from the milestone {data.get('milestone', '')}".rstrip(),
    "disconnected": lambda data: f"unlinked {_source(data)}",
    "labeled": lambda data: f"added the GitHub label {data.get('label', '')}".rstrip(),
    "locked": lambda data: "locked the conversation",
    "marked_as_duplicate": lambda data: "marked this as a duplicate",
    "merged": lambda data: "merged this" + _in_commit(data),
    "milestoned": lambda data: f"put this into the milestone {data.get('milestone', '')}".rstrip(),
    "referenced": lambda data: "mentioned this" + _in_commit(data),
    "renamed": lambda data: f"changed the title from “{data.get('from', '')}” to “{data.get('to', '')}”",
    "reopened": lambda data: "reopened this",
    "transferred": lambda data: f"moved this here from {data.get('from', 'another repository')}",
    "unassigned": lambda data: f"unassigned {data.get('assignee', 'somebody')}",
    "unlabeled": lambda data: f"removed the GitHub label {data.get('label', '')}".rstrip(),
}


def issue_view(
    target: Assignment | Unit, member: Membership, *, show_images: bool = False, show_source: bool = False
) -> dict[str, Any]:
    """Give what ``member`` may see of the issue of a unit; it is rendered now if it never was."""
    unit = target.round_unit.unit if isinstance(target, Assignment) else target
    hidden = hidden_fields(target, member)
    return shown_issue(unit, hidden, show_images=show_images, show_source=show_source)


def hidden_fields(target: Assignment | Unit, member: Membership) -> frozenset[str]:
    """Fields hidden from ``member``: while they code a unit, what its stages have not revealed yet.

    Elsewhere than in the assignment itself, all that any of their open rounds hides or will reveal.
    """
    if isinstance(target, Assignment) and target.round_unit.round.state == Round.State.OPEN:
        coding_round = target.round_unit.round
        reached = (target.draft or {}).get("stage", 0) if coding_round.stages else 0
        return hidden_at(coding_round, reached)
    unit = target.round_unit.unit if isinstance(target, Assignment) else target
    return Masks(member).of_issues([unit.issue_id]).get(unit.issue_id, frozenset())


def hidden_at(coding_round: Round, stage: int) -> frozenset[str]:
    """Give what a round hides at a stage: what is masked stays so, unless a stage reveals it."""
    told = {field for each in coding_round.stages[: stage + 1] for field in each.get("reveals", ())}
    later = {field for each in coding_round.stages[stage + 1 :] for field in each.get("reveals", ())}
    return frozenset((set(coding_round.masked_fields) - told) | later)


def shown_ref(unit: Unit, hidden: frozenset[str]) -> str:
    """Name a unit without naming its repository where that is hidden."""
    return f"unit {unit.pk}" if "repository" in hidden else unit.ref


def shown_url(unit: Unit, hidden: frozenset[str]) -> str | None:
    return None if hidden else unit.issue.url or None


class DocumentNames:
    """What the texts of a snapshot are called where some fields are hidden.

    The key of a fix names its repository: where that is hidden, fixes are counted instead.
    """

    def __init__(self, snapshot: IssueSnapshot, hidden: frozenset[str]) -> None:
        self.hides_fixes = "fix" in hidden
        self.comments = {f"comment:{comment['id']}" for comment in _comments_shown(snapshot, hidden)}
        self.fixes = {
            f"fix:{fix['key']}:": f"fix:{number if 'repository' in hidden else fix['key']}:"
            for number, fix in enumerate(snapshot.fixes, start=1)
        }

    def shown(self, key: str) -> str:
        """Give the name of a stored document."""
        return next(
            (name + key.removeprefix(start) for start, name in self.fixes.items() if key.startswith(start)),
            key,
        )

    def stored(self, name: str) -> str | None:
        """Give the key of a document by its name; None if it is hidden, or no name of one."""
        if name.startswith("fix:"):
            keys = (start + name.removeprefix(n) for start, n in self.fixes.items() if name.startswith(n))
            return None if self.hides_fixes else next(keys, None)
        return name if not name.startswith("comment:") or name in self.comments else None


def shown_refs(assignments: Iterable[Assignment], member: Membership) -> dict[int, str]:
    """Name the units of a list of assignments, each with its round and unit, in one query."""
    rows = list(assignments)
    hidden = hidden_in_list(rows, member)
    return {each.pk: shown_ref(each.round_unit.unit, hidden[each.pk]) for each in rows}


def hidden_in_list(rows: Collection[Assignment], member: Membership) -> dict[int, frozenset[str]]:
    """Give what a list of assignments must not tell: all that any stage of a unit hides."""
    closed = [each for each in rows if each.round_unit.round.state != Round.State.OPEN]
    elsewhere = Masks(member).of_issues([each.round_unit.unit.issue_id for each in closed])
    return {
        each.pk: hidden_at(each.round_unit.round, 0)
        if each.round_unit.round.state == Round.State.OPEN
        else elsewhere.get(each.round_unit.unit.issue_id, frozenset())
        for each in rows
    }


def shown_issue(
    unit: Unit, hidden: frozenset[str], *, show_images: bool = False, show_source: bool = False
) -> dict[str, Any]:
    """Give an issue without what is hidden; ``show_source`` leaves its Markdown as it was written.

    What is shown as its source has no name: quotes are anchored in the rendered text alone.
    """
    issue, snapshot = unit.issue, unit.snapshot or unit.issue.latest
    view: dict[str, Any] = {
        "ref": shown_ref(unit, hidden),
        "url": shown_url(unit, hidden),
        "repository": None if "repository" in hidden else issue.repository or None,
        "number": None if "repository" in hidden else issue.number,
        "part": unit.title,
        "masked": sorted(hidden),
        "changed_since": snapshot is not None and issue.latest_id not in (None, snapshot.pk),
    }
    if snapshot is None:
        return view | _EMPTY
    return view | _Shown(snapshot, hidden, show_images=show_images, show_source=show_source).view()


_EMPTY: dict[str, Any] = {
    "title": "",
    "state": "",
    "state_reason": "",
    "author": None,
    "opened_at": None,
    "closed_at": None,
    "fetched_at": None,
    "github_labels": [],
    "body": {"key": "body", "html": ""},
    "comments": [],
    "timeline": [],
    "fixes": [],
    "carries": [],
}


class _Shown:
    """One snapshot for one reader."""

    def __init__(
        self, snapshot: IssueSnapshot, hidden: frozenset[str], *, show_images: bool, show_source: bool
    ) -> None:
        self.snapshot = snapshot
        self.hidden = hidden
        self.show_images = show_images
        self.documents = {document["key"]: document for document in document_view(snapshot)}
        self.names = DocumentNames(snapshot, hidden)
        self.sources = dict(snapshot.documents.values_list("key", "source")) if show_source else None

    def view(self) -> dict[str, Any]:
        snapshot, hides_state = self.snapshot, "state" in self.hidden
        return {
            "title": snapshot.title,
            "state": "" if hides_state else snapshot.state,
            "state_reason": "" if hides_state else snapshot.state_reason,
            "author": None if "author" in self.hidden else snapshot.author or None,
            "opened_at": snapshot.opened_at,
            "closed_at": None if hides_state else snapshot.closed_at,
            "fetched_at": snapshot.fetched_at,
            "github_labels": [] if "github_labels" in self.hidden else snapshot.github_labels,
            "body": {"key": self._name("body"), "html": self._html("body")},
            "comments": [self._comment(each) for each in _comments_shown(snapshot, self.hidden)],
            "timeline": list(self._timeline()),
            "fixes": [] if "fix" in self.hidden else [self._fix(fix) for fix in snapshot.fixes],
            "carries": snapshot.carries,
        }

    def _name(self, key: str) -> str:
        return self.names.shown(key) if self.sources is None else ""

    def _html(self, key: str) -> str:
        if self.sources is not None:
            source = self.sources.get(key, "")
            return render_plain(source).html if source else ""
        html = (self.documents.get(key) or {}).get("html") or ""
        if "repository" in self.hidden:
            html = without_references(html)
        return with_images(html) if self.show_images else html

    def _comment(self, comment: Mapping[str, Any]) -> dict[str, Any]:
        key = f"comment:{comment['id']}"
        return {
            "document": self._name(key),
            "html": self._html(key),
            "author": None if "author" in self.hidden else comment.get("author"),
            "association": comment.get("association"),
            "created_at": _time(comment.get("created_at")),
            "is_bot": comment.get("author_kind") == "bot",
        }

    def _timeline(self) -> Iterator[dict[str, Any]]:
        telling = {kind for field in self.hidden for kind in _TELLING.get(field, ())}
        hides_closing = "state" in self.hidden
        for event in self.snapshot.timeline:
            kind, data = event["kind"], event.get("data") or {}
            if kind == "closed" and not hides_closing:
                # That it was closed is its state; by which commit is its fix.
                data = {"state_reason": data.get("state_reason")} if "fix" in self.hidden else data
            elif kind in telling:
                continue
            yield {
                "kind": kind,
                "at": _time(event.get("at")),
                "actor": None if "author" in self.hidden else event.get("actor"),
                "text": self._words(kind, data),
            }

    def _words(self, kind: str, data: Mapping[str, Any]) -> str:
        if "author" in self.hidden and kind in ("assigned", "unassigned"):
            return f"{kind} somebody"
        words = _WORDS.get(kind)
        return words(data) if words is not None else kind.replace("_", " ")

    def _fix(self, fix: Mapping[str, Any]) -> dict[str, Any]:
        message = f"fix:{fix['key']}:message"
        return {
            "kind": fix.get("kind"),
            "title": fix.get("title", ""),
            "url": None if self.hidden else fix.get("url"),
            "number": fix.get("number"),
            "sha": fix.get("sha"),
            "evidence": None if "state" in self.hidden else fix.get("evidence"),
            "state": fix.get("state", ""),
            "merged_at": _time(fix.get("merged_at")),
            "additions": fix.get("additions"),
            "deletions": fix.get("deletions"),
            "message_html": self._html(message),
            "document": self._name(message),
            "files": [self._file(fix["key"], file) for file in fix.get("files") or ()],
        }

    def _file(self, fix: str, file: Mapping[str, Any]) -> dict[str, Any]:
        key = f"fix:{fix}:file:{file['path']}"
        document = self.documents.get(key) or {}
        return {
            "document": self.names.shown(key),
            "path": file["path"],
            "status": file.get("status", ""),
            "additions": file.get("additions"),
            "deletions": file.get("deletions"),
            "lines": _lines(document.get("text"), document.get("html")),
            "note": file.get("note", ""),
        }


def _comments_shown(snapshot: IssueSnapshot, hidden: frozenset[str]) -> list[Mapping[str, Any]]:
    if "maintainer_comments" not in hidden:
        return list(snapshot.comments)
    return [each for each in snapshot.comments if (each.get("association") or "") not in MAINTAINERS]


def _lines(patch: str | None, html: str | None) -> list[dict[str, Any]] | None:
    if patch is None or html is None:
        return None
    shown = zip(patch_lines(patch), html.split("\n"), strict=True)
    # Spelt out: a patch has thousands of lines, and asdict takes its time for each.
    return [
        {"kind": line.kind, "old": line.old, "new": line.new, "text": line.text, "html": coloured}
        for line, coloured in shown
    ]


def _time(told: str | datetime | None) -> datetime | None:
    return parse_datetime(told) if isinstance(told, str) else told


def _as_reason(data: Mapping[str, Any]) -> str:
    reason = str(data.get("state_reason") or "").replace("_", " ")
    return f" as {reason}" if reason else ""


def _in_commit(data: Mapping[str, Any]) -> str:
    commit = data.get("commit")
    return f" in commit {commit[:10]}" if commit else ""


def _source(data: Mapping[str, Any]) -> str:
    source = data.get("source")
    if not source:
        return "another issue"
    kind = "pull request" if source.get("kind") == "pull_request" else "issue"
    return f"{kind} {source.get('repository', '')}#{source.get('number')}"
