"""What every row has, and text that sorts the same on every database."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Combinable
from django.db.models.functions import Length

models.CharField.register_lookup(Length)
models.TextField.register_lookup(Length)


class Row(models.Model):
    """An id that means nothing, and the time the row was written."""

    id = models.BigAutoField(primary_key=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


if TYPE_CHECKING:
    _TextField = models.TextField[str | Combinable, str]
else:
    _TextField = models.TextField


class BytewiseTextField(_TextField):
    """Text that is ordered, paged or unique by its bytes: BINARY on SQLite, "C" on PostgreSQL.

    ``db_collation`` cannot say this: it holds one name, and neither database knows the other's.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


def at_most(field: str, length: int, model: str) -> models.CheckConstraint:
    """A length limit that SQLite keeps too."""
    return models.CheckConstraint(
        condition=models.Q((f"{field}__length__lte", length)),
        name=f"{model}_{field}_length",
        violation_error_message=f"{field} may have at most {length:,} characters.",
    )
