"""Working under a lease: keep it while time passes, and give it back with the reason why."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.utils import timezone

from ingest.sources.base import SourceError, Waiting
from labeling.models import Leased
from labeling.services import jobs

logger = logging.getLogger(__name__)

#: After so long a worker lets others have a turn: an import must not keep an export waiting for hours.
TURN = 60.0
#: What fails for a passing reason is tried again after this long, so many times without any progress.
RETRY_AFTER = timedelta(minutes=2)
RETRIES = 8

OUR_ERROR = "Intercoder met an error of its own; the worker's log has it. Start it again to go on."


class LeaseLostError(Exception):
    """Somebody paused or cancelled the work, or another worker has it."""


def take(model: type[Leased], pk: int) -> jobs.Lease | None:
    """Take the row under a name nobody else has."""
    return jobs.take_lease(model, pk, secrets.token_hex(8))


def keep_alive(lease: jobs.Lease) -> Callable[[], None]:
    """Return what renews the lease, at most every few seconds, and stops the work when it is lost."""
    renewed = time.monotonic()

    def renew() -> None:
        nonlocal renewed
        if time.monotonic() - renewed < jobs.RENEW_EVERY.total_seconds() / 2:
            return
        if not lease.renew():
            raise LeaseLostError
        renewed = time.monotonic()

    return renew


def try_later(lease: jobs.Lease, error: SourceError) -> None:
    """Raise ``Waiting`` where the error may pass and the work did not fail too often already."""
    attempts = type(lease.row)._default_manager.values_list("attempts", flat=True).get(pk=lease.row.pk)
    if not error.permanent and attempts < RETRIES:
        raise Waiting(timezone.now() + RETRY_AFTER, error.sentence) from error


@contextmanager
def working(lease: jobs.Lease) -> Iterator[None]:
    """Give the row back as waiting or failed when the work inside ends that way."""
    try:
        yield
    except LeaseLostError:
        logger.info("%s was stopped or taken over.", lease.row)
    except Waiting as waiting:
        _say_why(lease, waiting.reason)
        jobs.release(lease, Leased.State.WAITING, waiting_until=waiting.until)
    except SourceError as error:
        jobs.release(lease, Leased.State.FAILED, error=error.sentence)
    except Exception:
        logger.exception("%s broke off.", lease.row)
        jobs.release(lease, Leased.State.FAILED, error=OUR_ERROR)


def _say_why(lease: jobs.Lease, reason: str) -> None:
    """Tell the page why the work waits."""
    rows = type(lease.row)._default_manager.filter(pk=lease.row.pk, lease_holder=lease.holder)
    progress = rows.values_list("progress", flat=True).first()
    if progress is not None:
        rows.update(progress={**progress, "reason": reason})
