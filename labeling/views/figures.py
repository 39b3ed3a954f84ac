"""Figures for print: asked for, drawn by a worker, fetched as an archive."""

from typing import cast

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.downloads import job_file_response
from labeling.errors import RoundStateError
from labeling.models import ExportJob, Role
from labeling.selectors.export_jobs import reachable_jobs
from labeling.services.export_jobs import FIGURES, ask_for_figures
from labeling.services.jobs import worker_alive

RECENT = 5
WAITS = (ExportJob.State.QUEUED, ExportJob.State.RUNNING, ExportJob.State.WAITING)


def export_figures(request: CoderRequest, slug: str) -> HttpResponse:
    """Ask for the figures, and see how far those asked for are."""
    study, member = get_study_or_404(request.user, slug, role=(Role.LEAD, Role.OBSERVER))
    if request.method == "POST":
        try:
            ask_for_figures(study=study, by=member, pseudonyms=bool(request.POST.get("pseudonyms")))
        except RoundStateError as error:
            messages.error(request, str(error))
        return redirect("labeling:export-figures", slug)
    jobs = list(reachable_jobs(member).filter(kind=FIGURES).order_by("-pk")[:RECENT])
    context = {
        "study": study,
        "membership": member,
        "nav": "results",
        "jobs": jobs,
        "is_waiting": any(each.state in WAITS for each in jobs),
        "worker_alive": worker_alive(),
    }
    return render_page(
        request, "labeling/export_figures.html", context, partial="labeling/_export_figures.html"
    )


@require_GET
def export_job(request: CoderRequest, slug: str, export_id: int) -> HttpResponseBase:
    """Fetch what a worker made; 404 until it is made, and for whoever did not ask for it."""
    _, member = get_study_or_404(request.user, slug)
    return cast(HttpResponseBase, job_file_response(member, export_id))


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/exports/figures/", export_figures, name="export-figures"),
    path("studies/<slug:slug>/exports/jobs/<int:export_id>/", export_job, name="export-job"),
]
