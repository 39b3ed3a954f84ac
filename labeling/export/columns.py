"""A column of an exported file is a field of a row, with its meaning beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


def column(meaning: str) -> Any:
    """Declare a column; ``columns.csv`` prints the meaning."""
    return field(metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    meaning: str


def columns_of(row_type: type) -> list[Column]:
    """Give the columns of a file, in their order."""
    return [Column(each.name, each.metadata["meaning"]) for each in fields(row_type)]


def cells_of(row: Any) -> Iterator[Any]:
    """Give the values of a row in the order of its columns."""
    return (getattr(row, each.name) for each in fields(row))
