"""Reconciliation: the disagreements of a closed round, one at a time, until none is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404, get_round_unit_or_404, get_study_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.reconciliation import Names, Option, other_options, read_answer, reasons, sides, typed
from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import UNIT, Comment, Decision, Dimension, Membership, Role, Round, RoundUnit
from labeling.selectors.coding import issue_view
from labeling.selectors.reconciliation import (
    QUEUED,
    Disagreement,
    coders_of,
    decided_codes,
    hidden_units,
    queued_decisions,
    shown_name,
    with_answers,
)
from labeling.selectors.rounds import reachable_rounds
from labeling.services.agreement import mark_read
from labeling.services.discussion import add_comment
from labeling.services.reconciliation import (
    open_reconciliation,
    propose_decision,
    record_decision,
    reopen_decision,
)

LISTED = 300
FILTERS = ("dimension", "type", "cell", "repository", "decided")
UNIT_MARK = DimensionMark(UNIT, "Exclusion", "X", 6)


@dataclass(frozen=True, slots=True)
class Listed:
    """One unit in the list at the left."""

    unit_id: int
    ref: str
    title: str
    url: str
    pairs: list[tuple[DimensionMark, str, bool]]


def reconciliation_home(request: CoderRequest, slug: str) -> HttpResponse:
    """Go to the newest closed round that has something open, else say so."""
    study, member = get_study_or_404(request.user, slug)
    rounds = (
        reachable_rounds(member)
        .filter(state__in=Round.UNBLINDED)
        .annotate(
            queued=Count("round_units__decisions", filter=Q(round_units__decisions__type__in=QUEUED)),
            left=Count(
                "round_units__decisions",
                filter=Q(round_units__decisions__type__in=QUEUED, round_units__decisions__how=""),
            ),
        )
        .order_by("-number")
    )
    waiting = next((each for each in rounds if each.left), None)
    if waiting is not None:
        return redirect("labeling:disagreement-list", slug, waiting.number)
    context = {"study": study, "membership": member, "nav": "reconciliation", "rounds": rounds}
    return render_page(request, "labeling/reconciliation_home.html", context)


def disagreement_list(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Go to the first open disagreement of the filter; without one, say what that means."""
    coding_round, member = _closed_round(request, slug, number)
    filters = _filters(request)
    rows = queued_decisions(coding_round, member, **filters)
    first = rows.filter(how="", waits_for="").first() or (rows.first() if filters else None)
    if first is not None:
        return redirect(_url(coding_round, first) + _query(request))
    context = _frame(coding_round, member) | {
        "hidden": hidden_units(coding_round, member),
        "is_filtered": bool(filters),
        "settled": _settled(coding_round, member),
    }
    return render_page(request, "labeling/disagreement_list.html", context)


def _closed_round(request: CoderRequest, slug: str, number: int) -> tuple[Round, Membership]:
    coding_round, member = get_round_or_404(request.user, slug, number)
    if not coding_round.is_unblinded or not reachable_rounds(member).filter(pk=coding_round.pk).exists():
        raise Http404("The answers of this round are not open to you.")
    mark_read(coding_round, member)
    open_reconciliation(coding_round)  # no more than a look, unless a crash cut the close short
    return coding_round, member


def _frame(coding_round: Round, member: Membership) -> dict[str, Any]:
    return {
        "study": coding_round.study,
        "membership": member,
        "nav": "reconciliation",
        "coding_round": coding_round,
    }


def _filters(request: CoderRequest) -> dict[str, Any]:
    filters: dict[str, Any] = {name: request.GET[name] for name in FILTERS if request.GET.get(name)}
    if "decided" in filters:
        filters["decided"] = filters["decided"] == "true"
    if filters.get("type", QUEUED[0]) not in QUEUED:
        del filters["type"]
    return filters


def _query(request: CoderRequest) -> str:
    kept = {name: request.GET[name] for name in FILTERS if request.GET.get(name)}
    return "?" + urlencode(kept) if kept else ""


def _url(coding_round: Round, decision: Decision) -> str:
    where = [
        coding_round.study.slug,
        coding_round.number,
        decision.round_unit.unit_id,
        decision.dimension,
    ]
    return reverse("labeling:reconciliation-detail", args=where)


def _settled(coding_round: Round, member: Membership) -> list[tuple[str, int]]:
    """How the round's disagreements were settled."""
    rows = queued_decisions(coding_round, member).order_by().values_list("how").annotate(count=Count("pk"))
    return [(str(Decision.How(how).label), count) for how, count in rows if how]


def reconciliation_detail(
    request: CoderRequest, slug: str, number: int, unit_id: int, dimension: str
) -> HttpResponse:
    coding_round, member = _closed_round(request, slug, number)
    round_unit, _ = get_round_unit_or_404(request.user, coding_round.pk, unit_id)
    item = _find(round_unit, dimension, member)
    if request.method == "POST":
        return _act(request, round_unit, item, member)
    return _show(request, item, member)


