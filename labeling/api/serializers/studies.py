"""Bodies of studies, members and what belongs to an account."""

from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.models import Event, Invitation, Membership, Notice, Role, SourceToken, Study


class StudyInput(Input):
    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(required=False, allow_blank=True)
    template = serializers.CharField(required=False, allow_blank=True)
    codebook = serializers.JSONField(required=False)
    copy_of = serializers.CharField(required=False, allow_blank=True)


class StudyPatch(Input):
    title = serializers.CharField(max_length=200, required=False)
    zone = serializers.CharField(required=False)
    unit_kinds = serializers.ListField(child=serializers.CharField(), required=False)
    exclusion_reasons = serializers.ListField(child=serializers.CharField(max_length=120), required=False)
    count_states = serializers.ChoiceField(choices=Study.CountStates.choices, required=False)
    scale = serializers.ChoiceField(choices=Study.Scale.choices, required=False)
    coders_see_corpus = serializers.BooleanField(required=False)
    consensus = serializers.BooleanField(required=False)


class StudyOutput(serializers.ModelSerializer[Study]):
    role = serializers.CharField(read_only=True)
    progress = serializers.DictField(read_only=True)

    class Meta:
        model = Study
        fields = (
            "slug",
            "title",
            "zone",
            "unit_kinds",
            "exclusion_reasons",
            "count_states",
            "scale",
            "coders_see_corpus",
            "consensus",
            "deleted_at",
            "purge_at",
            "created_at",
            "role",
            "progress",
        )


class Confirm(Input):
    confirm = serializers.CharField()


class MemberInput(Input):
    username = serializers.CharField(required=False)
    email = serializers.EmailField(required=False)
    role = serializers.ChoiceField(choices=Role.choices, required=False)
    pseudonym = serializers.CharField(required=False, max_length=60)
    kind = serializers.ChoiceField(
        choices=[
            choice for choice in Membership.Kind.choices if choice[0] in ("person", "reference", "group")
        ],
        required=False,
    )
    name = serializers.CharField(required=False, max_length=120)


class MemberPatch(Input):
    role = serializers.ChoiceField(choices=Role.choices, required=False)
    pseudonym = serializers.CharField(required=False, max_length=60)
    experience = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    training = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    group = serializers.IntegerField(required=False, allow_null=True)
    left = serializers.BooleanField(required=False)
    may_publish = serializers.BooleanField(required=False)


class MemberOutput(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username", default=None)
    name = serializers.CharField()

    class Meta:
        model = Membership
        fields = (
            "id",
            "username",
            "name",
            "kind",
            "role",
            "number",
            "pseudonym",
            "group",
            "experience",
            "training",
            "may_publish_at",
            "left_at",
        )


class InvitationInput(Input):
    role = serializers.ChoiceField(choices=Role.choices)


class InvitationOutput(serializers.ModelSerializer[Invitation]):
    url = serializers.CharField(read_only=True, allow_null=True, help_text="Given once, when it is made.")

    class Meta:
        model = Invitation
        fields = ("id", "role", "expires_at", "used_at", "revoked_at", "url")


class TokenInput(Input):
    api_base = serializers.CharField()
    value = serializers.CharField(write_only=True)


class TokenOutput(serializers.ModelSerializer[SourceToken]):
    class Meta:
        model = SourceToken
        fields = ("id", "api_base", "created_at")


class EventOutput(serializers.ModelSerializer[Event]):
    by = serializers.CharField(source="by.name", default=None)
    round = serializers.IntegerField(source="round.number", default=None)

    class Meta:
        model = Event
        fields = ("id", "at", "by", "verb", "object", "round", "data")


class NoticeOutput(serializers.ModelSerializer[Notice]):
    study = serializers.CharField(source="member.study.slug")

    class Meta:
        model = Notice
        fields = ("id", "study", "verb", "object", "url", "created_at", "read_at")


class InboxRead(Input):
    ids = serializers.ListField(child=serializers.IntegerField(), required=False)
