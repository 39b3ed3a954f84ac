"""The queue in the database: ring, take a lease, renew it, and sweep up what was lost.

A message of the broker says only "look at this row". Lost, late or doubled, it changes nothing: whoever
takes the lease works, and a lease that ran out is taken again.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from socket import gethostname

from celery import current_app
from django.apps import apps
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from labeling.models import Heartbeat, Leased

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
RENEW_EVERY = timedelta(seconds=10)
ALIVE = timedelta(seconds=30)
ATTEMPTS = 20
"""So often is a row tried whose worker died each time; then it is failed, for a person to look at."""

TASKS: dict[str, str] = {}
"""``Leased.task_key`` of a row -> the task that works on it; each app adds its own when it starts."""


def register(task_key: str, task: str) -> None:
    TASKS[task_key] = task


def ring(row: Leased) -> None:
    """Tell a worker, once the row is committed. Without a broker the sweep finds the row all the same."""
    task, pk = TASKS[row.task_key], row.pk
    # No partial: where it fails, Django logs the function by a name that a partial lacks.
    transaction.on_commit(lambda: _send(task, pk), robust=True)


def _send(task: str, pk: int) -> None:
    try:
        current_app.send_task(task, args=[pk], retry=False)
    except (OperationalError, OSError):
        logger.warning("The bell for %s %s was not heard; the sweep will find it.", task, pk)


def _due(now: datetime) -> Q:
    expired = Q(state=Leased.State.RUNNING) & (Q(lease_until__isnull=True) | Q(lease_until__lt=now))
    waited = Q(state=Leased.State.WAITING) & (Q(waiting_until__isnull=True) | Q(waiting_until__lte=now))
    return Q(state=Leased.State.QUEUED) | expired | waited


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a row for a while; a holder whose lease was taken over finds ``renew`` false."""

    row: Leased
    holder: str

    def renew(self) -> bool:
        """Hold on for another 30 s. False: somebody else has it, or a person paused or cancelled it; stop."""
        mine = type(self.row)._default_manager.filter(
            pk=self.row.pk, lease_holder=self.holder, state=Leased.State.RUNNING
        )
        return bool(mine.update(lease_until=timezone.now() + LEASE))


def take_lease(model: type[Leased], pk: int, holder: str = "") -> Lease | None:
    """Take a due row, or None: it is done, held by another, paused or gone.

    ``holder`` says who asks; a random part makes it another one for each time, so that a task that was
    thought dead is not taken for the one that took over on the same machine.
    """
    now = timezone.now()
    holder = f"{holder or gethostname()}/{token_hex(4)}"
    taken = model._default_manager.filter(Q(pk=pk) & _due(now)).update(
        state=Leased.State.RUNNING,
        lease_until=now + LEASE,
        lease_holder=holder,
        waiting_until=None,
        attempts=F("attempts") + 1,
    )
    if not taken:
        return None
    return Lease(row=model._default_manager.get(pk=pk), holder=holder)


def release(
    lease: Lease, state: Leased.State, *, error: str = "", waiting_until: datetime | None = None
) -> bool:
    """Give the row back in its next state; false if the lease was lost meanwhile and nothing was written."""
    finished = timezone.now() if state in (Leased.State.DONE, Leased.State.FAILED) else None
    mine = type(lease.row)._default_manager.filter(
        pk=lease.row.pk, lease_holder=lease.holder, state=Leased.State.RUNNING
    )
    return bool(
        mine.update(
            state=state,
            error=error,
            waiting_until=waiting_until,
            lease_until=None,
            lease_holder="",
            finished_at=finished,
        )
    )


def sweep() -> int:
    """Ring again for every row that is due; give up on those whose workers died each time."""
    now = timezone.now()
    rung = 0
    for model in (each for each in apps.get_models() if issubclass(each, Leased)):
        due = model._default_manager.filter(_due(now))
        due.filter(attempts__gte=ATTEMPTS, state=Leased.State.RUNNING).update(
            state=Leased.State.FAILED,
            finished_at=now,
            error=f"The worker stopped {ATTEMPTS} times at this work. Look at its log, then run it again.",
        )
        for row in due.order_by("pk")[:100]:
            if row.task_key in TASKS:
                _send(TASKS[row.task_key], row.pk)
                rung += 1
    return rung


def beat(worker: str) -> None:
    """Say that a worker is alive."""
    Heartbeat.objects.update_or_create(worker=worker, defaults={"at": timezone.now()})


def worker_alive() -> bool:
    """Whether any worker was heard within the last 30 s; pages say "no worker is running" otherwise."""
    return Heartbeat.objects.filter(at__gte=timezone.now() - ALIVE).exists()
