"""The whole path with nothing but the API: from a GitHub repository to the files of the paper.

The installation is a real one: web server and worker processes, started as an operator starts them.
"""

import csv
import hashlib
import hmac
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests
from sklearn.metrics import cohen_kappa_score

from tests.fake_github import GOOD_TOKEN, FakeGithub, running
from tests.fakes import make_repository
from tests.installation import Installation, wait_until

CODEBOOK = {
    "dimensions": [
        {
            "key": "symptom",
            "name": "Symptom",
            "categories": [
                {"code": "crash", "name": "Crash"},
                {"code": "oom", "name": "Out of memory", "parent": "crash"},
                {"code": "abort", "name": "Abort", "parent": "crash"},
                {"code": "slow", "name": "Slow"},
            ],
        },
        {
            "key": "cause",
            "name": "Cause",
            "categories": [{"code": "api", "name": "API"}, {"code": "config", "name": "Configuration"}],
        },
        {
            "key": "fix",
            "name": "Fix",
            "kind": "multiple",
            "categories": [{"code": "code", "name": "Code"}, {"code": "docs", "name": "Docs"}],
        },
    ]
}
SIZE, SEED = 40, 20251


class Client:
    """One person with an API token."""

    def __init__(self, base: str, token: str) -> None:
        self.base = f"{base}/api/v1/"
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"Token {token}"

    def call(
        self, method: str, path: str, body: Any = None, *, expect: int | None = None, **params: Any
    ) -> Any:
        url = path if path.startswith("http") else self.base + path
        response = self.session.request(method, url, json=body, params=params or None, timeout=60)
        assert response.status_code == expect if expect else response.ok, (url, response.text)
        is_json = "json" in response.headers.get("Content-Type", "")
        return response.json() if is_json else response.text

    def get(self, path: str, **params: Any) -> Any:
        return self.call("GET", path, **params)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self.call("POST", path, body, **options)

    def all_of(self, path: str, **params: Any) -> list[dict[str, Any]]:
        page = self.get(path, page_size=100, **params)
        rows = list(page["results"])
        while page["next"]:
            page = self.get(page["next"])
            rows += page["results"]
        return rows

    def file(self, slug: str, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.get(f"studies/{slug}/exports/{name}"), newline="")))


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    repositories = [make_repository(name, items=300, seed=7) for name in ("acme/train", "acme/kernels")]
    with running(FakeGithub(*repositories)) as fake:
        yield fake


@pytest.fixture
def settings_of_source(github) -> dict[str, str]:
    return {"GITHUB_API_URLS": github.url, "GITHUB_TOKEN": GOOD_TOKEN}


@pytest.fixture
def laptop(tmp_path: Path, settings_of_source) -> Iterator[Installation]:
    installation = Installation(tmp_path / "data", settings_of_source)
    yield installation
    installation.stop()


@pytest.fixture
def team(tmp_path: Path, settings_of_source, postgres_url, redis_url) -> Iterator[Installation]:
    name = f"path_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    servers = {"DATABASE_URL": postgres_url.rsplit("/", 1)[0] + f"/{name}", "REDIS_URL": redis_url}
    installation = Installation(tmp_path / "data", settings_of_source | servers)
    yield installation
    installation.stop()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_the_whole_path_on_a_laptop(laptop, github):
    walk(laptop, github)


@pytest.mark.postgres
@pytest.mark.redis
def test_the_whole_path_for_a_team_on_postgresql_and_redis(team, github):
    walk(team, github)


def walk(installation: Installation, github: FakeGithub) -> None:
    installation.start()
    people = {name: make_client(installation, name) for name in ("lead", "ada", "ben")}
    lead = people["lead"]
    slug = lead.post("studies/", {"title": "Failures", "codebook": CODEBOOK})["slug"]
    for name in ("ada", "ben"):
        lead.post(f"studies/{slug}/members/", {"username": name, "role": "coder"})
    import_issues(lead, slug, github)
    sample = draw(lead, slug)
    lead.post(f"studies/{slug}/codebook/freeze/")
    coding_round = lead.post(
        f"studies/{slug}/rounds/", {"sample": sample["id"], "coders": ["ada", "ben"], "seed": 5}
    )
    lead.post(f"rounds/{coding_round['id']}/open/")
    said = {name: code_all(people[name], coding_round["id"], name) for name in ("ada", "ben")}
    assert set(said["ada"]) == set(said["ben"]) == {unit["ref"] for unit in sample["units"]}
    refuse_while_open(people, slug, coding_round["id"])
    lead.post(f"rounds/{coding_round['id']}/close/")
    compare_agreement(lead, coding_round["id"], said)
    final = reconcile(people, coding_round["id"], said)
    lead.post(f"rounds/{coding_round['id']}/finish/")
    compare_files(lead, slug, said, final)


