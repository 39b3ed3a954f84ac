"""The codebook: read, write the draft, acts on it, freeze, history."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import codebook_acts as acts
from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.codebooks import (
    ActInput,
    FreezeInput,
    MergeInput,
    MoveInput,
    OneCategoryInput,
    RenameInput,
    SplitInput,
    UploadInput,
)
from labeling.codebook_acts import Done
from labeling.codebook_diff import differences
from labeling.codebook_files import FORMATS, LARGEST, read_file
from labeling.codebook_responses import codebook_response
from labeling.errors import InvalidInputError
from labeling.models import Codebook, Membership, Role, Study
from labeling.selectors.codebook_changes import changed_data, no_version, version_changes, wanted_version
from labeling.selectors.codebook_impact import impact_data
from labeling.selectors.codebook_recode import RecodeList, recode_lists
from labeling.selectors.codebook_usage import SIZES, usage, usage_data
from labeling.services import codebook_acts, codebooks

LARGEST_BATCH = 10_000


class CodebookDetail(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """The newest version one may read, for leads the draft; ``?version=`` names one."""
        study, member = get_study_or_404(self.user, slug)
        versions, wanted = codebooks.readable_versions(study, member), request.query_params.get("version")
        found = wanted_version(versions, wanted)
        if found is None:
            raise Http404(no_version(versions, wanted))
        return Response(codebooks.codebook_data(found))

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, slug: str) -> Response:
        """Write the whole draft; ``warnings`` tell of new categories named like another one."""
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = request.data if isinstance(request.data, dict) else {}
        before = codebooks.current_data(study)
        data = codebooks.codebook_data(codebooks.save_draft(study=study, data=body, by=lead))
        return Response(data | {"warnings": acts.new_name_warnings(before, data)})


class CodebookFile(ApiView):
    """A version as a file; each format has its address."""

    file_format = ""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Who asks for text/csv shall have it; errors are problem+json all the same.
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        parameters=[OpenApiParameter("version", int, description="Default: the newest one may read.")],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        study, member = get_study_or_404(self.user, slug)
        versions, wanted = codebooks.readable_versions(study, member), request.query_params.get("version")
        found = wanted_version(versions, wanted)
        if found is None:
            raise Http404(no_version(versions, wanted))
        return codebook_response(found, self.file_format)


class CodebookUpload(ApiView):
    parser_classes = (MultiPartParser,)

    @extend_schema(request=UploadInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Make a YAML, CSV or .qdc file the draft; ``lost`` says what is left out, ``changes`` what is new.

        ``dry_run`` stores nothing.
        """
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        asked = self.read(UploadInput)
        upload = asked["file"]
        draft = codebooks.current_data(study)
        data, lost = read_file(upload.name, upload.read(LARGEST + 1), draft)
        told = {"lost": lost, "changes": [changed_data(each) for each in differences(draft, data)]}
        if asked["dry_run"]:
            return Response(told)
        return Response(codebooks.codebook_data(codebooks.save_draft(study=study, data=data, by=lead)) | told)


