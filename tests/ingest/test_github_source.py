"""What imports get from GitHub, and what they do when GitHub fails, limits or redirects them."""

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from ingest.sources.base import Page, SourceError, SourceQuery, Waiting
from ingest.sources.github import Pacing, fetch_issues, fetch_patches
from ingest.sources.github.client import Client
from tests.fake_github import GOOD_TOKEN, Answer, FakeGithub, running
from tests.fakes import FakeFile, FakeRepository, make_repository, small_repository

TRAIN = SourceQuery(repositories=("acme/train",))


class Slept:
    """A clock that jumps instead of sleeping."""

    def __init__(self):
        self.seconds = 0.0

    def pacing(self, **changes):
        return Pacing(spacing={}, backoff=0.01, sleep=self.sleep, **changes)

    def sleep(self, seconds):
        self.seconds += seconds


@pytest.fixture
def slept():
    return Slept()


@pytest.fixture
def repository():
    return small_repository()


@pytest.fixture
def github(repository):
    with running(FakeGithub(repository)) as github:
        yield github


@pytest.fixture(params=["GraphQL", "REST"])
def token(request):
    """Run a test with both interfaces: GraphQL needs a token, REST does not."""
    return GOOD_TOKEN if request.param == "GraphQL" else None


@pytest.fixture
def fetch(github, slept):
    def fetch(query=TRAIN, checkpoint=None, token=GOOD_TOKEN, **changes):
        return list(
            fetch_issues(query, checkpoint, token=token, api_base=github.url, pacing=slept.pacing(**changes))
        )

    return fetch


def records_of(pages):
    return {record.title: record for page in pages for record in page.records}


def numbers_of(pages):
    return sorted(record.number for page in pages for record in page.records)


def test_a_repository_gives_its_issues_and_not_its_pull_requests(fetch, repository, token):
    pages = fetch(token=token)

    assert numbers_of(pages) == sorted(item.number for item in repository.issues)
    assert pages[-1].total == len(repository.issues)
    assert sum(page.requests for page in pages) > 0


def test_pull_requests_come_when_they_are_asked_for(fetch, repository, token):
    query = SourceQuery(repositories=("acme/train",), unit_kinds=("pull_request",))

    records = records_of(fetch(query, token=token))

    assert {record.number for record in records.values()} == {item.number for item in repository.pulls}
    assert records["Guard the launch"].kind == "pull_request"
    assert [fix.evidence for fix in records["Guard the launch"].fixes] == ["itself"]


def test_an_issue_brings_everything_a_coder_reads(fetch, token):
    record = records_of(fetch(token=token))["fixed by a pull request"]

    assert record.key == "github.com/acme/train#1"
    assert (record.author, record.author_kind) == ("mara", "user")
    assert record.github_labels == ("bug",)
    assert (record.state, record.state_reason) == ("closed", "completed")
    assert [comment.body for comment in record.comments] == ["It happens on 8 GPUs, too."]
    assert [event.kind for event in record.timeline] == ["cross-referenced", "closed"]
    assert record.rest_id is not None
    assert record.rest_id > 2**32
    assert record.opened_at is not None
    assert record.opened_at.tzinfo is UTC
    assert record.carries >= {"comments", "timeline", "fixes"}


def test_the_pull_request_that_closed_an_issue_is_its_fix(fetch):
    fixes = records_of(fetch())["fixed by a pull request"].fixes

    assert [(fix.key, fix.evidence, fix.is_fix) for fix in fixes] == [("acme/train#2", "closed_by", True)]
    assert fixes[0].merged_at is not None


def test_by_rest_a_merged_pull_request_with_a_keyword_is_the_fix(fetch):
    fixes = records_of(fetch(token=None))["fixed by a pull request"].fixes

    assert [(fix.key, fix.evidence, fix.is_fix) for fix in fixes] == [("acme/train#2", "will_close", True)]