def make_client(installation: Installation, name: str) -> Client:
    installation.manage("create_user", name)
    return Client(f"http://127.0.0.1:{installation.port}", installation.manage("create_token", name).strip())


def import_issues(lead: Client, slug: str, github: FakeGithub) -> None:
    names = [repository.name for repository in github.repositories.values()]
    asked = lead.post(f"studies/{slug}/imports/", {"source": "github", "repositories": names}, expect=202)
    for run in asked["imports"]:
        wait_for_import(lead, f"studies/{slug}/imports/{run['id']}/")
    true_issues = {
        f"{repository.name}#{item.number}".lower()
        for repository in github.repositories.values()
        for item in repository.issues
    }
    stored = {row["key"].split("/", 1)[1] for row in lead.all_of(f"studies/{slug}/issues/")}
    assert stored == true_issues
    rules = [{"field": "state", "op": "is", "value": "closed"}]
    funnel = lead.call("PUT", f"studies/{slug}/rules/", {"rules": rules})
    closed = [
        item
        for repository in github.repositories.values()
        for item in repository.issues
        if item.state == "closed"
    ]
    assert funnel["rules"][0]["count"] == len(closed)


def wait_for_import(lead: Client, address: str) -> None:
    wait_until(lambda: lead.get(address)["status"] in ("done", "failed"), seconds=120)
    told = lead.get(address)
    assert told["status"] == "done", told


def draw(lead: Client, slug: str) -> dict[str, Any]:
    sample = lead.post(f"studies/{slug}/samples/", {"method": "random", "size": SIZE, "seed": SEED})
    address = f"samples/{sample['id']}/"
    wait_until(lambda: lead.get(address)["state"] == "frozen", seconds=120)
    frozen = lead.get(address)
    keys = [row["key"] for row in lead.all_of(f"studies/{slug}/issues/", eligible="true")]
    ranked = sorted(keys, key=lambda key: hmac.new(str(SEED).encode(), key.encode(), hashlib.sha256).digest())
    assert {unit["ref"] for unit in frozen["units"]} == {key.split("/", 1)[1] for key in ranked[:SIZE]}
    return frozen


