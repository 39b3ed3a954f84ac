"""Files of a study over the API, streamed."""

from typing import Any

from django.http import StreamingHttpResponse
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.downloads import export_options, file_response
from labeling.services.exports import stream


class ExportFile(ApiView):
    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Who asks for text/csv shall have it; errors are problem+json all the same.
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        parameters=[
            OpenApiParameter("all_rounds", str, enum=["1"], description="Final answers of every round."),
            OpenApiParameter("spreadsheet", str, enum=["safe"], description="Cells that run nothing."),
            OpenApiParameter("bom", str, enum=["1"], description="Begin with a byte order mark."),
            OpenApiParameter("pseudonyms", str, enum=["1"], description="Coders by pseudonym."),
        ],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str, name: str) -> StreamingHttpResponse:
        """A file of the study, made for the caller: units that are sealed for them are left out."""
        study, member = get_study_or_404(self.user, slug)
        options = export_options(request.query_params.dict())
        return file_response(stream(study=study, name=name, member=member, **options))


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/exports/<path:name>", ExportFile.as_view(), name="export-file"),
]
