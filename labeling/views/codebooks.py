"""The codebook: its versions to read; for leads the draft, a page for each dimension and category.

Every change is written through ``save_draft`` with the whole draft, which is checked as a whole.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotator.http import CoderRequest, render_page
from labeling import codebook_edits as edits
from labeling import codebooks as templates
from labeling.access import get_study_or_404
from labeling.codebook_edits import Data
from labeling.errors import CodebookError, InvalidInputError, StudyRuleError
from labeling.forms.codebook_acts import FORMS
from labeling.forms.codebooks import (
    CategoryForm,
    DimensionForm,
    FreezeForm,
    NewCategoryForm,
    NewDimensionForm,
    PlacedForm,
    TemplateForm,
)
from labeling.marks import mark_dimensions
from labeling.models import CategoryMapping, Codebook, Dimension, Membership, Role, Round, Study
from labeling.selectors.codebook_changes import no_version, wanted_version
from labeling.selectors.codebooks import example_links, frozen_concepts, frozen_keys, shown_dimensions
from labeling.services import codebooks
from labeling.services.codebook_acts import last_act
from labeling.unclear import Unclear, unclear_notes
from labeling.views import codebook_acts, codebook_files, codebook_usage

STEPS = {"up": edits.UP, "down": edits.DOWN}


def codebook_detail(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    versions = codebooks.readable_versions(study, member).order_by("-version")
    wanted = request.GET.get("version") or None
    shown = wanted_version(versions, wanted)
    if wanted is not None and shown is None:
        raise Http404(no_version(versions, wanted))
    dimensions = shown_dimensions(shown) if shown else []
    context = _frame(study, member) | {
        "codebook": shown,
        "versions": versions,
        "dimensions": dimensions,
        "links": example_links(dimensions, member),
        "rounds": _rounds_of(shown) if shown else [],
    }
    return render_page(request, "labeling/codebook_detail.html", context)


def _frame(study: Study, member: Membership) -> dict[str, Any]:
    return {"study": study, "membership": member, "nav": "codebook"}


def _rounds_of(codebook: Codebook) -> list[Round]:
    return list(codebook.rounds.filter(discarded_at__isnull=True).exclude(state=Round.State.DRAFT))


# The draft ----------------------------------------------------------------------------------------


def codebook_edit(request: CoderRequest, slug: str) -> HttpResponse:
    """The overview of the draft; a POST adds a dimension."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = NewDimensionForm(request.POST or None)
    if form.is_valid():
        data, new = _draft_data(study), form.dimension()
        edits.add_dimension(data, new)
        if _save(study, lead, data, form, f"dimensions[{len(data['dimensions']) - 1}]"):
            return redirect("labeling:codebook-dimension", slug, new["key"])
    return _overview(request, study, lead, status=422 if form.errors else 200, dimension_form=form)


def _overview(
    request: CoderRequest, study: Study, lead: Membership, status: int = 200, **extra: Any
) -> HttpResponse:
    newest = codebooks.draft_or_current(study)
    context = _frame(study, lead) | {
        "newest": newest,
        "dimensions": shown_dimensions(newest) if newest else [],
        "dimension_form": NewDimensionForm(),
        "template_form": TemplateForm(),
        "templates": templates.available(),
        "freeze_form": FreezeForm(),
        "unclear": _unclear(study),
        "last_act": last_act(study),
        "has_split": CategoryMapping.objects.filter(
            to_codebook__study=study, act=CategoryMapping.Act.SPLIT
        ).exists(),
        **extra,
    }
    partial = "labeling/_codebook_dimensions.html"
    return render_page(request, "labeling/codebook_edit.html", context, partial=partial, status=status)


def _draft_data(study: Study) -> Data:
    newest = codebooks.draft_or_current(study)
    return codebooks.codebook_data(newest) if newest else {"dimensions": []}


def _save(study: Study, lead: Membership, data: Data, form: PlacedForm, place: str) -> bool:
    """Write the draft; what is wrong with it goes to the form, at its fields as far as it is of ``place``."""
    try:
        codebooks.save_draft(study=study, data=data, by=lead)
    except InvalidInputError as error:
        form.add_errors_at(place, error)
    except CodebookError as error:
        form.add_error(None, error.message)
    return not form.errors


def _save_or_say(request: CoderRequest, study: Study, lead: Membership, data: Data) -> bool:
    """Write the draft after a change that has no form; what is wrong with it is said above the next page."""
    try:
        codebooks.save_draft(study=study, data=data, by=lead)
    except InvalidInputError as error:
        for sentence in sorted({each for sentences in error.errors.values() for each in sentences}):
            messages.error(request, sentence)
    except CodebookError as error:
        messages.error(request, error.message)
    else:
        return True
    return False


