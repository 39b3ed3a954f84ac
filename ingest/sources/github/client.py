"""One connection to GitHub: paced, within its limits, with one policy for every status.

PyGithub carries the requests and nothing else: its objects fetch missing fields behind our back and its
retries can sleep an hour inside a worker. A client belongs to one task; it is not safe across threads.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from github import Auth, Github
from requests.exceptions import RequestException

from ingest.sources.base import SourceError, Waiting
from ingest.sources.github.addresses import site_of

Budget = Literal["core", "search", "graphql"]

API_VERSION = "2022-11-28"
PUBLIC_API = "https://api.github.com"

logger = logging.getLogger(__name__)


def _nothing() -> None:
    """Stand in where nobody has to be told that the work goes on."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """How fast to ask and how long to sit and wait; all in seconds.

    ``spacing`` keeps GitHub's advice of serial, spaced requests; ``reserve`` requests of an hour are left
    to the owner of the token; ``keep_alive`` is called while time passes, so that a lease is renewed.
    ``turn`` takes the turn for a request of a budget among all who use the token, or gives the seconds after
    which to ask again; ``done`` gives it back, ``pause`` tells the others of a limit. Without them each
    client keeps the pace for itself.
    """

    spacing: Mapping[Budget, float] = field(
        default_factory=lambda: {"core": 0.85, "search": 2.1, "graphql": 1.0}
    )
    backoff: float = 1.0
    longest_wait: float = 60.0
    reserve: int = 100
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    keep_alive: Callable[[], None] = _nothing
    turn: Callable[[str, float], float] | None = None
    done: Callable[[], None] = _nothing
    pause: Callable[[float], None] = lambda _: None


class OverloadedError(SourceError):
    """GitHub failed at this request; a smaller one, or a later one, may pass."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, permanent=False)


class NotThereError(SourceError):
    """GitHub says that there is nothing, or nothing this token may see."""

    def __init__(self, sentence: str, *, status: int, message: str) -> None:
        super().__init__(sentence, permanent=True)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status, headers with lower-case names, and the text."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def message(self) -> str:
        """GitHub's own sentence about an error, empty if it gave none."""
        try:
            told = json.loads(self.text)
        except ValueError:
            return ""
        return str(told.get("message") or "") if isinstance(told, dict) else ""

    @property
    def next_url(self) -> str | None:
        """The address of the next page, from the ``Link`` header."""
        for link in self.headers.get("link", "").split(","):
            address, _, parameters = link.partition(";")
            if 'rel="next"' in parameters:
                return address.strip().strip("<>")
        return None

    def number(self, header: str) -> float | None:
        """Return a header as a number, None if it is absent or no number."""
        try:
            return float(self.headers[header])
        except (KeyError, ValueError):
            return None


