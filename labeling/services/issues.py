"""Keeping what a source delivered: each issue once, a new snapshot only where the content changed."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from labeling.models import Issue, IssueSnapshot, SnapshotDocument, Study
from labeling.models.issue import NO_DATE
from labeling.records import IssueRecord, content_hash, without_patches
from labeling.services.bulk import insert_rows, reserve_ids
from labeling.services.known import KnownIssue, KnownIssues, lock_issues
from labeling.services.snapshots import SNAPSHOT_FIELDS, documents_of, record_of, snapshot_values

#: What an issue takes over from a newer record, where it had nothing yet.
_IDS = ("repository_id", "node_id", "rest_id", "url")
_ISSUE_FIELDS = (
    "id",
    "created_at",
    "study",
    "kind",
    "key",
    "former_keys",
    "was_renamed",
    "source_id",
    "host",
    "repository",
    "repository_id",
    "number",
    "node_id",
    "rest_id",
    "url",
    "latest",
    "eligible",
    "because",
    "override_reason",
    "gone",
    "transferred_to",
    "is_indexed",
    "redacted_because",
    "by_created",
    "by_updated",
    "by_closed",
)
_SNAPSHOT_FIELDS = ("id", "created_at", "issue", "fetched_at", "run_id", *SNAPSHOT_FIELDS)
_DOCUMENT_FIELDS = ("created_at", "snapshot", "key", "source", "renderer")


@dataclass(frozen=True, slots=True)
class AddResult:
    """How many records were new, changed, the same as before, or not of a kind the study codes.

    ``issue_ids`` are the new and the changed ones, which the rules of the corpus have to judge anew.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    rejected: int = 0
    issue_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Told:
    """A record with its hash, and the issue it is about; None: a new one."""

    record: IssueRecord
    hash: str
    issue: KnownIssue | None


@dataclass(frozen=True, slots=True)
class Incoming:
    """Records of kinds the study codes, each once by its key, with the hashes of those that are there."""

    records: dict[str, IssueRecord]
    hashes: dict[str, str]
    rejected: int


def read_incoming(study: Study, records: Iterable[IssueRecord]) -> Incoming:
    """Work out what needs no database, so that nobody waits for it while the study is locked."""
    given = list(records)
    wanted = [record for record in given if record.kind in study.unit_kinds or record.gone]
    unique = {record.key: record for record in wanted}
    hashes = {key: content_hash(record) for key, record in unique.items() if not _is_absent(record)}
    return Incoming(unique, hashes, len(given) - len(wanted))


def add_issues(*, study: Study, records: Iterable[IssueRecord], run_id: int | None = None) -> AddResult:
    """Keep a page of records: safe to repeat, and in as many queries for one record as for a hundred."""
    return add_incoming(study=study, incoming=read_incoming(study, records), run_id=run_id)


def add_incoming(*, study: Study, incoming: Incoming, run_id: int | None = None) -> AddResult:
    """Keep records that were read in.

    What is pinned stays pinned: a changed issue gets another snapshot, its units keep theirs.
    """
    unique = incoming.records
    with transaction.atomic():
        lock_issues(study)
        known = KnownIssues(study, list(unique.values()))
        _flag_absent(known, [record for record in unique.values() if _is_absent(record)])
        told = [_Told(unique[key], told, known.find(unique[key])) for key, told in incoming.hashes.items()]
        new = [each for each in told if each.issue is None]
        created = _create(study, new, run_id)
        changed = _keep_changes([each for each in told if each.issue is not None], run_id)
        _link_duplicates(study, {**created, **changed})
    return AddResult(
        new=len(created),
        changed=len(changed),
        same=len(unique) - len(created) - len(changed),
        rejected=incoming.rejected,
        issue_ids=(*created, *changed),
    )


def _is_absent(record: IssueRecord) -> bool:
    return record.gone or record.transferred_to is not None


def _flag_absent(known: KnownIssues, records: Sequence[IssueRecord]) -> None:
    """Mark what the source no longer has. Its snapshots stay."""
    for record in records:
        issue = known.find(record)
        if issue is not None:
            rows = Issue.objects.filter(pk=issue.id)
            rows.update(gone=record.gone, transferred_to=record.transferred_to or "")


def _create(study: Study, new: Sequence[_Told], run_id: int | None) -> dict[int, IssueRecord]:
    """Store new issues, each with its snapshot; give their records by id."""
    if not new:
        return {}
    ids, snapshot_ids = reserve_ids(Issue, len(new)), reserve_ids(IssueSnapshot, len(new))
    now = timezone.now()
    insert_rows(
        Issue,
        _ISSUE_FIELDS,
        (
            _issue_values(pk, study, each.record, snapshot, now)
            for pk, snapshot, each in zip(ids, snapshot_ids, new, strict=True)
        ),
    )
    _create_snapshots(list(zip(snapshot_ids, ids, new, strict=True)), run_id)
    return {pk: each.record for pk, each in zip(ids, new, strict=True)}


def _issue_values(pk: int, study: Study, record: IssueRecord, snapshot: int, now: Any) -> tuple[Any, ...]:
    """Give the values of ``_ISSUE_FIELDS``; the rest of a new issue is empty."""
    return (
        pk,
        now,
        study.pk,
        record.kind,
        record.key,
        [],
        False,
        record.source_id or "",
        record.host if record.repository else "",
        record.repository,
        record.repository_id,
        record.number,
        record.node_id or "",
        record.rest_id,
        record.url or "",
        snapshot,
        True,
        "",
        "",
        False,
        "",
        False,
        "",
        record.opened_at or NO_DATE,
        record.updated_at or NO_DATE,
        record.closed_at or NO_DATE,
    )


