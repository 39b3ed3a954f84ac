"""Afterwards: where the final answer differs from what a coder said, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotator.http import CoderRequest, render_page
from labeling.forms.reconciliation import Option, reasons, sides
from labeling.marks import DimensionMark
from labeling.models import DisagreementReason, Membership
from labeling.selectors.answer_names import AnswerNames, answer_names
from labeling.selectors.outcomes import Outcome, outcomes
from labeling.selectors.reconciliation import hidden_units
from labeling.selectors.settled import settled_shares
from labeling.views.disagreement_list import closed_round, round_frame
from labeling.views.reconciliation_panel import UNIT_MARK, Panel, decision_url, round_marks

PAGE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One decision in words. ``mine`` is empty for whoever did not code the unit."""

    ref: str
    title: str
    url: str
    mark: DimensionMark
    mine: str
    theirs: list[tuple[str, str]]
    final: str
    differs: bool
    how: str
    by: str
    reason: str
    rationale: str


@require_GET
def outcome_list(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    coding_round, member = closed_round(request, slug, number)
    names, marks = answer_names(coding_round), round_marks(coding_round)
    dimension, reason = request.GET.get("dimension", ""), request.GET.get("reason", "")
    shows_all = request.GET.get("show") == "all"
    found = outcomes(
        coding_round,
        member,
        dimension=dimension if dimension in names else "",
        reason=reason if reason in DisagreementReason.values else "",
        differing=not shows_all,
    )
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    context = round_frame(coding_round, member) | {
        "page": page,
        "rows": [_row(each, member, names, marks) for each in page],
        "is_coder": coding_round.coders.filter(pk__in=member.coder_ids).exists(),
        "dimensions": [Option(key, marks.get(key, UNIT_MARK).name) for key in names],
        "reasons": reasons(),
        "filter": {"dimension": dimension, "reason": reason, "show": "all" if shows_all else ""},
        "hidden": hidden_units(coding_round, member),
        "shares": settled_shares(coding_round),
    }
    return render_page(request, "labeling/outcome_list.html", context)


def _row(
    outcome: Outcome, member: Membership, names: Mapping[str, AnswerNames], marks: Mapping[str, DimensionMark]
) -> Row:
    item, decision, panel = outcome.item, outcome.decision, Panel(outcome.item, member)
    named, unit = names[decision.dimension], decision.round_unit.unit
    shown = sides(item, named)
    return Row(
        ref=unit.ref,
        title=unit.title or (unit.snapshot.title if unit.snapshot is not None else ""),
        url=decision_url(panel.coding_round, unit.pk, decision.dimension),
        mark=marks.get(decision.dimension, UNIT_MARK),
        mine=next((each.words for each in shown if each.said is outcome.mine), ""),
        theirs=[
            (each.name or f"Coder {each.letter}", each.words)
            for each in shown
            if each.said is not outcome.mine
        ],
        final=named.decision(decision),
        differs=outcome.differs,
        how=decision.get_how_display(),
        by=panel.decided_by or panel.recorded_by,
        reason=decision.get_disagreement_reason_display(),
        rationale=decision.rationale,
    )
