"""What an import of a file would do, without doing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingest.normalise import cleaned
from ingest.sources.base import Page, SourceError
from ingest.sources.files import read_pages
from labeling.models import Study
from labeling.services.issues import read_incoming
from labeling.services.known import KnownIssues

#: Somebody waits for the answer: of a longer file its beginning is looked at.
MOST_ROWS = 5000
MOST_PROBLEMS = 20


@dataclass(slots=True)
class DryRun:
    """Issues that would be new, changed or the same, rows that would be rejected, and why."""

    rows: int = 0
    new: int = 0
    changed: int = 0
    same: int = 0
    rejected: int = 0
    problems: list[str] = field(default_factory=list)
    is_whole: bool = True


def dry_run(study: Study, path: Path, mapping: Mapping[str, str] | None = None) -> DryRun:
    """Read the file as an import would, and compare it with the corpus."""
    tried = DryRun()
    try:
        for page in read_pages(path, mapping):
            if tried.rows >= MOST_ROWS:
                tried.is_whole = False
                break
            _compare(study, page, tried)
    except SourceError as error:
        tried.problems.append(error.sentence)
    tried.problems = tried.problems[:MOST_PROBLEMS]
    return tried


def _compare(study: Study, page: Page, tried: DryRun) -> None:
    incoming = read_incoming(study, [cleaned(record) for record in page.records])
    known = KnownIssues(study, list(incoming.records.values()))
    for key, told in incoming.hashes.items():
        issue = known.find(incoming.records[key])
        if issue is None:
            tried.new += 1
        elif issue.latest_hash == told:
            tried.same += 1
        else:
            tried.changed += 1
    tried.rows += len(page.records) + page.rejected
    tried.rejected += page.rejected + incoming.rejected
    tried.problems += page.problems
