"""Bodies of coding: change sets of one unit."""

from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.models import Submission


class EvidenceInput(Input):
    """A quote: a piece of a document of the issue that speaks for an answer."""

    dimension = serializers.CharField()
    category = serializers.CharField(
        allow_null=True,
        required=False,
        help_text="One of the categories chosen for the dimension; null where none is meant. When the answer "
        "no longer holds it, the quote goes to the only category chosen, or to none.",
    )
    document = serializers.CharField(help_text="The key of a document of the issue, as queue/next/ gives it.")
    start = serializers.IntegerField(
        min_value=0,
        help_text="The first character of the quote, counted from 0 in Unicode code points of the text "
        "content of the document's html (tags left out, entities resolved).",
    )
    end = serializers.IntegerField(
        min_value=1, help_text="The place after the last character, counted as start is."
    )
    quote = serializers.CharField(
        trim_whitespace=False, help_text="The text from start to end, character by character."
    )
    prefix = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    suffix = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)


class ExcludeInput(Input):
    reason = serializers.CharField()
    note = serializers.CharField(required=False, allow_blank=True, default="")


class AssignmentChanges(Input):
    """Only the fields that changed, and the version they started from."""

    version = serializers.IntegerField(min_value=0)
    annotations = serializers.DictField(required=False, child=serializers.JSONField(allow_null=True))
    memo = serializers.CharField(required=False, allow_blank=True, allow_null=True, trim_whitespace=False)
    confidence = serializers.ChoiceField(
        choices=Submission.Confidence.choices, required=False, allow_null=True, allow_blank=True
    )
    evidence = EvidenceInput(many=True, required=False)
    exclude = ExcludeInput(required=False, allow_null=True)
    status = serializers.ChoiceField(choices=("draft", "submitted", "skipped"), required=False)


class ReturnInput(Input):
    reason = serializers.CharField(max_length=2000)


class AssignmentOutput(serializers.Serializer[object]):
    """The coder's own state of a unit, for the schema alone: services.coding.state_of gives it."""

    id = serializers.IntegerField()
    version = serializers.IntegerField()
    status = serializers.CharField()
    annotations = serializers.DictField()
    memo = serializers.CharField()
    confidence = serializers.CharField()
    evidence = serializers.ListField()
    exclude = serializers.DictField(allow_null=True)
    submitted_at = serializers.DateTimeField(allow_null=True)
    changed = serializers.BooleanField()
    return_reason = serializers.CharField()
    stage = serializers.IntegerField()
    active_seconds = serializers.IntegerField()
    unit = serializers.DictField()
