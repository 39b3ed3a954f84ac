from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.models import Heartbeat, Job
from labeling.services import jobs
from tests.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def rung(monkeypatch):
    calls = []
    monkeypatch.setattr(jobs, "_send", lambda task, pk: calls.append((task, pk)))
    return calls


def make_job(**fields):
    return Job.objects.create(study=make_study(), kind=Job.Kind.CHECK_AGREEMENT, **fields)


def test_only_one_of_two_workers_gets_the_lease():
    job = make_job()
    first = jobs.take_lease(Job, job.pk, "a")
    assert first is not None
    assert first.row.state == Job.State.RUNNING
    assert jobs.take_lease(Job, job.pk, "b") is None


def test_an_expired_lease_is_taken_over_and_the_late_worker_writes_nothing():
    job = make_job()
    late = jobs.take_lease(Job, job.pk, "late")
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    taken = jobs.take_lease(Job, job.pk, "next")
    assert taken is not None
    assert not late.renew()
    assert not jobs.release(late, Job.State.FAILED, error="too late")
    assert jobs.release(taken, Job.State.DONE)
    job.refresh_from_db()
    assert (job.state, job.error, job.attempts) == (Job.State.DONE, "", 2)


def test_a_cancelled_row_stops_its_worker():
    job = make_job()
    lease = jobs.take_lease(Job, job.pk, "a")
    Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED)
    assert not lease.renew()
    assert not jobs.release(lease, Job.State.DONE)


def test_waiting_is_due_when_its_time_has_come(rung):
    now = timezone.now()
    waiting = make_job(state=Job.State.WAITING, waiting_until=now + timedelta(hours=1))
    assert jobs.sweep() == 0
    assert jobs.take_lease(Job, waiting.pk, "a") is None
    Job.objects.update(waiting_until=now - timedelta(seconds=1))
    assert jobs.sweep() == 1
    assert rung == [("labeling.tasks.check_agreement", waiting.pk)]
    assert jobs.take_lease(Job, waiting.pk, "a") is not None


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "paused"])
def test_nobody_takes_what_is_over_or_paused(state, rung):
    job = make_job(state=state)
    assert jobs.take_lease(Job, job.pk, "a") is None
    assert jobs.sweep() == 0


def test_a_row_whose_workers_died_each_time_fails_with_a_sentence(rung):
    job = make_job(
        state=Job.State.RUNNING, attempts=jobs.ATTEMPTS, lease_until=timezone.now() - timedelta(seconds=1)
    )
    jobs.sweep()
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "run it again" in job.error
    assert rung == []


def test_the_bell_rings_after_the_commit_only(rung, django_capture_on_commit_callbacks):
    job = make_job()
    with django_capture_on_commit_callbacks(execute=True):
        jobs.ring(job)
        assert rung == []
    assert rung == [("labeling.tasks.check_agreement", job.pk)]


def test_a_worker_is_alive_for_thirty_seconds():
    assert not jobs.worker_alive()
    jobs.beat("w1")
    jobs.beat("w1")
    assert Heartbeat.objects.count() == 1
    assert jobs.worker_alive()
    Heartbeat.objects.update(at=timezone.now() - timedelta(seconds=31))
    assert not jobs.worker_alive()
