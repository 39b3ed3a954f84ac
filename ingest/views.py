"""Imports: asking for one, watching it, stopping it, running it again."""

from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from ingest import services
from ingest.access import get_import_or_404
from ingest.dry_run import dry_run
from ingest.forms import FileImportForm, GithubImportForm, MappingForm
from ingest.models import ImportRun
from ingest.progress import progress_of
from ingest.rejected import rejected_file
from ingest.repeat import run_again
from ingest.sources.base import SourceError
from ingest.sources.files import Preview, preview
from ingest.sources.files.reading import read_rows
from labeling.access import get_study_or_404
from labeling.errors import CorpusError, InvalidInputError
from labeling.models import Membership, Role, Study
from labeling.services.jobs import worker_alive
from labeling.services.tokens import token_for

RUNS_PER_PAGE = 25
PREVIEWED = 5


def _frame(member: Membership) -> dict[str, Any]:
    return {"study": member.study, "membership": member, "nav": "corpus"}


def import_list(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    runs = study.import_runs.select_related("by__user").order_by("-pk")
    page = Paginator(runs, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    has_worker = worker_alive()
    rows = [progress_of(run, has_worker=has_worker) for run in page]
    context = _frame(lead) | {"page": page, "rows": rows, "stored": study.issues.count()}
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
            messages.success(request, f"{len(runs)} imports were started, one for each repository.")
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
    """Keep a file. A table is shown first, to check its columns; objects name their fields themselves."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = FileImportForm(request.POST, request.FILES)
    if form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            kept = services.keep_upload(upload.file, upload.name)
            has_columns = bool(_preview(kept).header)
        except (InvalidInputError, SourceError) as error:
            form.add_error("file", str(error))
        else:
            if has_columns:
                address = reverse("ingest:import-mapping", args=[study.slug])
                return redirect(f"{address}?{urlencode({'file': _sign(study, kept)})}")
            run = services.start_import(study=study, source=ImportRun.Source.FILE, query=kept, by=lead)
            return redirect("ingest:import-detail", study.slug, run.pk)
    return _create_page(request, lead, GithubImportForm(), form)


def _sign(study: Study, kept: dict[str, Any]) -> str:
    """Name a kept file in an address that nobody can bend to another file or study."""
    return signing.dumps(kept, salt=f"import {study.pk}", compress=True)


def _preview(kept: dict[str, Any]) -> Preview:
    return preview(_path(kept), rows=PREVIEWED)


def _path(kept: dict[str, Any]) -> Path:
    return services.path_of(ImportRun(query=kept))


def import_mapping(request: CoderRequest, slug: str) -> HttpResponse:
    """Check which column of an uploaded table becomes what, then import it."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    try:
        kept = signing.loads(request.GET.get("file", ""), salt=f"import {study.pk}", max_age=24 * 3600)
        seen = _preview(kept)
    except (signing.BadSignature, SourceError, FileNotFoundError):
        raise Http404("This upload is no longer here. Choose the file again.") from None
    form = MappingForm(request.POST or None, header=seen.header, guessed=seen.mapping)
    tried = None
    if form.is_valid() and "try" in request.POST:
        tried = dry_run(study, _path(kept), form.mapping())
    elif form.is_valid():
        query = kept | {"mapping": form.mapping()}
        run = services.start_import(study=study, source=ImportRun.Source.FILE, query=query, by=lead)
        return redirect("ingest:import-detail", study.slug, run.pk)
    context = _frame(lead) | {
        "form": form,
        "tried": tried,
        "name": kept["name"],
        "columns": list(zip(form, _first_values(kept, seen), strict=True)),
    }
    return render_page(request, "ingest/import_mapping.html", context, status=422 if form.errors else 200)


def _first_values(kept: dict[str, Any], seen: Preview) -> list[str]:
    """The first value of each column that is not empty, among the first rows."""
    rows = [told for _, told in islice(read_rows(_path(kept)), PREVIEWED) if isinstance(told, dict)]
    return [
        next((str(row[column]) for row in rows if str(row.get(column) or "").strip()), "")[:120]
        for column in seen.header
    ]


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
