"""Bodies of requests: an unknown field is an error, so that a misspelt one never looks as if it was set."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Input(serializers.Serializer[Any]):
    # A docstring here would stand in the schema at every body that has none.

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
                raise serializers.ValidationError(
                    {name: [f"There is no field {name} here. Fields: {known}."] for name in unknown}
                )
        return super().to_internal_value(data)
