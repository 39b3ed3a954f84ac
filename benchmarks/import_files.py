"""Import of a JSON-lines file, beside a raw ``executemany`` of the same issues in the same run.

``python -m benchmarks.import_files --issues 100000`` prints the figures; nothing is asserted. The goals: at
least 0.2 of the raw rate, less than 80 MB more memory whatever the size of the file, half the time for the
same file again, and no commit over 100 ms.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from benchmarks import corpus_data, databases

COLUMNS = (
    "repository text, number bigint, title text, state text, author text, github_labels text,"
    " opened_at text, closed_at text, url text, node_id text, body text"
)
ISSUES = 10_000


def measure(issues: int = ISSUES) -> Iterator[str]:
    """Yield one line per figure."""
    for database, told in databases.on_each("benchmarks.import_files", "--child", "--issues", str(issues)):
        yield f"{database}, {issues:,} issues: {told}"


def run(issues: int) -> None:
    """Measure on the database of this process."""
    databases.set_up()
    from django.conf import settings

    from labeling.models import Study

    path = Path(settings.INTERCODER_DATA) / "uploads" / "issues.jsonl"
    corpus_data.write_json_lines(path, issues)
    raw = min(raw_insert(path) for _ in range(3))
    databases.say(f"raw executemany {issues / raw:,.0f} issues/s ({path.stat().st_size / 2**20:.0f} MB file)")
    study = Study.objects.create(slug="measured", title="Measured")
    first = imported(study, path)
    again = imported(study, path)
    for name, figures in (("first import", first), ("the same file again", again)):
        databases.say(
            f"{name} {issues / figures['seconds']:,.0f} issues/s, {raw / figures['seconds']:.2f} of raw "
            f"({1e6 * figures['processor'] / issues:.0f} µs of this processor an issue); "
            f"memory +{figures['memory']:.0f} MB; commits: median {figures['median']:.0f} ms, "
            f"longest {figures['longest']:.0f} ms; {figures['added']:,} added"
        )
    databases.say(f"second / first: {again['seconds'] / first['seconds']:.2f}")


def raw_insert(path: Path) -> float:
    """Insert what a plain table would hold of the same issues; give the seconds."""
    from django.db import connection

    with path.open() as file:
        rows = [_flat(json.loads(line)) for line in file]
    marks = ", ".join(["%s" if connection.vendor == "postgresql" else "?"] * len(rows[0]))
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE raw (id integer primary key, {COLUMNS})"
            if connection.vendor == "sqlite"
            else f"CREATE TABLE raw (id bigserial primary key, {COLUMNS})"
        )
        for column in ("repository, number", "state", "opened_at"):
            cursor.execute(f"CREATE INDEX raw_{column.partition(',')[0]} ON raw ({column})")
        names = ", ".join(column.split()[0] for column in COLUMNS.split(","))
        statement = f"INSERT INTO raw ({names}) VALUES ({marks})"  # noqa: S608 (names from above)
        began = time.perf_counter()
        # Below Django's cursor, which would print every statement into its log of queries.
        raw = cursor.cursor
        if connection.vendor == "sqlite":
            raw = connection.connection.cursor()
        connection.set_autocommit(False)
        raw.executemany(statement, rows)
        connection.commit()
        connection.set_autocommit(True)
        seconds = time.perf_counter() - began
        cursor.execute("DROP TABLE raw")
    return seconds


def _flat(told: dict[str, Any]) -> tuple[Any, ...]:
    labels = json.dumps([label["name"] for label in told["labels"]])
    repository = told["repository_url"].partition("/repos/")[2]
    kept = ("created_at", "closed_at", "html_url", "node_id", "body")
    first = (repository, told["number"], told["title"], told["state"], told["user"]["login"], labels)
    return first + tuple(told[name] for name in kept)


def imported(study: Any, path: Path) -> dict[str, float]:
    """Import the file as a worker does; give seconds, memory and times between commits."""
    from ingest import pipeline
    from ingest.models import ImportRun

    query = {"file": path.name, "name": path.name, "format": "jsonl", "mapping": {}}
    run = ImportRun.objects.create(study=study, source=ImportRun.Source.FILE, query=query)
    process = psutil.Process()
    before = highest = process.memory_info().rss
    commits: list[float] = []
    store = pipeline._store

    def timed(lease: Any, page: Any) -> ImportRun:
        nonlocal highest
        began = time.perf_counter()
        stored = store(lease, page)
        commits.append(1000 * (time.perf_counter() - began))
        highest = max(highest, process.memory_info().rss)
        return stored

    pipeline._store = timed
    began, busy = time.perf_counter(), time.process_time()
    try:
        ended = pipeline.run_import(run.pk, turn=None)
    finally:
        pipeline._store = store
    if ended is None or ended.state != ImportRun.State.DONE:
        raise RuntimeError(ended.error if ended else "the import was taken by somebody else")
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - busy,
        "memory": (highest - before) / 2**20,
        "median": statistics.median(commits),
        "longest": max(commits),
        "added": ended.added,
    }


def main() -> None:
    """Measure here as a child, or print what the children measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issues", type=int, default=ISSUES)
    parser.add_argument("--child", action="store_true", help="measure on the database of this process")
    options = parser.parse_args()
    if options.child:
        run(options.issues)
        return
    for line in measure(options.issues):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
