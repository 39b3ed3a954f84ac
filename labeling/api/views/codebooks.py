"""The codebook: read, write the draft, acts on it, freeze, history."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
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
)
from labeling.codebook_acts import Done
from labeling.models import Codebook, Membership, Role, Study
from labeling.selectors.codebook_impact import impact_data
from labeling.selectors.codebook_recode import RecodeList, recode_lists
from labeling.services import codebook_acts, codebooks


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
    path("studies/<slug:slug>/codebook/rename/", CodebookRename.as_view(), name="codebook-rename"),
    path("studies/<slug:slug>/codebook/move/", CodebookMove.as_view(), name="codebook-move"),
    path("studies/<slug:slug>/codebook/merge/", CodebookMerge.as_view(), name="codebook-merge"),
    path("studies/<slug:slug>/codebook/split/", CodebookSplit.as_view(), name="codebook-split"),
    path("studies/<slug:slug>/codebook/archive/", CodebookArchive.as_view(), name="codebook-archive"),
    path("studies/<slug:slug>/codebook/undo/", CodebookUndo.as_view(), name="codebook-undo"),
    path("studies/<slug:slug>/codebook/recode/", CodebookRecode.as_view(), name="codebook-recode"),
    path("studies/<slug:slug>/codebook/versions/", CodebookVersions.as_view(), name="codebook-versions"),
]
