"""Bodies of the acts on a codebook draft. Categories are named by their code, or by their concept."""

from rest_framework import serializers

from labeling.api.serializers.base import Input


class Flag(serializers.BooleanField):
    """False unless it is given."""

    def __init__(self) -> None:
        super().__init__(default=False)


class ActInput(Input):
    dry_run = Flag()


class OneCategoryInput(ActInput):
    dimension = serializers.CharField()
    category = serializers.CharField()


class RenameInput(OneCategoryInput):
    name = serializers.CharField(required=False, allow_blank=True, max_length=160)
    code = serializers.CharField(required=False, allow_blank=True, max_length=80)


class MoveInput(OneCategoryInput):
    parent = serializers.CharField(allow_null=True, allow_blank=True)  # type: ignore[assignment]


class MergeInput(ActInput):
    dimension = serializers.CharField()
    categories = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    into = serializers.CharField()


class PartInput(Input):
    name = serializers.CharField(required=False, max_length=160)
    code = serializers.CharField(required=False, max_length=80)
    definition = serializers.CharField(required=False, allow_blank=True)
    include = serializers.CharField(required=False, allow_blank=True)
    exclude = serializers.CharField(required=False, allow_blank=True)
    precedence = serializers.CharField(required=False, allow_blank=True)
    examples = serializers.ListField(required=False)


class SplitInput(OneCategoryInput):
    into = PartInput(many=True)
    as_heading = Flag()


class UploadInput(ActInput):
    file = serializers.FileField(allow_empty_file=True, max_length=200)


class FreezeInput(ActInput):
    note = serializers.CharField(required=False, allow_blank=True, max_length=2000)
