"""The codebook: read, write the draft, freeze, history."""

from django.db.models import QuerySet
from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.base import Input
from labeling.models import Codebook, Role
from labeling.services import codebooks


class FreezeInput(Input):
    note = serializers.CharField(required=False, allow_blank=True, max_length=2000)


class CodebookDetail(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """The newest version one may read, for leads the draft; ``?version=`` names one."""
        study, member = get_study_or_404(self.user, slug)
        found = self._wanted(codebooks.readable_versions(study, member))
        if found is None:
            raise Http404("There is no codebook yet, or none that is frozen.")
        return Response(codebooks.codebook_data(found))

    def _wanted(self, versions: QuerySet[Codebook]) -> Codebook | None:
        number = self.request.query_params.get("version")
        if number is None:
            return versions.order_by("-version").first()
        return versions.filter(version=number).first() if number.isdigit() else None

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = request.data if isinstance(request.data, dict) else {}
        return Response(codebooks.codebook_data(codebooks.save_draft(study=study, data=body, by=lead)))


class CodebookFreeze(ApiView):
    @extend_schema(request=FreezeInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        frozen = codebooks.freeze(study=study, by=lead, note=self.read(FreezeInput).get("note", ""))
        return Response(codebooks.codebook_data(frozen))


class CodebookVersions(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug)
        rows = codebooks.readable_versions(study, member)
        return self.paged(rows, ordering="version", into=lambda page: [_version_data(each) for each in page])


def _version_data(codebook: Codebook) -> dict[str, object]:
    return {"version": codebook.version, "frozen_at": codebook.frozen_at, "note": codebook.note}


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/codebook/", CodebookDetail.as_view(), name="codebook-detail"),
    path("studies/<slug:slug>/codebook/freeze/", CodebookFreeze.as_view(), name="codebook-freeze"),
    path("studies/<slug:slug>/codebook/versions/", CodebookVersions.as_view(), name="codebook-versions"),
]
