"""Notices by e-mail: what waits for somebody reaches them, once, and tells nothing of the study."""

import pytest
from django.core import mail

from labeling.models import Notice, RoundUnit
from labeling.services.events import notify
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


def sent_by(capture, act) -> list[mail.EmailMessage]:
    before = len(mail.outbox)
    with capture(execute=True):
        act()
    return mail.outbox[before:]


def test_a_notice_is_mailed_with_the_address_of_its_page(ada, django_capture_on_commit_callbacks, settings):
    settings.PUBLIC_URL = "https://code.example.org"
    (sent,) = sent_by(
        django_capture_on_commit_callbacks,
        lambda: notify([ada], verb="round.opened", object="round:3", url="/studies/x/rounds/3/"),
    )
    assert sent.to == ["ada@example.org"]
    assert sent.subject == "Bugs in compilers: Opened for coding: round 3"
    assert "https://code.example.org/studies/x/rounds/3/" in sent.body


def test_while_one_is_unread_a_second_of_its_kind_is_not_mailed(ada, django_capture_on_commit_callbacks):
    def told():
        return sent_by(
            django_capture_on_commit_callbacks,
            lambda: notify([ada], verb="comment.added", object="unit:a/b#1", url="/u/1/"),
        )

    assert len(told()) == 1
    assert len(told()) == 0
    assert Notice.objects.count() == 2
    Notice.objects.update(read_at="2026-01-01T00:00:00Z")
    assert len(told()) == 1


def test_without_an_address_or_a_server_nothing_is_mailed(
    study, ada, django_capture_on_commit_callbacks, settings
):
    def act():
        notify([ada, make_member(study)], verb="round.closed", object="round:1", url="/r/1/")

    assert [each.to for each in sent_by(django_capture_on_commit_callbacks, act)] == [["ada@example.org"]]
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    Notice.objects.all().delete()
    assert sent_by(django_capture_on_commit_callbacks, act) == []


def test_a_server_that_is_down_loses_nothing_but_the_mail(ada, django_capture_on_commit_callbacks, settings):
    settings.EMAIL_BACKEND = "tests.labeling.services.test_mail.Broken"
    with django_capture_on_commit_callbacks(execute=True):
        notify([ada], verb="round.opened", object="round:3", url="/r/3/")
    assert Notice.objects.filter(member=ada).count() == 1


class Broken:
    """A mail server that does not answer."""

    def __init__(self, **options) -> None:
        self.timeout = options["timeout"]

    def send_messages(self, messages) -> int:
        raise ConnectionRefusedError


def test_a_mail_tells_no_answer_and_nothing_that_was_written(study, ada, django_capture_on_commit_callbacks):
    closed = close(coded_round({"ada": ["crash"], "ben": ["hang"]}, study=study))
    ben = coder_called(study, "ben")
    row = RoundUnit.objects.select_related("round__study", "unit").get(round=closed)

    def act():
        add_comment(round_unit=row, by=ben, text="@ada it waits for a lock")
        propose_decision(
            round_unit=row, dimension="symptom", by=ben, answer=Answer(categories=("hang",)), rationale="Lock"
        )

    sent = sent_by(django_capture_on_commit_callbacks, act)
    assert [each.to for each in sent] == [["ada@example.org"]] * 2
    words = " ".join(each.subject + each.body for each in sent).lower()
    assert "mentioned in the discussion" in words
    assert "a proposal waits for you" in words
    for secret in ("lock", "hang", "ben"):
        assert secret not in words