def test_the_commit_that_closed_an_issue_is_its_fix(fetch, token):
    fixes = records_of(fetch(token=token))["fixed by a commit"].fixes

    assert [(fix.kind, fix.evidence, fix.title) for fix in fixes] == [("commit", "closed_by", "Fix padding")]
    assert fixes[0].body == "Fixes #3"


def test_a_project_board_that_closed_an_issue_is_no_fix(fetch, token):
    record = records_of(fetch(token=token))["closed by a project board"]

    assert record.state == "closed"
    assert not record.has_fix


def test_what_closed_an_issue_before_it_was_reopened_is_no_fix(fetch):
    issue = SourceQuery(issues=("https://github.com/acme/train/issues/5",))

    record = records_of(fetch(issue))["reopened after a fix"]

    assert record.state == "open"
    assert [event.kind for event in record.timeline] == ["closed", "reopened"]


def test_a_linked_pull_request_is_a_fix_until_it_is_unlinked(fetch, github, repository):
    issue = repository.add("linked by hand")
    pull = repository.add("Some pull request", is_pull=True)
    pull.merge()
    issue.event("connected", source=pull)
    linked = records_of(fetch())["linked by hand"].fixes
    issue.event("disconnected", source=pull)
    unlinked = records_of(fetch())["linked by hand"].fixes

    assert [fix.evidence for fix in linked] == ["linked_manual"]
    assert [fix.evidence for fix in unlinked] == ["mentioned"]


def test_the_three_shapes_of_a_deleted_user_are_one(fetch, token):
    records = records_of(fetch(token=token))

    for title in ("null body", "ghost author"):
        assert (records[title].author, records[title].author_kind) == (None, "deleted")


def test_a_bot_is_told_from_people(fetch, token):
    record = records_of(fetch(token=token))["still open"]

    assert (record.author, record.author_kind) == ("renovate[bot]", "bot")
    assert record.comments[0].author_kind == "bot"
    assert record.reactions == {"+1": 3}


def test_more_comments_and_events_than_a_page_holds_all_come(fetch, repository, token):
    busy = repository.add("busy")
    for number in range(230):
        busy.comment(f"comment {number}")
        busy.event("labeled", label=f"label {number}")

    record = records_of(fetch(token=token))["busy"]

    assert [comment.body for comment in record.comments] == [f"comment {number}" for number in range(230)]
    assert len(record.timeline) == 230


def test_a_body_of_260000_bytes_is_not_cut(fetch, repository, token):
    repository.add("long", body="x" * 260_000)

    assert len(records_of(fetch(token=token))["long"].body) == 260_000


def test_only_the_asked_state_and_days_come(fetch, repository, token):
    query = SourceQuery(
        repositories=("acme/train",), state="open", created_from=date(2024, 1, 1), created_to=date(2024, 1, 1)
    )
    repository.add("too late", created_at=datetime(2024, 1, 2, tzinfo=UTC))
    last_second = repository.add("just in time", created_at=datetime(2024, 1, 1, 23, 59, 59, tzinfo=UTC))

    pages = fetch(query, token=token)

    expected = {
        item.number for item in repository.issues if item.state == "open" and item.title != "too late"
    }
    assert last_second.number in expected
    assert set(numbers_of(pages)) == expected
    assert pages[-1].total == len(repository.issues)