class CodebookDiff(ApiView):
    @extend_schema(
        parameters=[OpenApiParameter("from", int), OpenApiParameter("to", int)],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What is new in ``to`` (the newest one may read), compared with ``from`` (the one before it)."""
        study, member = get_study_or_404(self.user, slug)
        versions = codebooks.readable_versions(study, member)
        later = wanted_version(versions, request.query_params.get("to"))
        earlier = later and wanted_version(
            versions.filter(version__lt=later.version), request.query_params.get("from")
        )
        if later is None or earlier is None:
            raise Http404("There are no such two versions, or they are not frozen yet.")
        changes = [changed_data(each) for each in version_changes(earlier, later)]
        return Response({"from": earlier.version, "to": later.version, "changes": changes})


class CodebookFreeze(ApiView):
    @extend_schema(request=FreezeInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the draft; ``dry_run`` says what it means for the answers of closed rounds."""
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(FreezeInput)
        if body["dry_run"]:
            return Response(impact_data(codebook_acts.preview_freeze(study=study, by=lead)))
        frozen = codebooks.freeze(study=study, by=lead, note=body.get("note", ""))
        return Response(codebooks.codebook_data(frozen))


class CodebookAct(ApiView):
    """An act on the draft: ``dry_run`` answers with its impact, else the answer is the draft."""

    def act(self, slug: str, body: type[ActInput], change: Callable[..., Done]) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        asked = self.read(body)
        dry_run = asked.pop("dry_run")
        act = partial(change, **asked)
        if dry_run:
            done, impact = codebook_acts.preview(study=study, act=act, by=lead)
            return Response(_done_data(done) | impact_data(impact))
        draft, done = codebook_acts.perform(study=study, act=act, by=lead)
        return Response(codebooks.codebook_data(draft) | _done_data(done))


def _done_data(done: Done) -> dict[str, Any]:
    return {"act": done.act, "summary": done.summary, "warnings": list(done.warnings)}


class CodebookRename(CodebookAct):
    @extend_schema(request=RenameInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Give a category another name or code; its concept stays."""
        return self.act(slug, RenameInput, acts.rename)


class CodebookMove(CodebookAct):
    @extend_schema(request=MoveInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Put a category below another one, or at the top."""
        return self.act(slug, MoveInput, acts.move)


class CodebookMerge(CodebookAct):
    @extend_schema(request=MergeInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Let answers with some categories count as another one."""
        return self.act(slug, MergeInput, acts.merge)


class CodebookSplit(CodebookAct):
    @extend_schema(request=SplitInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Replace a category by new ones; ``codebook/recode/`` lists what has to be coded again."""
        return self.act(slug, SplitInput, acts.split)


class CodebookArchive(CodebookAct):
    @extend_schema(request=OneCategoryInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Offer a category and what stands below it no more."""
        return self.act(slug, OneCategoryInput, acts.archive)


class CodebookUndo(ApiView):
    @extend_schema(request=ActInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str) -> Response:
        """Put back what was there before the newest change of the draft."""
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        if self.read(ActInput)["dry_run"]:
            act = codebook_acts.last_act(study)
            return Response({"act": act.act if act else None, "summary": act.summary if act else ""})
        codebook, undone = codebook_acts.undo(study=study, by=lead)
        data = codebooks.codebook_data(codebook) if codebook is not None else {"dimensions": []}
        return Response(data | {"act": undone.act, "summary": undone.summary})


class CodebookRecode(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Units that were given a category split since, by round, with the coders concerned."""
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        return Response({"rounds": [_recode_data(each) for each in _recode(study, lead)]})


def _recode(study: Study, lead: Membership) -> list[RecodeList]:
    newest = codebooks.draft_or_current(study)
    return recode_lists(newest, lead) if newest is not None else []


def _recode_data(found: RecodeList) -> dict[str, Any]:
    return {
        "round": found.round.number,
        "dimensions": list(found.dimensions),
        "units": [
            {"id": unit.id, "ref": unit.ref, "coders": [coder.name for coder in unit.coders]}
            for unit in found.units
        ],
        "hidden": found.hidden,
    }


class CodebookUsage(ApiView):
    @extend_schema(
        parameters=[
            OpenApiParameter("version", int, description="In whose words; default: the newest one may read."),
            OpenApiParameter("batch", int, description="Units in a batch, 10 unless given."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Answers by category and closed round, and the new categories of each batch of units.

        Rounds that nobody has looked at stand in ``unread``; nothing is told of them.
        """
        study, member = get_study_or_404(self.user, slug)
        versions, wanted = codebooks.readable_versions(study, member), request.query_params.get("version")
        found = wanted_version(versions, wanted)
        if found is None:
            raise Http404(no_version(versions, wanted))
        asked = request.query_params.get("batch", str(SIZES[1]))
        if not asked.isdecimal() or len(asked) > 9 or not 1 <= int(asked) <= LARGEST_BATCH:
            raise InvalidInputError({"batch": [f"Give a number of units from 1 to {LARGEST_BATCH:,}."]})
        return Response(usage_data(found, usage(found, member, int(asked)), int(asked)))


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
    *(
        path(
            f"studies/<slug:slug>/codebook.{name}",
            CodebookFile.as_view(file_format=name),
            name=f"codebook-{name}",
        )
        for name in FORMATS
    ),
    path("studies/<slug:slug>/codebook/upload/", CodebookUpload.as_view(), name="codebook-upload"),
    path("studies/<slug:slug>/codebook/diff/", CodebookDiff.as_view(), name="codebook-diff"),
    path("studies/<slug:slug>/codebook/rename/", CodebookRename.as_view(), name="codebook-rename"),
    path("studies/<slug:slug>/codebook/move/", CodebookMove.as_view(), name="codebook-move"),
    path("studies/<slug:slug>/codebook/merge/", CodebookMerge.as_view(), name="codebook-merge"),
    path("studies/<slug:slug>/codebook/split/", CodebookSplit.as_view(), name="codebook-split"),
    path("studies/<slug:slug>/codebook/archive/", CodebookArchive.as_view(), name="codebook-archive"),
    path("studies/<slug:slug>/codebook/undo/", CodebookUndo.as_view(), name="codebook-undo"),
    path("studies/<slug:slug>/codebook/recode/", CodebookRecode.as_view(), name="codebook-recode"),
    path("studies/<slug:slug>/codebook/usage/", CodebookUsage.as_view(), name="codebook-usage"),
    path("studies/<slug:slug>/codebook/versions/", CodebookVersions.as_view(), name="codebook-versions"),
]
