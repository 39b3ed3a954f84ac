"""Splitting a unit whose issue holds several problems."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404, get_unit_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.errors import add_errors
from labeling.forms.splitting import SplitForm
from labeling.models import Membership, Role, Round, Unit
from labeling.selectors.masks import Masks
from labeling.services.splitting import split_unit


def unit_split(request: CoderRequest, slug: str, unit_id: int) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    unit, _ = get_unit_or_404(request.user, unit_id, role=Role.LEAD)
    if unit.study_id != study.pk:
        raise Http404("There is no such unit in this study.")
    form = SplitForm(request.POST or None)
    status = 200
    if request.method == "POST":
        if form.is_valid() and _is_split(request, form, unit, lead):
            return redirect(_after(unit))
        status = 422
    names = Masks(lead).names
    context = {
        "study": study,
        "membership": lead,
        "nav": "reconciliation",
        "ref": names.get(unit.ref, unit.ref),
        "title": unit.snapshot.title if unit.snapshot is not None else "",
        "rounds": _rounds_of(unit),
        "is_part": bool(unit.part),
        "parts": [(names.get(each.ref, each.ref), each.title) for each in unit.parts.order_by("part")],
        "form": form,
    }
    return render_page(request, "labeling/unit_split.html", context, status=status)


def _is_split(request: CoderRequest, form: SplitForm, unit: Unit, lead: Membership) -> bool:
    """Split it; false where a rule is in the way, which the form then says."""
    try:
        made = split_unit(
            unit=unit,
            parts=form.titles,
            reason=form.cleaned_data["reason"],
            follow_up=form.cleaned_data["follow_up"],
            by=lead,
        )
    except InvalidInputError as error:
        add_errors(form, error)
    except StudyRuleError as error:
        form.add_error(None, error.message)
    else:
        messages.success(request, f"{unit.ref} was split into {len(made)} parts.")
        return True
    return False


def _after(unit: Unit) -> str:
    """Where to go on: the newest round in which the parts wait for decisions or for coders."""
    rounds = Round.objects.filter(round_units__unit__split_from=unit, discarded_at__isnull=True)
    newest = rounds.select_related("study").order_by("-number").first()
    return newest.get_absolute_url() if newest else reverse("labeling:study-detail", args=[unit.study.slug])


def _rounds_of(unit: Unit) -> list[Round]:
    rows = Round.objects.filter(
        round_units__unit=unit, round_units__left_out=False, discarded_at__isnull=True
    )
    return list(rows.select_related("study").order_by("number"))