class Client:
    """Asks GitHub; counts its requests in ``requests`` and keeps what GitHub says is left in ``quota``."""

    def __init__(
        self, *, token: str | None, api_base: str = PUBLIC_API, pacing: Pacing | None = None
    ) -> None:
        self.has_token = bool(token)
        self.requests = 0
        self.quota: dict[str, dict[str, int]] = {}
        self._pacing = pacing or Pacing()
        self._base = urlsplit(api_base.rstrip("/"))
        #: What GitHub called the state of lists, by their address: as known before, and as found now.
        self.known_etags: Mapping[str, str] = {}
        self.etags: dict[str, str] = {}
        self._resets: dict[Budget, float] = {}
        self._last: dict[Budget, float] = {}
        self._requester = Github(
            auth=Auth.Token(token) if token else None,
            base_url=api_base.rstrip("/"),
            user_agent="Intercoder",
            per_page=100,
            timeout=20,
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
            api_version=API_VERSION,
        ).requester

    @property
    def host(self) -> str:
        """The host that issues of this server have in their addresses."""
        return site_of(self._base.geturl())

    def get(
        self, path: str, parameters: Mapping[str, Any] | None = None, *, tries: int = 4, etag: str = ""
    ) -> tuple[Answer, Any]:
        """GET a path (or a next address that GitHub gave) and return the answer and its JSON.

        A list that is still as its ``etag`` says comes back empty, and costs nothing of the hour's requests.
        """
        url = f"{path}?{urlencode(parameters)}" if parameters else path
        budget: Budget = "search" if urlsplit(url).path.endswith("/search/issues") else "core"
        return self._ask("GET", url, budget=budget, tries=tries, etag=etag)

    def post_graphql(self, query: str, variables: Mapping[str, Any]) -> tuple[Answer, dict[str, Any]]:
        """POST a GraphQL query; its ``errors`` are for the caller to judge."""
        body = {"query": query, "variables": dict(variables)}
        answer, told = self._ask("POST", self._requester.graphql_url, budget="graphql", tries=1, body=body)
        if not isinstance(told, dict):
            raise OverloadedError("GitHub's GraphQL answer was no object.")
        return answer, told

    def wait(self, seconds: float, reason: str) -> None:
        """Sit and wait if it is short, else ask the caller to come back."""
        if seconds > self._pacing.longest_wait:
            raise Waiting(
                datetime.fromtimestamp(self._pacing.now(), UTC) + timedelta(seconds=seconds), reason
            )
        while seconds > 0:
            self._pacing.keep_alive()
            self._pacing.sleep(min(seconds, 5.0))
            seconds -= 5.0

    def wait_for_limit(self, answer: Answer, attempt: int) -> None:
        """Wait as long as an answer says that a limit lasts; secondary limits often do not say."""
        retry_after, reset = answer.number("retry-after"), answer.number("x-ratelimit-reset")
        if retry_after is not None:
            seconds, reason = retry_after + self._jitter(), "GitHub asks for a pause."
        elif answer.number("x-ratelimit-remaining") == 0 and reset is not None:
            seconds = max(reset - self._pacing.now(), 0) + 1 + self._jitter()
            reason = "The hourly number of requests that GitHub allows is used up."
        else:
            seconds, reason = 60.0 * 2 ** (attempt - 1), "GitHub asks for slower requests."
        self._pacing.pause(seconds)
        self.wait(seconds, reason)

    def _ask(
        self, verb: str, url: str, *, budget: Budget, tries: int, body: Any = None, etag: str = ""
    ) -> tuple[Answer, Any]:
        limited = failed = 0
        while True:
            try:
                answer = self._send(verb, url, budget, body, etag)
                if _is_limit(answer):
                    limited += 1
                    self.wait_for_limit(answer, limited)
                    continue
                return answer, _json_of(answer)
            except OverloadedError:
                failed += 1
                if failed >= tries:
                    raise
                self.wait(self._pacing.backoff * 2 ** (failed - 1), "GitHub does not answer at the moment.")

    def _send(self, verb: str, url: str, budget: Budget, body: Any, etag: str) -> Answer:
        self._check_host(url)
        self._pacing.keep_alive()
        self._keep_pace(budget)
        self.requests += 1
        asked = {"If-None-Match": etag} if etag else None
        try:
            status, headers, text = self._requester.requestJson(verb, url, headers=asked, input=body)
        except RequestException as error:
            # The address, never the headers: they hold the token.
            logger.info("GitHub connection failed at %s: %s", urlsplit(url).path, type(error).__name__)
            raise OverloadedError("The connection to GitHub broke.") from error
        except RuntimeError as error:
            raise SourceError(
                "The server sends us to another host. Check the address of the GitHub server.", permanent=True
            ) from error
        finally:
            self._pacing.done()
        answer = Answer(status, headers, text)
        self._mind_reserve(budget, answer)
        return answer

    def _check_host(self, url: str) -> None:
        """Refuse an address outside the server we were told to ask: the token would go along."""
        if url.startswith("/"):
            return
        asked = urlsplit(url)
        if (asked.scheme, asked.netloc) != (self._base.scheme, self._base.netloc):
            raise SourceError(
                f"GitHub's next page points to another server ({asked.netloc}).", permanent=True
            )

    def _keep_pace(self, budget: Budget) -> None:
        reset = self._resets.pop(budget, None)
        if reset is not None and reset > self._pacing.now():
            seconds = reset - self._pacing.now() + 1 + self._jitter()
            self._resets[budget] = reset
            self.wait(seconds, "The rest of this hour's requests is left to the owner of the token.")
        spacing = self._pacing.spacing.get(budget, 0.0)
        if self._pacing.turn is None:
            self.wait(spacing - (time.monotonic() - self._last.get(budget, -1e9)), "")
            self._last[budget] = time.monotonic()
            return
        while (pause := self._pacing.turn(budget, spacing)) > 0:
            self.wait(pause, "GitHub wants this token to pause, or other imports use it.")

    def _mind_reserve(self, budget: Budget, answer: Answer) -> None:
        """Remember to stop before the hour's requests are used up, where there are many."""
        limit, remaining = answer.number("x-ratelimit-limit"), answer.number("x-ratelimit-remaining")
        reset = answer.number("x-ratelimit-reset")
        if None in (limit, remaining, reset) or not self.has_token:
            return
        assert limit is not None and remaining is not None and reset is not None  # noqa: S101, PT018 (for mypy)
        self.quota[budget] = {"remaining": int(remaining), "limit": int(limit)}
        if limit >= 10 * self._pacing.reserve and remaining < self._pacing.reserve:
            self._resets[budget] = reset

    def _jitter(self) -> float:
        return secrets.randbelow(1000) / 1000 * self._pacing.backoff


def _is_limit(answer: Answer) -> bool:
    """Tell a limit from a refusal: a 403 that names no limit is about permissions and stays."""
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    if answer.status != HTTPStatus.FORBIDDEN:
        return False
    message = answer.message.lower()
    named = "rate limit" in message or "abuse" in message or "wait a few minutes" in message
    return named or "retry-after" in answer.headers or answer.number("x-ratelimit-remaining") == 0


def _json_of(answer: Answer) -> Any:
    """Return the JSON of a good answer; raise what any other answer means."""
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise OverloadedError(f"GitHub could not answer (status {answer.status}).")
    if answer.status >= HTTPStatus.BAD_REQUEST:
        raise _refusal(answer)
    if answer.status == HTTPStatus.NOT_MODIFIED:
        return []
    try:
        return json.loads(answer.text)
    except ValueError:
        raise OverloadedError("GitHub answered with a web page instead of data.") from None


def _refusal(answer: Answer) -> SourceError:
    said = f" GitHub says: {answer.message}" if answer.message else ""
    match answer.status:
        case HTTPStatus.UNAUTHORIZED:
            sentence = f"GitHub refuses the token. Make a new one, store it, and run the import again.{said}"
        case HTTPStatus.FORBIDDEN:
            sentence = f"GitHub does not allow this token to read it.{said}"
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE | HTTPStatus.METHOD_NOT_ALLOWED:
            sentence = f"Not found, or not visible to this token.{said}"
            return NotThereError(sentence, status=answer.status, message=answer.message)
        case HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
            sentence = f"It was taken down for legal reasons.{said}"
        case _:
            sentence = f"GitHub cannot answer this request (status {answer.status}).{said}"
    return SourceError(sentence, permanent=True)
