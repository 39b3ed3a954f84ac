"""Taking the texts of an issue out of the study for good, without changing a number."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.errors import InvalidInputError
from labeling.models import Assignment, Evidence, Issue, IssueSnapshot, Membership, SnapshotDocument
from labeling.services.events import record
from labeling.services.known import lock_issues
from labeling.services.word_index import index_issues

REDACTED = "redacted"
_QUOTED = {"quote", "prefix", "suffix"}
_TOLD = {"author", "actor", "title", "body"}
_ELSEWHERE: list[Callable[[Issue], None]] = []


def register_copies(redact: Callable[[Issue], None]) -> None:
    """Say how to redact what another app keeps of an issue: in the transaction, before anything is locked."""
    _ELSEWHERE.append(redact)


def redact_issue(*, issue: Issue, reason: str, by: Membership) -> None:
    """Replace texts, authors and quotes of every snapshot; hashes stay, and no import fills it again."""
    if not reason.strip():
        raise InvalidInputError({"reason": ["Say why: what is taken out cannot be brought back."]})
    with transaction.atomic():
        for redact in _ELSEWHERE:
            redact(issue)
        lock_issues(issue.study)
        locked = Issue.objects.select_for_update().get(pk=issue.pk)
        SnapshotDocument.objects.filter(snapshot__issue=locked).update(
            source=REDACTED, html=None, text=None, renderer=""
        )
        _redact_snapshots(locked.snapshots.all())
        _redact_quotes(locked)
        locked.redacted_at, locked.redacted_because = timezone.now(), reason.strip()
        locked.save(update_fields=["redacted_at", "redacted_because"])
        index_issues([locked])
        record(study=issue.study, verb="issue.redacted", by=by, object=f"issue:{issue.pk}")


def _redact_snapshots(snapshots: Iterable[IssueSnapshot]) -> None:
    for snapshot in snapshots:
        snapshot.title = REDACTED
        snapshot.author = REDACTED if snapshot.author else ""
        snapshot.comments = _without(snapshot.comments, _TOLD)
        snapshot.fixes = _without(snapshot.fixes, _TOLD)
        snapshot.timeline = []  # it names people, and quotes former titles
        snapshot.notes = []
        snapshot.save(update_fields=["title", "author", "comments", "fixes", "timeline", "notes"])


def _redact_quotes(issue: Issue) -> None:
    """Redact what coders quoted, in what they handed in and in what they have not handed in yet."""
    evidence = Evidence.objects.filter(submission__assignment__round_unit__unit__issue=issue)
    evidence.update(quote=REDACTED, prefix="", suffix="")
    assignments = Assignment.objects.filter(round_unit__unit__issue=issue, draft__isnull=False)
    for pk, draft in assignments.values_list("pk", "draft"):
        Assignment.objects.filter(pk=pk).update(draft=_without(draft, _QUOTED))


def _without(told: Any, names: set[str]) -> Any:
    """Replace the texts under some names, however deep."""
    if isinstance(told, list):
        return [_without(item, names) for item in told]
    if isinstance(told, dict):
        return {
            name: REDACTED if name in names and isinstance(value, str) and value else _without(value, names)
            for name, value in told.items()
        }
    return told
