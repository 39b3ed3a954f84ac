"""Files of the codebook: every format as a download; for leads an upload, shown before it is stored."""

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404, refuse_other_roles
from labeling.codebook_diff import differences
from labeling.codebook_files import FORMATS, LARGEST, read_file
from labeling.codebook_responses import codebook_response
from labeling.errors import CodebookError, InvalidInputError
from labeling.forms.codebooks import UploadForm
from labeling.models import Codebook, Membership, Role, Study
from labeling.selectors.codebook_changes import no_version, version_changes, wanted_version
from labeling.services import codebooks


def codebook_files(request: CoderRequest, slug: str) -> HttpResponse:
    """The downloads; a POST shows what a file would change, and with ``confirm`` makes it the draft."""
    study, member = get_study_or_404(request.user, slug)
    if request.method != "POST":
        return _page(request, study, member)
    refuse_other_roles(member, Role.LEAD)
    if "confirm" in request.POST:
        return _store(request, study, member)
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        upload, draft = form.cleaned_data["file"], codebooks.current_data(study)
        try:
            data, lost = read_file(upload.name, upload.read(LARGEST + 1), draft)
        except InvalidInputError as error:
            form.add_error("file", list(error.errors["file"]))
        else:
            tried = {"name": upload.name, "lost": lost, "changes": differences(draft, data)}
            return _page(request, study, member, tried=tried | {"data": json.dumps(data)})
    return _page(request, study, member, form=form, status=422)


def _page(
    request: CoderRequest, study: Study, member: Membership, status: int = 200, **extra: Any
) -> HttpResponse:
    found = _version(request, study, member)
    files = [
        (each, reverse(f"labeling:codebook-file-{each.name}", args=[study.slug])) for each in FORMATS.values()
    ]
    context = {
        "study": study,
        "membership": member,
        "nav": "codebook",
        "codebook": found,
        "files": files,
        "form": UploadForm(),
        **extra,
    }
    return render_page(request, "labeling/codebook_files.html", context, status=status)


def _store(request: CoderRequest, study: Study, lead: Membership) -> HttpResponse:
    try:
        data: Any = json.loads(request.POST.get("data", ""))
        codebooks.save_draft(study=study, data=data if isinstance(data, dict) else {}, by=lead)
    except (ValueError, InvalidInputError, CodebookError) as error:
        messages.error(request, f"The file was not stored. {error}")
        return redirect("labeling:codebook-files", study.slug)
    messages.success(request, "The file is the draft now. The last change can be undone.")
    return redirect("labeling:codebook-edit", study.slug)


def _version(request: CoderRequest, study: Study, member: Membership) -> Codebook | None:
    versions, wanted = codebooks.readable_versions(study, member), request.GET.get("version")
    found = wanted_version(versions, wanted)
    if found is None and wanted is not None:
        raise Http404(no_version(versions, wanted))
    return found


@require_GET
def codebook_file(request: CoderRequest, slug: str, file_format: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    found = _version(request, study, member)
    if found is None:
        raise Http404("There is no codebook yet, or none that is frozen.")
    try:
        return codebook_response(found, file_format)
    except InvalidInputError as error:
        messages.error(request, str(error))
        return redirect("labeling:codebook-files", slug)


def codebook_changes(request: CoderRequest, slug: str) -> HttpResponse:
    """What is new in one version, compared with an earlier one."""
    study, member = get_study_or_404(request.user, slug)
    versions = codebooks.readable_versions(study, member)
    later = wanted_version(versions, request.GET.get("to"))
    earlier = later and wanted_version(versions.filter(version__lt=later.version), request.GET.get("from"))
    if later is None or earlier is None:
        raise Http404("There are no two versions to compare yet, or one of them is not frozen.")
    context = {
        "study": study,
        "membership": member,
        "nav": "codebook",
        "earlier": earlier,
        "later": later,
        "versions": versions.order_by("version"),
        "changes": version_changes(earlier, later),
    }
    return render_page(request, "labeling/codebook_changes.html", context)


BOOK = "studies/<slug:slug>/codebook/"

urlpatterns: list[URLPattern] = [
    path(f"{BOOK}files/", codebook_files, name="codebook-files"),
    path(f"{BOOK}changes/", codebook_changes, name="codebook-changes"),
    *(
        path(
            f"{BOOK}files/codebook.{each}", codebook_file, {"file_format": each}, name=f"codebook-file-{each}"
        )
        for each in FORMATS
    ),
]
