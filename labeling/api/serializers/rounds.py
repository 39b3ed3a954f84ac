"""Bodies of rounds: who codes which units, under which settings."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.models import CategoryProposal, Round
from labeling.selectors.issues import MASKABLE

MADE_BY_HAND = [choice for choice in Round.Kind.choices if choice[0] != Round.Kind.IMPORTED]


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class MemberName(serializers.Field[Any, Any, Any, Any]):
    """A member of the study by id or by user name."""

    default_error_messages = {"invalid": "Give a user name or the id of a member."}  # noqa: RUF012 - as in DRF

    def to_internal_value(self, data: Any) -> int | str:
        if isinstance(data, bool) or not isinstance(data, int | str) or data == "":
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class StageInput(Input):
    dimensions = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    reveals = serializers.ListField(child=serializers.ChoiceField(choices=MASKABLE), default=list)


class RoundPatch(Input):
    """While draft all of these; open only due_on, goal, instructions and counts_in_results.

    Of a closed round due_on and counts_in_results can change.

    Another sample brings its units in the place of those the draft had.
    """

    sample = serializers.IntegerField(required=False)
    coders = serializers.ListField(child=MemberName(), required=False)
    coders_per_unit = serializers.IntegerField(required=False)
    overlap = serializers.FloatField(required=False)
    seed = serializers.IntegerField(required=False)
    overlap_seed = serializers.IntegerField(required=False)
    dimensions = serializers.ListField(child=serializers.CharField(), required=False)
    masked_fields = serializers.ListField(child=serializers.ChoiceField(choices=MASKABLE), required=False)
    stages = serializers.ListField(child=StageInput(), required=False)
    instructions = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    goal = serializers.FloatField(required=False, allow_null=True)
    due_on = serializers.DateField(required=False, allow_null=True)
    decide = serializers.ChoiceField(choices=Round.Decide.choices, required=False)
    majority = serializers.BooleanField(required=False)
    rationale_required = serializers.BooleanField(required=False)
    own_answer_first = serializers.BooleanField(required=False)
    anonymous = serializers.BooleanField(required=False)
    counts_in_results = serializers.BooleanField(required=False)


class RoundInput(RoundPatch):
    """A new round: of a sample, of named units, or of the units of an earlier round."""

    kind = serializers.ChoiceField(choices=MADE_BY_HAND, default=Round.Kind.MAIN)
    units = serializers.ListField(child=serializers.IntegerField(), required=False, allow_empty=False)
    based_on = serializers.IntegerField(required=False, help_text="The id of an earlier round.")
    share = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="How much of the units of based_on."
    )


class RoundOutput(serializers.ModelSerializer[Round]):
    codebook_version = serializers.IntegerField(source="codebook.version", default=None)
    coders = serializers.SerializerMethodField(help_text="Ids of members.")

    class Meta:
        model = Round
        fields = (
            "id",
            "number",
            "kind",
            "state",
            "codebook_version",
            "sample",
            "based_on",
            "coders",
            "coders_per_unit",
            "overlap",
            "dimensions",
            "masked_fields",
            "stages",
            "instructions",
            "goal",
            "due_on",
            "decide",
            "majority",
            "rationale_required",
            "own_answer_first",
            "anonymous",
            "counts_in_results",
            "after_unblinding",
            "missing",
            "created_at",
            "opened_at",
            "closed_at",
            "reconciled_at",
        )

    def get_coders(self, coding_round: Round) -> list[int]:
        return sorted(coder.pk for coder in coding_round.coders.all())


class SeedsOutput(serializers.ModelSerializer[Round]):
    class Meta:
        model = Round
        fields = ("seed", "overlap_seed")


class OpenInput(Input):
    freeze = serializers.BooleanField(default=False)
    codebook_version = serializers.IntegerField(required=False, min_value=1)


class CloseInput(Input):
    missing = serializers.ChoiceField(choices=Round.Missing.choices, default=Round.Missing.REFUSE)


class RoundReopenInput(Input):
    reason = serializers.CharField(max_length=2000)
    units = serializers.ListField(child=serializers.IntegerField(), required=False, allow_empty=False)


class UnitsInput(Input):
    dry_run = serializers.BooleanField(default=False)
    units = serializers.ListField(child=serializers.IntegerField(), allow_empty=False)


class CodersInput(Input):
    dry_run = serializers.BooleanField(default=False)
    coders = serializers.ListField(child=MemberName(), allow_empty=False)


class RedealInput(Input):
    dry_run = serializers.BooleanField(default=False)

    def get_fields(self) -> dict[str, Any]:
        # The field is called "from", which Python keeps for itself.
        return {"from": MemberName(), **super().get_fields()}


class CategoryProposalInput(Input):
    dimension = serializers.CharField()
    name = serializers.CharField(max_length=160)
    code = serializers.CharField(required=False, allow_blank=True, max_length=80)
    definition = serializers.CharField(required=False, allow_blank=True, max_length=5000)
    parent = serializers.CharField(  # type: ignore[assignment] # DRF takes it off the class
        required=False, allow_null=True, allow_blank=True
    )
    unless_similar = serializers.BooleanField(
        default=False, help_text="Refuse a name that is easily taken for another one of the dimension."
    )


class CategoryProposalOutput(serializers.ModelSerializer[CategoryProposal]):
    round = serializers.IntegerField(source="round_id")
    dimension = serializers.CharField(source="dimension.key")
    by = serializers.CharField(source="by.name")
    parent = serializers.CharField(source="parent.code", default=None)  # type: ignore[assignment]
    target = serializers.CharField(source="target.code", default=None)

    class Meta:
        model = CategoryProposal
        fields = (
            "id",
            "round",
            "dimension",
            "by",
            "code",
            "name",
            "definition",
            "parent",
            "state",
            "target",
        )


class ResolveInput(Input):
    """One of the three."""

    accept = serializers.BooleanField(required=False)
    map_to = serializers.CharField(required=False, help_text="Code of a category of the same dimension.")
    reject = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if sum(bool(attrs.get(name)) for name in ("accept", "map_to", "reject")) != 1:
            raise serializers.ValidationError({"accept": ["Say one of accept, map_to and reject."]})
        return attrs
