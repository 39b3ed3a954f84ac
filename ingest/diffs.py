"""One issue of GitHub anew, with the diffs of what fixed it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.conf import settings

from ingest.models import ImportRun
from ingest.normalise import cleaned
from ingest.servers import access_for
from ingest.sources.base import SourceError, SourceQuery
from ingest.sources.github import fetch_issues, fetch_patches
from labeling.models import Issue, Membership, Unit
from labeling.records import FixRecord, IssueRecord
from labeling.services.corpus import apply_rules
from labeling.services.issues import add_issues

#: Diffs of so many fixes of one issue are fetched, the best evidence first.
MOST_FIXES = 5


def is_waiting(unit: Unit) -> bool:
    """Whether there is more to fetch: from GitHub, and not prepared for another sample before."""
    issue, pin = unit.issue, unit.snapshot
    is_from_github = bool((issue.node_id or issue.rest_id) and issue.repository and issue.number)
    return is_from_github and not (pin is not None and "patches" in pin.carries)


def complete_issue(issue: Issue, *, by: Membership | None, keep_alive: Callable[[], None]) -> list[str]:
    """Fetch an issue anew with the diffs of its fixes; return what could not be had."""
    problems: list[str] = []
    run_id = issue.latest.run_id if issue.latest else None
    access = access_for(by, _api_base_of(run_id), keep_alive)
    query = SourceQuery(issues=(f"{issue.repository}#{issue.number}",), unit_kinds=("issue", "pull_request"))
    for page in fetch_issues(query, **access):
        problems += page.problems
        told = [_told_of(issue, each, problems, access) for each in page.records]
        result = add_issues(study=issue.study, records=told, run_id=run_id)
        apply_rules(study=issue.study, issue_ids=result.issue_ids)
    return problems


def _told_of(issue: Issue, told: IssueRecord, problems: list[str], access: dict[str, Any]) -> IssueRecord:
    """Return what to keep of an issue: with diffs, or that it is no longer where it was."""
    if told.gone or told.transferred_to:
        return replace(told, host=issue.host, repository=issue.repository, number=issue.number)
    return cleaned(_with_patches(told, problems, access))


def _with_patches(told: IssueRecord, problems: list[str], access: dict[str, Any]) -> IssueRecord:
    """Add the diffs of what fixed the issue."""
    wanted = [fix.key for fix in told.fixes if fix.is_fix][:MOST_FIXES]
    fixes: list[FixRecord] = []
    for fix in told.fixes:
        if fix.key not in wanted:
            fixes.append(fix)
            continue
        try:
            fixes.append(fetch_patches(fix, **access))
        except SourceError as error:
            if not error.permanent:
                raise
            problems.append(f"The diff of {fix.key} could not be fetched. {error.sentence}")
            fixes.append(fix)
    return replace(told, fixes=tuple(fixes), carries=told.carries | {"patches"})


def _api_base_of(run_id: int | None) -> str:
    """The server an issue came from, if it may still be asked."""
    run = ImportRun.objects.filter(pk=run_id).first() if run_id else None
    base = run.query.get("api_base") if run else None
    return str(base) if base in settings.GITHUB_API_URLS else str(settings.GITHUB_API_URLS[0])
