"""Bodies of the corpus: filters, issues, rules, and what is decided by hand."""

from typing import Any

from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.api.serializers.samples import IssueField
from labeling.selectors.corpus import ORDERINGS, IssueFilters


class IssueQuery(Input):
    repository = serializers.CharField(required=False, allow_blank=True)
    state = serializers.CharField(required=False, allow_blank=True)
    github_label = serializers.CharField(required=False, allow_blank=True)
    search = serializers.CharField(required=False, allow_blank=True, max_length=200)
    has_fix = serializers.BooleanField(required=False, allow_null=True)
    created_after = serializers.DateField(required=False)
    created_before = serializers.DateField(required=False)
    eligible = serializers.BooleanField(required=False, allow_null=True)
    coded = serializers.BooleanField(required=False, allow_null=True)
    ordering = serializers.ChoiceField(
        choices=[sign + name for name in ORDERINGS for sign in ("", "-")], default="key"
    )
    cursor = serializers.CharField(required=False, allow_blank=True, default="")
    page_size = serializers.IntegerField(min_value=1, default=50)

    def filters(self) -> IssueFilters:
        asked = self.validated_data
        names = IssueFilters.__dataclass_fields__
        return IssueFilters(**{name: asked[name] for name in names if name in asked})


class RuleInput(serializers.Serializer[Any]):
    field = serializers.CharField()
    op = serializers.CharField()
    value = serializers.JSONField()


class StepOutput(serializers.Serializer[Any]):
    kind = serializers.CharField()
    text = serializers.CharField()
    count = serializers.IntegerField(help_text="Issues that are left after the step.")
    removed = serializers.IntegerField(help_text="Below zero: brought back by hand.")


class RuleOutput(RuleInput):
    text = serializers.CharField()
    count = serializers.IntegerField()
    removed = serializers.IntegerField()


class RulesInput(Input):
    version = serializers.IntegerField(required=False, help_text="The version read before: 409 if it is old.")
    rules = RuleInput(many=True)
    funnel = StepOutput(many=True, read_only=True)


class RulesOutput(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    rules = RuleOutput(many=True)
    funnel = StepOutput(many=True)


class IssueOutput(serializers.Serializer[Any]):
    """A line of the corpus; what is hidden from the caller is null and named in ``masked``."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    ref = serializers.CharField()
    kind = serializers.CharField()
    repository = serializers.CharField(allow_null=True)
    number = serializers.IntegerField(allow_null=True)
    url = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    state = serializers.CharField(allow_null=True)
    author = serializers.CharField(allow_null=True)
    github_labels = serializers.ListField(child=serializers.CharField(), allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    updated_at = serializers.DateTimeField(allow_null=True)
    has_fix = serializers.BooleanField(allow_null=True)
    eligible = serializers.BooleanField()
    because = serializers.CharField()
    override = serializers.BooleanField(allow_null=True)
    duplicate_of = serializers.IntegerField(allow_null=True)
    gone = serializers.BooleanField()
    sampled = serializers.BooleanField()
    coded = serializers.BooleanField()
    masked = serializers.ListField(child=serializers.CharField())


class DocumentOutput(serializers.Serializer[Any]):
    key = serializers.CharField()
    html = serializers.CharField()
    text = serializers.CharField()


class IssueDetailOutput(IssueOutput):
    body = serializers.CharField()
    comments = serializers.ListField(child=serializers.DictField())
    timeline = serializers.ListField(child=serializers.DictField())
    fixes = serializers.ListField(child=serializers.DictField())
    documents = DocumentOutput(many=True)
    content_hash = serializers.CharField()
    fetched_at = serializers.DateTimeField(allow_null=True)
    changed_since = serializers.BooleanField()


class ChangedOutput(serializers.Serializer[Any]):
    issues = IssueOutput(many=True)


class EligibilityInput(Input):
    issues = serializers.ListField(child=IssueField(), allow_empty=False)
    eligible = serializers.BooleanField(allow_null=True)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=300, default="")


class DuplicatesInput(Input):
    """``distinct`` with two issues or more: none of them repeats another, no look offers them again."""

    issues = serializers.ListField(child=IssueField(), allow_empty=False)
    duplicate_of = IssueField(allow_null=True, required=False)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=300, default="")
    distinct = serializers.BooleanField(required=False, default=False)

    def validate(self, told: dict[str, Any]) -> dict[str, Any]:
        if told["distinct"]:
            if told.get("duplicate_of") is not None:
                raise serializers.ValidationError(
                    {"duplicate_of": "Leave it out: issues are distinct, or one is a duplicate."}
                )
            if len(set(told["issues"])) < 2:
                raise serializers.ValidationError({"issues": "Name the two issues that are distinct."})
        elif "duplicate_of" not in told:
            raise serializers.ValidationError(
                {"duplicate_of": "Name the issue that stays, or null to take the mark away."}
            )
        return told


class CandidateOutput(serializers.Serializer[Any]):
    """Two issues that nearly say the same."""

    original = serializers.IntegerField(source="original.id")
    original_key = serializers.CharField(source="original.key")
    copy = serializers.IntegerField(source="copy.id")
    copy_key = serializers.CharField(source="copy.key")
    similarity = serializers.FloatField()


class RedactInput(Input):
    reason = serializers.CharField(allow_blank=True, max_length=300)
