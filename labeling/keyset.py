"""Pages that go on from a row instead of counting from the first: the last page costs what the first does."""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from labeling.errors import InvalidInputError

Entity = TypeVar("Entity")


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Entity]):
    """Rows of one page, and the cursors of its neighbours, None at either end."""

    rows: list[Entity]
    next: str | None
    previous: str | None


def keyset_page(
    rows: "QuerySet[Any, Entity]", *, by: str, cursor: str = "", size: int = 50
) -> KeysetPage[Entity]:
    """Give a page of ``rows`` in the order ``by``, ``-by`` for descending; equal ones follow their id.

    ``by`` is a field that is never null, and an attribute of every row, as ``pk`` is. Raises
    InvalidInputError for a cursor this order did not hand out.
    """
    field, descends = by.removeprefix("-"), by.startswith("-")
    backwards, position = _read(cursor) if cursor else (False, None)
    up = descends == backwards
    if position is not None:
        try:
            rows = rows.filter(_beyond(field, position, up=up))
        except (ValidationError, ValueError, TypeError):
            raise _refusal() from None
    sign = "" if up else "-"
    found = list(rows.order_by(f"{sign}{field}", f"{sign}pk")[: size + 1])
    is_more, found = len(found) > size, found[:size]
    if backwards:
        found.reverse()
    if not found:
        return KeysetPage([], None, None)
    return KeysetPage(
        rows=found,
        next=_write(False, field, found[-1]) if backwards or is_more else None,
        previous=_write(True, field, found[0]) if (is_more if backwards else cursor) else None,
    )


def _beyond(field: str, position: tuple[Any, int], *, up: bool) -> Q:
    value, pk = position
    beyond = "gt" if up else "lt"
    # Not "beyond, or equal and of a later id": no index finds its place by an OR alone.
    further = Q((f"{field}__{beyond}", value)) | Q((f"pk__{beyond}", pk))
    return Q((f"{field}__{beyond}e", value)) & further


def _write(backwards: bool, field: str, row: Any) -> str:
    value = getattr(row, field)
    told = [backwards, value.isoformat() if isinstance(value, datetime) else value, row.pk]
    return urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[bool, tuple[Any, int]]:
    try:
        told = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        backwards, value, pk = told
        return bool(backwards), (value, int(pk))
    except (binascii.Error, UnicodeError, ValueError, TypeError):
        raise _refusal() from None


def _refusal() -> InvalidInputError:
    return InvalidInputError(
        {"cursor": ["This is no address of a page of this list. Start at its first page."]}
    )
