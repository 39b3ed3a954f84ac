"""Studies, their record, and the jobs that work for them."""

from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.studies import Confirm, EventOutput, StudyInput, StudyOutput, StudyPatch
from labeling.models import ExportJob, Job, Membership, Role, Study
from labeling.selectors.studies import (
    own_memberships,
    study_progress,
    visible_events,
    with_shown_names,
)
from labeling.services import studies


def study_data(study: Study, member: Membership, *, with_progress: bool = True) -> dict[str, object]:
    data = dict(StudyOutput(study).data) | {"role": member.role}
    return data | {"progress": study_progress(study)} if with_progress else data


class StudyList(ApiView):
    @extend_schema(responses=StudyOutput(many=True))
    def get(self, request: Request) -> Response:
        return self.paged(
            own_memberships(self.user),
            ordering="-study_id",
            into=lambda page: [study_data(member.study, member, with_progress=False) for member in page],
        )

    @extend_schema(request=StudyInput, responses={201: StudyOutput})
    def post(self, request: Request) -> Response:
        body = self.read(StudyInput)
        # The draft of a codebook and the rules of a corpus are its leads' desk.
        source = body.get("copy_of")
        copied = get_study_or_404(self.user, source, role=Role.LEAD)[0] if source else None
        study = studies.create_study(
            title=body["title"],
            slug=body.get("slug") or None,
            by=self.user,
            template=body.get("template") or None,
            codebook=body.get("codebook"),
            copy_of=copied,
        )
        member = study.memberships.get(user=self.user)
        return Response(
            study_data(study, member), status=201, headers={"Location": f"/api/v1/studies/{study.slug}/"}
        )


class StudyDetail(ApiView):
    @extend_schema(responses=StudyOutput)
    def get(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug)
        return Response(study_data(study, member))

    @extend_schema(request=StudyPatch, responses=StudyOutput)
    def patch(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug, role=Role.LEAD)
        return Response(
            study_data(studies.update_study(study=study, by=member, **self.read(StudyPatch)), member)
        )

    @extend_schema(request=Confirm, responses={202: StudyOutput})
    def delete(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug, role=Role.LEAD)
        deleted = studies.delete_study(study=study, confirm=self.read(Confirm)["confirm"], by=member)
        return Response(study_data(deleted, member, with_progress=False), status=202)


class StudyRestore(ApiView):
    @extend_schema(request=None, responses=StudyOutput)
    def post(self, request: Request, slug: str) -> Response:
        study = Study.objects.filter(slug=slug, deleted_by=self.user, deleted_at__isnull=False).first()
        if study is None:
            raise Http404("You have deleted no study of this name.")
        restored = studies.restore_study(study=study, by=self.user)
        return Response(study_data(restored, restored.memberships.get(user=self.user)))


class EventList(ApiView):
    @extend_schema(responses=EventOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        _, member = get_study_or_404(self.user, slug)
        return self.paged(
            visible_events(member),
            ordering="-id",
            into=lambda page: EventOutput(with_shown_names(page, member), many=True).data,
        )


class JobDetail(ApiView):
    @extend_schema(responses={200: dict})
    def get(self, request: Request, job_id: str) -> Response:
        """A job by its id; exports have an id that begins with ``export-``."""
        model = ExportJob if job_id.startswith("export-") else Job
        number = job_id.removeprefix("export-")
        job = (
            model._default_manager.filter(pk=number).select_related("study").first()
            if number.isascii() and number.isdecimal() and len(number) < 19
            else None
        )
        if job is None or job.study is None:
            raise Http404("There is no such job.")
        _, member = get_study_or_404(self.user, job.study.slug)
        if job.by_id != member.pk and not member.is_lead:
            raise Http404("There is no such job.")
        return Response(job_data(job))


def job_data(job: Job | ExportJob) -> dict[str, object]:
    data: dict[str, object] = {
        "id": str(job.pk),
        "kind": job.kind,
        "state": job.state,
        "progress": job.progress,
        "error": job.error,
        "result_url": None,
    }
    if isinstance(job, ExportJob):
        data["id"] = f"export-{job.pk}"
        if job.file:
            data["result_url"] = f"/api/v1/studies/{job.study.slug}/exports/jobs/{job.pk}/"
    return data


urlpatterns: list[URLPattern] = [
    path("studies/", StudyList.as_view(), name="study-list"),
    path("studies/<slug:slug>/", StudyDetail.as_view(), name="study-detail"),
    path("studies/<slug:slug>/restore/", StudyRestore.as_view(), name="study-restore"),
    path("studies/<slug:slug>/events/", EventList.as_view(), name="event-list"),
    path("jobs/<str:job_id>/", JobDetail.as_view(), name="job-detail"),
]
