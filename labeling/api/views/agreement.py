"""Agreement of a closed round over the API."""


from django.core.exceptions import PermissionDenied
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_round_by_id_or_404
from labeling.api.base import ApiView
from labeling.errors import InvalidInputError
from labeling.models import AgreementReport, Study
from labeling.selectors.reports import group_data, reaches_report, report_data
from labeling.services.agreement import mark_read, report_of

SCOPES = [each for each in AgreementReport.Scope.values if each != AgreementReport.Scope.WHOLE]


class Agreement(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """The stored report; ``by`` adds breakdowns, ``count_states`` asks for another way to count."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        if not reaches_report(member, coding_round):
            raise PermissionDenied("Coders read the agreement of rounds in which they coded.")
        count_states = _choice(request, "count_states", Study.CountStates.values)
        scopes = [each for each in request.query_params.get("by", "").split(",") if each]
        if unknown := [each for each in scopes if each not in SCOPES]:
            raise InvalidInputError({"by": [f"There is no breakdown by {unknown[0]}: {', '.join(SCOPES)}."]})
        data = report_data(report_of(coding_round, count_states=count_states), coding_round, member)
        if scopes:
            data["by"] = {
                scope: group_data(
                    report_of(coding_round, scope=scope, count_states=count_states), coding_round, member
                )
                for scope in scopes
            }
        mark_read(coding_round, member)
        return Response(data)


def _choice(request: Request, name: str, choices: list[str]) -> str | None:
    value = request.query_params.get(name)
    if value is not None and value not in choices:
        raise InvalidInputError({name: [f"Choose one of {', '.join(choices)}."]})
    return value


urlpatterns: list[URLPattern] = [
    path("rounds/<int:round_id>/agreement/", Agreement.as_view(), name="agreement"),
]