def _find(round_unit: RoundUnit, dimension: str, member: Membership) -> Disagreement:
    decision = (
        queued_decisions(round_unit.round, member)
        .filter(round_unit=round_unit, dimension=dimension)
        .select_related(None)
        .select_related("decided_by__user", "recorded_by__user")
        .first()
    )
    if decision is None:
        raise Http404("The coders did not disagree here.")
    decision.round_unit = round_unit
    return with_answers([decision], member)[0]


def _act(
    request: CoderRequest, round_unit: RoundUnit, item: Disagreement, member: Membership
) -> HttpResponse:
    here = request.get_full_path()
    try:
        stays = _do(request, round_unit, item, member)
    except InvalidInputError as error:
        return _show(request, item, member, errors=error.errors, status=422)
    except StudyRuleError as error:
        # Somebody else decided meanwhile: their decision is shown, with what was typed here beside it.
        fresh = _find(round_unit, item.dimension, member)
        return _show(request, fresh, member, errors={"": [error.message]}, status=409)
    except PermissionDenied as error:
        return _show(request, item, member, errors={"": [str(error)]}, status=403)
    if stays:
        return redirect(here)
    return redirect(_next_url(request, item, member) or here)


def _do(request: CoderRequest, round_unit: RoundUnit, item: Disagreement, member: Membership) -> bool:
    """Carry out one act; true if the reader stays on this disagreement."""
    post, action = request.POST, request.POST.get("action", "")
    if action == "comment":
        add_comment(round_unit=round_unit, by=member, text=post.get("comment", ""), dimension=item.dimension)
        return True
    if action == "reopen":
        reopen_decision(decision=item.decision, reason=post.get("reason", ""), by=member)
        return True
    answer = read_answer(post, item)
    said: dict[str, Any] = {
        "round_unit": round_unit,
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
        messages.success(
            request,
            "Asked an adjudicator."
            if action == "escalate"
            else "Proposed. It is decided once all coders of the unit agree.",
        )
    return False


def _next_url(request: CoderRequest, item: Disagreement, member: Membership) -> str | None:
    """The next open disagreement after this one, from the start again at the end."""
    coding_round = item.round_unit.round
    rows = queued_decisions(coding_round, member, **_filters(request)).filter(how="", waits_for="")
    ordered = list(rows.exclude(pk=item.decision.pk).values_list("pk", "round_unit__unit__ref")[:LISTED])
    here = (item.round_unit.unit.ref, item.decision.pk)
    later = [pk for pk, ref in ordered if (ref, pk) > here] or [pk for pk, _ in ordered]
    if not later:
        return reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    return _url(coding_round, rows.get(pk=later[0])) + _query(request)


def _show(
    request: CoderRequest,
    item: Disagreement,
    member: Membership,
    *,
    errors: Mapping[str, list[str]] | None = None,
    status: int = 200,
) -> HttpResponse:
    coding_round, unit = item.round_unit.round, item.round_unit.unit
    dimensions = (
        {each.key: each for each in coding_round.codebook.dimensions.all()} if coding_round.codebook else {}
    )
    names = Names.of(dimensions.get(item.dimension))
    context = {
        **_frame(coding_round, member),
        **_panel(item, member, dimensions.get(item.dimension), names),
        **_list(request, item, member, dimensions),
        "issue": issue_view(unit, member),
        "others": _other_decisions(item, member, dimensions),
        "form": typed(request.POST),
        "errors": [text for texts in (errors or {}).values() for text in texts],
        "hidden": hidden_units(coding_round, member),
    }
    return render_page(
        request,
        "labeling/reconciliation_detail.html",
        context,
        partial="labeling/_standing.html" if request.method == "GET" else None,
        status=status,
    )


def _panel(
    item: Disagreement, member: Membership, dimension: Dimension | None, names: Names
) -> dict[str, Any]:
    """Both answers, what is proposed, and what this reader may do about it."""
    coding_round, decision = item.round_unit.round, item.decision
    is_coder = bool({each.pk for each in coders_of(item.round_unit)} & set(member.coder_ids))
    is_judge = member.role == Role.ADJUDICATOR and (
        coding_round.decide == Round.Decide.ADJUDICATOR or decision.escalated_at is not None
    )
    return {
        "item": item,
        "mark": _marks(coding_round).get(item.dimension, UNIT_MARK),
        "dimension": dimension,
        "sides": sides(item, names),
        "options": other_options(dimension, coding_round),
        "reasons": reasons(),
        "proposals": [(each, _said(each, names)) for each in item.proposals],
        "final": _said_by(decision, names),
        "can_propose": is_coder and decision.is_open and not decision.waits_for,
        "can_record": (member.is_lead or is_judge) and decision.is_open and not decision.waits_for,
        "can_reopen": not decision.is_open and (member.role in (Role.LEAD, Role.ADJUDICATOR) or is_coder),
        "comments": [
            (shown_name(each.by, coding_round), each)
            for each in Comment.objects.visible_to(member)
            .filter(round_unit=item.round_unit, dimension__in=("", item.dimension))
            .select_related("by__user")
        ],
        "decided_by": shown_name(decision.decided_by, coding_round) if decision.decided_by else "",
        "poll_url": _url(coding_round, decision),
    }


def _marks(coding_round: Round) -> dict[str, DimensionMark]:
    return mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else ())


