"""One pace for everybody who asks with the same token: the next free moment stands in the database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from ingest.models import Pace


def shared_turn(token: str | None, api_base: str) -> Callable[[str, float], float]:
    """Return what books the next request of a budget and says how many seconds to wait for it."""
    # The token itself is kept nowhere but where it is encrypted.
    who = hashlib.sha256(f"{api_base} {token or ''}".encode()).hexdigest()[:32]

    def book(budget: str, spacing: float) -> float:
        key = f"{budget}:{who}"
        with transaction.atomic():
            now = timezone.now()
            pace, _ = Pace.objects.select_for_update().get_or_create(key=key, defaults={"free_at": now})
            # A clock that was put back must not make us wait for hours.
            turn = max(now, min(pace.free_at, now + timedelta(seconds=100 * spacing)))
            pace.free_at = turn + timedelta(seconds=spacing)
            pace.save(update_fields=["free_at"])
        return (turn - now).total_seconds()

    return book