def test_a_repository_costs_few_requests_however_many_pull_requests_it_has(fetch, github):
    big = make_repository("acme/kernels", items=400)
    github.repositories[big.name] = big
    issues = list(big.issues)
    for _ in range(200):
        big.add("One more change", is_pull=True)
    overflow = sum((max(len(each.comments), 1) - 1) // 50 + len(each.events) // 50 for each in issues)
    github.requests.clear()

    assert len(records_of(fetch(SourceQuery(repositories=("acme/kernels",))))) == len(issues)

    assert len(big.items) > 2 * len(issues)
    assert len(github.requests) <= 1.3 * (1 + math.ceil(len(issues) / 25) + overflow)


def test_the_next_run_asks_only_for_what_changed(fetch, github, repository):
    first = fetch()
    repository.items[3].comment("news", at=datetime(2024, 6, 1, tzinfo=UTC))
    seen = {"seen": first[-1].checkpoint["seen"]}

    records = records_of(fetch(checkpoint=seen))

    assert "fixed by a commit" in records
    assert len(records) < len(repository.issues)


def test_an_issue_that_changes_between_two_pages_is_not_lost(fetch, github):
    big = make_repository("acme/kernels", items=260)
    github.repositories[big.name] = big
    touched: list[int] = []

    def change(request):
        if "after=" in request.address and not touched:
            item = min(big.issues, key=lambda item: item.updated_at)
            item.comment("changed meanwhile", at=datetime(2026, 1, 1, tzinfo=UTC))
            touched.append(item.number)

    github.before = change
    pages = fetch(SourceQuery(repositories=("acme/kernels",)))

    assert touched
    assert set(numbers_of(pages)) == {item.number for item in big.issues}
    latest = [record for page in pages for record in page.records if record.number == touched[0]][-1]
    assert latest.comments[-1].body == "changed meanwhile"


def test_a_run_goes_on_from_any_checkpoint_without_loss(github, slept, token):
    big = make_repository("acme/kernels", items=150)
    github.repositories[big.name] = big
    query = SourceQuery(repositories=("acme/kernels",))
    numbers: set[int] = set()
    checkpoint: dict[str, Any] = {}
    for _ in range(30):
        source = fetch_issues(query, checkpoint, token=token, api_base=github.url, pacing=slept.pacing())
        page = next(source, None)
        if page is None:
            break
        numbers.update(numbers_of([page]))
        checkpoint = page.checkpoint

    assert page is None
    assert numbers == {item.number for item in big.issues}


def test_a_renamed_repository_is_read_under_its_new_name(fetch, github, repository, token):
    github.renamed["acme/old-name"] = "acme/train"

    records = records_of(fetch(SourceQuery(repositories=("acme/old-name",)), token=token))

    assert len(records) == len(repository.issues)
    assert {record.repository for record in records.values()} == {"acme/train"}


def test_a_repository_that_is_renamed_meanwhile_is_listed_again_in_full(fetch, github, repository):
    def rename(request):
        if request.path.endswith("/issues") and "acme/new-name" not in github.repositories:
            moved = FakeRepository("acme/new-name", items=repository.items)
            for item in moved.items.values():
                item.repository = moved.name
            github.repositories = {moved.name: moved}
            github.renamed["acme/train"] = moved.name

    github.before = rename

    records = records_of(fetch())

    assert len(records) == len(repository.issues)
    assert {record.repository for record in records.values()} == {"acme/new-name"}


def test_a_transferred_issue_is_not_counted_under_the_old_repository(fetch, github):
    github.repositories["acme/other"] = FakeRepository("acme/other")
    github.repositories["acme/other"].add("moved here")
    github.moved["acme/train", 8] = ("acme/other", 1)

    pages = fetch(SourceQuery(issues=("https://github.com/acme/train/issues/8",)))

    (record,) = pages[0].records
    assert record.key == "github.com/acme/train#8"
    assert record.transferred_to == "github.com/acme/other#1"
    assert "was transferred" in pages[0].problems[0]


def test_an_address_under_the_old_name_of_a_repository_is_no_transfer(fetch, github, token):
    github.renamed["acme/old-name"] = "acme/train"

    pages = fetch(SourceQuery(issues=("acme/old-name#1",)), token=token)

    (record,) = pages[0].records
    assert record.key == "github.com/acme/train#1"
    assert record.transferred_to is None


def test_addresses_are_looked_up_a_page_at_a_time(fetch, github, repository):
    asked = tuple(f"acme/train#{issue.number}" for issue in repository.issues)

    pages = fetch(SourceQuery(issues=asked))

    assert numbers_of(pages) == [issue.number for issue in repository.issues]
    assert [request.operation for request in github.requests] == ["Addresses", "Issues"]


def test_addresses_are_looked_up_one_by_one_where_a_page_is_too_much(fetch, github, repository):
    github.fail("graphql:", status=502, times=1000)

    pages = fetch(SourceQuery(issues=("acme/train#1", "acme/train#3")))

    titles = [record.title for page in pages for record in page.records]
    assert titles == [repository.items[number].title for number in (1, 3)]


def test_a_row_that_was_found_by_its_address_alone_is_read_whole_by_rest(fetch, github, repository):
    github.fail("graphql:Issues", status=502, times=1000)

    (record,) = fetch(SourceQuery(issues=("acme/train#1",)))[0].records

    assert (record.title, record.github_labels) == (repository.items[1].title, ("bug",))


def test_a_repository_that_is_not_there_is_asked_for_once(fetch, github):
    fetch(SourceQuery(issues=tuple(f"acme/missing#{number}" for number in range(1, 40))))

    assert len(github.requests) <= 4


def test_an_address_in_a_repository_that_is_not_there_is_named_and_not_called_deleted(fetch):
    pages = fetch(SourceQuery(issues=("acme/missing#1", "acme/train#1")))

    assert numbers_of(pages) == [1]
    assert "acme/missing was not found" in pages[0].problems[0]


@pytest.mark.parametrize("status", [404, 410])
def test_a_deleted_issue_is_told_as_gone(fetch, github, status):
    github.deleted["acme/train", 8] = Answer(status, {"message": "This issue was deleted"})

    pages = fetch(SourceQuery(issues=("acme/train#8", "acme/train#1")))

    gone = {record.number: record.gone for page in pages for record in page.records}
    assert gone == {8: True, 1: False}
    assert "deleted" in pages[0].problems[0]


def test_disabled_issues_are_not_taken_for_deleted_ones(fetch, github):
    github.deleted["acme/train", 8] = Answer(410, {"message": "Issues are disabled for this repo"})

    pages = fetch(SourceQuery(issues=("acme/train#8",)))

    assert not pages[0].records
    assert "disabled" in pages[0].problems[0]


def test_a_retired_api_version_is_not_taken_for_a_deleted_issue(fetch, github):
    github.deleted["acme/train", 8] = Answer(410, {"message": "This version is no longer supported"})

    with pytest.raises(SourceError, match="no longer supports"):
        fetch(SourceQuery(issues=("acme/train#8",)))


def test_a_pull_request_among_the_addresses_is_left_out_with_a_reason(fetch):
    pages = fetch(SourceQuery(issues=("https://github.com/acme/train/pull/2",)))

    assert not pages[0].records
    assert "is a pull request" in pages[0].problems[0]


def test_a_repository_that_cannot_be_read_does_not_stop_the_others(fetch, repository, token):
    pages = fetch(SourceQuery(repositories=("acme/missing", "acme/train")), token=token)

    assert len(records_of(pages)) == len(repository.issues)
    assert any("acme/missing" in sentence for page in pages for sentence in page.problems)


def test_a_run_without_any_readable_repository_fails_with_a_sentence(fetch, token):
    with pytest.raises(SourceError, match="acme/missing was not found") as error:
        fetch(SourceQuery(repositories=("acme/missing",)), token=token)
    assert error.value.permanent


@pytest.mark.parametrize("told", ["train", "https://github.com/acme", "a b/c"])
def test_a_name_that_is_no_repository_is_refused_with_an_example(fetch, told):
    with pytest.raises(SourceError, match="owner/name"):
        fetch(SourceQuery(repositories=(told,)))


def test_a_refused_token_stops_at_once_and_never_shows_itself(fetch, github, caplog):
    with pytest.raises(SourceError, match="refuses the token") as error:
        fetch(token="wrong-token")

    assert error.value.permanent
    assert len(github.requests) == 1
    assert "wrong-token" not in caplog.text + str(error.value)


def test_a_403_about_permissions_is_shown_and_not_repeated(fetch, github):
    message = "The organization forbids access via a fine-grained personal access token"
    github.fail("/repos/acme/train?", status=403, body={"message": message})

    with pytest.raises(SourceError, match="organization forbids"):
        fetch()
    assert github.count("/repos/acme/train?") == 1


def test_a_used_up_hour_is_handed_back_to_be_waited_for(fetch, github):
    reset = datetime.now(UTC) + timedelta(minutes=40)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset.timestamp()))}
    github.fail("/issues?", status=403, headers=headers, body={"message": "API rate limit exceeded for user"})

    with pytest.raises(Waiting) as waiting:
        fetch()
    assert abs(waiting.value.until - reset) < timedelta(seconds=10)
    assert github.count("/issues?") == 1


