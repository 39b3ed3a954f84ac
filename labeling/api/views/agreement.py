"""Agreement of a closed round over the API."""

from dataclasses import asdict
from typing import Any

from django.core.exceptions import PermissionDenied
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_round_by_id_or_404, get_study_or_404
from labeling.api.base import ApiView
from labeling.errors import InvalidInputError
from labeling.models import AgreementReport, Membership, Round, Study
from labeling.selectors.agreement_sections import comparable_rounds, compared_rounds
from labeling.selectors.reports import group_data, pooled_data, reaches_report, report_data
from labeling.services.agreement import mark_read, pooled_agreement, report_of

SCOPES = [each for each in AgreementReport.Scope.values if each != AgreementReport.Scope.WHOLE]


class Agreement(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """The stored report; ``by`` adds breakdowns, ``count_states`` asks for another way to count.

        ``to_version``: the values in the words of a later version of the codebook, marked as mapped.
        ``against``: the number of another round; the difference of the two, the later less the earlier.
        """
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        if not reaches_report(member, coding_round):
            raise PermissionDenied("Coders read the agreement of rounds in which they coded.")
        count_states = _choice(request, "count_states", Study.CountStates.values)
        scopes = [each for each in request.query_params.get("by", "").split(",") if each]
        if unknown := [each for each in scopes if each not in SCOPES]:
            raise InvalidInputError({"by": [f"There is no breakdown by {unknown[0]}: {', '.join(SCOPES)}."]})
        to_version = _number(request, "to_version")
        report = report_of(coding_round, count_states=count_states, to_version=to_version)
        data = report_data(report, coding_round, member)
        if scopes:
            data["by"] = {
                scope: group_data(
                    report_of(coding_round, scope=scope, count_states=count_states, to_version=to_version),
                    coding_round,
                    member,
                )
                for scope in scopes
            }
        mark_read(coding_round, member)
        against = _number(request, "against")
        if against is not None:
            data["comparison"] = _comparison(coding_round, against, member)
        return Response(data)


def _comparison(coding_round: Round, against: int, member: Membership) -> dict[str, Any]:
    others = {each.number: each for each in comparable_rounds(coding_round, member)}
    if against not in others:
        known = ", ".join(map(str, others)) or "none so far"
        message = f"Name an independently coded round whose agreement was looked at: {known}."
        raise InvalidInputError({"against": [message]})
    before, after = sorted((coding_round, others[against]), key=lambda each: each.number)
    dimensions = []
    for found in compared_rounds(before, after):
        row = asdict(found)
        for old, new in (("first", "before"), ("second", "after")):
            row[new], row[f"n_{new}"] = row.pop(old), row.pop(f"n_{old}")
        dimensions.append(row)
    return {"before": before.number, "after": after.number, "dimensions": dimensions}


class StudyAgreement(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """One figure over several closed main rounds, named by ``rounds=2,3`` or all of them."""
        study, member = get_study_or_404(self.user, slug)
        pooled = pooled_agreement(study, _numbers(request, "rounds"))
        rounds = list(study.rounds.filter(number__in=pooled["rounds"]).select_related("study"))
        if not all(reaches_report(member, each) for each in rounds):
            raise PermissionDenied("Coders read the agreement of rounds in which they coded.")
        for each in rounds:
            mark_read(each, member)
        return Response(pooled_data(pooled, rounds, member))


def _number(request: Request, name: str) -> int | None:
    value = request.query_params.get(name)
    if value is not None and not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise InvalidInputError({name: ["Give a whole number."]})
    return int(value) if value is not None else None


def _numbers(request: Request, name: str) -> list[int] | None:
    parts = [each.strip() for each in request.query_params.get(name, "").split(",") if each.strip()]
    if not all(each.isascii() and each.isdecimal() and len(each) < 10 for each in parts):
        raise InvalidInputError({name: ["Give the numbers of rounds, for example 2,3."]})
    return [int(each) for each in parts] or None


def _choice(request: Request, name: str, choices: list[str]) -> str | None:
    value = request.query_params.get(name)
    if value is not None and value not in choices:
        raise InvalidInputError({name: [f"Choose one of {', '.join(choices)}."]})
    return value


urlpatterns: list[URLPattern] = [
    path("rounds/<int:round_id>/agreement/", Agreement.as_view(), name="agreement"),
    path("studies/<slug:slug>/agreement/", StudyAgreement.as_view(), name="study-agreement"),
]
