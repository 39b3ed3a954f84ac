"""Samples: how many issues, the draw, and what became of it."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import BaseForm
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET, require_POST

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.errors import InvalidInputError, SampleError
from labeling.forms.samples import ReplaceForm, SampleForm, TopUpForm
from labeling.models import Membership, Role, Sample, Study
from labeling.selectors.samples import eligible_strata, listed_units, preparing_job, samples_of, size_plan
from labeling.services import samples
from labeling.services.fetching import prepare_again
from labeling.services.jobs import worker_alive

UNITS_PER_PAGE = 50
#: Fields without which the size cannot be told.
PLANNED = {
    "allocation",
    "confidence",
    "expression",
    "margin",
    "pilot",
    "proportion",
    "size",
    "sizes",
    "strata",
}


def sample_list(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    context = _frame(study, member) | {
        "samples": samples_of(study),
        "eligible": eligible_strata(study).total(),
    }
    return render_page(request, "labeling/sample_list.html", context)


def _frame(study: Study, member: Membership) -> dict[str, Any]:
    return {"study": study, "membership": member, "nav": "sample"}


def sample_create(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = SampleForm(request.POST or None)
    if form.is_valid():
        try:
            sample, is_new = samples.draw_or_find(study=study, by=member, **form.draw_options())
        except (SampleError, InvalidInputError) as error:
            _show_error(form, error)
        else:
            if not is_new:
                messages.info(request, "This sample was drawn before and no round uses it yet: here it is.")
            return redirect("labeling:sample-detail", study.slug, sample.pk)
    context = _frame(study, member) | {"form": form} | _plan(study, form)
    status = 422 if form.errors else 200
    return render_page(request, "labeling/sample_create.html", context, status=status)


def _show_error(form: BaseForm, error: SampleError | InvalidInputError) -> None:
    if isinstance(error, SampleError):
        form.add_error(None, error.message)
        return
    for field, sentences in error.errors.items():
        form.add_error(field if field in form.fields else None, sentences)


@require_GET
def sample_size(request: CoderRequest, slug: str) -> HttpResponse:
    """What the form asks for so far, answered while one fills it in."""
    study, _ = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = SampleForm(request.GET)
    form.is_valid()
    response = render_page(request, "labeling/_sample_size.html", {"study": study} | _plan(study, form))
    # The answer belongs to the form the browser shows, not to an address of its own.
    del response["HX-Push-Url"]
    return response


def _plan(study: Study, form: SampleForm) -> dict[str, Any]:
    """Give the plan for what a bound form says, or for the form as it is first shown."""
    if not form.is_bound:
        return {"plan": _first_plan(study)}
    if "method" not in form.cleaned_data or not form.is_drawn:
        return {"population": eligible_strata(study).total(), "method": form.cleaned_data.get("method")}
    blocking = set(form.errors) & PLANNED
    if blocking:
        return {"plan_error": form.errors[sorted(blocking)[0]][0]}
    try:
        return {"plan": size_plan(study, **form.size_options())}
    except InvalidInputError as error:
        return {"plan_error": next(iter(error.errors.values()))[0]}
    except ValueError as error:
        return {"plan_error": str(error)}


def _first_plan(study: Study) -> Any:
    try:
        return size_plan(study, margin=0.05)
    except ValueError:
        return None


def sample_detail(request: CoderRequest, slug: str, sample_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    sample = get_object_or_404(study.samples, pk=sample_id)
    return _sample_page(request, member, sample, TopUpForm())


def _sample_page(
    request: CoderRequest,
    member: Membership,
    sample: Sample,
    top_up_form: TopUpForm,
    replace_form: ReplaceForm | None = None,
) -> HttpResponse:
    page = Paginator(sample.sample_units.order_by("stratum", "rank"), UNITS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    has_errors = bool(top_up_form.errors or (replace_form and replace_form.errors))
    replaced = _unit_to_replace(request, sample)
    if replaced is not None and replace_form is None:
        replace_form = ReplaceForm(initial={"unit": replaced.pk})
    context = _frame(member.study, member) | {
        "sample": sample,
        "page": page,
        "units": listed_units(member, sample.sample_units.filter(pk__in=[row.pk for row in page])),
        "strata": samples.strata_table(sample),
        "statement": samples.statement(sample),
        "rounds": sample.rounds.filter(discarded_at__isnull=True),
        "left": samples.left_to_add(sample).total(),
        "top_up_form": top_up_form,
        "replace_form": replace_form,
        "replaced": replaced,
        **_state(sample),
    }
    return render_page(
        request,
        "labeling/sample_detail.html",
        context,
        partial="labeling/_sample_state.html",
        status=422 if has_errors else 200,
    )


def _unit_to_replace(request: CoderRequest, sample: Sample) -> Any:
    asked = request.POST.get("unit") or request.GET.get("replace") or ""
    return sample.units.filter(pk=asked).first() if asked.isdecimal() else None


def _state(sample: Sample) -> dict[str, Any]:
    is_preparing = sample.state == Sample.State.PREPARING
    return {
        "job": preparing_job(sample) if is_preparing else None,
        "lacks_worker": is_preparing and not worker_alive(),
    }


@require_POST
def sample_top_up(request: CoderRequest, slug: str, sample_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    sample = get_object_or_404(study.samples, pk=sample_id)
    form = TopUpForm(request.POST)
    if form.is_valid():
        try:
            samples.top_up(sample=sample, size=form.cleaned_data["size"], by=member)
        except (SampleError, InvalidInputError) as error:
            _show_error(form, error)
        else:
            messages.success(request, f"{form.cleaned_data['size']} issues were added to the sample.")
            return redirect("labeling:sample-detail", study.slug, sample.pk)
    return _sample_page(request, member, sample, form)


@require_POST
def sample_replace(request: CoderRequest, slug: str, sample_id: int) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    sample = get_object_or_404(study.samples, pk=sample_id)
    form = ReplaceForm(request.POST)
    if form.is_valid():
        unit = get_object_or_404(sample.units, pk=form.cleaned_data["unit"])
        try:
            samples.replace(sample=sample, unit=unit, reason=form.cleaned_data["reason"], by=member)
        except (SampleError, InvalidInputError) as error:
            _show_error(form, error)
        else:
            messages.success(request, "The unit was replaced by the next rank of its stratum.")
            return redirect("labeling:sample-detail", study.slug, sample.pk)
    return _sample_page(request, member, sample, TopUpForm(), form)


@require_POST
def sample_prepare(request: CoderRequest, slug: str, sample_id: int) -> HttpResponse:
    """Go on with a preparation that stopped."""
    study, member = get_study_or_404(request.user, slug, role=Role.LEAD)
    sample = get_object_or_404(study.samples, pk=sample_id)
    try:
        prepare_again(sample=sample, by=member)
    except SampleError as error:
        messages.error(request, error.message)
    return redirect("labeling:sample-detail", study.slug, sample.pk)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/samples/", sample_list, name="sample-list"),
    path("studies/<slug:slug>/samples/new/", sample_create, name="sample-create"),
    path("studies/<slug:slug>/samples/size/", sample_size, name="sample-size"),
    path("studies/<slug:slug>/samples/<int:sample_id>/", sample_detail, name="sample-detail"),
    path("studies/<slug:slug>/samples/<int:sample_id>/top-up/", sample_top_up, name="sample-top-up"),
    path("studies/<slug:slug>/samples/<int:sample_id>/prepare/", sample_prepare, name="sample-prepare"),
    path("studies/<slug:slug>/samples/<int:sample_id>/replace/", sample_replace, name="sample-replace"),
]