def test_a_secondary_limit_without_a_header_waits_a_minute(fetch, github, slept, repository):
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    github.fail("/issues?", status=403, body={"message": message})

    assert len(records_of(fetch())) == len(repository.issues)
    assert slept.seconds >= 60


def test_a_secondary_limit_that_lasts_is_handed_back(fetch, github):
    message = "You have exceeded a secondary rate limit."
    github.fail("/issues?", status=403, body={"message": message}, times=2)

    with pytest.raises(Waiting):
        fetch()


def test_a_429_waits_as_long_as_it_says(fetch, github, slept, repository):
    github.fail("/issues?", status=429, headers={"Retry-After": "7"}, body={"message": "Slow down"})

    assert len(records_of(fetch())) == len(repository.issues)
    assert 7 <= slept.seconds < 20


def test_a_429_without_a_header_is_a_limit_too(fetch, github, slept, repository):
    github.fail("/issues?", status=429, body={"message": "Too many requests"})

    assert len(records_of(fetch())) == len(repository.issues)
    assert slept.seconds >= 60


def test_a_lease_is_kept_alive_while_it_waits(fetch, github):
    github.fail("/issues?", status=429, headers={"Retry-After": "50"}, body={"message": "Slow down"})
    renewed = []

    fetch(keep_alive=lambda: renewed.append(1))

    assert len(renewed) >= 10