@require_POST
def codebook_template(request: CoderRequest, slug: str) -> HttpResponse:
    """Add the dimensions of a template to the draft."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = TemplateForm(request.POST)
    if not form.is_valid():
        return _overview(request, study, lead, status=422, template_form=form)
    data = _draft_data(study)
    kept = edits.add_template(data, templates.load(form.cleaned_data["template"]))
    if _save_or_say(request, study, lead, data):
        remark = f" {', '.join(kept)} was there already and stays as it is." if kept else ""
        messages.success(request, f"The template was added.{remark}")
    return redirect("labeling:codebook-edit", slug)


@require_POST
def codebook_freeze(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = FreezeForm(request.POST)
    if not form.is_valid():
        return _overview(request, study, lead, status=422, freeze_form=form)
    try:
        frozen = codebooks.freeze(study=study, by=lead, note=form.cleaned_data["note"])
    except StudyRuleError as error:
        messages.error(request, error.message)
        return redirect("labeling:codebook-edit", slug)
    messages.success(request, f"Version {frozen.version} is frozen. Rounds that open now use it.")
    return redirect("labeling:codebook-detail", slug)


# A dimension --------------------------------------------------------------------------------------


def codebook_dimension(request: CoderRequest, slug: str, key: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    data = _draft_data(study)
    dimension, at = _dimension(data, key)
    form = DimensionForm(
        request.POST or None,
        dimension=dimension,
        earlier=data["dimensions"][:at],
        is_used=key in frozen_keys(study),
    )
    if form.is_valid():
        edits.change_dimension(data, key, form.cleaned_data)
        if _save(study, lead, data, form, f"dimensions[{at}]"):
            messages.success(request, f"{form.cleaned_data['name']} was saved.")
            return redirect("labeling:codebook-dimension", slug, form.cleaned_data["key"])
    return _dimension_page(request, study, lead, key, status=422 if form.errors else 200, form=form)


def _dimension(data: Data, key: str) -> tuple[Data, int]:
    dimension = edits.find_dimension(data, key)
    if dimension is None:
        raise Http404("The draft has no such dimension.")
    return dimension, data["dimensions"].index(dimension)


def _dimension_page(
    request: CoderRequest, study: Study, lead: Membership, key: str, status: int = 200, **extra: Any
) -> HttpResponse:
    stored = _draft_data(study)
    dimension, at = _dimension(stored, key)
    keys = Dimension.objects.filter(codebook__study=study, codebook__version=stored["version"])
    is_used = key in frozen_keys(study)
    context = _frame(study, lead) | {
        "dimension": dimension,
        "mark": mark_dimensions(keys)[key],
        "rows": edits.outline(dimension["categories"]),
        "is_used": is_used,
        "form": DimensionForm(dimension=dimension, earlier=stored["dimensions"][:at], is_used=is_used),
        "category_form": NewCategoryForm(dimension=dimension),
        **extra,
    }
    partial = "labeling/_codebook_categories.html"
    return render_page(request, "labeling/codebook_dimension.html", context, partial=partial, status=status)


@require_POST
def codebook_dimension_move(request: CoderRequest, slug: str) -> HttpResponse:
    """Move the dimension that the pressed button names: ``up`` or ``down``."""

    def move(data: Data, key: str, step: int) -> None:
        _dimension(data, key)
        edits.move_dimension(data, key, step)

    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    return _move(request, study, lead, move, redirect("labeling:codebook-edit", slug))


def _move(
    request: CoderRequest,
    study: Study,
    lead: Membership,
    change: Callable[[Data, str, int], None],
    answer: HttpResponse,
) -> HttpResponse:
    """Make the move and answer; where it cannot be saved, a swapped part would not say why: show the page."""
    direction = next((name for name in STEPS if request.POST.get(name)), None)
    if direction is None:
        raise Http404("Say what to move: up or down.")
    data = _draft_data(study)
    change(data, request.POST[direction], STEPS[direction])
    if not _save_or_say(request, study, lead, data) and request.htmx:
        return HttpResponseClientRefresh()
    return answer


@require_POST
def codebook_dimension_remove(request: CoderRequest, slug: str, key: str) -> HttpResponse:
    """Take a dimension out of the draft; frozen versions keep it."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    data = _draft_data(study)
    dimension, _ = _dimension(data, key)
    edits.remove_dimension(data, key)
    if not _save_or_say(request, study, lead, data):
        return redirect("labeling:codebook-dimension", slug, key)
    messages.success(request, f"{dimension['name']} was removed from the draft.")
    return redirect("labeling:codebook-edit", slug)


# A category ---------------------------------------------------------------------------------------


