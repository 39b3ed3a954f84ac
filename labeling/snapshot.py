"""One state of the database, read for as long as a slow reader takes."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

from django.db import DEFAULT_DB_ALIAS, connections

_numbers = count(1)


@contextmanager
def snapshot() -> Iterator[str]:
    """Give the alias of a connection of its own that sees the database as it is now; always closed.

    It holds no lock that a writer waits for: a deferred transaction on SQLite (which runs in WAL mode), a
    read-only repeatable read on PostgreSQL. Inside a transaction the reader is that transaction, since only
    it can see what it wrote.
    """
    default = connections[DEFAULT_DB_ALIAS]
    if default.in_atomic_block:
        yield DEFAULT_DB_ALIAS
        return
    # Known to this thread alone and to no setting, so that nothing else closes it or migrates it.
    alias = f"snapshot {next(_numbers)}"
    own = default.copy(alias)
    own.inc_thread_sharing()  # the server may close a response in another thread
    connections[alias] = own
    try:
        with own.cursor() as cursor:
            cursor.execute(_begin(own.vendor))
        yield alias
    finally:
        own.close()
        own.dec_thread_sharing()
        with suppress(AttributeError):  # closed in another thread: it never was there
            del connections[alias]


def _begin(vendor: str) -> str:
    if vendor == "postgresql":
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    return "BEGIN DEFERRED"