def test_the_last_requests_of_an_hour_are_left_to_the_owner_of_the_token(fetch, github):
    github.remaining = 101

    with pytest.raises(Waiting, match="left to the owner"):
        fetch()
    assert github.remaining >= 97


def test_what_was_read_before_a_limit_is_handed_over_first(github, slept):
    github.fail(
        "/issues/3/timeline",
        status=403,
        body={"message": "API rate limit exceeded"},
        headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"},
    )
    pages: list[Page] = []
    with pytest.raises(Waiting):
        pages.extend(fetch_issues(TRAIN, api_base=github.url, pacing=slept.pacing()))
    before = numbers_of(pages)

    again = list(fetch_issues(TRAIN, pages[-1].checkpoint, api_base=github.url, pacing=slept.pacing()))

    assert before
    assert 3 not in before
    assert 3 in numbers_of(again)


@pytest.mark.parametrize(
    "fault", [{"status": 502}, {"status": 500}, {"drop": True}, {"body": "<html>Oops</html>", "status": 200}]
)
@pytest.mark.parametrize("where", ["/repos/acme/train?", "/issues?", "graphql:Issues"])
def test_a_failure_that_passes_does_not_stop_a_run(fetch, github, repository, where, fault):
    github.fail(where, **fault)

    assert len(records_of(fetch())) == len(repository.issues)


def test_a_failure_that_stays_is_worth_trying_again_later(fetch, github):
    github.fail("/repos/acme/train?", status=503, times=99)

    with pytest.raises(SourceError) as error:
        fetch()
    assert not error.value.permanent


def test_list_pages_shrink_until_github_can_carry_them(fetch, github, token):
    big = make_repository("acme/kernels", items=130)
    github.repositories[big.name] = big
    github.largest_page = 25

    pages = fetch(SourceQuery(repositories=("acme/kernels",)), token=token)

    assert set(numbers_of(pages)) == {item.number for item in big.issues}


