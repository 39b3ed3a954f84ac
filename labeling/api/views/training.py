"""Training over the API: known answers, and what coders said beside them."""

from collections.abc import Sequence
from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_round_by_id_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.rounds import RoundOutput
from labeling.api.views.rounds import round_data
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Membership, Role, Round
from labeling.selectors.known_answers import (
    GivenUnit,
    UnitFeedback,
    feedback_by_coder,
    known_answers,
    matches_by_dimension,
    own_feedback,
)
from labeling.selectors.masks import Masks
from labeling.services import training
from labeling.services.agreement import mark_read


def _refuse_other_kinds(coding_round: Round) -> None:
    if coding_round.kind != Round.Kind.TRAINING:
        raise RoundStateError("Only a training round has known answers.")


class RoundReference(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """The known answers by unit, as they were given: to coders those of units they handed in."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        _refuse_other_kinds(coding_round)
        known = known_answers(coding_round, member)
        masks = Masks(member)
        names = masks.names
        units = coding_round.round_units.filter(pk__in=known).select_related("unit")
        units = units.order_by(f"unit__{masks.unit_order}")
        return Response({names.get(each.unit.ref, each.unit.ref): known[each.pk].data for each in units})

    @extend_schema(request=OpenApiTypes.OBJECT, responses=RoundOutput)
    def put(self, request: Request, round_id: int) -> Response:
        """Give them: by unit (id or ref) its annotations by dimension, or with ``memo``, ``exclude``."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = request.data
        if not isinstance(body, dict) or not all(isinstance(said, dict) for said in body.values()):
            raise InvalidInputError({"": ["Give an object: by unit, its annotations by dimension."]})
        refs = {str(pk): ref for pk, ref in coding_round.round_units.values_list("unit__pk", "unit__ref")}
        answers = {refs.get(unit, unit): said for unit, said in body.items()}
        given = training.set_reference(coding_round=coding_round, answers=answers, by=lead)
        return Response(round_data(given, lead))

    @extend_schema(responses=RoundOutput)
    def delete(self, request: Request, round_id: int) -> Response:
        """Take all back, so that they are given anew under the newest codebook version."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        taken = training.take_back_reference(coding_round=coding_round, by=lead)
        return Response(round_data(taken, lead))


class RoundFeedback(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """The caller's answers beside the known ones, and how many match in each dimension.

        After the close a lead also gets the matches of every coder.
        """
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        _refuse_other_kinds(coding_round)
        own = own_feedback(coding_round, member)
        data = {"units": [_unit(each) for each in own], "matches": _matches(coding_round, own)}
        if member.is_lead and coding_round.is_unblinded:
            mark_read(coding_round, member)
            data["coders"] = _coders(coding_round, member)
        return Response(data)


def _unit(feedback: UnitFeedback) -> dict[str, Any]:
    return {
        "unit": {"id": feedback.assignment.round_unit.unit_id, "ref": feedback.ref},
        "mine": _given(feedback.mine),
        "known": _given(feedback.known),
        "why": feedback.why,
        "matches": {each.key: each.matches for each in feedback.compared},
    }


def _given(given: GivenUnit) -> dict[str, Any]:
    return {"annotations": given.data["annotations"], "exclude": given.data["exclude"]}


def _matches(coding_round: Round, units: Sequence[UnitFeedback]) -> list[dict[str, Any]]:
    return [
        {"dimension": each.key, "matched": each.matched, "of": each.of}
        for each in matches_by_dimension(coding_round, units)
    ]


def _coders(coding_round: Round, lead: Membership) -> list[dict[str, Any]]:
    by_coder = feedback_by_coder(coding_round, lead)
    members = coding_round.study.memberships.filter(pk__in=by_coder).select_related("user").order_by("number")
    return [
        {
            "id": each.pk,
            "name": each.name,
            "units": len(by_coder[each.pk]),
            "matches": _matches(coding_round, by_coder[each.pk]),
        }
        for each in members
    ]


urlpatterns: list[URLPattern] = [
    path("rounds/<int:round_id>/reference/", RoundReference.as_view(), name="round-reference"),
    path("rounds/<int:round_id>/feedback/", RoundFeedback.as_view(), name="round-feedback"),
]
