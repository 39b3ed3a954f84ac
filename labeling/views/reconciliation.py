"""Reconciliation: the disagreements of a closed round, one at a time, until none is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseClientRedirect

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_unit_or_404, get_study_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.reconciliation import read_answer, typed
from labeling.models import UNIT, Decision, Dimension, Membership, Round, RoundUnit
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.queue import Filters, Queue, reconciliation_queue
from labeling.selectors.reconciliation import Disagreement, is_queued, with_answers
from labeling.selectors.rounds import reachable_rounds
from labeling.services.answers import Answer
from labeling.services.discussion import add_comment
from labeling.services.reconciliation import propose_decision, record_decision, reopen_decision
from labeling.views.disagreement_list import (
    closed_round,
    disagreement_cell,
    disagreement_list,
    list_context,
    round_frame,
)
from labeling.views.outcomes import outcome_list
from labeling.views.reconciliation_panel import Panel, decision_url
from labeling.views.splitting import unit_split


def reconciliation_home(request: CoderRequest, slug: str) -> HttpResponse:
    """Go to the newest closed round that has something open, else list the closed rounds."""
    study, member = get_study_or_404(request.user, slug)
    rounds = (
        reachable_rounds(member)
        .filter(state__in=Round.UNBLINDED)
        .exclude(kind=Round.Kind.TRAINING)
        .annotate(
            queued=Count("round_units__decisions", filter=is_queued("round_units__decisions__")),
            left=Count("round_units__decisions", filter=Q(round_units__decisions__how="")),
        )
        .order_by("-number")
    )
    waiting = next((each for each in rounds if each.left), None)
    if waiting is not None:
        return redirect("labeling:disagreement-list", slug, waiting.number)
    context = {"study": study, "membership": member, "nav": "reconciliation", "rounds": rounds}
    return render_page(request, "labeling/reconciliation_home.html", context)


# One disagreement


def reconciliation_detail(
    request: CoderRequest, slug: str, number: int, unit_id: int, dimension: str
) -> HttpResponse:
    round_unit, member = _unit_of(request, slug, number, unit_id)
    panel = _panel(request, round_unit, dimension, member)
    if request.method == "POST":
        return _act(request, panel)
    return _show(request, panel)


def _unit_of(request: CoderRequest, slug: str, number: int, unit_id: int) -> tuple[RoundUnit, Membership]:
    coding_round, member = closed_round(request, slug, number)
    round_unit, _ = get_round_unit_or_404(request.user, coding_round.pk, unit_id)
    return round_unit, member


def _panel(request: CoderRequest, round_unit: RoundUnit, dimension: str, member: Membership) -> Panel:
    item = with_answers([_find(round_unit, dimension, member)], member)[0]
    return Panel(item, member, show_images="images" in request.GET)


def _find(round_unit: RoundUnit, dimension: str, member: Membership) -> Decision:
    decision = (
        Decision.objects.visible_to(member)
        .filter(round_unit=round_unit, dimension=dimension)
        .select_related("decided_by__user", "recorded_by__user")
        .prefetch_related("categories", "category_proposals")
        .first()
    )
    if decision is None:
        decision = _never_queued(round_unit, dimension)
    decision.round_unit = round_unit
    return decision


def _never_queued(round_unit: RoundUnit, dimension: str) -> Decision:
    """Free text and the exclusion of a part have no decision until somebody makes one."""
    asked = {each.key for each in round_dimensions(round_unit.round) if each.kind == Dimension.Kind.TEXT}
    if round_unit.unit.split_from_id is not None:
        asked.add(UNIT)
    if dimension not in asked:
        raise Http404("The coders did not disagree here.")
    return Decision(round_unit=round_unit, dimension=dimension, type=Decision.Type.ONE_SIDED)


@require_GET
def reconciliation_standing(
    request: CoderRequest, slug: str, number: int, unit_id: int, dimension: str
) -> HttpResponse:
    """What others did since the page was made; nothing (204) if they did nothing.

    The form is sent along only when it must become another one: whoever types in it is not interrupted.
    """
    coding_round, member = closed_round(request, slug, number)
    try:
        round_unit, _ = get_round_unit_or_404(request.user, coding_round.pk, unit_id)
        decision = _find(round_unit, dimension, member)
    except Http404:
        if not request.htmx:
            raise
        # The page was open when another round gave the unit to its reader: it must not ask for ever.
        messages.info(request, "That unit is hidden from you while you code it again in another round.")
        return HttpResponseClientRedirect(reverse("labeling:disagreement-list", args=[slug, number]))
    seen = request.GET.get("seen", "")
    now = Panel(Disagreement(decision, (), ()), member)
    if seen == now.state:
        return HttpResponse(status=204)
    panel = Panel(with_answers([decision], member)[0], member)
    filters = Filters.read(request.GET)
    context = round_frame(round_unit.round, member) | {
        "panel": panel,
        "filters": filters,
        "has_new_form": seen.partition("-")[0] != panel.form_state,
        "form": typed(request.POST),
        **_way(reconciliation_queue(round_unit.round, member, filters), panel),
    }
    return render(request, "labeling/_standing_changed.html", context)


# Acts


@dataclass(frozen=True, slots=True)
class Conflict:
    """What somebody wanted to decide that another had decided meanwhile."""

    message: str
    words: str
    rationale: str


def _act(request: CoderRequest, panel: Panel) -> HttpResponse:
    if request.htmx and request.POST.get("action") == "comment":
        return _comment_in_place(request, panel)
    try:
        stays = _do(request, panel)
    except InvalidInputError as error:
        return _show(request, panel, errors=error.errors, status=422)
    except StudyRuleError as error:
        return _show_conflict(request, panel, error)
    except PermissionDenied as error:
        return _show(request, panel, errors={"": [str(error)]}, status=403)
    here = request.get_full_path()
    if stays:
        return redirect(here)
    queue = reconciliation_queue(panel.coding_round, panel.member, Filters.read(request.GET))
    return redirect(_next_url(queue, panel))


def _comment_in_place(request: CoderRequest, panel: Panel) -> HttpResponse:
    """Take a comment without a new page: what is typed in the form for the decision stays."""
    item, problem = panel.item, ""
    try:
        add_comment(
            round_unit=item.round_unit,
            by=panel.member,
            text=request.POST.get("comment", ""),
            dimension=item.dimension,
        )
    except InvalidInputError as error:
        problem = str(error)
    context = round_frame(panel.coding_round, panel.member) | {
        "panel": panel,
        "filters": Filters.read(request.GET),
        "comment_error": problem,
    }
    return render(request, "labeling/_standing.html", context, status=422 if problem else 200)


def _do(request: CoderRequest, panel: Panel) -> bool:
    """Carry out one act; true if the reader stays on this disagreement."""
    post, action, item, member = request.POST, request.POST.get("action", ""), panel.item, panel.member
    if action == "comment":
        text = post.get("comment", "")
        add_comment(round_unit=item.round_unit, by=member, text=text, dimension=item.dimension)
        return True
    if action == "reopen":
        reopen_decision(decision=item.decision, reason=post.get("reason", ""), by=member)
        return True
    answer = read_answer(post, item, panel.sides, panel.names)
    said: dict[str, Any] = {
        "round_unit": item.round_unit,
        "dimension": item.dimension,
        "by": member,
        "rationale": post.get("rationale", ""),
        "disagreement_reason": post.get("disagreement_reason", ""),
    }
    if action == "record":
        if answer is None:
            raise InvalidInputError({"answer": ["Choose the answer that is to stand."]})
        version = post.get("version", "")
        record_decision(**said, answer=answer, version=int(version) if version.isdecimal() else item.version)
        return False
    decision = propose_decision(**said, answer=answer, escalate=action == "escalate")
    if decision.is_open:
        messages.success(request, _told(action, panel))
    return False


def _told(action: str, panel: Panel) -> str:
    if action == "escalate":
        return "An adjudicator was asked to decide."
    if panel.coding_round.decide == Round.Decide.TOGETHER:
        return "Proposed. It is decided once all coders of the unit propose the same."
    return f"Proposed. {Round.Decide(panel.coding_round.decide).label} decides."


def _show_conflict(request: CoderRequest, panel: Panel, error: StudyRuleError) -> HttpResponse:
    """Show what stands now, and beside it what was typed here: nothing is lost, nothing overwritten."""
    fresh = _panel(request, panel.item.round_unit, panel.item.dimension, panel.member)
    if fresh.decision.is_open:
        return _show(request, fresh, errors={"": [error.message]}, status=409)
    answer = _answer_of(request, panel)
    conflict = Conflict(
        error.message, _in_words(panel, answer) if answer else "", request.POST.get("rationale", "")
    )
    return _show(request, fresh, conflict=conflict, status=409)


def _answer_of(request: CoderRequest, panel: Panel) -> Answer | None:
    """What was to be decided, to show it beside what stands; None where it was not complete."""
    try:
        return read_answer(request.POST, panel.item, panel.sides, panel.names)
    except InvalidInputError:
        return None


def _in_words(panel: Panel, answer: Answer) -> str:
    if panel.item.dimension == UNIT:
        return f"Exclude: {answer.reason}" if answer.excluded else "Keep the unit"
    return panel.names.say(answer.categories, answer.state, answer.text)


# The page


def _show(
    request: CoderRequest,
    panel: Panel,
    *,
    errors: Mapping[str, list[str]] | None = None,
    conflict: Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    coding_round, member, current = panel.coding_round, panel.member, panel.decision.pk
    queue = reconciliation_queue(coding_round, member, Filters.read(request.GET))
    context = {
        **round_frame(coding_round, member),
        **list_context(queue, coding_round, member, panel.names_by_dimension, current),
        **_way(queue, panel),
        "panel": panel,
        "issue": panel.issue,
        "form": typed(request.POST),
        "errors": [text for texts in (errors or {}).values() for text in texts],
        "conflict": conflict,
    }
    response = render_page(request, "labeling/reconciliation_detail.html", context, status=status)
    if panel.show_images:
        response._csp_update = {"img-src": ["https:"]}  # type: ignore[attr-defined] # django-csp reads it
    return response


def _way(queue: Queue, panel: Panel) -> dict[str, Any]:
    """Where to go from here, and how far it is."""
    entry = next((each for each in queue.entries if each.decision == panel.decision.pk), None)
    before, after = queue.neighbours(panel.decision.pk)
    position, length = queue.position(panel.decision.pk)

    def url(to: Any) -> str:
        return decision_url(panel.coding_round, to.unit, to.dimension) + queue.filters.query if to else ""

    return {
        "queue": queue,
        "position": position,
        "length": length,
        "previous_url": url(before),
        "following_url": url(after),
        "next_url": _next_url(queue, panel),
        "alike": queue.same_cell(entry) if entry is not None else 0,
    }


def _next_url(queue: Queue, panel: Panel) -> str:
    """The next that can be decided; after the last one the page that says what is left."""
    following = queue.next_open(panel.decision.pk)
    if following is not None:
        return decision_url(panel.coding_round, following.unit, following.dimension) + queue.filters.query
    where = [panel.coding_round.study.slug, panel.coding_round.number]
    return reverse("labeling:disagreement-list", args=where)


ROUND = "studies/<slug:slug>/rounds/<int:number>/reconciliation/"
DETAIL = f"{ROUND}<int:unit_id>/<str:dimension>/"
urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/reconciliation/", reconciliation_home, name="reconciliation-home"),
    path(ROUND, disagreement_list, name="disagreement-list"),
    path(f"{ROUND}alike/<str:dimension>/", disagreement_cell, name="disagreement-cell"),
    path(f"{ROUND}outcomes/", outcome_list, name="outcome-list"),
    path(DETAIL, reconciliation_detail, name="reconciliation-detail"),
    path("studies/<slug:slug>/units/<int:unit_id>/split/", unit_split, name="unit-split"),
    path(f"{DETAIL}standing/", reconciliation_standing, name="reconciliation-standing"),
]
