"""How the codebook is used: counts of closed rounds, and whether new categories still come up."""

from django.http import Http404, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.selectors.codebook_changes import no_version, wanted_version
from labeling.selectors.codebook_usage import SIZES, usage
from labeling.services.codebooks import readable_versions


@require_GET
def codebook_usage(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    versions, wanted = readable_versions(study, member), request.GET.get("version")
    codebook = wanted_version(versions, wanted)
    if codebook is None:
        raise Http404(no_version(versions, wanted))
    asked = request.GET.get("batch", "")
    size = int(asked) if asked in map(str, SIZES) else SIZES[1]
    context = {
        "study": study,
        "membership": member,
        "nav": "codebook",
        "codebook": codebook,
        "usage": usage(codebook, member, size),
        "sizes": SIZES,
        "size": size,
    }
    return render_page(request, "labeling/codebook_usage.html", context)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/codebook/usage/", codebook_usage, name="codebook-usage"),
]
