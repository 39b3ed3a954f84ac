"""Notices by e-mail: what waits for somebody reaches them, once, and tells nothing of the study."""

import pytest
from django.core import mail
from django.core.mail.backends import locmem

from labeling.models import Job, Notice, RoundUnit
from labeling.services.events import notify
from labeling.services.mail import WAITS, send_mail
from labeling.services.reconciliation import Answer, add_comment, propose_decision
from tests.factories import make_member, make_study, make_user
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(title="Bugs in\ncompilers")


@pytest.fixture
def ada(study):
    return make_member(study, user=make_user("ada", email="ada@example.org"))


def sent_by(act) -> list[mail.EmailMessage]:
    """What a worker sends after ``act``, which itself sends nothing."""
    before = len(mail.outbox)
    act()
    assert len(mail.outbox) == before
    for job in Job.objects.filter(kind="mail", state="queued"):
        send_mail(job.pk)
    return mail.outbox[before:]


def test_a_notice_is_mailed_with_the_address_of_its_page(ada, settings):
    settings.PUBLIC_URL = "https://code.example.org"
    (sent,) = sent_by(
        lambda: notify([ada], verb="round.opened", object="round:3", url="/studies/x/rounds/3/"),
    )
    assert sent.to == ["ada@example.org"]
    assert sent.subject == "Bugs in compilers: Opened for coding: round 3"
    assert "https://code.example.org/studies/x/rounds/3/" in sent.body


def test_while_one_is_unread_a_second_of_its_kind_is_not_mailed(ada):
    def told():
        return sent_by(
            lambda: notify([ada], verb="comment.added", object="unit:a/b#1", url="/u/1/"),
        )

    assert len(told()) == 1
    assert len(told()) == 0
    assert Notice.objects.count() == 2
    Notice.objects.update(read_at="2026-01-01T00:00:00Z")
    assert len(told()) == 1


def test_without_an_address_or_a_server_nothing_is_mailed(study, ada, settings):
    def act():
        notify([ada, make_member(study)], verb="round.closed", object="round:1", url="/r/1/")

    assert [each.to for each in sent_by(act)] == [["ada@example.org"]]
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    Notice.objects.all().delete()
    assert sent_by(act) == []


def test_a_server_that_is_down_is_tried_again_and_nobody_gets_a_mail_twice(study, ada, settings):
    ben = make_member(study, user=make_user("ben", email="ben@example.org"))
    settings.EMAIL_BACKEND = "tests.labeling.services.test_mail.Failing"
    assert len(sent_by(lambda: notify([ada, ben], verb="round.opened", object="round:3", url="/r/3/"))) == 1
    job = Job.objects.get(kind="mail")
    assert (job.state, job.attempts) == ("waiting", 1)
    for _ in WAITS:
        Job.objects.update(waiting_until="2026-01-01T00:00:00Z")
        send_mail(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "ConnectionRefusedError" in job.error
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    Job.objects.update(state="queued")
    send_mail(job.pk)
    assert sorted(to for each in mail.outbox for to in each.to) == ["ada@example.org", "ben@example.org"]
    assert Notice.objects.filter(read_at=None).count() == 2


class Failing(locmem.EmailBackend):
    """A mail server that takes one mail, and then is down."""

    def send_messages(self, messages) -> int:
        if mail.outbox:
            raise ConnectionRefusedError
        return super().send_messages(messages)


def test_what_was_read_meanwhile_is_not_mailed(ada):
    def act():
        notify([ada], verb="round.opened", object="round:3", url="/r/3/")
        Notice.objects.update(read_at="2026-01-01T00:00:00Z")

    assert sent_by(act) == []


def test_a_mail_tells_no_answer_and_nothing_that_was_written(study, ada):
    closed = close(coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study))
    ben = coder_called(study, "ben")
    row = RoundUnit.objects.select_related("round__study", "unit").get(round=closed)

    def act():
        add_comment(round_unit=row, by=ben, text="@ada it waits for a lock")
        propose_decision(
            round_unit=row, dimension="symptom", by=ben, answer=Answer(categories=("hang",)), rationale="Lock"
        )

    sent = sent_by(act)
    assert [each.to for each in sent] == [["ada@example.org"]] * 2
    words = " ".join(each.subject + each.body for each in sent).lower()
    assert "mentioned in the discussion" in words
    assert "a proposal waits for you" in words
    for secret in ("lock", "hang", "ben"):
        assert secret not in words
