"""Acts on one category of the draft: a page each, which shows what it would do before it is done."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from labeling import codebook_edits as edits
from labeling.access import get_study_or_404
from labeling.codebook_acts import Done
from labeling.errors import CodebookError, InvalidInputError, StudyRuleError
from labeling.forms.codebook_acts import FORMS, ActForm
from labeling.models import Codebook, Membership, Role, Round, Study
from labeling.selectors.codebook_impact import Impact, closed_rounds
from labeling.selectors.codebook_recode import RecodeList, recode_lists
from labeling.services import codebook_acts, codebooks
from labeling.services.rounds import create_round


def codebook_act(request: CoderRequest, slug: str, key: str, concept: str, act: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    newest = codebooks.draft_or_current(study)
    data = codebooks.codebook_data(newest) if newest is not None else {"dimensions": []}
    dimension = edits.find_dimension(data, key)
    category = edits.find_category(dimension, str(concept)) if dimension is not None else None
    if dimension is None or category is None:
        raise Http404("The draft has no such category.")
    given = request.POST if request.method == "POST" else None
    form = FORMS[act](given, dimension=dimension, category=category)
    tried: tuple[Done, Impact] | None = None
    if form.is_valid():
        try:
            if "confirm" in request.POST:
                return _done(request, study, lead, form)
            tried = codebook_acts.preview(study=study, act=form.act(), by=lead)
        except InvalidInputError as error:
            form.refuse(error)
        except CodebookError as error:
            form.add_error(None, error.message)
    context = {
        "study": study,
        "membership": lead,
        "nav": "codebook",
        "dimension": dimension,
        "category": category,
        "form": form,
        # The same answers again, hidden: an id belongs to the field one sees.
        "confirming": FORMS[act](given, dimension=dimension, category=category, auto_id=False),
        "done": tried[0] if tried else None,
        "impact": tried[1] if tried else None,
        "unread": [each for each in closed_rounds(study) if each.first_unblinded_read_at is None],
    }
    return render_page(request, "labeling/codebook_act.html", context, status=422 if form.errors else 200)


def _done(request: CoderRequest, study: Study, lead: Membership, form: ActForm) -> HttpResponse:
    _, done = codebook_acts.perform(study=study, act=form.act(), by=lead)
    messages.success(request, done.summary)
    if done.act == "split":
        return redirect("labeling:codebook-recode", study.slug)
    return redirect("labeling:codebook-dimension", study.slug, done.dimension)


@require_POST
def codebook_undo(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    try:
        _, act = codebook_acts.undo(study=study, by=lead)
    except CodebookError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Undone: {act.summary}")
    return redirect("labeling:codebook-edit", slug)


def codebook_recode(request: CoderRequest, slug: str) -> HttpResponse:
    """Units to code again after a split; a POST plans the round that asks for those of one round."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    newest = codebooks.draft_or_current(study)
    lists = recode_lists(newest, lead) if newest is not None else []
    if request.method == "POST":
        wanted = request.POST.get("round", "")
        found = next((each for each in lists if str(each.round.number) == wanted and each.units), None)
        if found is None or newest is None:
            raise Http404("Nothing of this round has to be coded again.")
        try:
            planned = _plan(study, lead, newest, found)
        except (InvalidInputError, StudyRuleError) as error:
            messages.error(request, str(error))
            return redirect("labeling:codebook-recode", slug)
        messages.success(request, f"{planned} is planned. Look it over, then open it.")
        return redirect(planned.get_absolute_url())
    context = {"study": study, "membership": lead, "nav": "codebook", "lists": lists, "newest": newest}
    return render_page(request, "labeling/codebook_recode.html", context)


def _plan(study: Study, lead: Membership, newest: Codebook, found: RecodeList) -> Round:
    """Ask the coders concerned, in the way the first round did, what the split left open."""
    coders = [each for each in found.coders if each.kind != Membership.Kind.REFERENCE and not each.left_at]
    ids = {unit.id for unit in found.units}
    per_unit = max(1, min(found.round.coders_per_unit, len(coders)))
    return create_round(
        study=study,
        by=lead,
        kind=Round.Kind.RECODE,
        based_on=found.round,
        units=list(study.units.filter(pk__in=ids)),
        coders=coders,
        coders_per_unit=per_unit,
        dimensions=_with_conditions(newest, set(found.dimensions)),
        masked_fields=found.round.masked_fields,
        decide=found.round.decide,
        rationale_required=found.round.rationale_required,
    )


def _with_conditions(codebook: Codebook, keys: set[str]) -> list[str]:
    """The dimensions, and those whose answers decide whether they are asked."""
    wanted = set(keys)
    for dimension in reversed(codebook.dimensions.all()):
        if dimension.key in wanted and dimension.asked_if:
            wanted.add(dimension.asked_if["dimension"])
    return [each.key for each in codebook.dimensions.all() if each.key in wanted]


BOOK = "studies/<slug:slug>/codebook/"
CATEGORY = f"{BOOK}edit/<str:key>/categories/<uuid:concept>/"

urlpatterns: list[URLPattern] = [
    path(f"{BOOK}undo/", codebook_undo, name="codebook-undo"),
    path(f"{BOOK}recode/", codebook_recode, name="codebook-recode"),
    *(path(f"{CATEGORY}{act}/", codebook_act, {"act": act}, name=f"codebook-act-{act}") for act in FORMS),
]
