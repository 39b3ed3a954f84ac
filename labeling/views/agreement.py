"""Agreement of closed rounds: the newest one, and one round with everything its numbers say."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404, get_study_or_404
from labeling.charts.breakdown import DimensionGroups
from labeling.charts.names import category_name
from labeling.models import UNIT, AgreementReport, Membership, Round, Study
from labeling.selectors.agreement import ELIGIBILITY
from labeling.selectors.agreement_figures import (
    APART,
    Closer,
    agreement_figures,
    agreement_trend,
    category_names,
    listed_rounds,
)
from labeling.selectors.agreement_latex import page_latex
from labeling.selectors.agreement_sections import (
    VERSION,
    breakdown_choices,
    change_figures,
    comparable_rounds,
    grouped_figures,
    later_version,
    retest_gaps,
    version_figures,
)
from labeling.selectors.agreement_units import Cell, cell_units
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reports import reaches_report
from labeling.selectors.rounds import reachable_rounds
from labeling.services.agreement import mark_read, report_of, sentence_for_paper
from labeling.services.exports import file_names
from labeling.views.reconciliation_panel import decision_url

UNITS_PER_PAGE = 100
CSV = "agreement.csv"


def agreement_home(request: CoderRequest, slug: str) -> HttpResponse:
    """Go to the newest closed round, else say when there will be numbers."""
    study, member = get_study_or_404(request.user, slug)
    newest = reachable_rounds(member).filter(state__in=Round.UNBLINDED).order_by("-number").first()
    if newest is not None:
        return redirect("labeling:agreement-detail", slug, newest.number)
    return render_page(request, "labeling/agreement_waiting.html", _frame(study, member))


def agreement_detail(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """The numbers of a round; asked for before anybody saw them, first what seeing them means."""
    coding_round, member = get_round_or_404(request.user, slug, number)
    if not reaches_report(member, coding_round):
        raise PermissionDenied("Coders read the agreement of rounds in which they coded.")
    context = _frame(coding_round.study, member) | {"coding_round": coding_round}
    if not coding_round.is_unblinded:
        status = 409 if request.method == "POST" else 200
        return render_page(request, "labeling/agreement_waiting.html", context, status=status)
    if request.method == "POST":
        mark_read(coding_round, member)
        return redirect("labeling:agreement-detail", slug, number)
    if coding_round.first_unblinded_read_at is None:
        return render_page(request, "labeling/agreement_waiting.html", context)
    context |= _numbers(request, coding_round, member)
    return render_page(
        request, "labeling/agreement_detail.html", context, partial="labeling/_agreement_closer.html"
    )


def _frame(study: Study, member: Membership) -> dict[str, Any]:
    return {"study": study, "membership": member, "nav": "agreement", "rounds": listed_rounds(member)}


def _numbers(request: CoderRequest, coding_round: Round, member: Membership) -> dict[str, Any]:
    report = report_of(coding_round)
    pair = request.GET.get("pair", "")
    figures = agreement_figures(
        report,
        member,
        dimension=request.GET.get("dimension", ""),
        pair=int(pair) if pair.isdecimal() else 0,
    )
    closer = figures["closer"]
    is_apart = coding_round.kind in APART
    context = figures | {
        "report": report,
        "is_apart": is_apart,
        "is_independent": report.kind != AgreementReport.Kind.AFTER_UNBLINDING,
        "paper": None if is_apart else sentence_for_paper(report),
        "trend": agreement_trend(coding_round, member),
        "cells_url": _cells_url(coding_round, closer) if closer is not None else "",
        "units_url": _units_url(coding_round, closer) if closer is not None else "",
        "gaps": retest_gaps(coding_round),
        **_broken_down(request, coding_round, report),
        **_compared(request, coding_round, member),
        "csv": CSV if CSV in file_names(member) else "",
    }
    return context | {"latex": page_latex(context, coding_round.number)}


def _broken_down(request: CoderRequest, coding_round: Round, report: AgreementReport) -> dict[str, Any]:
    choices = breakdown_choices(coding_round)
    by = request.GET.get("by", "")
    later = later_version(coding_round) if by == VERSION else None
    groups: Sequence[DimensionGroups] = ()
    if by in choices and later is not None:
        groups = version_figures(report, report_of(coding_round, to_version=later.version), later)
    elif by in choices:
        groups = grouped_figures(report_of(coding_round, scope=by))
    return {"breakdowns": choices, "by": by, "groups": groups}


def _compared(request: CoderRequest, coding_round: Round, member: Membership) -> dict[str, Any]:
    others = comparable_rounds(coding_round, member)
    asked = request.GET.get("against", "")
    other = next((each for each in others if str(each.number) == asked), None)
    return {
        "others": others,
        "against": other,
        "change": change_figures(coding_round, other) if other is not None else None,
    }


def _cells_url(coding_round: Round, closer: Closer) -> str:
    """Where the disagreements of a cell are settled: the address of a dimension, to which a cell is added.

    Empty where cells and disagreements do not match: those of three coders hold other pairs too.
    """
    if coding_round.kind in APART or len(closer.comparisons) != 1:
        return ""
    where = reverse("labeling:disagreement-list", args=[coding_round.study.slug, coding_round.number])
    dimension = UNIT if closer.key == ELIGIBILITY else closer.key
    return f"{where}?{urlencode({'dimension': dimension, 'decided': 'all'})}"


def _units_url(coding_round: Round, closer: Closer) -> str:
    """Where the units of a cell are listed: the address of a table, to which its two answers are added."""
    where = reverse("labeling:agreement-units", args=[coding_round.study.slug, coding_round.number])
    return f"{where}?{urlencode({'dimension': closer.key, 'pair': closer.chosen})}"


@require_GET
def agreement_units(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """The units behind one cell of who chose what."""
    coding_round, member = get_round_or_404(request.user, slug, number)
    if not reaches_report(member, coding_round):
        raise PermissionDenied("Coders read the agreement of rounds in which they coded.")
    if not coding_round.is_unblinded or coding_round.first_unblinded_read_at is None:
        return redirect("labeling:agreement-detail", slug, number)
    cell = _cell(request.GET)
    # Who said which of two answers would tell who is who.
    is_told = cell.first == cell.second or not coding_round.anonymous
    found = cell_units(report_of(coding_round), cell, member) if is_told else None
    if found is None:
        raise Http404("There is no such cell.")
    units = [
        (each, decision_url(coding_round, each.unit, each.decided) if each.decided else "")
        for each in found.units
    ]
    context = _frame(coding_round.study, member) | _cell_in_words(coding_round, member, cell)
    context |= {
        "page": Paginator(units, UNITS_PER_PAGE).get_page(request.GET.get("page")),
        "count": len(units) + found.hidden,
        "hidden": found.hidden,
    }
    return render_page(request, "labeling/agreement_units.html", context)


def _cell(params: Mapping[str, str]) -> Cell:
    pair = params.get("pair", "0")
    return Cell(
        dimension=params.get("dimension", ""),
        pair=int(pair) if pair.isdecimal() and len(pair) < 6 else -1,
        first=params.get("first", ""),
        second=params.get("second", ""),
    )


def _cell_in_words(coding_round: Round, member: Membership, cell: Cell) -> dict[str, Any]:
    figures = agreement_figures(report_of(coding_round), member, dimension=cell.dimension, pair=cell.pair)
    table = figures["closer"].confusion
    known = category_names(round_dimensions(coding_round)).get(cell.dimension, {})
    first, second = (category_name(code, known).name for code in (cell.first, cell.second))
    address = reverse("labeling:agreement-detail", args=[coding_round.study.slug, coding_round.number])
    return {
        "coding_round": coding_round,
        "name": figures["names"].get(cell.dimension, cell.dimension),
        "answers": first if first == second else f"{first} / {second}",
        "is_same": cell.first == cell.second,
        "coders": [table.coder_a, table.coder_b],
        "back_url": f"{address}?{urlencode({'dimension': cell.dimension, 'pair': cell.pair})}",
    }


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/agreement/", agreement_home, name="agreement-home"),
    path("studies/<slug:slug>/rounds/<int:number>/agreement/", agreement_detail, name="agreement-detail"),
    path("studies/<slug:slug>/rounds/<int:number>/agreement/units/", agreement_units, name="agreement-units"),
]
