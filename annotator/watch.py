"""The heartbeat and the sweep that every worker runs beside its tasks, so that no scheduler is needed."""

import logging
import threading
import time
from collections.abc import Callable

from django.db import close_old_connections, connections

from labeling.services.export_jobs import remove_old_files
from labeling.services.jobs import beat, sweep

logger = logging.getLogger(__name__)

BEAT_SECONDS = 10  # a worker counts as running for three of them
SWEEP_SECONDS = 15
OLD_FILES_SECONDS = 60 * 60

_stopped = threading.Event()


def start(*, worker: str) -> None:
    """Say at once and again every few seconds that ``worker`` runs, and ring for work whose lease ran out."""
    _stopped.clear()
    beats = (lambda: beat(worker), BEAT_SECONDS)
    sweeps = (sweep, SWEEP_SECONDS)
    old_files = (remove_old_files, OLD_FILES_SECONDS)
    for action, seconds in (beats, sweeps, old_files):
        threading.Thread(target=_repeat, args=(action, seconds), daemon=True).start()


def stop() -> None:
    """End both after what they do just now."""
    _stopped.set()


def _repeat(action: Callable[[], object], seconds: float) -> None:
    while not _stopped.is_set():
        started = time.monotonic()
        close_old_connections()
        try:
            action()
        except Exception:  # a database that is away for a minute must not end the watch
            logger.exception("The worker's watch failed; it tries again in %s seconds.", seconds)
        _stopped.wait(max(0.0, seconds - (time.monotonic() - started)))
    connections.close_all()
