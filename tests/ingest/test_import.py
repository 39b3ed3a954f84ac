"""Imports against the stand-in and the database: whole, broken off, repeated, paused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ingest import leases, pipeline
from ingest.models import ImportRun
from ingest.pipeline import run_import
from ingest.services import cancel, pause, resume, start_import
from labeling.errors import CorpusError, InvalidInputError
from labeling.models import Issue, IssueSnapshot, SnapshotDocument
from labeling.services.corpus import current_rules
from tests.factories import lead_of, make_study
from tests.fake_github import GOOD_TOKEN, FakeGithub, running
from tests.fakes import NUL_TEXT, make_repository, small_repository

pytestmark = pytest.mark.django_db

State = ImportRun.State


class Killed(BaseException):
    """What a worker meets when it is killed: nothing catches it."""


@pytest.fixture
def github(settings):
    with running(FakeGithub(small_repository(), make_repository("acme/kernels", items=180))) as github:
        settings.GITHUB_API_URLS = [github.url]
        settings.GITHUB_TOKEN = GOOD_TOKEN
        yield github


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def start(study, github):
    def start(**query):
        asked = query or {"repositories": ["acme/train"]}
        return start_import(study=study, source="github", query=asked, by=lead_of(study))

    return start


def numbers(study, repository="acme/train"):
    return set(study.issues.filter(repository=repository).values_list("number", flat=True))


def expected(github, name="acme/train"):
    return {item.number for item in github.repositories[name].issues}


def expire(run):
    """Let the lease of a killed worker run out."""
    ImportRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_an_import_keeps_every_issue_with_its_texts(start, study, github):
    run = run_import(start().pk)

    assert (run.state, run.error) == (State.DONE, "")
    assert numbers(study) == expected(github)
    assert run.fetched == run.added == run.total == len(expected(github))
    assert run.requests > 0
    issue = study.issues.get(number=1)
    assert issue.latest.has_merged_fix
    texts = dict(issue.latest.documents.values_list("key", "source"))
    assert texts["title"] == "fixed by a pull request"
    assert texts["body"].startswith("first line\nsecond line\n")
    assert "It happens on 8 GPUs, too." in texts.values()
    assert texts["fix:acme/train#2:message"] == "Fixes #1."


def test_texts_no_database_can_hold_are_kept_readable_and_noted(start, study):
    run_import(start().pk)

    snapshot = study.issues.get(latest__title="NUL inside").latest
    assert snapshot.documents.get(key="body").source == NUL_TEXT.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    assert "replaced by" in snapshot.notes[0]


def test_a_second_import_changes_nothing_and_asks_for_little(start, study, github):
    first = run_import(start().pk)
    rows = IssueSnapshot.objects.count(), SnapshotDocument.objects.count()

    second = run_import(start().pk)

    assert (second.added, second.changed) == (0, 0)
    assert (IssueSnapshot.objects.count(), SnapshotDocument.objects.count()) == rows
    assert second.fetched < first.fetched
    assert second.total == first.total


def test_an_issue_that_changed_gets_another_snapshot(start, study, github):
    run_import(start().pk)
    before = study.issues.get(number=1).latest
    github.repositories["acme/train"].items[1].comment("One more thing.", at=timezone.now())

    run = run_import(start().pk)

    issue = study.issues.get(number=1)
    assert run.changed == 1
    assert issue.latest != before
    assert issue.snapshots.count() == 2


def test_an_issue_that_says_again_what_it_said_before_gets_its_old_snapshot_back(start, study, github):
    item = github.repositories["acme/train"].items[1]
    run_import(start().pk)
    first = study.issues.get(number=1).latest
    item.title, item.updated_at = "another title", timezone.now()
    run_import(start().pk)
    item.title, item.updated_at = "fixed by a pull request", timezone.now() + timedelta(minutes=1)

    run_import(start().pk)

    issue = study.issues.get(number=1)
    assert issue.latest == first
    assert issue.snapshots.count() == 2


@pytest.mark.parametrize("token", [GOOD_TOKEN, ""])
def test_a_worker_killed_after_every_page_loses_and_doubles_nothing(study, github, settings, token):
    settings.GITHUB_TOKEN = token
    query = {"repositories": ["acme/kernels", "acme/train"]}
    run = start_import(study=study, source="github", query=query, by=lead_of(study))

    def kill(run):
        raise Killed

    kills = 0
    while kills < 40:
        try:
            run_import(run.pk, on_page=kill)
            break
        except Killed:
            kills += 1
            expire(run)

    run.refresh_from_db()
    assert run.state == State.DONE
    assert kills > 1
    for name in query["repositories"]:
        assert numbers(study, name) == expected(github, name)
    assert Issue.objects.count() == sum(len(expected(github, name)) for name in query["repositories"])
    assert IssueSnapshot.objects.count() == Issue.objects.count()


def test_a_worker_killed_within_a_page_leaves_no_half_of_it(start, study, github, monkeypatch):
    run = start()

    def kill(**kwargs):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "apply_rules", kill)
        with pytest.raises(Killed):
            run_import(run.pk)
    assert not study.issues.exists()

    expire(run)
    assert run_import(run.pk).state == State.DONE
    assert numbers(study) == expected(github)


def test_two_workers_do_not_work_on_one_import(start):
    run = start()
    second = []

    run_import(run.pk, on_page=lambda _: second.append(run_import(run.pk)))

    assert second
    assert set(second) == {None}


def test_an_unknown_repository_fails_with_a_sentence_and_can_be_tried_again(start, study, github):
    repository = github.repositories.pop("acme/train")
    run = run_import(start().pk)
    assert run.state == State.FAILED
    assert "acme/train was not found" in run.error

    github.repositories["acme/train"] = repository
    resume(run=run, by=lead_of(study))

    assert run_import(run.pk).state == State.DONE
    assert numbers(study) == expected(github)


def test_part_of_an_import_that_cannot_be_read_is_named(start, study, github):
    run = run_import(start(repositories=["acme/missing", "acme/train"]).pk)

    assert run.state == State.DONE
    assert numbers(study) == expected(github)
    assert any("acme/missing" in problem for problem in run.problems)


def test_a_limit_is_stored_and_the_import_goes_on_after_it(start, study, github):
    reset = timezone.now() + timedelta(minutes=30)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset.timestamp()))}
    github.fail("graphql:Issues", status=403, headers=headers, body={"message": "API rate limit exceeded"})

    run = run_import(start().pk)

    assert run.state == State.WAITING
    assert abs(run.waiting_until - reset) < timedelta(seconds=10)
    assert "used up" in run.progress["reason"]
    assert run_import(run.pk) is None

    ImportRun.objects.filter(pk=run.pk).update(waiting_until=timezone.now())
    assert run_import(run.pk).state == State.DONE
    assert numbers(study) == expected(github)


def test_an_outage_is_waited_out_and_fails_in_the_end(start, study, github):
    github.fail("/repos/acme/train?", status=503, times=10_000)
    run = start()
    for _ in range(leases.RETRIES):
        ImportRun.objects.filter(pk=run.pk).update(waiting_until=timezone.now())
        told = run_import(run.pk)

    assert told.state == State.FAILED
    assert "could not answer" in told.error


def test_a_refused_token_fails_and_names_no_token(start, settings):
    settings.GITHUB_TOKEN = "wrong-token"

    run = run_import(start().pk)

    assert run.state == State.FAILED
    assert "refuses the token" in run.error
    assert "wrong-token" not in run.error


def test_an_error_of_our_own_fails_the_run_instead_of_leaving_it_running(start, monkeypatch):
    def broken(**kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr(pipeline, "add_incoming", broken)

    run = run_import(start().pk)

    assert run.state == State.FAILED
    assert "worker's log" in run.error


def test_a_paused_import_stops_after_its_page_and_goes_on_later(start, study, github):
    run = start(repositories=["acme/kernels"])
    run_import(run.pk, on_page=lambda run: pause(run=run, by=lead_of(study)))
    stored = numbers(study, "acme/kernels")
    assert ImportRun.objects.get(pk=run.pk).state == State.PAUSED
    assert 0 < len(stored) < len(expected(github, "acme/kernels"))

    resume(run=run, by=lead_of(study))

    assert run_import(run.pk).state == State.DONE
    assert numbers(study, "acme/kernels") == expected(github, "acme/kernels")


def test_a_cancelled_import_keeps_what_it_brought_and_stays_cancelled(start, study):
    run = start(repositories=["acme/kernels"])
    run_import(run.pk, on_page=lambda run: cancel(run=run, by=lead_of(study)))

    assert ImportRun.objects.get(pk=run.pk).state == State.CANCELLED
    assert study.issues.exists()
    assert run_import(run.pk) is None


def test_a_finished_import_cannot_be_paused(start, study):
    run = run_import(start().pk)

    with pytest.raises(CorpusError, match="is done"):
        pause(run=run, by=lead_of(study))


def test_a_long_import_lets_others_have_a_turn(start, study, github):
    run = start(repositories=["acme/kernels"])
    turns = 0
    while run_import(run.pk, turn=0.0).state == State.QUEUED and turns < 30:
        turns += 1

    assert 1 < turns < 30
    assert numbers(study, "acme/kernels") == expected(github, "acme/kernels")


def test_pull_requests_come_only_into_a_study_that_codes_them(github):
    study = make_study(unit_kinds=["issue", "pull_request"])

    run_import(
        start_import(
            study=study, source="github", query={"repositories": ["acme/train"]}, by=lead_of(study)
        ).pk
    )

    items = github.repositories["acme/train"].items.values()
    assert numbers(study) == {item.number for item in items}
    assert study.issues.filter(kind="pull_request").count() == sum(item.is_pull for item in items)


def test_shorthands_become_rules_and_filter_nothing_at_the_source(start, study, github):
    run_import(start(repositories=["acme/train"], with_fix=True, github_labels=["bug"]).pk)

    assert [rule.field for rule in current_rules(study)] == ["github_labels", "has_fix"]
    assert numbers(study) == expected(github)
    assert list(study.issues.filter(eligible=True).values_list("number", flat=True)) == [1]


def test_a_deleted_issue_is_marked_and_keeps_what_it_said(start, study, github):
    run_import(start().pk)
    del github.repositories["acme/train"].items[1]

    run_import(start(issues=["https://github.com/acme/train/issues/1"]).pk)

    issue = study.issues.get(number=1)
    assert issue.gone
    assert issue.latest is not None


def test_a_redacted_issue_is_not_brought_back(start, study, github):
    run_import(start().pk)
    issue = study.issues.get(number=1)
    issue.redacted_at = timezone.now()
    issue.save()
    github.repositories["acme/train"].items[1].comment("secret", at=timezone.now())

    run_import(start().pk)

    assert issue.snapshots.count() == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "repositories"),
        ({"repositories": ["train"]}, "repositories"),
        ({"issues": ["https://example.org/1"]}, "issues"),
        ({"repositories": ["a/b"], "state": "merged"}, "state"),
        ({"repositories": ["a/b"], "created": {"from": "yesterday"}}, "created.from"),
        ({"repositories": ["a/b"], "api_base": "http://evil.example"}, "api_base"),
        ({"search": "created:>2024-01-01"}, "search"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_by_field(study, query, field):
    with pytest.raises(InvalidInputError) as error:
        start_import(study=study, source="github", query=query, by=lead_of(study))
    assert list(error.value.errors) == [field]
