"""How the study was done, in the paragraphs of a paper."""

from django.http import HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.methods import methods_text
from labeling.models import Role
from labeling.selectors.codebook_impact import closed_rounds
from labeling.selectors.methods import methods_facts
from labeling.services.agreement import mark_read


@require_GET
def methods_detail(request: CoderRequest, slug: str) -> HttpResponse:
    """The text; where nobody has read a round yet, first what reading it means, then it with ``?show=1``."""
    study, member = get_study_or_404(request.user, slug, role=(Role.LEAD, Role.OBSERVER))
    rounds = closed_rounds(study)
    unread = [each for each in rounds if each.first_unblinded_read_at is None]
    is_shown = not unread or request.GET.get("show") == "1"
    text = methods_text(methods_facts(study)) if is_shown else ""
    for coding_round in unread if is_shown else ():
        mark_read(coding_round, member)
    context = {"study": study, "membership": member, "nav": "results", "unread": unread, "text": text}
    return render_page(request, "labeling/methods_detail.html", context)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/methods/", methods_detail, name="methods-detail"),
]
