"""Bodies of reconciliation: what is proposed, decided and said."""

from typing import Any

from rest_framework import serializers

from labeling.api.serializers.base import Input
from labeling.models import Decision, DisagreementReason
from labeling.selectors.reconciliation import Disagreement
from labeling.services.answers import Answer, choose_each


class AnswerInput(Input):
    """An answer: ``categories``, or ``state``, or ``text``; for ``_unit``: ``excluded`` and ``reason``."""

    categories = serializers.ListField(child=serializers.CharField(), required=False)
    state = serializers.ChoiceField(choices=("coded", "unclear", "not_applicable"), required=False)
    text = serializers.CharField(required=False, allow_blank=True)
    excluded = serializers.BooleanField(required=False, allow_null=True)
    reason = serializers.CharField(required=False, allow_blank=True)
    rationale = serializers.CharField(required=False, allow_blank=True, default="", max_length=10_000)
    disagreement_reason = serializers.ChoiceField(
        choices=DisagreementReason.choices, required=False, allow_blank=True, default=""
    )


class UnitAnswerInput(AnswerInput):
    """Of one unit; ``choose`` says of each category that only some coders chose whether it applies."""

    choose = serializers.DictField(child=serializers.BooleanField(), required=False)


class ProposalInput(UnitAnswerInput):
    escalate = serializers.BooleanField(required=False, default=False)


class DecisionInput(UnitAnswerInput):
    version = serializers.IntegerField(min_value=0)
    how = serializers.ChoiceField(
        choices=(Decision.How.DISCUSSED, Decision.How.ADJUDICATED), required=False, allow_null=True
    )


class CellInput(AnswerInput):
    dimension = serializers.CharField()
    cell = serializers.CharField()


class ReopenInput(Input):
    reason = serializers.CharField(max_length=2000)


class UnitPartInput(Input):
    title = serializers.CharField(max_length=300)


class UnitSplitInput(Input):
    """``follow_up``: the parts of a closed round are asked in a round of their own."""

    parts = UnitPartInput(many=True)
    reason = serializers.CharField(max_length=2000)
    follow_up = serializers.BooleanField(required=False, default=False)


class CommentInput(Input):
    text = serializers.CharField(max_length=10_000)
    dimension = serializers.CharField(required=False, allow_blank=True, default="")


SAYS = ("categories", "state", "text", "excluded", "reason")


def answer_of(body: dict[str, Any], item: Disagreement | None = None) -> Answer | None:
    """What the body says; None where it says nothing, as an escalation may."""
    said = {name: body[name] for name in SAYS if name in body}
    if "choose" in body and item is not None:
        if said:
            message = f"Give choose, or {', '.join(said)}, not both."
            raise serializers.ValidationError({"choose": [message]})
        return choose_each(item.shared, item.contested, body["choose"])
    if not said:
        return None
    return Answer(**said | {"categories": tuple(said.get("categories", ()))})
