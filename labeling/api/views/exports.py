"""Files of a study over the API: streamed, or made by a worker and fetched from its job."""

from typing import Any

from django.http import FileResponse, StreamingHttpResponse
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.base import Input
from labeling.api.views.studies import job_data
from labeling.downloads import export_options, file_response, job_file_response
from labeling.services.export_jobs import ask_for_figures
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


class FiguresInput(Input):
    pseudonyms = serializers.BooleanField(required=False, default=False)


class ExportFigures(ApiView):
    @extend_schema(request=FiguresInput, responses={202: dict})
    def post(self, request: Request, slug: str) -> Response:
        """Have the figures of all closed rounds drawn; the job names the archive once it is made."""
        study, member = get_study_or_404(self.user, slug)
        job = ask_for_figures(study=study, by=member, **self.read(FiguresInput))
        place = {"Location": f"/api/v1/jobs/export-{job.pk}/"}
        return Response(job_data(job), status=202, headers=place)


class ExportJobFile(ApiView):
    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, export_id: int) -> FileResponse:
        """What a worker made; 404 until it is made."""
        _, member = get_study_or_404(self.user, slug)
        return job_file_response(member, export_id)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/exports/figures/", ExportFigures.as_view(), name="export-figures"),
    path("studies/<slug:slug>/exports/jobs/<int:export_id>/", ExportJobFile.as_view(), name="export-job"),
    path("studies/<slug:slug>/exports/<path:name>", ExportFile.as_view(), name="export-file"),
]
