"""The disagreements of a closed round as a list with filters, and deciding those alike that are alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotator.http import CoderRequest, render_page
from labeling.access import get_round_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.reconciliation import Option, cell_options, read_options
from labeling.marks import DimensionMark
from labeling.models import UNIT, Assignment, Membership, Role, Round
from labeling.selectors.answer_names import AnswerNames, answer_names
from labeling.selectors.queue import Entry, Filters, Queue, reconciliation_queue
from labeling.selectors.reconciliation import QUEUED, hidden_units, own_answers_due
from labeling.selectors.rounds import reachable_rounds
from labeling.selectors.settled import settled_shares
from labeling.services.agreement import mark_read
from labeling.services.reconciliation import decide_cell, open_reconciliation
from labeling.views.reconciliation_panel import UNIT_MARK, decision_url, round_marks

PAGE = 60  # units in the list at the left


def closed_round(request: CoderRequest, slug: str, number: int) -> tuple[Round, Membership]:
    """Find a round whose answers are open to the reader, and note that somebody reads them."""
    coding_round, member = get_round_or_404(request.user, slug, number)
    if not coding_round.is_unblinded or not reachable_rounds(member).filter(pk=coding_round.pk).exists():
        raise Http404("The answers of this round are not open to you.")
    mark_read(coding_round, member)
    open_reconciliation(coding_round)  # no more than a look, unless a crash cut the close short
    return coding_round, member


def round_frame(coding_round: Round, member: Membership) -> dict[str, Any]:
    return {
        "study": coding_round.study,
        "membership": member,
        "nav": "reconciliation",
        "coding_round": coding_round,
    }


def disagreement_list(request: CoderRequest, slug: str, number: int) -> HttpResponse:
    """Go to the first open disagreement of the filter; without one, say what that means."""
    coding_round, member = closed_round(request, slug, number)
    filters = Filters.read(request.GET)
    queue = reconciliation_queue(coding_round, member, filters)
    first = queue.first()
    if first is not None:
        return redirect(decision_url(coding_round, first.unit, first.dimension) + filters.query)
    context = round_frame(coding_round, member) | {
        "queue": queue,
        "hidden": hidden_units(coding_round, member),
        "own_answers_due": own_answers_due(coding_round, member).count(),
        "own_answer_url": own_answer_url(coding_round, member),
        "shares": settled_shares(coding_round),
    }
    return render_page(request, "labeling/disagreement_list.html", context)


def own_answer_url(coding_round: Round, member: Membership) -> str:
    """Where an adjudicator who answers first goes on; empty where nothing waits for that."""
    first = own_answers_due(coding_round, member).select_related("round_unit").first()
    if first is None:
        return ""
    where = [coding_round.study.slug, coding_round.number, first.round_unit.unit_id]
    return reverse("labeling:coding-detail", args=where)


# The list beside a disagreement


@dataclass(frozen=True, slots=True)
class ListedPair:
    mark: DimensionMark
    answers: Sequence[str]
    is_open: bool


@dataclass(frozen=True, slots=True)
class ListedUnit:
    """One unit in the list at the left, with what is queued of it."""

    unit: int
    ref: str
    title: str
    url: str
    pairs: Sequence[ListedPair]


@dataclass(frozen=True, slots=True)
class DisagreementList:
    """The part of the queue that is listed around the decision one looks at."""

    queue: Queue
    coding_round: Round
    marks: Mapping[str, DimensionMark]
    names: Mapping[str, AnswerNames]
    current: int

    def _groups(self) -> list[list[Entry]]:
        listed = self.queue.listed(self.current)
        return [list(rows) for _, rows in groupby(listed, key=lambda each: each.unit)]

    def _window(self, groups: Sequence[Sequence[Entry]]) -> tuple[int, int]:
        """The page of the list that holds the current unit."""
        ids = [{each.decision for each in rows} for rows in groups]
        place = next((i for i, decisions in enumerate(ids) if self.current in decisions), 0)
        first = place // PAGE * PAGE
        return first, min(first + PAGE, len(groups))

    def context(self) -> dict[str, Any]:
        groups = self._groups()
        first, last = self._window(groups)
        return {
            "listed": [self._unit(rows) for rows in groups[first:last]],
            "earlier": (first, self._url(groups[first - 1][0])) if first else None,
            "later": (len(groups) - last, self._url(groups[last][0])) if last < len(groups) else None,
        }

    def _url(self, entry: Entry) -> str:
        return decision_url(self.coding_round, entry.unit, entry.dimension) + self.queue.filters.query

    def _unit(self, rows: Sequence[Entry]) -> ListedUnit:
        first = next((each for each in rows if each.can_be_decided), rows[0])
        pairs = [
            ListedPair(
                self.marks.get(each.dimension, UNIT_MARK),
                self.names[each.dimension].cell(each.cell) if each.cell else ["no answer yet"],
                each.is_open,
            )
            for each in rows
        ]
        return ListedUnit(first.unit, first.ref, first.title, self._url(first), pairs)


def list_context(
    queue: Queue, coding_round: Round, member: Membership, names: Mapping[str, AnswerNames], current: int
) -> dict[str, Any]:
    """The list at the left: units with what is open in them, and the filters over it."""
    marks = round_marks(coding_round)
    open_by = queue.open_by_dimension()
    return {
        **DisagreementList(queue, coding_round, marks, names, current).context(),
        "queue": queue,
        "filters": queue.filters,
        "tabs": [(mark, open_by[mark.key]) for mark in [UNIT_MARK, *marks.values()] if open_by[mark.key]],
        "cells": [
            Option(cell, f"{' / '.join(names[dimension].cell(cell))} ({count})")
            for dimension, cell, count in queue.cells()
        ],
        "types": [Option(each.value, str(each.label)) for each in QUEUED],
        "pairs": _coder_pairs(coding_round),
        "repositories": sorted({each.repository for each in queue.entries if each.repository}),
        "hidden": hidden_units(coding_round, member),
        "own_answers_due": own_answers_due(coding_round, member).count(),
        "own_answer_url": own_answer_url(coding_round, member),
    }


def _coder_pairs(coding_round: Round) -> list[Option]:
    """Pairs of coders, where there are more than two and their names are no secret."""
    if coding_round.anonymous:
        return []
    coders = Membership.objects.filter(
        assignments__round_unit__round=coding_round, assignments__purpose=Assignment.Purpose.CODING
    )
    present = list(coders.select_related("user").distinct().order_by("number"))
    if len(present) < 3:
        return []
    return [Option(f"{a.pk},{b.pk}", f"{a.name} and {b.name}") for a, b in combinations(present, 2)]


# All of one cell


def disagreement_cell(request: CoderRequest, slug: str, number: int, dimension: str) -> HttpResponse:
    """All open units in which the same answers met, to be decided alike with one rationale."""
    coding_round, member = closed_round(request, slug, number)
    if member.role not in (Role.LEAD, Role.ADJUDICATOR):
        raise PermissionDenied("A lead or an adjudicator decides several units at once.")
    cell = request.GET.get("cell", "")
    names = answer_names(coding_round)
    if dimension not in names or not cell:
        raise Http404("There is no such pair of answers.")
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        try:
            return _decide_cell(request, coding_round, member, dimension, cell)
        except InvalidInputError as error:
            errors, status = [text for texts in error.errors.values() for text in texts], 422
        except StudyRuleError as error:
            errors, status = [error.message], 409
        except PermissionDenied as error:
            errors, status = [str(error)], 403
    queue = reconciliation_queue(coding_round, member, Filters(dimension=dimension, cell=cell))
    waiting = [each for each in queue.fitting if each.can_be_decided]
    context = round_frame(coding_round, member) | {
        "cell": cell,
        "answers": names[dimension].cell(cell),
        "mark": round_marks(coding_round).get(dimension, UNIT_MARK),
        "units": [(each, decision_url(coding_round, each.unit, dimension)) for each in waiting],
        "options": cell_options(dimension, cell, names[dimension], coding_round),
        "is_multiple": dimension != UNIT and not names[dimension].is_exclusive,
        "chosen": request.POST.getlist("other"),
        "rationale": request.POST.get("rationale", ""),
        "errors": errors,
    }
    return render_page(request, "labeling/disagreement_cell.html", context, status=status)


def _decide_cell(
    request: CoderRequest, coding_round: Round, member: Membership, dimension: str, cell: str
) -> HttpResponse:
    answer = read_options([each for each in request.POST.getlist("other") if each], dimension)
    if answer is None or "other" not in request.POST:
        raise InvalidInputError({"answer": ["Choose the answer that is to stand."]})
    rationale = request.POST.get("rationale", "")
    if not rationale.strip():
        raise InvalidInputError({"rationale": ["Say why this is the answer for all of them."]})
    count = decide_cell(
        coding_round=coding_round,
        dimension=dimension,
        cell=cell,
        answer=answer,
        rationale=rationale,
        by=member,
    )
    messages.success(request, f"{count} unit{'' if count == 1 else 's'} decided.")
    return redirect("labeling:disagreement-list", coding_round.study.slug, coding_round.number)
