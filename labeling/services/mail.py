"""Notices by e-mail, where the installation has a mail server and the member an address.

A mail says what the inbox says and leads there: no answer, no name of a coder and no word of a discussion
leaves the installation.
"""

from collections.abc import Sequence

from django.conf import settings
from django.core import mail
from django.db import transaction

from labeling.models import Notice
from labeling.selectors.studies import notices_with_shown_names
from labeling.wording import notice_text

TIMEOUT = 10  # seconds; a mail server that is down must not hold the page up for longer
NO_SERVER = "django.core.mail.backends.dummy.EmailBackend"


def mail_on_commit(notices: Sequence[Notice]) -> None:
    """Send what is not waiting unread in the inbox already: a lively discussion is one mail, not twenty."""
    if settings.EMAIL_BACKEND == NO_SERVER:
        return
    fresh = [each for each in notices if _address(each) and not _was_told(each)]
    if fresh:
        # An unreachable server is logged; what happened stays in the inbox.
        transaction.on_commit(lambda: _send(notices_with_shown_names(fresh)), robust=True)


def _address(notice: Notice) -> str:
    user = notice.member.user
    return user.email if user is not None and user.is_active else ""


def _was_told(notice: Notice) -> bool:
    earlier = Notice.objects.filter(
        member=notice.member, verb=notice.verb, url=notice.url, read_at__isnull=True
    )
    return earlier.exclude(pk=notice.pk).exists()


def _send(notices: Sequence[Notice]) -> None:
    connection = mail.get_connection(timeout=TIMEOUT)
    connection.send_messages([_message(each) for each in notices])


def _message(notice: Notice) -> mail.EmailMessage:
    study, said = notice.member.study, notice_text(notice)
    address = f"{settings.PUBLIC_URL.rstrip('/')}{notice.url or '/inbox/'}"
    body = (
        f"{said}\n{address}\n\n"
        f"This is a notice of the study {study.title}. No second one of its kind comes before you have read "
        "this one in your inbox, and none at all once your account has no e-mail address.\n"
    )
    # A line break in a title would end the header.
    subject = " ".join(f"{study.title}: {said}".split())
    return mail.EmailMessage(subject, body, to=[_address(notice)])
