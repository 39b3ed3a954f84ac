"""Imports over the API: ask for one, see how it stands, stop it and go on."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ingest import services, uploads
from ingest.access import get_import_or_404, get_upload_or_404
from ingest.models import ImportRun, Upload
from ingest.rejected import rejected_file
from ingest.services import STOPPABLE
from ingest.sources.files import FIELDS, Rejected
from ingest.sources.files import Row as FileRow
from ingest.sources.files.preview import preview
from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.parsers import misfit
from labeling.api.serializers.base import Input
from labeling.errors import CorpusError, InvalidInputError
from labeling.models import Membership, Role, Study


class DaysInput(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        # "from" is a word of Python's own.
        return {name: serializers.DateField(required=False, allow_null=True) for name in ("from", "to")}


class GithubInput(Input):
    source = serializers.ChoiceField(choices=["github"], required=False)  # type: ignore[assignment] # a field of the body
    repositories = serializers.ListField(child=serializers.CharField(), required=False)
    issues = serializers.ListField(child=serializers.CharField(), required=False)
    search = serializers.CharField(required=False, allow_blank=True, max_length=256)
    state = serializers.ChoiceField(choices=["all", "open", "closed"], required=False)
    created = DaysInput(required=False)
    api_base = serializers.CharField(required=False)
    github_labels = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    with_fix = serializers.BooleanField(required=False)
    since = serializers.DateField(required=False, allow_null=True)
    until = serializers.DateField(required=False, allow_null=True)


class MappingInput(Input):
    mapping = serializers.JSONField(
        required=False, help_text="{column: field}, where the header does not say it."
    )

    def validate_mapping(self, told: Any) -> dict[str, str]:
        if said := misfit(told):
            raise serializers.ValidationError(said)
        if not isinstance(told, dict):
            raise serializers.ValidationError("Write the mapping as {column: field}.")
        unknown = sorted({str(field) for field in told.values()} - set(FIELDS))
        if unknown:
            raise serializers.ValidationError(
                f"{unknown[0]} is no field of an issue. Choose one of {', '.join(FIELDS)}."
            )
        return {str(column): field for column, field in told.items()}


class FileInput(MappingInput):
    source = serializers.ChoiceField(choices=["file"], required=False)  # type: ignore[assignment] # as above
    file = serializers.FileField()
    dry_run = serializers.BooleanField(required=False, default=False)


class ImportOutput(serializers.ModelSerializer[ImportRun]):
    status = serializers.CharField(source="state")

    class Meta:
        model = ImportRun
        fields: tuple[str, ...] = (
            "id",
            "source",
            "status",
            "query",
            "fetched",
            "total",
            "added",
            "changed",
            "same",
            "rejected",
            "requests",
            "quota",
            "waiting_until",
            "problems",
            "noted",
            "notes",
            "error",
            "created_at",
            "finished_at",
        )


class StartedOutput(ImportOutput):
    """The first import that was started, and all of them: several repositories have one each."""

    imports = ImportOutput(many=True)

    class Meta(ImportOutput.Meta):
        fields = (*ImportOutput.Meta.fields, "imports")


WOULD_BE = ("rows", "new", "changed", "same", "rejected", "problems", "noted", "notes")


class WouldBeOutput(serializers.ModelSerializer[Upload]):
    class Meta:
        model = Upload
        fields = WOULD_BE


class UploadOutput(serializers.Serializer[Upload]):
    id = serializers.IntegerField()
    status = serializers.CharField(source="state")
    error = serializers.CharField(allow_blank=True)
    format = serializers.CharField()
    written_by = serializers.CharField(help_text="The program whose objects these are; its mapping is fixed.")
    columns = serializers.ListField(child=serializers.CharField())
    mapping = serializers.DictField(child=serializers.CharField())
    fields = serializers.ListField(child=serializers.CharField())  # type: ignore[assignment] # a field of the body
    rows = serializers.ListField(child=serializers.DictField())
    would_be = WouldBeOutput()

    def get_fields(self) -> dict[str, Any]:
        # "import" is a word of Python's own.
        return super().get_fields() | {"import": serializers.IntegerField(allow_null=True)}


class ImportList(ApiView):
    @extend_schema(responses=ImportOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study, _ = get_study_or_404(self.user, slug, role=Role.LEAD)
        rows = study.import_runs.all()
        return self.paged(rows, ordering="-id", into=lambda page: ImportOutput(page, many=True).data)

    @extend_schema(
        request={"application/json": GithubInput, "multipart/form-data": FileInput},
        responses={200: UploadOutput, 202: StartedOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        if "file" in request.FILES:
            return self._import_file(study, lead)
        if isinstance(request.data, dict) and request.data.get("source") == ImportRun.Source.FILE:
            raise InvalidInputError({"file": ["Send the file as multipart/form-data, in the field file."]})
        body = self.read(GithubInput)
        return _accepted(services.start_imports(study=study, query=body, by=lead))

    def _import_file(self, study: Study, lead: Membership) -> Response:
        body = self.read(FileInput)
        file, name, mapping = body["file"].file, body["file"].name, body.get("mapping")
        if body["dry_run"]:
            upload = uploads.take_upload(study=study, file=file, name=name, mapping=mapping, by=lead)
            return _tried(uploads.try_upload(upload=upload))
        kept = services.keep_upload(file, name, mapping=mapping)
        run = services.start_import(study=study, source=ImportRun.Source.FILE, query=kept, by=lead)
        return _accepted([run])


class ImportFile(ApiView):
    """A file that was uploaded to be tried: how it would be read, and what it would bring."""

    @extend_schema(responses={200: UploadOutput, 202: UploadOutput})
    def get(self, request: Request, slug: str, upload_id: int) -> Response:
        upload, _ = get_upload_or_404(self.user, slug, upload_id)
        return _tried(upload)

    @extend_schema(request=MappingInput, responses={200: UploadOutput, 202: UploadOutput})
    def post(self, request: Request, slug: str, upload_id: int) -> Response:
        upload, _ = get_upload_or_404(self.user, slug, upload_id)
        mapping = self.read(MappingInput).get("mapping")
        if upload.run_id is not None:
            raise CorpusError("This file is imported already. Upload it again to try it with other columns.")
        return _tried(uploads.try_upload(upload=upload, mapping=mapping))


class ImportFileStart(ApiView):
    """Import a file that was tried; asked again it answers with the same import."""

    @extend_schema(request=MappingInput, responses={202: StartedOutput})
    def post(self, request: Request, slug: str, upload_id: int) -> Response:
        upload, lead = get_upload_or_404(self.user, slug, upload_id)
        mapping = self.read(MappingInput).get("mapping")
        return _accepted([uploads.import_upload(upload=upload, mapping=mapping, by=lead)])


def _accepted(runs: list[ImportRun]) -> Response:
    first, told = runs[0], ImportOutput(runs, many=True).data
    place = {"Location": f"/api/v1/studies/{first.study.slug}/imports/{first.pk}/"}
    return Response({**told[0], "imports": told}, status=202, headers=place)


def _tried(upload: Upload) -> Response:
    """Answer 202 as long as a worker tries the file."""
    seen = preview(uploads.path_of_upload(upload), upload.query["mapping"] or None)
    body = {
        "id": upload.pk,
        "status": upload.state,
        "import": upload.run_id,
        "format": seen.format,
        "written_by": seen.written_by,
        "columns": seen.header,
        "mapping": seen.mapping,
        "fields": list(FIELDS),
        "rows": [_row(row) for row in seen.rows],
        "would_be": {name: getattr(upload, name) for name in WOULD_BE},
        "error": upload.error,
    }
    place = f"/api/v1/studies/{upload.study.slug}/imports/files/{upload.pk}/"
    return Response(body, status=202 if upload.state in STOPPABLE else 200, headers={"Location": place})


def _row(row: FileRow) -> dict[str, Any]:
    if isinstance(row.told, Rejected):
        return {"row": row.number, "problem": row.told.reason}
    told = asdict(row.told)
    kept = (
        "title",
        "body",
        "repository",
        "number",
        "url",
        "state",
        "opened_at",
        "closed_at",
        "github_labels",
    )
    return {"row": row.number, "key": row.told.key} | {name: told[name] for name in kept}


class ImportDetail(ApiView):
    @extend_schema(responses=ImportOutput)
    def get(self, request: Request, slug: str, import_id: int) -> Response:
        run, _ = get_import_or_404(self.user, slug, import_id)
        return Response(ImportOutput(run).data)


class ImportRejected(ApiView):
    @extend_schema(responses={(200, "text/csv"): bytes})
    def get(self, request: Request, slug: str, import_id: int) -> StreamingHttpResponse:
        run, _ = get_import_or_404(self.user, slug, import_id)
        return rejected_file(run)


class ImportAct(ApiView):
    """Pause, resume or cancel, as the address says."""

    act: Callable[..., ImportRun] | None = None

    @extend_schema(request=None, responses=ImportOutput)
    def post(self, request: Request, slug: str, import_id: int) -> Response:
        run, lead = get_import_or_404(self.user, slug, import_id)
        assert self.act is not None  # noqa: S101 - the addresses name one
        return Response(ImportOutput(self.act(run=run, by=lead)).data)
