"""Training: a lead gives the known answers, a coder sees each after their own, both see how many matched."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET, require_POST

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404, get_unit_assignment_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.coding import coding_form, read_form
from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import Assignment, Membership, Role, Round, RoundUnit, Unit
from labeling.selectors.coding import issue_view, next_assignment
from labeling.selectors.known_answers import (
    feedback_by_coder,
    given_count,
    known_answers,
    matches_by_dimension,
    own_feedback,
)
from labeling.selectors.masks import Masks
from labeling.services import codebooks, training

UNITS_PER_PAGE = 50
NOTHING_SAID: dict[str, Any] = {
    "stage": 0,
    "annotations": {},
    "memo": "",
    "confidence": "",
    "exclude": None,
}


def _frame(coding_round: Round, member: Membership) -> dict[str, Any]:
    return {
        "study": coding_round.study,
        "membership": member,
        "nav": "rounds",
        "coding_round": coding_round,
        "is_planned": coding_round.state == Round.State.DRAFT,
    }


def _marks(coding_round: Round) -> dict[str, DimensionMark]:
    return mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else ())


def _get_training_or_404(
    request: CoderRequest, slug: str, number: int, *, role: Role | None = None
) -> tuple[Round, Membership]:
    coding_round, member = get_round_or_404(request.user, slug, number, role=role)
    if coding_round.kind != Round.Kind.TRAINING:
        raise Http404("Only a training round has known answers.")
    return coding_round, member


# Giving them --------------------------------------------------------------------------------------


def known_answer_list(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    coding_round, lead = _get_training_or_404(request, slug, number, role=Role.LEAD)
    units = coding_round.round_units.filter(left_out=False).select_related("unit__snapshot")
    masks = Masks(lead)
    ordered = units.order_by(f"unit__{masks.unit_order}")
    page = Paginator(ordered, UNITS_PER_PAGE).get_page(request.GET.get("page"))
    known = known_answers(coding_round, lead)
    names = masks.names
    newest = codebooks.current(coding_round.study)
    coding_round.codebook = used = training.reference_codebook(coding_round)
    context = _frame(coding_round, lead) | {
        "page": page,
        "rows": [(each, names.get(each.unit.ref, each.unit.ref), known.get(each.pk)) for each in page],
        "given": given_count(coding_round),
        "total": units.count(),
        "next_url": _next_url(coding_round, masks.unit_order),
        "codes": _codes(coding_round, lead),
        "codebook": used,
        "newer": newest if used is not None and newest != used else None,
        "marks": _marks(coding_round),
    }
    return render_page(request, "labeling/known_answer_list.html", context)


def _codes(coding_round: Round, lead: Membership) -> bool:
    """Whether the lead is a coder of the round, to whom known answers are not shown."""
    return coding_round.coders.filter(pk__in=lead.coder_ids).exists()


@require_POST
def known_answer_renew(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Take all known answers back, to give them under the newest codebook version."""
    coding_round, lead = _get_training_or_404(request, slug, number, role=Role.LEAD)
    try:
        training.take_back_reference(coding_round=coding_round, by=lead)
    except StudyRuleError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The known answers were taken back. Give them anew, unit by unit.")
    return redirect("labeling:known-answer-list", slug, number)


def known_answer_detail(request: CoderRequest, slug: str, number: int, unit_id: int) -> HttpResponse:
    """One unit with the form of its known answer; once the training was opened, to read."""
    coding_round, lead = _get_training_or_404(request, slug, number, role=Role.LEAD)
    round_unit = (
        coding_round.round_units.select_related("unit__issue__latest", "unit__snapshot", "unit__study")
        .filter(unit=unit_id, left_out=False)
        .first()
    )
    if round_unit is None:
        raise Http404("The round has no such unit.")
    coding_round.codebook = training.reference_codebook(coding_round)
    if coding_round.codebook is None:
        messages.warning(request, "Freeze the codebook first: known answers need its categories.")
        return redirect("labeling:known-answer-list", slug, number)
    # Known answers are given at once, whatever is revealed to coders step by step.
    coding_round.stages = []
    round_unit.round = coding_round
    if request.method == "POST":
        return _give(request, round_unit, lead)
    return _known_answer_page(request, round_unit, lead)


def _give(request: CoderRequest, round_unit: RoundUnit, lead: Membership) -> HttpResponse:
    body = _typed(request, round_unit, lead)
    try:
        training.set_known_answer(round_unit=round_unit, body=body, by=lead)
    except InvalidInputError as error:
        given = {key: each for key, each in body.get("annotations", {}).items() if each is not None}
        typed = body | {"annotations": given}
        return _known_answer_page(request, round_unit, lead, typed, error.errors, status=422)
    except StudyRuleError as error:
        messages.error(request, error.message)
        return redirect(_list_url(round_unit.round))
    messages.success(request, f"The known answer of {_name(round_unit, lead)} was stored.")
    coding_round = round_unit.round
    following = _next_url(coding_round, Masks(lead).unit_order, after=round_unit.unit)
    return redirect(following or _list_url(coding_round))


def _list_url(coding_round: Round) -> str:
    return reverse("labeling:known-answer-list", args=[coding_round.study.slug, coding_round.number])


