"""The record: one line for each act, and the notices that follow from it."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from labeling.models import Event, Membership, Notice, Round, Study
from labeling.services.mail import ask_for_mail


def record(
    *,
    study: Study | None,
    verb: str,
    by: Membership | None = None,
    round: Round | None = None,  # noqa: A002 - named as the field
    object: str = "",  # noqa: A002 - named as the field
    **data: Any,
) -> Event:
    """Write an event; ``data`` takes ids and numbers, never what somebody wrote."""
    return Event.objects.create(
        study=study, round=round, by=by, verb=verb, object=object, data=data, at=timezone.now()
    )


def notify(
    members: Iterable[Membership],
    *,
    verb: str,
    object: str = "",  # noqa: A002 - named as the field
    url: str = "",
) -> None:
    """Put a notice in the inbox of each member who can read one, present persons, and mail it to them."""
    readers = {member.pk: member for member in members if member.user_id and not member.left_at}
    notices = Notice.objects.bulk_create(
        [Notice(member=member, verb=verb, object=object, url=url) for member in readers.values()]
    )
    ask_for_mail(notices)
