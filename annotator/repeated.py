"""Queries whose SQL is written once (docs/decisions/0014-queries-written-once.md).

Django writes the SQL of a query anew each time. For the wide joins that begin every request this takes
longer than the database does; their SQL never changes, only the values in it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Expression, Model, QuerySet
from django.db.models.query import get_related_populators

Entity = TypeVar("Entity", bound=Model)
_populators_of: Any = get_related_populators  # it takes one argument more from Django 6.1 on, as typed here
LARGEST_NUMBER = 2**63 - 1
"""What a column of ids holds, in either database: asked for more, they fail instead of finding nothing."""


class Given(Expression):
    """Stands in a query for an integer or a text that each call gives under this name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return "%s", [self]


class RepeatedQuery(Generic[Entity]):
    """A query for whole objects, with ``Given`` for what differs from call to call.

    ``make`` gives the queryset, without annotations, prefetches or limits. It is asked for once per
    connection, so what it closes over must never change.
    """

    def __init__(self, make: "Callable[[], QuerySet[Entity]]") -> None:
        self._make = make
        self._written: WeakKeyDictionary[Any, _Written] = WeakKeyDictionary()

    def all(self, **values: int | str | None) -> list[Entity]:
        """Give what the query finds; ``values`` are those of its ``Given``."""
        if any(isinstance(value, int) and value > LARGEST_NUMBER for value in values.values()):
            return []
        connection: Any = connections[DEFAULT_DB_ALIAS]
        written = self._written.get(connection)
        if written is None:
            written = self._written[connection] = _Written.of(self._make(), connection)
        return list(written.run(connection, values))

    def first(self, **values: int | str | None) -> Entity | None:
        """Give the one row that the query finds, or None."""
        return next(iter(self.all(**values)), None)


@dataclass(frozen=True, slots=True)
class _Written:
    """What Django's compiler made of a query: its SQL, and how an object is made of a row."""

    compiler: Any
    sql: str
    params: tuple[Any, ...]
    converters: Mapping[int, Any]
    names: list[str]
    columns: slice
    populators: Iterable[Any]

    @classmethod
    def of(cls, queryset: "QuerySet[Any]", connection: Any) -> "_Written":
        compiler: Any = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        told = compiler.klass_info
        columns = slice(told["select_fields"][0], told["select_fields"][-1] + 1)
        return cls(
            compiler,
            sql,
            params,
            converters=compiler.get_converters([column for column, _, _ in compiler.select]),
            names=[column.target.attname for column, _, _ in compiler.select[columns]],
            columns=columns,
            populators=_populators_of(told, compiler.select, connection.alias),
        )

    def run(self, connection: Any, values: Mapping[str, Any]) -> Iterator[Any]:
        params = [values[each.name] if isinstance(each, Given) else each for each in self.params]
        with connection.cursor() as cursor:
            cursor.execute(self.sql, params)
            rows = cursor.fetchall()
        model = self.compiler.query.model
        for row in self.compiler.apply_converters(rows, self.converters):
            found = model.from_db(connection.alias, self.names, row[self.columns])
            for populator in self.populators:
                populator.populate(row, found)
            yield found