def _typed(request: CoderRequest, round_unit: RoundUnit, lead: Membership) -> dict[str, Any]:
    body = read_form(request.POST, _as_coder(round_unit, lead), {"stage": 0})
    return body | {"memo": request.POST.get("memo", "")}


def _as_coder(round_unit: RoundUnit, lead: Membership) -> Assignment:
    return Assignment(coder=lead, round_unit=round_unit)


def _name(round_unit: RoundUnit, lead: Membership) -> str:
    return Masks(lead).names.get(round_unit.unit.ref, round_unit.unit.ref)


def _next_url(coding_round: Round, order: str, after: Unit | None = None) -> str | None:
    """Address of the next unit without a known answer in the order of the list, which begins anew."""
    given = Assignment.objects.active().filter(coder__kind=Membership.Kind.REFERENCE)
    left = (
        coding_round.round_units.filter(left_out=False)
        .exclude(pk__in=given.filter(round_unit__round=coding_round).values("round_unit"))
        .order_by(f"unit__{order}")
    )
    later = left.filter(**{f"unit__{order}__gt": getattr(after, order)}) if after is not None else left
    following = later.first() or left.first()
    if following is None:
        return None
    where = [coding_round.study.slug, coding_round.number, following.unit_id]
    return reverse("labeling:known-answer-detail", args=where)


def _known_answer_page(
    request: CoderRequest,
    round_unit: RoundUnit,
    lead: Membership,
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, list[str]] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    coding_round = round_unit.round
    known = known_answers(coding_round, lead).get(round_unit.pk)
    state = NOTHING_SAID | (known.data if known is not None else {}) | dict(typed or {})
    context = _frame(coding_round, lead) | {
        "issue": issue_view(round_unit.unit, lead),
        "form": coding_form(_as_coder(round_unit, lead), state, errors),
        "known": known,
        "marks": _marks(coding_round),
        "codes": _codes(coding_round, lead),
    }
    return render_page(request, "labeling/known_answer_detail.html", context, status=status)


# Seeing them --------------------------------------------------------------------------------------


@require_GET
def feedback_detail(request: CoderRequest, slug: str, number: int, unit_id: int) -> HttpResponse:
    """One's own answer for a unit beside the known one; before it is handed in, the unit itself."""
    assignment, member = get_unit_assignment_or_404(request.user, slug, number, unit_id)
    coding_round = assignment.round_unit.round
    if coding_round.kind != Round.Kind.TRAINING:
        raise Http404("Only a training round has known answers.")
    found = own_feedback(coding_round, member, only=assignment.round_unit)
    following = next_assignment(member, coding_round, after=assignment)
    if not found:
        return redirect(_unit_url(following or assignment))
    context = _frame(coding_round, member) | {
        "nav": "coding",
        "issue": issue_view(assignment, member),
        "feedback": found[0],
        "marks": _marks(coding_round),
        "following_url": _unit_url(following) if following is not None else None,
    }
    return render_page(request, "labeling/feedback_detail.html", context)


def _unit_url(assignment: Assignment) -> str:
    unit = assignment.round_unit
    return reverse("labeling:coding-detail", args=[unit.round.study.slug, unit.round.number, unit.unit_id])


@require_GET
def feedback_list(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """How many of one's own answers matched; for leads, after the close, those of every coder."""
    coding_round, member = _get_training_or_404(request, slug, number)
    own = own_feedback(coding_round, member)
    context = _frame(coding_round, member) | {
        "own": own,
        "matches": matches_by_dimension(coding_round, own),
        "is_read": coding_round.first_unblinded_read_at is not None,
        "marks": _marks(coding_round),
    }
    if member.is_lead and coding_round.is_unblinded and context["is_read"]:
        context["coders"] = _of_coders(coding_round, member)
    return render_page(request, "labeling/feedback_list.html", context)


def _of_coders(coding_round: Round, lead: Membership) -> dict[str, Any]:
    """A table of coders by dimension."""
    by_coder = feedback_by_coder(coding_round, lead)
    members = coding_round.study.memberships.filter(pk__in=by_coder).select_related("user").order_by("number")
    counted = {
        each: {row.key: row for row in matches_by_dimension(coding_round, by_coder[each.pk])}
        for each in members
    }
    everybody = [unit for units in by_coder.values() for unit in units]
    columns = matches_by_dimension(coding_round, everybody)
    return {
        "columns": columns,
        "rows": [
            (each, len(by_coder[each.pk]), [told.get(column.key) for column in columns])
            for each, told in counted.items()
        ],
    }


ROUND = "studies/<slug:slug>/rounds/<int:number>/"

urlpatterns: list[URLPattern] = [
    path(f"{ROUND}known/", known_answer_list, name="known-answer-list"),
    path(f"{ROUND}known/renew/", known_answer_renew, name="known-answer-renew"),
    path(f"{ROUND}known/<int:unit_id>/", known_answer_detail, name="known-answer-detail"),
    path(f"{ROUND}feedback/", feedback_list, name="feedback-list"),
    path(f"{ROUND}units/<int:unit_id>/feedback/", feedback_detail, name="feedback-detail"),
]
