"""Import of a JSON-lines file, beside a raw ``executemany`` of the same rows in the same run.

``python -m benchmarks.import_files --issues 100000`` prints the figures; nothing is asserted. The goals: at
least 0.2 of the raw rate, less than 80 MB more memory whatever the size of the file, half the time for the
same file again, and no commit over 100 ms. Raw are all the rows the import stored, with their indexes: four
an issue. Beside it stands what one row an issue takes in a plain table, whatever nobody could ask of it then.
Ratios stand twice: of the wall, and of processors, which the load of the machine hardly changes.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from benchmarks import corpus_data, databases
from benchmarks.clock import Clock

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
    plain = min((raw_insert(path) for _ in range(2)), key=_processor)
    databases.say(
        f"plain table {issues / plain.wall:,.0f} issues/s ({path.stat().st_size / 2**20:.0f} MB file)"
    )
    study = Study.objects.create(slug="measured", title="Measured")
    first, again = imported(study, path), imported(study, path)
    raw = min((raw_copy() for _ in range(2)), key=_processor)
    databases.say(f"raw executemany {issues / raw.wall:,.0f} issues/s")
    for name, figures in (("first import", first), ("the same file again", again)):
        clock = figures["clock"]
        databases.say(
            f"{name} {issues / clock.wall:,.0f} issues/s, {raw.wall / clock.wall:.2f} of raw "
            f"({raw.processor / clock.processor:.2f} by processors, {1e6 * clock.processor / issues:.0f} µs "
            f"an issue), {plain.wall / clock.wall:.2f} of the plain table; "
            f"memory +{figures['memory']:.0f} MB; {_told(figures['commits'])}; {figures['added']:,} added"
        )
    databases.say(
        f"second / first: {again['clock'].wall / first['clock'].wall:.2f} "
        f"({again['clock'].processor / first['clock'].processor:.2f} by processors)"
    )
    databases.say(f"index of the search: {_told(indexed(study))}")


def _processor(clock: Clock) -> float:
    return clock.processor


def _told(commits: list[Clock]) -> str:
    walls = [1000 * each.wall for each in commits]
    busiest = 1000 * max(each.processor for each in commits)
    return (
        f"commits: median {statistics.median(walls):.0f} ms, longest {max(walls):.0f} ms "
        f"({busiest:.0f} ms of processors)"
    )


def raw_insert(path: Path) -> Clock:
    """Insert what a plain table would hold of the same issues."""
    from django.db import connection

    clock = Clock()

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
        with clock:
            # Below Django's cursor, which would print every statement into its log of queries.
            raw = cursor.cursor
            if connection.vendor == "sqlite":
                raw = connection.connection.cursor()
            connection.set_autocommit(False)
            raw.executemany(statement, rows)
            connection.commit()
            connection.set_autocommit(True)
        cursor.execute("DROP TABLE raw")
    return clock


def raw_copy() -> Clock:
    """Insert the rows of all imported issues into copies of their tables, in one transaction."""
    from django.db import connection

    from labeling.models import Issue, IssueSnapshot, SnapshotDocument

    tables = [model._meta.db_table for model in (Issue, IssueSnapshot, SnapshotDocument)]
    clock = Clock()
    mark = "%s" if connection.vendor == "postgresql" else "?"
    with connection.cursor() as cursor:
        for table in tables:
            _copy_table(cursor, table)
        raw = cursor.cursor if connection.vendor == "postgresql" else connection.connection.cursor()
        connection.set_autocommit(False)
        for table in tables:
            for rows in _batches(cursor, table):
                marks = ", ".join([mark] * len(rows[0]))
                with clock:
                    raw.executemany(f"INSERT INTO raw_{table} VALUES ({marks})", rows)  # noqa: S608
        with clock:
            connection.commit()
        connection.set_autocommit(True)
        for table in reversed(tables):
            cursor.execute(f"DROP TABLE raw_{table}")
    return clock


def _batches(cursor: Any, table: str, size: int = 5000) -> Iterator[list[tuple[Any, ...]]]:
    """Give all rows of a table by their id; its first column."""
    last = 0
    while True:
        cursor.execute(f"SELECT * FROM {table} WHERE id > %s ORDER BY id LIMIT %s", [last, size])  # noqa: S608
        if not (rows := cursor.fetchall()):
            return
        last = rows[-1][0]
        yield rows


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


def imported(study: Any, path: Path) -> dict[str, Any]:
    """Import the file as a worker does; give what it took, its memory and what each commit took."""
    from ingest import pipeline
    from ingest.models import ImportRun

    query = {"file": path.name, "name": path.name, "format": "jsonl", "mapping": {}}
    run = ImportRun.objects.create(study=study, source=ImportRun.Source.FILE, query=query)
    process = psutil.Process()
    before = highest = process.memory_info().rss
    commits: list[Clock] = []
    store = pipeline._store
    locked_at = pipeline._locked

    def locked(lease: Any) -> ImportRun:
        commits.append(Clock().__enter__())  # from here on nobody else writes
        return locked_at(lease)

    def timed(lease: Any, study: Any, page: Any) -> ImportRun:
        nonlocal highest
        stored = store(lease, study, page)
        commits[-1].__exit__(None, None, None)
        highest = max(highest, process.memory_info().rss)
        return stored

    pipeline._store, pipeline._locked = timed, locked
    try:
        with Clock() as clock:
            ended = pipeline.run_import(run.pk, turn=None)
    finally:
        pipeline._store, pipeline._locked = store, locked_at
    if ended is None or ended.state != ImportRun.State.DONE:
        raise RuntimeError(ended.error if ended else "the import was taken by somebody else")
    return {
        "clock": clock,
        "memory": (highest - before) / 2**20,
        "commits": commits,
        "added": ended.added,
    }


def indexed(study: Any) -> list[Clock]:
    """Make the issues searchable, as a worker does afterwards; give what each commit took."""
    from labeling.services.word_index import index_batch

    commits, is_more = [], True
    while is_more:
        with Clock() as clock:
            is_more = bool(index_batch(study))
        commits.append(clock)
    return commits


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