def answer_of(name: str, ref: str) -> dict[str, Any]:
    """What a coder says of a unit: the same at every run, and different enough between the two."""
    own = int(hashlib.sha256(f"{name} {ref}".encode()).hexdigest(), 16)
    shared = int(hashlib.sha256(ref.encode()).hexdigest(), 16)
    pick = own if own % 4 == 0 else shared
    if own % 19 == 0:
        return {"exclude": {"reason": "not a bug", "note": "=1+1"}}
    cause: Any = {"state": "unclear"} if own % 13 == 0 else [("api", "config")[pick // 7 % 2]]
    chosen = [code for code, bit in (("code", 1), ("docs", 2)) if pick // 11 % 4 & bit]
    return {
        "annotations": {"symptom": [("oom", "abort", "slow")[pick // 3 % 3]], "cause": cause, "fix": chosen},
        "memo": f'memo of {name}, "quoted"\nsecond line',
        "confidence": ("low", "medium", "high")[own % 3],
    }


def code_all(coder: Client, round_id: int, name: str) -> dict[str, dict[str, Any]]:
    said: dict[str, dict[str, Any]] = {}
    while True:
        following = coder.get(f"rounds/{round_id}/queue/next/")
        if not following:
            return said
        ref = following["unit"]["ref"]
        said[ref] = answer_of(name, ref)
        body = said[ref] | {"version": following["version"], "status": "submitted"}
        assert coder.call("PATCH", f"assignments/{following['id']}/", body)["status"] == "submitted"


def refuse_while_open(people: dict[str, Client], slug: str, round_id: int) -> None:
    for person in people.values():
        person.call("GET", f"rounds/{round_id}/agreement/", expect=409)
        person.call("GET", f"rounds/{round_id}/disagreements/", expect=409)
    assert "memo of ben" not in people["lead"].get(f"studies/{slug}/exports/annotations.csv")
    own = people["ada"].get(f"studies/{slug}/exports/own_annotations.csv")
    assert "memo of ada" in own
    assert "memo of ben" not in own


def word(answer: dict[str, Any], dimension: str) -> str:
    value = answer["annotations"][dimension]
    return value["state"] if isinstance(value, dict) else "|".join(value)


def compare_agreement(lead: Client, round_id: int, said: dict[str, dict[str, Any]]) -> None:
    report = lead.get(f"rounds/{round_id}/agreement/")
    both = sorted(said["ada"])
    kept = [ref for ref in both if not any("exclude" in said[name][ref] for name in said)]
    rows = {row["key"]: row for row in report["dimensions"]}
    for dimension in ("symptom", "cause"):
        pair = [[word(said[name][ref], dimension) for ref in kept] for name in ("ada", "ben")]
        assert rows[dimension]["n_both"] == len(kept)
        assert rows[dimension]["kappa"]["value"] == pytest.approx(cohen_kappa_score(*pair), abs=1e-9)
        equal = sum(one == other for one, other in zip(*pair, strict=True))
        assert rows[dimension]["observed"]["value"] == pytest.approx(equal / len(kept))
    exclusion = [["exclude" in said[name][ref] for ref in both] for name in ("ada", "ben")]
    assert report["eligibility"]["kappa"]["value"] == pytest.approx(cohen_kappa_score(*exclusion), abs=1e-9)


def reconcile(
    people: dict[str, Client], round_id: int, said: dict[str, dict[str, Any]]
) -> dict[tuple[str, str], Any]:
    """Ada and Ben settle everything as Ada said it, exclusions first, since the rest waits for them."""
    decided: dict[tuple[str, str], Any] = {}
    for _ in range(3):
        for row in people["lead"].all_of(f"rounds/{round_id}/disagreements/", decided="false"):
            if row["waits_for"]:
                continue
            ref, dimension = row["unit"]["ref"], row["dimension"]
            answer = settle(said, ref, dimension)
            for name in ("ada", "ben"):
                path = f"rounds/{round_id}/units/{row['unit']['id']}/decisions/{dimension}/proposals/"
                last = people[name].post(path, answer | {"rationale": f"settled {ref}"})
            assert last["decision"]["how"] == "discussed"
            decided[ref, dimension] = answer
    assert people["lead"].all_of(f"rounds/{round_id}/disagreements/", decided="false") == []
    return decided


def settle(said: dict[str, dict[str, Any]], ref: str, dimension: str) -> dict[str, Any]:
    if dimension == "_unit":
        return {"excluded": False}
    whose = next(name for name in ("ada", "ben") if "exclude" not in said[name][ref])
    value = said[whose][ref]["annotations"][dimension]
    return value if isinstance(value, dict) else {"categories": value}


def compare_files(
    lead: Client, slug: str, said: dict[str, dict[str, Any]], final: dict[tuple[str, str], Any]
) -> None:
    annotations = lead.file(slug, "annotations.csv")
    written: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in annotations:
        written.setdefault((row["coder"], row["unit"], row["dimension"]), []).append(row)
    for name, answers in said.items():
        for ref, answer in answers.items():
            for dimension in ("symptom", "cause", "fix"):
                rows = written[name, ref, dimension]
                compare_rows(rows, answer, dimension)
    labels = lead.file(slug, "labels.csv")
    settled = {(row["unit"], row["dimension"]) for row in labels if row["how"] == "discussed"}
    assert settled >= {where for where in final if where[1] != "_unit"}
    assert {row["unit"] for row in labels} == set(said["ada"])
    wide = lead.file(slug, "labels_wide.csv")
    assert len(wide) == SIZE
    assert {"symptom", "symptom__status", "symptom__how", "symptom__ada", "symptom__ben"} <= set(wide[0])
    for row in wide:
        where = (row["unit"], "symptom")
        if where in final:
            assert row["symptom"] == "|".join(final[where].get("categories", []))
    kappas = {
        row["dimension"]: row["value"]
        for row in lead.file(slug, "agreement.csv")
        if row["statistic"] == "cohen_kappa" and row["scope"] == "whole"
    }
    assert {"symptom", "cause"} <= set(kappas)
    assert lead.get(f"studies/{slug}/exports/labels.csv") == lead.get(f"studies/{slug}/exports/labels.csv")


def compare_rows(rows: list[dict[str, str]], answer: dict[str, Any], dimension: str) -> None:
    if "exclude" in answer:
        assert [(row["status"], row["exclude_reason"]) for row in rows] == [("excluded", "not a bug")]
        return
    value = answer["annotations"][dimension]
    assert rows[0]["memo"] == answer["memo"]
    assert rows[0]["confidence"] == answer["confidence"]
    if isinstance(value, dict):
        assert [(row["status"], row["category"]) for row in rows] == [(value["state"], "")]
    else:
        assert sorted(row["category"] for row in rows) == sorted(value or [""])
        assert {row["status"] for row in rows} == {"coded"}