@pytest.mark.parametrize("largest", [10, 5, 1, 0])
def test_graphql_pages_shrink_down_to_rest(fetch, github, repository, largest):
    github.largest_graphql_page = largest

    records = records_of(fetch())

    assert len(records) == len(repository.issues)
    assert records["fixed by a pull request"].comments
    assert (github.count("/timeline") > 0) == (largest == 0)


def test_part_of_a_graphql_page_is_never_taken_for_all_of_it(fetch, github, repository):
    error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits for this query exceeded."}
    github.fail("graphql:Issues", status=200, body={"data": {"nodes": [None]}, "errors": [error]})

    assert len(records_of(fetch())) == len(repository.issues)


def test_a_limit_told_within_graphql_is_waited_for(fetch, github):
    reset = datetime.now(UTC) + timedelta(minutes=30)
    github.fail(
        "graphql:Issues",
        status=200,
        body={"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]},
        headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset.timestamp()))},
    )

    with pytest.raises(Waiting):
        fetch()


@pytest.mark.parametrize("older", ["no GraphQL at all", "unknown field"])
def test_an_older_server_is_read_by_rest(fetch, github, repository, older):
    if older == "no GraphQL at all":
        github.has_graphql = False
    else:
        error = {
            "message": "Field 'duplicateOf' doesn't exist on type 'Issue'",
            "extensions": {"code": "undefinedField"},
        }
        github.fail("graphql:Issues", status=200, body={"errors": [error]}, times=99)

    records = records_of(fetch())

    assert len(records) == len(repository.issues)
    assert records["fixed by a pull request"].has_fix


def test_a_server_that_links_no_duplicates_yet_is_still_read_by_graphql(fetch, github, repository):
    error = {"message": "Unknown", "extensions": {"code": "undefinedField"}}
    github.fail("graphql:Issues", status=200, body={"errors": [error]})

    assert len(records_of(fetch())) == len(repository.issues)
    assert github.count("/timeline") == 0
    assert "duplicateOf" not in github.requests[-1].body["query"]


def test_a_server_without_timelines_says_so_and_still_gives_comments(fetch, github):
    github.has_timeline = False

    record = records_of(fetch(token=None))["fixed by a pull request"]

    assert len(record.comments) == 1
    assert "comments" in record.carries
    assert not record.carries & {"timeline", "fixes"}


def test_the_next_page_is_never_asked_of_another_server(fetch, github):
    headers = {"Link": '<http://evil.example/issues?page=2>; rel="next"'}
    github.fail("/issues?", status=200, body=[], headers=headers)

    with pytest.raises(SourceError, match=r"another server \(evil\.example\)"):
        fetch()


def test_a_redirect_to_another_host_is_refused(fetch, github):
    github.fail(
        "/repos/acme/train?", status=301, headers={"Location": "http://evil.example/repos/acme/train"}
    )

    with pytest.raises(SourceError, match="another host"):
        fetch()


def test_a_search_finds_issues_and_no_pull_requests(fetch, repository, token):
    pages = fetch(SourceQuery(search="fixed", repositories=("acme/train",)), token=token)

    assert numbers_of(pages) == [1, 3]
    assert pages[-1].total == 2


def test_a_search_goes_beyond_a_thousand_results(fetch, github):
    big = FakeRepository("acme/kernels")
    for number in range(1, 1201):
        big.add(f"issue {number}", created_at=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number))
    github.repositories[big.name] = big

    pages = fetch(SourceQuery(search="repo:acme/kernels issue"))

    assert numbers_of(pages) == list(range(1, 1201))
    assert pages[-1].total == 1200


def test_a_search_that_timed_out_is_asked_again(fetch, github):
    github.incomplete_searches = 1

    assert numbers_of(fetch(SourceQuery(search="repo:acme/train fixed"))) == [1, 3]