@require_POST
def codebook_category_add(request: CoderRequest, slug: str, key: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    data = _draft_data(study)
    dimension, at = _dimension(data, key)
    form = NewCategoryForm(request.POST, dimension=dimension)
    if form.is_valid():
        new = form.category()
        edits.add_category(dimension, new)
        place = next(n for n, each in enumerate(dimension["categories"]) if each["concept"] is None)
        if _save(study, lead, data, form, f"dimensions[{at}].categories[{place}]"):
            messages.success(request, f"{new['name']} was added.")
            return redirect("labeling:codebook-dimension", slug, key)
    return _dimension_page(request, study, lead, key, status=422, category_form=form)


def codebook_category(request: CoderRequest, slug: str, key: str, concept: UUID) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    data = _draft_data(study)
    dimension, at = _dimension(data, key)
    category = _category(dimension, concept)
    shown = dict(category)
    is_used = str(concept) in frozen_concepts(study, key)
    form = CategoryForm(request.POST or None, dimension=dimension, category=category, is_used=is_used)
    if form.is_valid():
        edits.change_category(data, dimension, str(concept), form.cleaned_data)
        place = dimension["categories"].index(category)
        if _save(study, lead, data, form, f"dimensions[{at}].categories[{place}]"):
            messages.success(request, f"{category['name']} was saved.")
            return redirect("labeling:codebook-dimension", slug, key)
    context = _frame(study, lead) | {
        "dimension": dimension,
        "category": shown,
        "is_used": is_used,
        "acts": {name: each.title for name, each in FORMS.items()},
        "form": form,
        "unclear": [each for each in _unclear(study) if each.concerns(key, category["code"])],
    }
    status = 422 if form.errors else 200
    return render_page(request, "labeling/codebook_category.html", context, status=status)


def _unclear(study: Study) -> list[Unclear]:
    """What coders noted of definitions while they reconciled."""
    draft = study.codebooks.filter(frozen_at__isnull=True).first()
    return list(unclear_notes(draft.note)) if draft is not None else []


def _category(dimension: Data, concept: UUID) -> Data:
    category = edits.find_category(dimension, str(concept))
    if category is None:
        raise Http404("The draft has no such category.")
    return category


@require_POST
def codebook_category_move(request: CoderRequest, slug: str, key: str) -> HttpResponse:
    """Move the category that the pressed button names among those below the same parent."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)

    def move(data: Data, concept: str, step: int) -> None:
        edits.move_category(_dimension(data, key)[0], concept, step)

    return _move(request, study, lead, move, redirect("labeling:codebook-dimension", slug, key))


@require_POST
def codebook_category_remove(request: CoderRequest, slug: str, key: str, concept: UUID) -> HttpResponse:
    """Remove a category no frozen version has; one that was frozen is archived instead."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    data = _draft_data(study)
    dimension, _ = _dimension(data, key)
    name = _category(dimension, concept)["name"]
    if str(concept) in frozen_concepts(study, key):
        messages.error(request, f"{name} stands in a frozen version. Archive it instead.")
        return redirect("labeling:codebook-category", slug, key, concept)
    edits.remove_category(dimension, str(concept))
    if not _save_or_say(request, study, lead, data):
        return redirect("labeling:codebook-category", slug, key, concept)
    messages.success(request, f"{name} was removed.")
    return redirect("labeling:codebook-dimension", slug, key)


BOOK = "studies/<slug:slug>/codebook/"
DIMENSION = f"{BOOK}edit/<str:key>/"
CATEGORY = f"{DIMENSION}categories/<uuid:concept>/"

urlpatterns: list[URLPattern] = [
    path(BOOK, codebook_detail, name="codebook-detail"),
    path(f"{BOOK}freeze/", codebook_freeze, name="codebook-freeze"),
    path(f"{BOOK}template/", codebook_template, name="codebook-template"),
    path(f"{BOOK}move/", codebook_dimension_move, name="codebook-dimension-move"),
    path(f"{BOOK}edit/", codebook_edit, name="codebook-edit"),
    path(DIMENSION, codebook_dimension, name="codebook-dimension"),
    path(f"{DIMENSION}remove/", codebook_dimension_remove, name="codebook-dimension-remove"),
    path(f"{DIMENSION}categories/", codebook_category_add, name="codebook-category-add"),
    path(f"{DIMENSION}move/", codebook_category_move, name="codebook-category-move"),
    path(CATEGORY, codebook_category, name="codebook-category"),
    path(f"{CATEGORY}remove/", codebook_category_remove, name="codebook-category-remove"),
    *codebook_acts.urlpatterns,
    *codebook_files.urlpatterns,
    *codebook_usage.urlpatterns,
]