def _said(proposal: Any, names: Names) -> str:
    if proposal.excluded is not None:
        return names.words["excluded" if proposal.excluded else "kept"]
    if not proposal.state and not proposal.categories and not proposal.text:
        return ""
    return names.say(proposal.categories, proposal.state, proposal.text)


def _said_by(decision: Decision, names: Names) -> str:
    if decision.is_open:
        return ""
    if decision.dimension == UNIT:
        return "Excluded: " + decision.exclude_reason if decision.excluded else "Kept"
    if decision.how == Decision.How.EXCLUDED:
        return "The unit is excluded"
    return names.say(decided_codes(decision), decision.state, decision.text)


def _other_decisions(
    item: Disagreement, member: Membership, dimensions: Mapping[str, Dimension]
) -> list[tuple[DimensionMark, str]]:
    """What is settled in the other dimensions of the unit."""
    marks = _marks(item.round_unit.round)
    rows = (
        Decision.objects.visible_to(member)
        .filter(round_unit=item.round_unit)
        .exclude(how="")
        .exclude(pk=item.decision.pk)
        .prefetch_related("categories", "category_proposals")
    )
    decided = {each.dimension: each for each in rows}
    return [
        (marks[key], _said_by(decided[key], Names.of(dimension)))
        for key, dimension in dimensions.items()
        if key in decided
    ]


def _list(
    request: CoderRequest, item: Disagreement, member: Membership, dimensions: Mapping[str, Dimension]
) -> dict[str, Any]:
    """The list at the left: units with what is open in them, and the filters over it."""
    coding_round = item.round_unit.round
    marks = _marks(coding_round)
    words = {key: Names.of(each) for key, each in dimensions.items()} | {UNIT: Names.of(None)}
    rows = queued_decisions(coding_round, member, **_filters(request)).select_related(
        "round_unit__unit__snapshot", "round_unit__unit__issue"
    )
    shown = [
        each
        for each in rows[:LISTED]
        if each.is_open or each.round_unit_id == item.round_unit.pk or "decided" in request.GET
    ]
    counts = {
        row["dimension"]: row["open"]
        for row in queued_decisions(coding_round, member)
        .order_by()
        .values("dimension")
        .annotate(open=Count("pk", filter=Q(how="")))
    }
    totals = (
        queued_decisions(coding_round, member)
        .order_by()
        .aggregate(all=Count("pk"), decided=Count("pk", filter=~Q(how="")))
    )
    return {
        "listed": [
            _listed(list(rows_of_unit), coding_round, marks, words, _query(request))
            for _, rows_of_unit in groupby(shown, key=lambda each: each.round_unit_id)
        ],
        "tabs": [(mark, counts[mark.key]) for mark in [UNIT_MARK, *marks.values()] if counts.get(mark.key)],
        "cells": _cells(coding_round, member, words, request.GET.get("dimension")),
        "filter": {name: request.GET.get(name, "") for name in FILTERS},
        "open_count": totals["all"] - totals["decided"],
        "decided_count": totals["decided"],
        "queued_count": totals["all"],
        "next_url": _next_url(request, item, member),
    }


def _listed(
    rows: list[Decision],
    coding_round: Round,
    marks: Mapping[str, DimensionMark],
    words: Mapping[str, Names],
    query: str,
) -> Listed:
    unit = rows[0].round_unit.unit
    pairs = [
        (marks.get(each.dimension, UNIT_MARK), words[each.dimension].cell(each.cell), each.is_open)
        for each in rows
    ]
    first = next((each for each in rows if each.is_open and not each.waits_for), rows[0])
    title = unit.title or (unit.snapshot.title if unit.snapshot is not None else "")
    return Listed(unit.pk, unit.ref, title, _url(coding_round, first) + query, pairs)


def _cells(
    coding_round: Round, member: Membership, words: Mapping[str, Names], dimension: str | None
) -> list[Option]:
    """The pairs that were confused most often, for the select over the list."""
    rows = (
        queued_decisions(coding_round, member, decided=False, dimension=dimension or None)
        .exclude(cell="")
        .order_by()
        .values("dimension", "cell")
        .annotate(count=Count("pk"))
        .order_by("-count", "cell")[:30]
    )
    return [
        Option(row["cell"], f"{words[row['dimension']].cell(row['cell'])} ({row['count']})") for row in rows
    ]


DETAIL = "studies/<slug:slug>/rounds/<int:number>/reconciliation/<int:unit_id>/<str:dimension>/"
urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/reconciliation/", reconciliation_home, name="reconciliation-home"),
    path(
        "studies/<slug:slug>/rounds/<int:number>/reconciliation/", disagreement_list, name="disagreement-list"
    ),
    path(DETAIL, reconciliation_detail, name="reconciliation-detail"),
]
