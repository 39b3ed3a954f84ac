"""Preparing a sample: fresh issues, their diffs, pins, and what happens when GitHub stays away."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ingest import diffs, leases
from ingest.pipeline import fetch_fix, prepare_sample, run_import
from ingest.services import start_import
from labeling.models import Job, Sample, SnapshotDocument
from labeling.services.samples import draw
from tests.factories import lead_of, make_issue, make_study
from tests.fake_github import GOOD_TOKEN, FakeGithub, running
from tests.fakes import small_repository

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """What a worker meets when it is killed."""


@pytest.fixture
def github(settings):
    with running(FakeGithub(small_repository())) as github:
        settings.GITHUB_API_URLS = [github.url]
        settings.GITHUB_TOKEN = GOOD_TOKEN
        yield github


@pytest.fixture
def study(github):
    study = make_study()
    query = {"repositories": ["acme/train"]}
    run_import(start_import(study=study, source="github", query=query, by=lead_of(study)).pk)
    return study


@pytest.fixture
def sample(study):
    return draw(study=study, method=Sample.Method.ALL, seed=1, by=lead_of(study))


def job_of(sample):
    return Job.objects.get(sample=sample, kind=Job.Kind.PREPARE_SAMPLE)


def unit_of(sample, number):
    return sample.units.get(issue__number=number)


def test_a_prepared_sample_shows_the_diffs_of_its_fixes(sample):
    assert sample.state == Sample.State.PREPARING

    prepare_sample(job_of(sample).pk)

    sample.refresh_from_db()
    pin = unit_of(sample, 1).snapshot
    assert sample.state == Sample.State.FROZEN
    assert sample.prepared == sample.size
    assert job_of(sample).state == Job.State.DONE
    assert "patches" in pin.carries
    assert pin.documents.get(key="fix:acme/train#2:file:src/launch.py").source.startswith("@@")
    assert pin.fixes[0]["files"][0]["additions"] == 3
    assert pin.documents.filter(html__isnull=True).count() == 0


def test_an_issue_is_refreshed_before_it_is_pinned(sample, github):
    github.repositories["acme/train"].items[1].comment("the last word", at=timezone.now())

    prepare_sample(job_of(sample).pk)

    texts = unit_of(sample, 1).snapshot.documents.values_list("source", flat=True)
    assert "the last word" in texts


def test_an_import_after_the_pin_does_not_take_the_diffs_away(study, sample, github):
    prepare_sample(job_of(sample).pk)
    pin = unit_of(sample, 1).snapshot
    github.repositories["acme/train"].items[1].updated_at = timezone.now()

    query = {"repositories": ["acme/train"]}
    run = run_import(start_import(study=study, source="github", query=query, by=lead_of(study)).pk)

    issue = study.issues.get(number=1)
    assert run.changed == 0
    assert issue.latest == pin


def test_preparing_goes_on_where_a_worker_was_killed(sample, github, monkeypatch):
    job = job_of(sample)
    real, calls = diffs.fetch_patches, []

    def kill_the_second(fix, **access):
        calls.append(fix.key)
        if len(calls) == 2:
            raise Killed
        return real(fix, **access)

    monkeypatch.setattr(diffs, "fetch_patches", kill_the_second)
    with pytest.raises(Killed):
        prepare_sample(job.pk)
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    asked = github.count("/pulls/2/files")

    prepare_sample(job.pk)

    sample.refresh_from_db()
    assert sample.state == Sample.State.FROZEN
    assert github.count("/pulls/2/files") == asked
    keys = SnapshotDocument.objects.filter(snapshot=unit_of(sample, 1).snapshot).values_list("key", flat=True)
    assert len(keys) == len(set(keys))


def test_a_deleted_issue_keeps_what_was_imported_and_is_named(sample, github):
    del github.repositories["acme/train"].items[8]

    prepare_sample(job_of(sample).pk)

    sample.refresh_from_db()
    assert sample.state == Sample.State.FROZEN
    assert unit_of(sample, 8).snapshot is not None
    assert unit_of(sample, 8).issue.gone
    assert any("acme/train#8 was deleted" in problem for problem in sample.problems)


def test_a_diff_that_cannot_be_had_is_named(sample, github):
    github.fail("/pulls/2", status=404, times=99)

    prepare_sample(job_of(sample).pk)

    sample.refresh_from_db()
    assert sample.state == Sample.State.FROZEN
    assert any("The diff of acme/train#2" in problem for problem in sample.problems)


def test_a_source_that_stays_away_does_not_hold_the_sample_up_for_ever(sample, github):
    github.fail("", status=503, times=100_000)
    job = job_of(sample)
    for _ in range(leases.RETRIES):
        assert Job.objects.get(pk=job.pk).state in (Job.State.QUEUED, Job.State.WAITING)
        Job.objects.filter(pk=job.pk).update(waiting_until=timezone.now())
        prepare_sample(job.pk)

    sample.refresh_from_db()
    assert sample.state == Sample.State.FROZEN
    assert unit_of(sample, 1).snapshot is not None
    assert sample.problems


def test_a_limit_is_stored_and_preparing_goes_on_after_it(sample, github):
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}
    told = {"message": "API rate limit exceeded"}
    github.fail("graphql:Addresses", status=403, headers=headers, body=told, skip=1)
    job = job_of(sample)

    prepare_sample(job.pk)
    assert Job.objects.get(pk=job.pk).state == Job.State.WAITING

    Job.objects.filter(pk=job.pk).update(waiting_until=timezone.now())
    prepare_sample(job.pk)
    sample.refresh_from_db()
    assert sample.state == Sample.State.FROZEN


def test_a_file_that_names_issues_of_github_is_prepared_without_asking_it(github):
    study = make_study()
    make_issue(study, number=1, repository="acme/train")
    before = len(github.requests)

    sample = draw(study=study, method=Sample.Method.ALL, seed=1, by=lead_of(study))

    assert sample.state == Sample.State.FROZEN
    assert len(github.requests) == before


def test_the_diff_of_one_issue_can_be_asked_for(study, github):
    issue = study.issues.get(number=1)
    job = Job.objects.create(
        kind=Job.Kind.FETCH_FIX, study=study, by=lead_of(study), options={"issue": issue.pk}
    )

    fetch_fix(job.pk)

    issue.refresh_from_db()
    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert issue.latest.documents.filter(key__contains=":file:").exists()
