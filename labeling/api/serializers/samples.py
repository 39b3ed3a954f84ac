"""Bodies of samples."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.models import Sample


class AllocationField(serializers.JSONField):
    """``proportional``, ``equal``, or ``{"kind": "given", "sizes": {stratum: n}}``."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        told = {"kind": data} if isinstance(data, str) else data
        if not isinstance(told, dict) or set(told) - {"kind", "sizes"}:
            raise serializers.ValidationError(
                'Write proportional, equal, or {"kind": "given", "sizes": {stratum: number}}.'
            )
        sizes = told.get("sizes", {})
        if not isinstance(sizes, dict) or not all(
            isinstance(size, int) and not isinstance(size, bool) for size in sizes.values()
        ):
            raise serializers.ValidationError("Give sizes as {stratum: whole number}.")
        return told


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class IssueField(serializers.Field[Any, Any, Any, Any]):
    """An issue by its id, its key, its address or owner/name#number."""

    def to_internal_value(self, data: Any) -> int | str:
        if isinstance(data, bool) or not isinstance(data, int | str) or data == "":
            raise serializers.ValidationError("Name an issue by its id, its address or owner/name#number.")
        return data

    def to_representation(self, value: int | str) -> int | str:
        return value


class SizeInput(Input):
    """What the calculator asks for: a size, or the margin that it is to keep."""

    size = serializers.IntegerField(required=False, allow_null=True, min_value=1)
    confidence = serializers.FloatField(required=False, allow_null=True)
    margin = serializers.FloatField(required=False, allow_null=True)
    proportion = serializers.FloatField(required=False, allow_null=True, help_text="Expected; else 0.5.")
    strata = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Fields or conditions on them, joined by +: repository + comments >= 5.",
    )
    pilot = serializers.IntegerField(
        required=False, min_value=0, help_text="More units, drawn beside the size for pilots alone."
    )
    allocation = AllocationField(required=False)


class CalculatorInput(SizeInput):
    """The same, also of so many issues as are not imported yet."""

    population = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, help_text="Else the issues that are eligible now."
    )


class SampleInput(SizeInput):
    """What a draw asks for: a size, or the margin that it is to keep, and how it is drawn."""

    method = serializers.ChoiceField(choices=Sample.Method.choices)
    seed = serializers.IntegerField(required=False, min_value=-(2**63), max_value=2**63 - 1)
    filters = serializers.DictField(required=False)
    issues = serializers.ListField(child=IssueField(), required=False)


class TopUpInput(Input):
    size = serializers.IntegerField(
        min_value=1, help_text="How many more units to draw, beside those the sample has."
    )


class ReplaceInput(Input):
    unit = serializers.IntegerField()
    reason = serializers.CharField(max_length=500)


class PlannedStratumOutput(serializers.Serializer[Any]):
    stratum = serializers.CharField()
    eligible = serializers.IntegerField()
    drawn = serializers.IntegerField()
    margin = serializers.FloatField(allow_null=True, help_text="Null where nothing is drawn.")


class SizeOutput(serializers.Serializer[Any]):
    population = serializers.IntegerField(help_text="Eligible issues.")
    size = serializers.IntegerField()
    confidence = serializers.FloatField()
    margin = serializers.FloatField(
        allow_null=True,
        help_text="Half-width of the interval of a proportion; null where strata are drawn from unequally.",
    )
    proportion = serializers.FloatField()
    pilot = serializers.IntegerField()
    strata = PlannedStratumOutput(many=True)
    units_for_kappa = serializers.IntegerField(help_text="For an interval of kappa 0.10 to either side.")


class StratumOutput(serializers.Serializer[Any]):
    stratum = serializers.CharField()
    eligible = serializers.IntegerField()
    drawn = serializers.IntegerField()


class SampleUnitOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField(allow_null=True, help_text="Null: hidden while the caller codes the issue.")
    stratum = serializers.CharField(allow_null=True)
    rank = serializers.IntegerField()
    drawn = serializers.CharField()
    replaced_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


class SampleOutput(serializers.ModelSerializer[Sample]):
    strata_table = StratumOutput(many=True, read_only=True)
    units = SampleUnitOutput(many=True, read_only=True)
    statement = serializers.CharField(read_only=True)

    class Meta:
        model = Sample
        fields = (
            "id",
            "method",
            "size",
            "confidence",
            "margin",
            "proportion",
            "pilot",
            "strata",
            "allocation",
            "seed",
            "filters",
            "rules_version",
            "frame_size",
            "frame_hash",
            "state",
            "prepared",
            "problems",
            "frozen_at",
            "created_at",
            "statement",
            "strata_table",
            "units",
        )


PLAIN_FIELDS = tuple(
    name for name in SampleOutput.Meta.fields if name not in {"statement", "strata_table", "units"}
)
