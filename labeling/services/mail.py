"""Notices by e-mail, where the installation has a mail server and the member an address.

A worker sends them: a mail server that is slow or down holds up no page, and is tried again later. A mail
says what the inbox says and leads there: no answer, no name of a coder and no word of a discussion leaves the
installation.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.core import mail
from django.utils import timezone

from labeling.models import Job, Notice
from labeling.selectors.studies import notices_with_shown_names
from labeling.services.jobs import Lease, release, ring, take_lease
from labeling.wording import notice_text

TIMEOUT = 10  # seconds for one answer of the mail server
WAITS = [timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 600)]
"""How long a server that is down is left alone, each time longer; then the notice is in the inbox alone."""
NO_SERVER = "django.core.mail.backends.dummy.EmailBackend"


def ask_for_mail(notices: Sequence[Notice]) -> None:
    """Have a worker mail what is not waiting unread in the inbox already: a lively discussion is one mail."""
    if settings.EMAIL_BACKEND == NO_SERVER:
        return
    fresh = [each for each in notices if _address(each) and not _was_told(each)]
    if fresh:
        options = {"notices": [each.pk for each in fresh]}
        ring(Job.objects.create(kind=Job.Kind.MAIL, study=fresh[0].member.study, options=options))


def _address(notice: Notice) -> str:
    user = notice.member.user
    return user.email if user is not None and user.is_active else ""


def _was_told(notice: Notice) -> bool:
    earlier = Notice.objects.filter(
        member=notice.member, verb=notice.verb, url=notice.url, read_at__isnull=True
    )
    return earlier.exclude(pk=notice.pk).exists()


def send_mail(job_id: int) -> None:
    """Send the mails of a job that are still news to their readers."""
    lease = take_lease(Job, job_id)
    if lease is None:
        return
    try:
        finished = _send(lease)
    except OSError as error:  # smtplib's errors are among them
        _try_later(lease, error)
    else:
        if finished:
            release(lease, Job.State.DONE)


def _send(lease: Lease) -> bool:
    """Send one after the other, each once; false if another worker took over."""
    job = Job.objects.get(pk=lease.row.pk)
    sent: list[int] = job.progress.setdefault("sent", [])
    waiting = Notice.objects.filter(pk__in=job.options["notices"], read_at__isnull=True).exclude(pk__in=sent)
    notices = notices_with_shown_names(waiting.select_related("member__study", "member__user").order_by("pk"))
    with mail.get_connection(timeout=TIMEOUT) as connection:
        for notice in notices:
            if not lease.renew():
                return False
            if _address(notice):
                connection.send_messages([_message(notice)])
            sent.append(notice.pk)
            Job.objects.filter(pk=job.pk).update(progress=job.progress)
    return True


def _try_later(lease: Lease, error: OSError) -> None:
    told = f"The mail server did not take the mail: {type(error).__name__}."
    attempt = lease.row.attempts
    if attempt > len(WAITS):
        release(lease, Job.State.FAILED, error=told)
    else:
        release(lease, Job.State.WAITING, error=told, waiting_until=timezone.now() + WAITS[attempt - 1])


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