def _create_snapshots(new: Sequence[tuple[int, int, _Told]], run_id: int | None) -> None:
    """Store snapshots, each with its texts: ``new`` are id, id of the issue and what was told."""
    now = timezone.now()
    insert_rows(
        IssueSnapshot,
        _SNAPSHOT_FIELDS,
        ((pk, now, issue, now, run_id, *snapshot_values(each.record, each.hash)) for pk, issue, each in new),
    )
    insert_rows(
        SnapshotDocument,
        _DOCUMENT_FIELDS,
        (
            (now, pk, key, source, "")
            for pk, _, each in new
            for key, source in dict(documents_of(each.record)).items()
        ),
    )


def _keep_changes(known: Sequence[_Told], run_id: int | None) -> dict[int, IssueRecord]:
    """Store what known issues say now and said never before; give the records of those that changed."""
    differs = [each for each in known if each.issue and each.hash != each.issue.latest_hash]
    differs = _without_the_same(differs)
    stored = _stored([each.issue.id for each in differs if each.issue])
    changed: dict[int, IssueRecord] = {}
    new: dict[tuple[int, str], _Told] = {}
    for each in differs:
        assert each.issue is not None  # noqa: S101 (for mypy: asked for above)
        changed[each.issue.id] = each.record
        if (snapshot := stored.get((each.issue.id, each.hash))) is not None:
            # It says again what it said before.
            _show({each.issue.id}, snapshot)
        else:
            new[each.issue.id, each.hash] = each
    if new:
        ids = reserve_ids(IssueSnapshot, len(new))
        rows = [(pk, issue, each) for pk, ((issue, _), each) in zip(ids, new.items(), strict=True)]
        _create_snapshots(rows, run_id)
        newest = IssueSnapshot.objects.filter(issue=OuterRef("pk")).order_by("-pk").values("pk")[:1]
        _show({issue for issue, _ in new}, Subquery(newest))
    _take_over(known)
    return changed


def _show(issues: Collection[int], latest: int | Subquery) -> None:
    """Make a snapshot of each issue the newest: the search and lists by date go by it."""
    rows = Issue.objects.filter(pk__in=issues)
    rows.update(latest=latest, is_indexed=False)
    snapshot = IssueSnapshot.objects.filter(pk=OuterRef("latest"))
    rows.update(
        by_created=_date(snapshot, "opened_at"),
        by_updated=_date(snapshot, "updated_at"),
        by_closed=_date(snapshot, "closed_at"),
    )


def _date(snapshot: "QuerySet[IssueSnapshot]", field: str) -> Coalesce:
    return Coalesce(Subquery(snapshot.values(field)), NO_DATE)


def _without_the_same(differs: Sequence[_Told]) -> list[_Told]:
    """Leave out redacted issues, and those that say the same apart from diffs, which no import fetches."""
    if not differs:
        return []
    latest = IssueSnapshot.objects.select_related("issue").prefetch_related("documents")
    ids = [
        each.issue.latest_id
        for each in differs
        if each.issue and each.issue.latest_id and "patches" not in each.record.carries
    ]
    completed = {row.pk: row for row in latest.filter(pk__in=ids) if "patches" in row.carries}
    kept = []
    for each in differs:
        assert each.issue is not None  # noqa: S101 (for mypy: the caller asked)
        if each.issue.redacted_at is not None:
            continue
        snapshot = completed.get(each.issue.latest_id or 0)
        if snapshot is not None and _says_the_same(snapshot, each.record):
            continue
        kept.append(each)
    return kept


def _says_the_same(snapshot: IssueSnapshot, record: IssueRecord) -> bool:
    whole = record_of(snapshot, snapshot.documents.all())
    return content_hash(without_patches(whole)) == content_hash(without_patches(record))


def _stored(issues: Collection[int]) -> dict[tuple[int, str], int]:
    """Find the snapshots these issues have, for one that says again what it said before."""
    if not issues:
        return {}
    rows = IssueSnapshot.objects.filter(issue__in=issues)
    return {(issue, told): pk for issue, told, pk in rows.values_list("issue", "content_hash", "pk")}


def _take_over(known: Sequence[_Told]) -> None:
    """Take over ids, addresses and other names that are new; what is there again is no longer gone."""
    for each in known:
        issue, record = each.issue, each.record
        assert issue is not None  # noqa: S101 (for mypy: the caller asked)
        news: dict[str, Any] = {
            name: told for name in _IDS if (told := getattr(record, name)) and told != getattr(issue, name)
        }
        if record.key not in (issue.key, *issue.former_keys):
            news |= {"former_keys": [*issue.former_keys, record.key], "was_renamed": True}
        if issue.gone or issue.transferred_to:
            news |= {"gone": False, "transferred_to": ""}
        if news:
            Issue.objects.filter(pk=issue.id).update(**news)


def _link_duplicates(study: Study, records: dict[int, IssueRecord]) -> None:
    """Take over what the source says is a duplicate, unless somebody here said so already."""
    told = {pk: record.duplicate_of for pk, record in records.items() if record.duplicate_of}
    if not told:
        return
    originals = dict(study.issues.filter(key__in=told.values()).values_list("key", "pk"))
    for pk, key in told.items():
        original = originals.get(key or "")
        if original is not None and original != pk:
            study.issues.filter(pk=pk, duplicate_of__isnull=True).update(duplicate_of=original)
