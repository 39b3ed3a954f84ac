"""An overnight import in minutes: a real worker, faults from a seed, five deaths, the truth at the end."""

import random
import sqlite3
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field

import psutil
import pytest

from ingest.normalise import clean_text
from ingest.sources.github.graphql import GraphqlReader
from tests.fake_github import GOOD_TOKEN, FakeGithub, Fault, Request, running
from tests.fakes import make_repository
from tests.installation import Installation, wait_until

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

SEED = 2026
ISSUES = 2000
KILLS = 5
FAULT_SHARE = 0.14
NAME = "acme/train"

START = f"""
from ingest.services import start_import
from labeling.models import Membership
lead = Membership.objects.select_related("study").filter(role="lead").first()
query = {{"repositories": ["{NAME}"]}}
print("run", start_import(study=lead.study, source="github", query=query, by=lead).pk)
"""
GRAPHQL_BUSY = {"errors": [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits exceeded"}]}
FAULTS = (
    {"status": 502},
    {"status": 200, "body": "<html>Unicorn!</html>"},
    {"status": 200, "body": '[{"id": 12, "tit'},
    {"status": 429, "headers": {"Retry-After": "0"}},
    {
        "status": 403,
        "body": {"message": "You have exceeded a secondary rate limit"},
        "headers": {"Retry-After": "0"},
    },
    {"drop": True},
)


@dataclass
class Trouble:
    """Breaks requests at random and kills the worker in the middle of some of them."""

    github: FakeGithub
    installation: Installation
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311 (made-up faults)
    asked: int = 0
    kills: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    faults: int = 0
    delivered: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # An undisturbed import takes about 70 requests.
        self.deadly = set(self.chance.sample(range(8, 60), KILLS))

    def before(self, request: Request) -> None:
        self.asked += 1
        self.times.append(time.monotonic())
        if self.asked in self.deadly:
            threading.Timer(self.chance.random() / 10, self.kill).start()
        if self.chance.random() < FAULT_SHARE:
            self.faults += 1
            self.github.faults.append(Fault(request.address, **self.chance.choice(self.possible(request))))
        elif request.operation == "Issues":
            self.delivered += request.body["variables"]["ids"]

    def possible(self, request: Request) -> tuple[dict, ...]:
        return (*FAULTS, {"status": 200, "body": GRAPHQL_BUSY}) if request.operation else FAULTS

    def pauses(self) -> list[float]:
        """Seconds from each kill until the next worker asks; what the dying one still sent does not count."""
        return [min(at - kill for at in self.times if at > kill + 2) for kill in self.kills]

    def kill(self) -> None:
        for process in self.installation.find("celery"):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.kills.append(time.monotonic())


def rows(installation: Installation, query: str, *values: str) -> list[tuple]:
    """Rows of the installation's own database."""
    path = installation.folder / "intercoder.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
        return connection.execute(query, values).fetchall()


def run_of(installation: Installation) -> tuple:
    found = rows(installation, "select state, error, problems, fetched, attempts from ingest_importrun")
    return found[-1]


def stored(installation: Installation) -> dict[int, tuple]:
    """What the database says of each issue: title, state, GitHub labels, description and comments."""
    texts: dict[int, dict[str, str]] = {}
    for number, key, source in rows(
        installation,
        "select i.number, d.key, d.source from labeling_issue i"
        " join labeling_snapshotdocument d on d.snapshot_id = i.latest_id where i.repository = ?",
        NAME,
    ):
        texts.setdefault(number, {})[key] = source
    return {
        number: (
            texts[number]["title"],
            texts[number]["body"],
            sorted(text for key, text in texts[number].items() if key.startswith("comment:")),
        )
        for number in texts
    }


def test_2000_issues_arrive_whole_although_everything_breaks_and_the_worker_dies_five_times(tmp_path):
    repository = make_repository(NAME, items=ISSUES * 10 // 7 + 60, seed=SEED)
    assert len(repository.issues) >= ISSUES
    truth = {
        item.number: (
            item.title,
            clean_text(item.body),
            sorted(clean_text(each["body"]) for each in item.comments),
        )
        for item in repository.issues
    }
    with running(FakeGithub(repository)) as github:
        environment = {"GITHUB_API_URLS": github.url, "GITHUB_TOKEN": GOOD_TOKEN}
        installation = Installation(tmp_path / "data", environment=environment)
        trouble = Trouble(github, installation)
        try:
            installation.start("--demo")
            github.before = trouble.before
            installation.manage("shell", "--no-imports", "-c", START)
            wait_until(lambda: run_of(installation)[0] in ("done", "failed"), seconds=600)
            state, error, problems, fetched, _ = run_of(installation)
            found = stored(installation)
            counted = rows(
                installation,
                "select count(*), count(distinct i.key), count(distinct s.id) from labeling_issue i"
                " join labeling_issuesnapshot s on s.issue_id = i.id where i.repository = ?",
                NAME,
            )
        finally:
            installation.stop()
    assert (state, error, problems) == ("done", "", "[]")
    assert found == truth
    assert counted == [(len(truth),) * 3]  # no issue twice, no snapshot twice
    assert len(trouble.kills) == KILLS
    assert max(trouble.pauses()) < 60
    assert trouble.faults > 5
    again = len(trouble.delivered) - len(set(trouble.delivered))
    assert again <= KILLS * GraphqlReader.batch
    assert fetched - len(truth) <= KILLS * GraphqlReader.batch
