"""Keeping what a source delivered: each issue once, a new snapshot only where the content changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from labeling.models import Issue, IssueSnapshot, SnapshotDocument, Study
from labeling.records import IssueRecord, content_hash, without_patches
from labeling.services.snapshots import documents_of, record_of, snapshot_of

#: What an issue takes over from a newer record, where it had nothing yet.
_IDS = ("repository_id", "node_id", "rest_id", "url")
#: Read only in the rare case that the hash does not decide.
_HEAVY = ("latest__comments", "latest__timeline", "latest__fixes", "latest__reactions", "latest__notes")


@dataclass(frozen=True, slots=True)
class AddResult:
    """How many records were new, changed, the same as before, or not of a kind the study codes."""

    new: int = 0
    changed: int = 0
    same: int = 0
    rejected: int = 0
    issue_ids: tuple[int, ...] = ()


def add_issues(*, study: Study, records: Iterable[IssueRecord], run_id: int | None = None) -> AddResult:
    """Keep a page of records: safe to repeat, and in as many queries for one record as for a hundred.

    What is pinned stays pinned: a changed issue gets another snapshot, its units keep theirs.
    """
    given = list(records)
    wanted = [record for record in given if record.kind in study.unit_kinds or record.gone]
    unique = list({record.key: record for record in wanted}.values())
    with transaction.atomic():
        known = _Known(study, unique)
        _flag_absent(known, [record for record in unique if _is_absent(record)])
        present = [record for record in unique if not _is_absent(record)]
        new = _create(study, [record for record in present if known.find(record) is None])
        pairs = [
            (issue, record) for record in present if (issue := known.find(record) or new.get(record.key))
        ]
        changed = _keep_snapshots(pairs, run_id)
        _link_duplicates(study, [pair for pair in pairs if pair[0].pk in changed])
    created = {issue.pk for issue in new.values()}
    return AddResult(
        new=len(created),
        changed=len(changed - created),
        same=len(unique) - len(changed | created),
        rejected=len(given) - len(wanted),
        issue_ids=tuple(issue.pk for issue, _ in pairs),
    )


class _Known:
    """The issues of the study that a page of records may be about."""

    def __init__(self, study: Study, records: Sequence[IssueRecord]) -> None:
        rows = study.issues.select_related("latest").defer(*_HEAVY)
        # One query for each way to be known: a single OR would not use the indexes.
        by_node = rows.filter(node_id__in=[record.node_id for record in records if record.node_id])
        by_rest = rows.filter(rest_id__in=[record.rest_id for record in records if record.rest_id])
        by_number = rows.filter(
            repository_id__in={record.repository_id for record in records if record.repository_id},
            number__in=[record.number for record in records if record.number],
        )
        by_key = rows.filter(key__in=[record.key for record in records])
        self._nodes = {issue.node_id: issue for issue in by_node}
        self._rests = {issue.rest_id: issue for issue in by_rest}
        self._numbers = {(issue.repository_id, issue.number): issue for issue in by_number}
        self._keys = {issue.key: issue for issue in by_key}
        numbers = {record.number for record in records if record.number}
        for issue in rows.filter(number__in=numbers).exclude(former_keys=[]):
            for key in issue.former_keys:
                self._keys.setdefault(key, issue)

    def find(self, record: IssueRecord) -> Issue | None:
        """Match by id first: a name can change."""
        return (
            (self._nodes.get(record.node_id) if record.node_id else None)
            or (self._rests.get(record.rest_id) if record.rest_id else None)
            or (self._numbers.get((record.repository_id, record.number)) if record.repository_id else None)
            or self._keys.get(record.key)
        )


def _is_absent(record: IssueRecord) -> bool:
    return record.gone or record.transferred_to is not None


def _flag_absent(known: _Known, records: Sequence[IssueRecord]) -> None:
    """Mark what the source no longer has. Its snapshots stay."""
    for record in records:
        issue = known.find(record)
        if issue is not None:
            issue.gone, issue.transferred_to = record.gone, record.transferred_to or ""
            issue.save(update_fields=["gone", "transferred_to"])


def _create(study: Study, records: Sequence[IssueRecord]) -> dict[str, Issue]:
    rows = [
        Issue(
            study=study,
            kind=record.kind,
            key=record.key,
            source_id=record.source_id or "",
            host=record.host if record.repository else "",
            repository=record.repository,
            repository_id=record.repository_id,
            number=record.number,
            node_id=record.node_id or "",
            rest_id=record.rest_id,
            url=record.url or "",
        )
        for record in records
    ]
    # Two imports may bring the same issue at the same time: the second finds the first one's row.
    made = Issue.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["study", "key"], update_fields=["host"], batch_size=500
    )
    return {issue.key: issue for issue in made}


def _keep_snapshots(pairs: Sequence[tuple[Issue, IssueRecord]], run_id: int | None) -> set[int]:
    """Store what is new and point each issue to what it says now; return the issues that changed."""
    now = timezone.now()
    kept = _stored([issue for issue, _ in pairs])
    new: list[tuple[IssueSnapshot, IssueRecord]] = []
    returned: set[int] = set()
    for issue, record in pairs:
        told = content_hash(record)
        if issue.redacted_at is not None or (issue.latest and _says_the_same(issue.latest, record, told)):
            continue
        if (issue.pk, told) in kept:
            # It says again what it said before.
            Issue.objects.filter(pk=issue.pk).update(latest=kept[issue.pk, told])
            returned.add(issue.pk)
        else:
            told_now = snapshot_of(record, told, issue_id=issue.pk, run_id=run_id, fetched_at=now)
            new.append((told_now, record))
    _create_snapshots(new)
    added = {snapshot.issue_id for snapshot, _ in new}
    newest = IssueSnapshot.objects.filter(issue=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    Issue.objects.filter(pk__in=added).update(latest=Subquery(newest))
    _take_over(pairs)
    return added | returned


def _stored(issues: Sequence[Issue]) -> dict[tuple[int, str], IssueSnapshot]:
    """Find the snapshots these issues have, for one that says again what it said before."""
    rows = IssueSnapshot.objects.filter(issue__in=[issue for issue in issues if issue.latest_id])
    return {(row.issue_id, row.content_hash): row for row in rows.only("issue_id", "content_hash")}


def _says_the_same(snapshot: IssueSnapshot, record: IssueRecord, told: str) -> bool:
    if snapshot.content_hash == told:
        return True
    if "patches" not in snapshot.carries or "patches" in record.carries:
        return False
    # The snapshot was completed with diffs, which no import fetches: compare the rest.
    whole = record_of(snapshot, snapshot.documents.all())
    return content_hash(without_patches(whole)) == content_hash(without_patches(record))


def _take_over(pairs: Sequence[tuple[Issue, IssueRecord]]) -> None:
    """Take over ids, addresses and other names that are new; what is there again is no longer gone."""
    touched = []
    for issue, record in pairs:
        news = {
            name: told for name in _IDS if (told := getattr(record, name)) and told != getattr(issue, name)
        }
        if record.key not in (issue.key, *issue.former_keys):
            news["former_keys"] = [*issue.former_keys, record.key]
        if issue.gone or issue.transferred_to:
            news |= {"gone": False, "transferred_to": ""}
        for name, told in news.items():
            setattr(issue, name, told)
        if news:
            touched.append(issue)
    Issue.objects.bulk_update(touched, [*_IDS, "former_keys", "gone", "transferred_to"], batch_size=200)


def _create_snapshots(new: Sequence[tuple[IssueSnapshot, IssueRecord]]) -> None:
    IssueSnapshot.objects.bulk_create(
        [snapshot for snapshot, _ in new],
        update_conflicts=True,
        unique_fields=["issue", "content_hash"],
        update_fields=["content_hash"],
        batch_size=200,
    )
    SnapshotDocument.objects.bulk_create(
        (
            SnapshotDocument(snapshot=snapshot, key=key, source=source)
            for snapshot, record in new
            for key, source in dict(documents_of(record)).items()
        ),
        ignore_conflicts=True,
        batch_size=500,
    )


def _link_duplicates(study: Study, pairs: Sequence[tuple[Issue, IssueRecord]]) -> None:
    """Take over what the source says is a duplicate, unless somebody here said so already."""
    told = {issue: record.duplicate_of for issue, record in pairs if record.duplicate_of}
    if not told:
        return
    originals = {issue.key: issue for issue in study.issues.filter(key__in=told.values())}
    linked = []
    for issue, key in told.items():
        if issue.duplicate_of_id is None and key in originals and originals[key].pk != issue.pk:
            issue.duplicate_of = originals[key]
            linked.append(issue)
    Issue.objects.bulk_update(linked, ["duplicate_of"])
