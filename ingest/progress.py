"""How an import stands, in the words of its page."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.text import Truncator

from ingest.forms import COLUMN_WORDS
from ingest.models import ImportRun, Upload
from ingest.services import RESUMABLE, STOPPABLE
from ingest.sources.files.preview import Preview
from labeling.services.jobs import worker_alive

State = ImportRun.State
LONGEST_TITLE = 60
TONES = {
    State.RUNNING: ("accent", "retry"),
    State.WAITING: ("warn", "pause"),
    State.PAUSED: ("warn", "pause"),
    State.DONE: ("good", "check"),
    State.FAILED: ("bad", "warn"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person reads about a run, and what they may do with it now."""

    run: ImportRun
    title: str
    tone: str
    icon: str
    is_live: bool
    lacks_worker: bool
    reason: str
    countdown: str
    can_stop: bool
    can_resume: bool
    can_repeat: bool


def progress_of(run: ImportRun, *, has_worker: bool | None = None) -> Progress:
    """Say how a run stands; ``has_worker`` spares the question where many runs are listed."""
    is_live = run.state in STOPPABLE
    alive = worker_alive() if has_worker is None else has_worker
    tone, icon = TONES.get(State(run.state), ("", "clock"))
    return Progress(
        run=run,
        title=title_of(run.source, run.query),
        tone=tone,
        icon=icon,
        is_live=is_live,
        lacks_worker=is_live and not alive,
        reason=str(run.progress.get("reason", "")) if run.state == State.WAITING else "",
        countdown=countdown(run.waiting_until) if run.state == State.WAITING else "",
        can_stop=is_live,
        can_resume=run.state in RESUMABLE,
        can_repeat=run.state == State.DONE and run.source != ImportRun.Source.FILE,
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What a person reads about a file that is tried; ``columns`` says with which mapping, in words."""

    upload: Upload
    is_live: bool
    lacks_worker: bool
    columns: str


def tried_of(upload: Upload, seen: Preview) -> Tried | None:
    """Say what trying a file has shown so far, None if nobody wanted it tried."""
    if upload.state == State.PAUSED:
        return None
    is_live = upload.state in STOPPABLE
    words = [f"{column} → {COLUMN_WORDS[field]}" for column, field in seen.mapping.items()]
    return Tried(upload, is_live, is_live and not worker_alive(), "" if seen.written_by else ", ".join(words))


def title_of(source: str, query: dict[str, Any]) -> str:
    """What was asked for, short: the repositories, the search or the name of the file."""
    if source == ImportRun.Source.FILE:
        return str(query.get("name") or "A file")
    names = list(query.get("repositories") or ())
    if search := query.get("search"):
        return Truncator(f"Search: {search}" + (f" in {', '.join(names)}" if names else "")).chars(
            LONGEST_TITLE
        )
    if issues := list(query.get("issues") or ()):
        return str(issues[0]) if len(issues) == 1 else f"{len(issues):,} issues by address"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def countdown(until: datetime | None) -> str:
    """Time left, as 12:41 or 1:12:41; empty once it is over."""
    left = (until - timezone.now()) if until else timedelta()
    seconds = int(left.total_seconds())
    if seconds <= 0:
        return ""
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
