"""How queries are given to PostgreSQL (docs/decisions/0013-prepared-on-postgresql.md)."""

from typing import Any

from psycopg import ClientCursor, Cursor

MOST_BOUND = 1_000
"""With more values a statement is one of bulk, which does not come again; PostgreSQL takes 65,535."""


class PreparingCursor(Cursor[Any]):
    """Sends values apart from their statement, so that one that comes again is planned once.

    Planning the joins of a page takes PostgreSQL longer than running them, and to write the values into the
    statement takes us longer than to send them.
    """

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        if params is None or len(params) <= MOST_BOUND:
            return super().execute(query, params, **options)
        written = ClientCursor(self.connection).mogrify(query, params)
        return super().execute(written, **(options | {"prepare": False}))


PREPARED: dict[str, Any] = {"cursor_factory": PreparingCursor, "prepare_threshold": 5}
"""Options of a connection: from the fifth time on, its plan for a statement is kept."""