def test_a_search_that_keeps_timing_out_is_cut_into_smaller_ones(fetch, github):
    github.incomplete_searches = 4

    assert numbers_of(fetch(SourceQuery(search="repo:acme/train fixed"))) == [1, 3]


def test_a_search_goes_on_where_it_was_broken_off(github, slept):
    big = make_repository("acme/kernels", items=120)
    github.repositories[big.name] = big
    query = SourceQuery(search="repo:acme/kernels")
    numbers: set[int] = set()
    checkpoint: dict[str, Any] = {}
    for _ in range(40):
        source = fetch_issues(query, checkpoint, api_base=github.url, pacing=slept.pacing())
        page = next(source, None)
        if page is None:
            break
        numbers.update(numbers_of([page]))
        checkpoint = page.checkpoint

    assert page is None
    assert numbers == {item.number for item in big.issues}


def test_days_of_creation_inside_a_search_are_refused_with_advice(fetch):
    with pytest.raises(SourceError, match="their own fields"):
        fetch(SourceQuery(search="created:>2024-01-01 crash"))


def fix_of(fetch, title):
    return records_of(fetch())[title].fixes[0]


def test_the_diff_of_a_pull_request_comes_with_its_patches(fetch, github, slept):
    fix = fetch_patches(
        fix_of(fetch, "fixed by a pull request"), token=GOOD_TOKEN, api_base=github.url, pacing=slept.pacing()
    )

    assert [(file.path, file.additions, file.deletions) for file in fix.files] == [("src/launch.py", 3, 1)]
    assert fix.files[0].patch is not None
    assert fix.files[0].patch.startswith("@@")


def test_the_diff_of_a_commit_comes_with_its_patches(fetch, github, slept):
    fix = fetch_patches(
        fix_of(fetch, "fixed by a commit"), token=GOOD_TOKEN, api_base=github.url, pacing=slept.pacing()
    )

    assert [file.path for file in fix.files] == ["src/kernel.cu"]


def test_patches_that_github_drops_from_a_large_answer_are_asked_for_again(fetch, github, repository, slept):
    patch = "@@ -0,0 +1,50 @@\n" + "\n".join(["+line"] * 50)
    repository.items[2].files = [FakeFile(f"src/{n:03}.py", 50, 0, patch=patch) for n in range(30)]
    github.patch_lines = 700

    fix = fetch_patches(
        fix_of(fetch, "fixed by a pull request"), token=GOOD_TOKEN, api_base=github.url, pacing=slept.pacing()
    )

    assert all(file.patch for file in fix.files)
    assert sum(file.additions for file in fix.files) == fix.additions == 1500


def test_a_patch_that_never_comes_is_noted(fetch, github, repository, slept):
    repository.items[2].files = [
        FakeFile("huge.py", 0, 0, patch=None),
        FakeFile("logo.png", 0, 0, patch=None, status="added"),
        FakeFile("b.py", 0, 0, patch=None, status="renamed", previous_filename="a.py"),
    ]

    fix = fetch_patches(
        fix_of(fetch, "fixed by a pull request"), token=GOOD_TOKEN, api_base=github.url, pacing=slept.pacing()
    )

    notes = {file.path: file.note for file in fix.files}
    assert notes["huge.py"] == "The diff was not delivered by GitHub."
    assert "Binary" in notes["logo.png"]
    assert notes["b.py"] == ""
    assert fix.files[2].previous_path == "a.py"


def test_a_client_gives_its_turn_back_also_where_the_connection_breaks(github, slept):
    told = []

    def turn(budget, spacing):
        told.append(budget)
        return 0.5 if len(told) == 1 else 0

    github.fail("/repos/acme/train", drop=True)
    pacing = slept.pacing(turn=turn, done=lambda: told.append("done"))
    Client(token=None, api_base=github.url, pacing=pacing).get("/repos/acme/train")

    assert told == ["core", "core", "done", "core", "done"]
    assert slept.seconds >= 0.5
