"""One request at a time for everybody who asks with the same token; the turns are kept in the database."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from ingest.models import Pace

#: A request is over after so long: it timed out, or its worker is dead.
LONGEST_REQUEST = timedelta(seconds=30)
#: GitHub's limits are by the hour; what is longer comes of a clock that was put back.
LONGEST_PAUSE = timedelta(minutes=70)
#: Seconds until somebody who found a request under way asks again.
ASK_AGAIN = 0.2


class SharedPace:
    """Turns of one token: GitHub wants its requests one after another, each budget at its own distance."""

    def __init__(self, token: str | None, api_base: str) -> None:
        # The token itself is kept nowhere but where it is encrypted.
        self._who = hashlib.sha256(f"{api_base} {token or ''}".encode()).hexdigest()[:32]

    def turn(self, budget: str, spacing: float) -> float:
        """Take the turn if it is free, and give 0; else give the seconds after which to ask again."""
        with transaction.atomic():
            flight, pace = self._locked("flight"), self._locked(budget)
            now = timezone.now()
            paused = Pace.objects.filter(
                key=f"pause:{self._who}", free_at__gt=now, free_at__lte=now + LONGEST_PAUSE
            ).first()
            if paused is not None:
                return (paused.free_at - now).total_seconds()
            if now < flight.free_at <= now + LONGEST_REQUEST:
                return ASK_AGAIN
            # A clock that was put back must not make us wait for hours.
            if now < pace.free_at <= now + timedelta(seconds=spacing):
                return (pace.free_at - now).total_seconds()
            flight.free_at, pace.free_at = now + LONGEST_REQUEST, now + timedelta(seconds=spacing)
            for row in (flight, pace):
                row.save(update_fields=["free_at"])
        return 0.0

    def pause(self, seconds: float) -> None:
        """Let nobody ask for so long: GitHub wants it of the token, not of one import."""
        until = timezone.now() + timedelta(seconds=seconds)
        Pace.objects.update_or_create(key=f"pause:{self._who}", defaults={"free_at": until})

    def done(self) -> None:
        """Let the next one ask."""
        Pace.objects.filter(key=f"flight:{self._who}").update(free_at=timezone.now())

    def _locked(self, what: str) -> Pace:
        rows = Pace.objects.select_for_update()
        return rows.get_or_create(key=f"{what}:{self._who}", defaults={"free_at": timezone.now()})[0]
