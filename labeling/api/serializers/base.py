"""Bodies of requests: every field named, and an unknown one refused rather than dropped."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Input(serializers.Serializer[Any]):
    """A body whose unknown fields are an error: a misspelt setting must not look as if it was set."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
                raise serializers.ValidationError(
                    {name: [f"There is no field {name} here. Fields: {known}."] for name in unknown}
                )
        return super().to_internal_value(data)
