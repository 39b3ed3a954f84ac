"""Which pull request or commit fixed an issue: the evidence, and how strong it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from labeling.records import EVIDENCE, Evidence, FixRecord

_KEYWORD = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+"
    r"(?:https?://[^/\s]+/(?P<site>[\w.-]+/[\w.-]+)/issues/|(?P<name>[\w.-]+/[\w.-]+)?#|GH-)(?P<number>\d+)\b",
    re.IGNORECASE,
)


def pull_key(repository: str, number: int) -> str:
    """Return the key of a pull request."""
    return f"{repository}#{number}".lower()


def commit_key(repository: str, sha: str) -> str:
    """Return the key of a commit."""
    return f"{repository}@{sha}".lower()


def closes(text: str, *, written_in: str, repository: str, number: int) -> bool:
    """Whether ``text``, written in one repository, has a closing keyword for an issue."""
    for found in _KEYWORD.finditer(text):
        target = found["site"] or found["name"] or written_in
        if int(found["number"]) == number and target.lower() == repository.lower():
            return True
    return False


def strongest(candidates: Iterable[FixRecord]) -> tuple[FixRecord, ...]:
    """Return each fix once, with its best evidence, the best ones first.

    The merge commit of a pull request says the same as the pull request: it lends its evidence to it and
    is left out, so that a coder does not read one change twice.
    """
    best: dict[str, FixRecord] = {}
    for fix in candidates:
        known = best.get(fix.key)
        best[fix.key] = fix if known is None else _merge(known, fix)
    merges = {fix.sha: fix.key for fix in best.values() if fix.kind == "pull_request" and fix.sha}
    for key, fix in list(best.items()):
        if fix.kind == "commit" and fix.sha in merges:
            pull = best[merges[fix.sha]]
            best[pull.key] = replace(pull, evidence=_better(pull.evidence, fix.evidence))
            del best[key]
    return tuple(sorted(best.values(), key=lambda fix: (EVIDENCE.index(fix.evidence), fix.key)))


def _merge(one: FixRecord, other: FixRecord) -> FixRecord:
    """Keep the fuller of two accounts of the same fix, with the better evidence."""
    fuller = one if one.merged_at or not other.merged_at else other
    return replace(fuller, evidence=_better(one.evidence, other.evidence), sha=one.sha or other.sha)


def _better(one: Evidence, other: Evidence) -> Evidence:
    return min(one, other, key=EVIDENCE.index)
