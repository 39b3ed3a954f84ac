"""The list of the corpus, beside a bare Django view with one query in the same run.

``python -m benchmarks.corpus_list`` prints the figures; nothing is asserted. The goals: rows within 30 times
the bare view, page 100 within 1.5 times page 1, at 20,000 issues on SQLite and 200,000 on PostgreSQL. The
bare view is asked anew before every figure, since the load of the machine changes meanwhile.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import path

from benchmarks import corpus_data, databases
from benchmarks.clock import Clock

ON_SQLITE, ON_POSTGRES = 20_000, 200_000
RUNS = 25


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds on the wall, the least of several; and of processors, on average."""

    wall: float
    processor: float


def measure(on_sqlite: int = ON_SQLITE, on_postgres: int = ON_POSTGRES) -> Iterator[str]:
    """Yield one line per figure."""
    child = ("--child", "--issues")
    told = databases.on_each(
        "benchmarks.corpus_list", *child, str(on_sqlite), postgres=(*child, str(on_postgres))
    )
    for database, figure in told:
        yield f"{database}: {figure}"


def run(issues: int) -> None:
    """Measure on the database of this process."""
    databases.set_up()
    from django.core.management import call_command
    from django.db import connection

    from labeling.models import Membership, Role, Study, User
    from labeling.services.word_index import index_batch

    call_command("collectstatic", interactive=False, verbosity=0)  # the page names its files by their content
    lead = User.objects.create_user(username="lead", password=None)
    study = Study.objects.create(slug="measured", title="Measured")
    Membership.objects.create(study=study, user=lead, role=Role.LEAD, number=1)
    corpus_data.fill(study, issues)
    began = time.perf_counter()
    while index_batch(study):
        pass
    databases.say(f"{issues:,} issues, indexed at {issues / (time.perf_counter() - began):,.0f}/s")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    compare(study, lead)


def compare(study: Any, lead: Any) -> None:
    """Ask for pages of the list, each after a bare page."""
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(lead)
    url = f"/studies/{study.slug}/corpus/"
    if client.get(url).status_code != HTTPStatus.OK:
        raise RuntimeError("the list was not shown")
    walls = {}
    for name, query in (
        ("page 1", ""),
        ("page 100", f"?cursor={cursor_of(study, 100)}"),
        ("closed only", "?state=closed"),
        ("one GitHub label", "?github_label=cuda"),
        ("search for a frequent word", "?search=kernel"),
        ("search for three words", "?search=kernel+launch+shard"),
        ("newest first", "?ordering=-created"),
        ("last closed first", "?ordering=-closed"),
        ("counts of the filters (second request)", "facets/"),
        ("counts of closed issues (second request)", "facets/?state=closed"),
    ):
        headers = {"hx-request": "true"} if query.startswith("facets") else {}
        bare, cost = bare_time(), quickest(partial(client.get, url + query, headers=headers))
        walls[name] = cost.wall
        databases.say(
            f"{name}: {cost.wall:.1f} ms, {cost.wall / bare.wall:.1f} times the bare view, "
            f"{cost.processor / bare.processor:.1f} times its time of processors"
        )
    databases.say(f"page 100 / page 1: {walls['page 100'] / walls['page 1']:.2f}")


def bare_time() -> Cost:
    """What the bare view costs through Django's handler, without any middleware."""
    from django.test import Client, override_settings

    with override_settings(MIDDLEWARE=[], ROOT_URLCONF=__name__):
        client = Client(headers={"host": "127.0.0.1"})
        return quickest(lambda: client.get("/"))


def bare_view(request: HttpRequest) -> JsonResponse:
    """Give fifty rows by one query, as JSON."""
    from labeling.models import Issue

    rows = Issue.objects.order_by("study", "key").values("key", "eligible", "latest__title")[:50]
    return JsonResponse({"rows": list(rows)})


urlpatterns = [path("", bare_view)]


def cursor_of(study: Any, page: int) -> str:
    from labeling.keyset import _write

    return _write(False, "key", study.issues.order_by("key", "pk")[(page - 1) * 50 - 1])


def quickest(ask: Callable[[], object]) -> Cost:
    """What a call costs after a first one, which fills caches."""
    ask()
    total, walls = Clock(), []
    for _ in range(RUNS):
        with total, Clock() as clock:
            ask()
        walls.append(1000 * clock.wall)
    return Cost(min(walls), 1000 * total.processor / RUNS)


def main() -> None:
    """Measure here as a child, or print what the children measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issues", type=int)
    parser.add_argument("--child", action="store_true", help="measure on the database of this process")
    options = parser.parse_args()
    if options.child:
        run(options.issues)
        return
    lines = measure(options.issues, options.issues) if options.issues else measure()
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
