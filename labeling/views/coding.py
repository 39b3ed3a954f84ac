"""Coding: where one's next unit is, the unit itself, and the queue."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404, get_study_or_404, get_unit_assignment_or_404
from labeling.errors import InvalidInputError, RoundStateError, StaleVersionError, StudyRuleError
from labeling.forms.coding import coding_form, read_form
from labeling.forms.queues import OwnUnitsForm, QueueForm
from labeling.models import Assignment, Membership, Round
from labeling.selectors.coding import (
    issue_view,
    narrowing,
    neighbours,
    next_assignment,
    next_in_queue,
    own_annotations,
    own_pace,
    own_progress,
    own_quotes,
    queue,
    shown_refs,
)
from labeling.selectors.portions import comments_from, file_named, first_portion, rest
from labeling.selectors.rounds import rounds_to_code
from labeling.services import coding

PAGE = 100
MOST_COMMENTS = 999_999
#: Parameters that say how texts are shown: with their images, as they were written.
LOOKS = ("images", "raw")


def coding_home(request: CoderRequest, slug: str) -> HttpResponse:
    """Go to the next unit of the first open round that has one, else say why there is none."""
    study, member = get_study_or_404(request.user, slug)
    rounds = rounds_to_code(member)
    for coding_round in rounds:
        following = next_assignment(member, coding_round)
        if following is not None:
            return redirect(unit_url(following))
    context = {
        "study": study,
        "membership": member,
        "nav": "coding",
        "rounds": [(each, own_progress(member, each)) for each in rounds],
    }
    return render_page(request, "labeling/coding_home.html", context)


def unit_url(assignment: Assignment, narrowed: Mapping[str, str] | None = None) -> str:
    """Address of a unit, with the filter of the queue it was reached from."""
    unit = assignment.round_unit
    address = reverse("labeling:coding-detail", args=[unit.round.study.slug, unit.round.number, unit.unit_id])
    return f"{address}?{urlencode(narrowed)}" if narrowed else address


def _queue_url(coding_round: Round, narrowed: Mapping[str, str]) -> str:
    address = reverse("labeling:coding-queue", args=[coding_round.study.slug, coding_round.number])
    return f"{address}?{urlencode(narrowed)}" if narrowed else address


def _is_trained(assignment: Assignment) -> bool:
    return assignment.round_unit.round.kind == Round.Kind.TRAINING


def _feedback_url(assignment: Assignment) -> str:
    """Address of the known answer of a unit; until the unit is handed in it leads to the next one.

    On a phone the answer is a sheet, which its name opens.
    """
    unit = assignment.round_unit
    address = [unit.round.study.slug, unit.round.number, unit.unit_id]
    return reverse("labeling:feedback-detail", args=address) + "#codes"


def coding_detail(request: CoderRequest, slug: str, number: int, unit_id: int) -> HttpResponse:
    assignment, member = get_unit_assignment_or_404(request.user, slug, number, unit_id)
    if request.method == "POST":
        return _act(request, assignment, member)
    if not assignment.takes_answers:
        messages.info(request, f"Round {number} is closed: answers cannot change any more.")
        return redirect("labeling:round-detail", slug, number)
    if _is_trained(assignment) and assignment.status == Assignment.Status.SUBMITTED:
        return redirect(_feedback_url(assignment))
    coding.open_assignment(assignment=assignment)
    if "ahead" in request.GET:
        return _show_ahead(request, assignment, member)
    return _show(request, assignment, member, coding.state_of(assignment))


def _show_ahead(request: CoderRequest, assignment: Assignment, member: Membership) -> HttpResponse:
    """Give what comes after this unit, without opening it, for the page to have it at hand."""
    # After a unit of a training comes its known answer, not the next unit.
    following = None
    if not _is_trained(assignment):
        following = _following(assignment, member, narrowing(request.GET))
    if following is None:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return _show(request, following, member, coding.state_of(following))


def _act(request: CoderRequest, assignment: Assignment, member: Membership) -> HttpResponse:
    """Save, hand in, exclude or skip; a mistake comes back with everything that was typed."""
    state = coding.state_of(assignment)
    changes = read_form(request.POST, assignment, state)
    version = request.POST.get("version", "")
    started_from = int(version) if version.isdecimal() else state["version"]
    action = request.POST.get("action", "submit")
    try:
        if action in ("save", "skip"):
            coding.save_draft(assignment=assignment, changes=changes, version=started_from, by=member)
        if action == "skip":
            coding.skip(assignment=assignment, by=member)
        elif action != "save":
            coding.submit(assignment=assignment, by=member, changes=changes, version=started_from)
    except InvalidInputError as error:
        return _show(request, assignment, member, _typed(state, changes), error.errors, status=422)
    except StaleVersionError as error:
        return _show_conflict(request, assignment, member, changes, error)
    except RoundStateError as error:
        messages.warning(request, error.message)
        return redirect("labeling:coding-home", assignment.round_unit.round.study.slug)
    except StudyRuleError as error:
        return _show(request, assignment, member, _typed(state, changes), {"": [error.message]}, status=409)
    return redirect(_next_url(assignment, member, narrowing(request.GET), stay=action == "save"))


def _next_url(assignment: Assignment, member: Membership, narrowed: Mapping[str, str], *, stay: bool) -> str:
    fresh = Assignment.objects.get(pk=assignment.pk)
    if stay or fresh.status == Assignment.Status.DRAFT:
        # In a round with stages, the first hand-in reveals the next stage of the same unit.
        return unit_url(assignment, narrowed)
    if _is_trained(assignment):
        return _feedback_url(assignment)
    following = _following(assignment, member, narrowed)
    if following is not None:
        return unit_url(following, narrowed)
    if assignment.purpose == Assignment.Purpose.ADJUDICATION:
        # Now that the own answer is given, those of the coders may be seen.
        coding_round = assignment.round_unit.round
        return reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    return _queue_url(assignment.round_unit.round, narrowed)


def _following(assignment: Assignment, member: Membership, narrowed: Mapping[str, str]) -> Assignment | None:
    if narrowed:
        return next_in_queue(member, assignment, narrowed)
    return next_assignment(member, assignment.round_unit.round, after=assignment)


def _typed(state: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The stored state with what was just typed in its place."""
    typed = {name: value for name, value in changes.items() if name != "annotations"}
    annotations = dict(state["annotations"]) | changes.get("annotations", {})
    given = {key: answer for key, answer in annotations.items() if answer is not None}
    return {**state, **typed, "annotations": given}


