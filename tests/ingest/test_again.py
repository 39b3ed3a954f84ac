"""Importing again: what is known is not fetched, what is gone is noticed, a token keeps one pace."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ingest.models import ImportRun, Pace
from ingest.pace import ASK_AGAIN, SharedPace
from ingest.pipeline import run_import
from ingest.services import start_import, start_imports
from labeling.errors import InvalidInputError
from labeling.services.corpus import source_total
from tests.factories import lead_of, make_study
from tests.fake_github import GOOD_TOKEN, Answer, FakeGithub, running
from tests.fakes import make_repository, small_repository

pytestmark = pytest.mark.django_db

TRAIN = {"repositories": ["acme/train"]}


@pytest.fixture
def github(settings):
    with running(FakeGithub(small_repository(), make_repository("acme/kernels", items=60))) as github:
        settings.GITHUB_API_URLS = [github.url]
        settings.GITHUB_TOKEN = GOOD_TOKEN
        yield github


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def imported(study, github):
    def imported(**query):
        run = start_import(study=study, source="github", query=query or TRAIN, by=lead_of(study))
        done = run_import(run.pk)
        assert done.state == ImportRun.State.DONE, done.error
        return done

    return imported


def delete(github, number, repository="acme/train"):
    del github.repositories[repository].items[number]
    github.deleted[repository, number] = Answer(410, {"message": "This issue was deleted"})


def test_an_issue_that_was_deleted_since_is_marked_as_gone(study, github, imported):
    imported()
    delete(github, 3)
    github.requests.clear()

    again = imported()

    assert list(study.issues.filter(gone=True).values_list("number", flat=True)) == [3]
    assert "acme/train#3 was deleted" in again.problems[0]
    assert github.count("/issues/3") == 1
    assert study.issues.get(number=3).latest is not None  # what it said stays


def test_an_issue_that_was_transferred_since_is_not_counted_as_there(study, github, imported):
    imported()
    moved = github.repositories["acme/train"].items.pop(3)
    to = github.repositories["acme/kernels"].add(moved.title)
    github.moved["acme/train", 3] = ("acme/kernels", to.number)

    imported()

    assert study.issues.get(number=3).transferred_to == f"github.com/acme/kernels#{to.number}"


def test_a_deletion_is_noticed_once(study, github, imported):
    imported()
    delete(github, 3)
    imported()
    github.requests.clear()

    assert imported().problems == []
    assert github.count("/issues/3") == 0


def test_nobody_looks_for_deletions_where_none_can_be(github, imported):
    imported()
    github.requests.clear()

    imported()

    assert github.count("sort=created") == 0


def test_a_repository_that_did_not_change_is_asked_about_by_its_etag(study, github, imported):
    for _ in range(2):
        imported()  # the second one lists what the third will ask for again
    again = imported()
    assert (github.unchanged, again.fetched) == (1, 0)

    github.repositories["acme/train"].items[1].comment("One more thing.", at=timezone.now())
    changed = imported()

    assert (github.unchanged, changed.changed) == (1, 1)
    assert not any("token" in key for key in changed.checkpoint["etags"])


def test_an_import_with_limits_looks_for_what_is_missing_too(study, github, imported):
    query = TRAIN | {"state": "closed"}
    imported(**query)
    delete(github, 1)

    imported(**query)

    assert study.issues.get(number=1).gone


@pytest.mark.parametrize(
    "query",
    [
        {"search": "repo:acme/kernels is:issue"},
        {"issues": [f"acme/train#{number}" for number in (1, 3, 4)]},
    ],
    ids=["search", "addresses"],
)
def test_what_a_search_finds_again_unchanged_is_not_fetched_again(study, github, imported, query):
    first = imported(**query)
    github.requests.clear()

    again = imported(**query)

    assert github.count("graphql:Issues") == 0
    assert (again.fetched, again.same, again.changed) == (first.fetched, first.fetched, 0)


def test_what_changed_is_fetched_again_by_a_search(study, github, imported):
    query = {"issues": ["acme/train#1", "acme/train#3"]}
    imported(**query)
    github.repositories["acme/train"].items[1].comment("One more thing.", at=timezone.now())

    again = imported(**query)

    assert (again.changed, again.same) == (1, 1)


def test_a_run_keeps_what_github_says_is_left(github, imported):
    github.remaining = 4000
    run = imported()
    assert run.quota["core"]["limit"] == 5000
    assert 3900 < run.quota["core"]["remaining"] < 4000


def test_two_workers_with_one_token_ask_one_after_another():
    first, second = (SharedPace("secret", "https://api.github.com") for _ in range(2))

    assert first.turn("core", 10.0) == 0
    assert second.turn("search", 10.0) == ASK_AGAIN  # one request at a time, whatever it is for
    assert SharedPace("other", "https://api.github.com").turn("core", 10.0) == 0
    first.done()
    assert second.turn("core", 10.0) == pytest.approx(10, abs=1)
    assert second.turn("search", 10.0) == 0


def test_a_pause_is_the_token_s_and_not_one_import_s():
    first, second = (SharedPace("secret", "https://api.github.com") for _ in range(2))
    first.pause(90)
    assert second.turn("core", 1.0) == pytest.approx(90, abs=2)
    assert SharedPace("other", "https://api.github.com").turn("core", 1.0) == 0
    first.pause(0)
    assert second.turn("core", 1.0) == 0


def test_a_pace_tells_no_token_and_survives_dead_workers_and_clocks_that_were_put_back():
    pace = SharedPace("secret", "https://api.github.com")
    pace.turn("core", 1.0)  # and never done
    assert not Pace.objects.filter(key__contains="secret").exists()
    Pace.objects.update(free_at=timezone.now() - timedelta(seconds=1))
    assert pace.turn("core", 1.0) == 0
    Pace.objects.update(free_at=timezone.now() + timedelta(days=1))
    assert pace.turn("core", 1.0) == 0


def test_repositories_are_imported_side_by_side_each_from_where_it_ended(study, github, imported):
    imported(repositories=["acme/train"])
    github.requests.clear()
    query = {"repositories": ["acme/train", "acme/kernels", "acme/nothing"]}
    train, kernels, nothing = start_imports(study=study, query=query, by=lead_of(study))

    assert [run.query["repositories"] for run in (train, kernels)] == [["acme/train"], ["acme/kernels"]]
    assert run_import(nothing.pk).state == ImportRun.State.FAILED
    assert run_import(kernels.pk).added > 0
    again = run_import(train.pk)
    assert (again.state, again.added, again.fetched) == (ImportRun.State.DONE, 0, 1)

    # An import of both, as the command starts it, goes on from the end of each.
    both = imported(repositories=["acme/kernels", "acme/train"])
    assert (both.added, both.fetched) == (0, 0)
    assert source_total(study) == both.total

    # GitHub minds no case: this goes on too, and counts nothing twice.
    (other,) = start_imports(study=study, query={"repositories": ["Acme/Train"]}, by=lead_of(study))
    assert run_import(other.pk).added == 0
    assert other.query["repositories"] == ["acme/train"]
    assert source_total(study) == both.total


def test_addresses_count_once_however_often_they_are_given(study, github):
    for numbers in ((1,), (1, 2), (99_999,)):
        addresses = [f"https://github.com/acme/train/issues/{number}" for number in numbers]
        (run,) = start_imports(study=study, query={"issues": addresses}, by=lead_of(study))
        run_import(run.pk)
    assert source_total(study) == study.issues.count() > 0


def test_what_is_wrong_with_several_repositories_starts_none(study, github):
    with pytest.raises(InvalidInputError):
        start_imports(study=study, query={"repositories": ["acme/train", "acme"]}, by=lead_of(study))
    assert not study.import_runs.exists()
