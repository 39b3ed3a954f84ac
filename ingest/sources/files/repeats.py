"""Rows of a file whose issue stood in an earlier row, without keeping the rows in memory."""

from __future__ import annotations

import sqlite3


class FirstRows:
    """Remembers in a temporary file which row brought an issue first: a file may have millions of rows.

    Keys are known by their hash; two are the same once in millions of files.
    """

    def __init__(self) -> None:
        # Without a name the database is private, keeps two megabytes in memory and is gone when it is closed.
        self._rows = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._rows.execute("PRAGMA journal_mode = OFF")
        self._rows.execute("CREATE TABLE first (key INTEGER PRIMARY KEY, number INTEGER NOT NULL)")
        self._rows.execute("BEGIN")

    def before(self, key: str, number: int) -> int | None:
        """Give the earlier row that brought the same issue, None if this is the first one."""
        row = (hash(key), number)
        if self._rows.execute("INSERT OR IGNORE INTO first VALUES (?, ?)", row).rowcount:
            return None
        return int(self._rows.execute("SELECT number FROM first WHERE key = ?", row[:1]).fetchone()[0])

    def close(self) -> None:
        self._rows.close()