def _show_conflict(
    request: CoderRequest,
    assignment: Assignment,
    member: Membership,
    changes: Mapping[str, Any],
    error: StaleVersionError,
) -> HttpResponse:
    """Without script: what was typed here stays in the form, what was saved elsewhere is said beside it."""
    state = coding.state_of(Assignment.objects.defer(None).get(pk=assignment.pk))
    errors = {
        name: [f"Saved elsewhere: {_in_words(both['theirs'])}. Submit again to keep this instead."]
        for name, both in error.extra["conflicts"].items()
    }
    return _show(
        request, assignment, member, _typed(state, changes), {"": [error.message], **errors}, status=409
    )


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping) and "categories" in value:
        return ", ".join(value["categories"]) or str(value["text"] or value["state"]).replace("_", " ")
    if isinstance(value, Mapping):
        return f"excluded, {value['reason']}"
    return str(value) if value else "nothing"


def _show(
    request: CoderRequest,
    assignment: Assignment,
    member: Membership,
    state: Mapping[str, Any],
    errors: Mapping[str, list[str]] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    coding_round = assignment.round_unit.round
    narrowed = narrowing(request.GET)
    before, after = neighbours(member, assignment, narrowed)
    issue = _issue_asked_for(request, assignment, member)
    context = {
        "assignment": assignment,
        "coding_round": coding_round,
        "study": coding_round.study,
        "membership": member,
        "nav": "coding",
        "issue": issue if "whole" in request.GET else first_portion(issue),
        "sections_url": _sections_url(request, assignment),
        "form": coding_form(assignment, state, errors),
        "state": state,
        "save_url": reverse("api:assignment-detail", args=[assignment.pk]),
        "progress": own_progress(member, coding_round) | {"position": assignment.position},
        "unit_url": unit_url(assignment, narrowed),
        "whole_url": unit_url(assignment, narrowed | {"whole": ""}),
        "queue_url": _queue_url(coding_round, narrowed),
        "last_url": _feedback_url(assignment)
        if _is_trained(assignment)
        else _queue_url(coding_round, narrowed),
        "previous_url": unit_url(before, narrowed) if before else None,
        "next_url": unit_url(after, narrowed) if after else None,
    }
    response = render_page(
        request, "labeling/coding_detail.html", context, partial="labeling/_coding_unit.html", status=status
    )
    if _is_trained(assignment):
        # "Back" asks again, and is led to the known answer once the unit is handed in.
        response["Cache-Control"] = "no-store"
    if "images" in request.GET:
        response._csp_update = {"img-src": ["https:"]}  # type: ignore[attr-defined] # django-csp reads it
    return response


def coding_sections(request: CoderRequest, slug: str, number: int, unit_id: int) -> HttpResponse:
    """Give what the page of a long unit has left out: comments from a place on, a file, or all of it."""
    assignment, member = get_unit_assignment_or_404(request.user, slug, number, unit_id)
    if not assignment.takes_answers:
        raise Http404("The round is closed.")
    issue = _issue_asked_for(request, assignment, member)
    context: dict[str, Any] = {"sections_url": _sections_url(request, assignment)}
    if "file" in request.GET:
        file = file_named(issue, request.GET["file"])
        if file is None or not file["lines"]:
            raise Http404("There is no patch of such a file.")
        return render(request, "labeling/_patch.html", context | {"file": file})
    context["whole_url"] = unit_url(assignment, narrowing(request.GET) | {"whole": ""})
    if "comments" in request.GET:
        start = request.GET["comments"]
        if not start.isdecimal() or len(start) > len(str(MOST_COMMENTS)):
            raise Http404("Comments are counted from 0.")
        return render(
            request, "labeling/_comments.html", context | {"portion": comments_from(issue, int(start))}
        )
    return render(request, "labeling/_sections.html", context | {"rest": rest(issue)})


def _issue_asked_for(request: CoderRequest, assignment: Assignment, member: Membership) -> dict[str, Any]:
    images, raw = (look in request.GET for look in LOOKS)
    return issue_view(assignment, member, show_images=images, show_source=raw)


def _sections_url(request: CoderRequest, assignment: Assignment) -> str:
    """Address of the parts of a unit, to be continued by a parameter; texts look there as they do here."""
    unit = assignment.round_unit
    address = reverse(
        "labeling:coding-sections", args=[unit.round.study.slug, unit.round.number, unit.unit_id]
    )
    return f"{address}?" + "".join(f"{look}&" for look in LOOKS if look in request.GET)


def coding_queue(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    coding_round, member = get_round_or_404(request.user, slug, number)
    narrowed = narrowing(request.GET)
    page = Paginator(queue(member, coding_round, **narrowed), PAGE).get_page(request.GET.get("page"))
    refs = shown_refs(page, member)
    context = {
        "study": coding_round.study,
        "membership": member,
        "nav": "coding",
        "coding_round": coding_round,
        "progress": own_progress(member, coding_round),
        "pace": own_pace(member, coding_round),
        "page": page,
        "rows": [(each, unit_url(each, narrowed), refs[each.pk]) for each in page],
        "form": QueueForm(coding_round, member, narrowed),
        "following": next_assignment(member, coding_round),
    }
    return render_page(request, "labeling/coding_queue.html", context)


def own_units(request: CoderRequest, slug: str) -> HttpResponse:
    """Find what one said before, in all rounds: where a category was used, so that one stays consistent."""
    study, member = get_study_or_404(request.user, slug)
    narrowed = narrowing(request.GET)
    for name in ("status", "order"):
        narrowed.pop(name, None)
    words = request.GET.get("words", "").strip()
    rows = own_annotations(member, **narrowed, words=words)
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    refs = shown_refs((each.submission.assignment for each in page), member)
    context = {
        "study": study,
        "membership": member,
        "nav": "coding",
        "form": OwnUnitsForm(study, narrowed | {"words": words}),
        "is_searched": bool(narrowed or words),
        "page": page,
        "rows": [
            (
                each,
                unit_url(each.submission.assignment),
                refs[each.submission.assignment_id],
                own_quotes(each),
            )
            for each in page
        ],
    }
    return render_page(request, "labeling/own_units.html", context)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/coding/", coding_home, name="coding-home"),
    path("studies/<slug:slug>/coding/own/", own_units, name="own-units"),
    path("studies/<slug:slug>/rounds/<int:number>/queue/", coding_queue, name="coding-queue"),
    path("studies/<slug:slug>/rounds/<int:number>/units/<int:unit_id>/", coding_detail, name="coding-detail"),
    path(
        "studies/<slug:slug>/rounds/<int:number>/units/<int:unit_id>/sections/",
        coding_sections,
        name="coding-sections",
    ),
]
