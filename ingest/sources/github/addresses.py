"""Names and addresses of repositories and issues, as people paste them."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.sources.base import SourceError

_NAME = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<repo>[A-Za-z0-9._-]+?)"
_SITE = r"(?:(?:https?://)?(?P<host>[A-Za-z0-9.-]+\.[A-Za-z]+|localhost|127\.0\.0\.1)(?::\d+)?/)?"
_REPOSITORY = re.compile(rf"{_SITE}{_NAME}(?:\.git)?/?(?:issues|pulls)?/?")
_ISSUE = re.compile(rf"{_SITE}{_NAME}(?:#|/(?:issues|pull)/)(?P<number>[0-9]+)(?:[/?#].*)?")
_API = re.compile(
    rf"https?://[^/]+/(?:api/v3/)?repos/{_NAME}(?:/(?:issues|pulls)/(?P<number>[0-9]+))?(?:[/?#].*)?"
)


class IssueAddress(NamedTuple):
    """Repository as ``owner/repo`` and number of an issue; host None where it was not said."""

    repository: str
    number: int
    host: str | None = None


def read_repository(told: str) -> str:
    """Return ``owner/repo`` of a name or an address."""
    found = _REPOSITORY.fullmatch(told.strip())
    if found is None:
        raise SourceError(
            f"“{told}” names no repository. Write it as owner/name, for example pytorch/pytorch.",
            permanent=True,
        )
    return f"{found['owner']}/{found['repo']}"


def read_issue(told: str) -> IssueAddress:
    """Return repository and number of an issue or pull request from its address or ``owner/repo#number``."""
    found = _ISSUE.fullmatch(told.strip()) or _API.fullmatch(told.strip())
    if found is None or not found["number"]:
        raise SourceError(
            f"“{told}” is no address of an issue. Paste it as https://github.com/owner/name/issues/123.",
            permanent=True,
        )
    host = found.groupdict().get("host")
    return IssueAddress(f"{found['owner']}/{found['repo']}", int(found["number"]), host and host.lower())


def repository_of(api_url: str | None) -> str:
    """Return ``owner/repo`` of an address that GitHub gave, or an empty string."""
    found = (
        _API.fullmatch(api_url or "")
        or _ISSUE.fullmatch(api_url or "")
        or _REPOSITORY.fullmatch(api_url or "")
    )
    return f"{found['owner']}/{found['repo']}" if found else ""
