"""Imports: asking for one, watching it, stopping it, running it again."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from ingest import services, uploads
from ingest.access import GONE, get_import_or_404, kept_upload
from ingest.forms import FileImportForm, GithubImportForm, MappingForm
from ingest.progress import progress_of, tried_of
from ingest.rejected import rejected_file
from ingest.repeat import run_again
from ingest.sources.files.preview import preview
from labeling.access import get_study_or_404
from labeling.errors import CorpusError, InvalidInputError
from labeling.models import Membership, Role
from labeling.services.jobs import worker_alive
from labeling.services.tokens import token_for

RUNS_PER_PAGE = 25


def _frame(member: Membership) -> dict[str, Any]:
    return {"study": member.study, "membership": member, "nav": "corpus"}


def import_list(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    runs = study.import_runs.select_related("by__user").order_by("-pk")
    page = Paginator(runs, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    has_worker = worker_alive()
    rows = [progress_of(run, has_worker=has_worker) for run in page]
    context = _frame(lead) | {
        "page": page,
        "rows": rows,
        "stored": study.issues.count(),
        "uploads": study.uploads.filter(run=None).order_by("-pk")[:RUNS_PER_PAGE],
    }
    return render_page(request, "ingest/import_list.html", context)


def import_create(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = GithubImportForm(request.POST or None)
    if form.is_valid():
        try:
            runs = services.start_imports(study=study, query=form.query(), by=lead)
        except InvalidInputError as error:
            form.show_errors(error.errors)
        else:
            if len(runs) == 1:
                return redirect("ingest:import-detail", study.slug, runs[0].pk)
            messages.success(request, f"{len(runs)} imports are under way, one for each repository.")
            return redirect("ingest:import-list", study.slug)
    return _create_page(request, lead, form, FileImportForm())


def _create_page(
    request: CoderRequest, lead: Membership, form: GithubImportForm, file_form: FileImportForm
) -> HttpResponse:
    base = settings.GITHUB_API_URLS[0]
    context = _frame(lead) | {
        "form": form,
        "file_form": file_form,
        "has_token": token_for(request.user, base) is not None,
    }
    status = 422 if form.errors or file_form.errors else 200
    return render_page(request, "ingest/import_create.html", context, status=status)


@require_POST
def import_upload(request: CoderRequest, slug: str) -> HttpResponse:
    """Keep a file, to be looked at before it is imported."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = FileImportForm(request.POST, request.FILES)
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            upload = uploads.take_upload(study=study, file=file.file, name=file.name, by=lead)
        except InvalidInputError as error:
            form.add_error("file", str(error))
        else:
            return redirect("ingest:import-file", study.slug, upload.pk)
    return _create_page(request, lead, GithubImportForm(), form)


def import_file(request: CoderRequest, slug: str, upload_id: int) -> HttpResponse:
    """Check what the columns of a file become and what it would bring, then import it."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    upload = kept_upload(study, upload_id)
    if upload is None:
        messages.error(request, GONE)
        return redirect("ingest:import-create", slug)
    if upload.run_id is not None:
        messages.info(request, f"{upload} is imported already. Upload it again to import it anew.")
        return redirect("ingest:import-detail", slug, upload.run_id)
    seen = preview(uploads.path_of_upload(upload), upload.query["mapping"] or None)
    form = MappingForm(request.POST or None, seen=seen)
    if form.is_valid():
        if "try" in request.POST:
            uploads.try_upload(upload=upload, mapping=form.mapping())
            return redirect("ingest:import-file", slug, upload.pk)
        run = uploads.import_upload(upload=upload, mapping=form.mapping(), by=lead)
        return redirect("ingest:import-detail", slug, run.pk)
    context = _frame(lead) | {
        "form": form,
        "upload": upload,
        "tried": tried_of(upload, seen),
        "seen": seen,
        "columns": list(zip(form, seen.first_values, strict=True)),
    }
    status = 422 if form.errors else 200
    return render_page(
        request, "ingest/import_file.html", context, partial="ingest/_tried.html", status=status
    )


def import_detail(request: CoderRequest, slug: str, import_id: int) -> HttpResponse:
    run, lead = get_import_or_404(request.user, slug, import_id)
    context = _frame(lead) | {"progress": progress_of(run)}
    return render_page(request, "ingest/import_detail.html", context, partial="ingest/_import.html")


def import_rejected(request: CoderRequest, slug: str, import_id: int) -> StreamingHttpResponse:
    """The rows that brought no issue, as a file to put right."""
    run, _ = get_import_or_404(request.user, slug, import_id)
    return rejected_file(run)


@require_POST
def import_pause(request: CoderRequest, slug: str, import_id: int) -> HttpResponse:
    return _act(request, slug, import_id, services.pause)


@require_POST
def import_resume(request: CoderRequest, slug: str, import_id: int) -> HttpResponse:
    return _act(request, slug, import_id, services.resume)


@require_POST
def import_cancel(request: CoderRequest, slug: str, import_id: int) -> HttpResponse:
    return _act(request, slug, import_id, services.cancel)


@require_POST
def import_retry(request: CoderRequest, slug: str, import_id: int) -> HttpResponse:
    """Run again: a stopped import goes on, a finished one is followed by one that fetches what changed."""
    return _act(request, slug, import_id, run_again)


def _act(request: CoderRequest, slug: str, import_id: int, act: Any) -> HttpResponse:
    run, lead = get_import_or_404(request.user, slug, import_id)
    try:
        run = act(run=run, by=lead)
    except CorpusError as error:
        messages.error(request, error.message)
    return redirect("ingest:import-detail", slug, run.pk)
