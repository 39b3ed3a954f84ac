"""Import of a JSON-lines file, beside a raw ``executemany`` of the same rows in the same run.

``python -m benchmarks.import_files --issues 100000`` prints the figures; nothing is asserted. The goals: at
least 0.2 of the raw rate, less than 80 MB more memory whatever the size of the file, half the time for the
same file again, and no commit over 100 ms. Raw are the rows the import stores, with their indexes: four an
issue. Beside it stands what one row an issue takes in a plain table, whatever nobody could ask of it then.
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
    plain = min(raw_insert(path) for _ in range(3))
    databases.say(f"plain table {issues / plain:,.0f} issues/s ({path.stat().st_size / 2**20:.0f} MB file)")
    study = Study.objects.create(slug="measured", title="Measured")
    first = imported(study, path)
    raw = issues * min(raw_seconds() for _ in range(3))
    databases.say(f"raw executemany {issues / raw:,.0f} issues/s")
    again = imported(study, path)
    for name, figures in (("first import", first), ("the same file again", again)):
        databases.say(
            f"{name} {issues / figures['seconds']:,.0f} issues/s, {raw / figures['seconds']:.2f} of raw, "
            f"{plain / figures['seconds']:.2f} of the plain table "
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


def raw_seconds(most: int = 10_000) -> float:
    """Insert the rows of up to so many imported issues into copies of their tables; give seconds an issue."""
    from django.db import connection

    from labeling.models import Issue, IssueSnapshot, SnapshotDocument

    tables = {
        Issue._meta.db_table: "id",
        IssueSnapshot._meta.db_table: "issue_id",
        SnapshotDocument._meta.db_table: "snapshot_id",
    }
    with connection.cursor() as cursor:
        rows = {}
        for table, field in tables.items():
            _copy_table(cursor, table)
            cursor.execute(f"SELECT * FROM {table} WHERE {field} <= %s", [most])  # noqa: S608
            rows[table] = cursor.fetchall()
        mark = "%s" if connection.vendor == "postgresql" else "?"
        raw = cursor.cursor if connection.vendor == "postgresql" else connection.connection.cursor()
        connection.set_autocommit(False)
        began = time.perf_counter()
        for table, told in rows.items():
            marks = ", ".join([mark] * len(told[0]))
            raw.executemany(f"INSERT INTO raw_{table} VALUES ({marks})", told)  # noqa: S608
        connection.commit()
        seconds = time.perf_counter() - began
        connection.set_autocommit(True)
        for table in reversed(tables):
            cursor.execute(f"DROP TABLE raw_{table}")
    return seconds / len(rows[Issue._meta.db_table])


def _copy_table(cursor: Any, table: str) -> None:
    """Make an empty table with the same columns and indexes."""
    if cursor.db.vendor == "postgresql":
        cursor.execute(f"CREATE TABLE raw_{table} (LIKE {table} INCLUDING ALL)")
        return
    cursor.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND type IN ('table', 'index')"
        " AND sql IS NOT NULL ORDER BY type DESC",
        [table],
    )
    for (statement,) in cursor.fetchall():
        copied = statement.replace('INDEX "', 'INDEX "raw_', 1).replace(f'"{table}"', f'"raw_{table}"')
        cursor.cursor.connection.execute(copied)


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
    locked_at = pipeline._locked

    def locked(lease: Any) -> ImportRun:
        commits.append(time.perf_counter())  # from here on nobody else writes
        return locked_at(lease)

    def timed(lease: Any, study: Any, page: Any) -> ImportRun:
        nonlocal highest
        stored = store(lease, study, page)
        commits[-1] = 1000 * (time.perf_counter() - commits[-1])
        highest = max(highest, process.memory_info().rss)
        return stored

    pipeline._store, pipeline._locked = timed, locked
    began, busy = time.perf_counter(), time.process_time()
    try:
        ended = pipeline.run_import(run.pk, turn=None)
    finally:
        pipeline._store, pipeline._locked = store, locked_at
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
