"""Names and addresses of repositories and issues, as people paste them."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from ingest.sources.base import SourceError

_NAME = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<repo>[A-Za-z0-9._-]+?)"
_SITE = r"(?:(?:https?://)?(?P<host>[A-Za-z0-9.-]+\.[A-Za-z]+|localhost|127\.0\.0\.1)(?::\d+)?/)?"
_REPOSITORY = re.compile(rf"{_SITE}{_NAME}(?:\.git)?/?(?:issues|pulls)?/?")
_ISSUE = re.compile(rf"{_SITE}{_NAME}(?:#|/(?:issues|pull)/)(?P<number>[0-9]{{1,9}})(?:[/?#].*)?")
_API = re.compile(
    rf"https?://[^/]+/(?:api/v3/)?repos/{_NAME}(?:/(?:issues|pulls)/(?P<number>[0-9]{{1,9}}))?(?:[/?#].*)?"
)


class IssueAddress(NamedTuple):
    """Repository as ``owner/repo`` and number of an issue; host None where it was not said."""

    repository: str
    number: int
    host: str | None = None

    @property
    def owner(self) -> str:
        return self.repository.partition("/")[0]

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2]


def read_repository(told: str, site: str = "") -> str:
    """Return ``owner/repo`` of a name or an address; with a ``site`` an address elsewhere is refused."""
    found = _REPOSITORY.fullmatch(told.strip())
    if found is None:
        raise SourceError(
            f"“{_short(told)}” names no repository. Write it as owner/name, for example pytorch/pytorch.",
            permanent=True,
        )
    _refuse_other_site(told, found["host"], site)
    return f"{found['owner']}/{found['repo']}"


def read_issue(told: str, site: str = "") -> IssueAddress:
    """Return repository and number of an issue or pull request from its address or ``owner/repo#number``."""
    found = _ISSUE.fullmatch(told.strip()) or _API.fullmatch(told.strip())
    if found is None or not found["number"]:
        raise SourceError(
            f"“{_short(told)}” is no address of an issue. Paste it as https://github.com/owner/name/issues/123.",
            permanent=True,
        )
    host = found.groupdict().get("host")
    _refuse_other_site(told, host, site)
    return IssueAddress(f"{found['owner']}/{found['repo']}", int(found["number"]), host and host.lower())


def site_of(api_base: str) -> str:
    """Return the host that addresses on a server of GitHub have, from the base of its API."""
    return (urlsplit(api_base).hostname or "").removeprefix("api.")


def _refuse_other_site(told: str, host: str | None, site: str) -> None:
    """Refuse what would be looked up under the same name somewhere else."""
    # A stand-in for GitHub on this machine answers for any host.
    if host and site and site not in {host.lower().removeprefix("www."), "127.0.0.1", "localhost"}:
        sentence = f"“{_short(told)}” is on {host.lower()}, but the import asks {site}."
        raise SourceError(sentence, permanent=True)


def _short(told: str) -> str:
    return told if len(told) <= 100 else f"{told[:100]}…"


def repository_of(api_url: str | None) -> str:
    """Return ``owner/repo`` of an address that GitHub gave, or an empty string."""
    found = (
        _API.fullmatch(api_url or "")
        or _ISSUE.fullmatch(api_url or "")
        or _REPOSITORY.fullmatch(api_url or "")
    )
    return f"{found['owner']}/{found['repo']}" if found else ""
