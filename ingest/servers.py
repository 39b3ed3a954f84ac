"""How a server of GitHub is asked: with whose token, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from ingest.pace import SharedPace
from ingest.sources.base import SourceError
from ingest.sources.github import Pacing
from labeling.errors import StudyRuleError
from labeling.models import Membership
from labeling.services.tokens import token_for


def access_for(by: Membership | None, api_base: str, keep_alive: Callable[[], None]) -> dict[str, Any]:
    """Return the arguments that every function of ``ingest.sources.github`` takes."""
    try:
        token = token_for(by.user if by else None, api_base)
    except StudyRuleError as error:
        raise SourceError(error.message, permanent=True) from error
    return {"token": token, "api_base": api_base, "pacing": _pacing(token, api_base, keep_alive)}


def _pacing(token: str | None, api_base: str, keep_alive: Callable[[], None]) -> Pacing:
    """GitHub's pace; a stand-in on this machine need not be spared."""
    if urlsplit(api_base).hostname in ("127.0.0.1", "localhost"):
        return Pacing(spacing={}, backoff=0.01, keep_alive=keep_alive)
    shared = SharedPace(token, api_base)
    return Pacing(keep_alive=keep_alive, turn=shared.turn, done=shared.done, pause=shared.pause)
