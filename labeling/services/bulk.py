"""Many rows at once, below the ORM, which would spend most of an import on preparing values one by one."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, JSONField, Model

Convert = Callable[[Any], Any]


def reserve_ids(model: type[Model], count: int) -> Sequence[int]:
    """Give ids for rows that are inserted in this transaction, so that they can name each other."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sequence = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            cursor.execute(sequence, [table, count])
            return [row[0] for row in cursor.fetchall()]
        # The transaction holds the only lock for writing: nobody else takes an id meanwhile.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        row = cursor.fetchone()
        last = row[0] if row else 0
        return range(last + 1, last + 1 + count)


def insert_rows(model: type[Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows that are new for certain; ``names`` are the fields of their values."""
    fields = [model._meta.get_field(name) for name in names]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(getattr(field, "column"))) for field in fields)  # noqa: B009 - not on relations
    table = quote(model._meta.db_table)
    values = _ready(fields, rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for each in values:
                    copy.write_row(each)
            return
        marks = ", ".join(["%s"] * len(fields))
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values))  # noqa: S608


def _ready(fields: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    converts = [(at, convert) for at, field in enumerate(fields) if (convert := _convert(field))]
    for row in rows:
        values = list(row)
        for at, convert in converts:
            values[at] = convert(values[at])
        yield values


def _convert(field: Any) -> Convert | None:
    """How a value becomes what the database takes; None if it is that already."""
    if isinstance(field, JSONField):
        return _dumped
    if isinstance(field, DateTimeField) and connection.vendor == "sqlite":
        return _naive
    return None


def _dumped(value: Any) -> str:
    """Write JSON; most lists and objects of an issue are empty."""
    return json.dumps(value) if value else _EMPTY[type(value)]


_EMPTY: Mapping[type, str] = {list: "[]", tuple: "[]", dict: "{}"}


def _naive(at: datetime | None) -> str | None:
    """Write a time as Django does on SQLite: UTC, without saying so."""
    return None if at is None else at.astimezone(UTC).isoformat(" ").removesuffix("+00:00")
