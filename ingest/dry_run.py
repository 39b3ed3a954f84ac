"""What an import of a file would bring, without bringing it."""

from __future__ import annotations

import time

from django.utils import timezone

from ingest.leases import TURN, LeaseLostError, keep_alive, take, working
from ingest.models import Upload
from ingest.normalise import cleaned, row_notes
from ingest.services import file_of
from ingest.sources.base import Page, SourceError
from ingest.sources.files import read_pages
from labeling.models import Study
from labeling.services import jobs
from labeling.services.issues import read_incoming
from labeling.services.known import KnownIssues

State = Upload.State

#: So many seconds somebody waits for the answer; what takes longer a worker goes on with.
AT_ONCE = 1.0
MOST_PROBLEMS = 20


def try_file(upload_id: int, *, turn: float | None = TURN) -> None:
    """Read the file as an import would and compare it with the corpus, until its end or that of the turn."""
    lease = take(Upload, upload_id)
    if lease is None:
        return
    with working(lease):
        if _read(lease, turn):
            jobs.release(lease, State.DONE)
        elif jobs.release(lease, State.QUEUED):
            jobs.ring(lease.row)


def _read(lease: jobs.Lease, turn: float | None) -> bool:
    """Compare page by page; false if the turn was over before the end."""
    started = None
    upload = Upload.objects.select_related("study").get(pk=lease.row.pk)
    mapping = upload.query["mapping"] or None
    try:
        for page in read_pages(file_of(upload.query), mapping, upload.checkpoint, keep_alive(lease)):
            started = started or time.monotonic()
            _compare(upload.study, page, upload)
            _keep(lease, upload)
            if turn is not None and time.monotonic() - started > turn:
                return False
    except SourceError as error:
        # What comes before a damage would be imported.
        upload.problems.append(error.sentence)
        _keep(lease, upload)
    return True


def _compare(study: Study, page: Page, upload: Upload) -> None:
    records = [cleaned(record) for record in page.records]
    incoming = read_incoming(study, records)
    known = KnownIssues(study, list(incoming.records.values()))
    for key, told in incoming.hashes.items():
        issue = known.find(incoming.records[key])
        if issue is None:
            upload.new += 1
        elif issue.latest_hash == told:
            upload.same += 1
        else:
            upload.changed += 1
    upload.rows += len(page.records) + page.rejected
    upload.rejected += page.rejected + incoming.rejected
    upload.problems = [*upload.problems, *page.problems][:MOST_PROBLEMS]
    notes = row_notes(page.rows, records)
    upload.noted += len(notes)
    upload.notes = [*upload.notes, *notes][:MOST_PROBLEMS]
    upload.checkpoint = page.checkpoint


def _keep(lease: jobs.Lease, upload: Upload) -> None:
    """Remember how far it came, if the lease is still ours."""
    names = ("rows", "new", "changed", "same", "rejected", "problems", "noted", "notes", "checkpoint")
    mine = Upload.objects.filter(pk=upload.pk, lease_holder=lease.holder, state=State.RUNNING)
    told = {name: getattr(upload, name) for name in names}
    if not mine.update(**told, lease_until=timezone.now() + jobs.LEASE, attempts=0):
        raise LeaseLostError
