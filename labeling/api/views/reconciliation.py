"""Reconciliation over the API: disagreements, proposals, decisions, discussion."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.http import Http404, QueryDict
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_round_by_id_or_404, get_round_unit_or_404, get_unit_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.reconciliation import (
    CellInput,
    CommentInput,
    DecisionInput,
    ProposalInput,
    ReopenInput,
    UnitSplitInput,
    answer_of,
)
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Comment, Decision, Membership, Role, Round, RoundUnit
from labeling.selectors.reconciliation import (
    QUEUED,
    CoderAnswer,
    Disagreement,
    Earlier,
    ShownProposal,
    called,
    decided_codes,
    earlier_decisions,
    queued_decisions,
    unit_letters,
    with_answers,
)
from labeling.selectors.reports import reaches_report
from labeling.services.agreement import mark_read
from labeling.services.answers import Answer
from labeling.services.discussion import add_comment
from labeling.services.reconciliation import (
    decide_cell,
    open_reconciliation,
    propose_decision,
    record_decision,
    refuse_unopened,
    reopen_decision,
)
from labeling.services.splitting import split_unit


def decision_data(item: Disagreement) -> dict[str, Any]:
    """The answer of a decision, in the words in which it is given."""
    decision, coding_round = item.decision, item.round_unit.round
    by, noted = decision.decided_by, decision.recorded_by
    return {
        "categories": list(decided_codes(decision)),
        "state": decision.state,
        "text": decision.text,
        "excluded": decision.excluded,
        "reason": decision.exclude_reason,
        "rationale": decision.rationale,
        "disagreement_reason": decision.disagreement_reason,
        "how": decision.how or None,
        "decided_by": called(by, coding_round, item.letters) if by else None,
        "recorded_by": called(noted, coding_round, item.letters) if noted else None,
        "decided_at": decision.decided_at,
        "escalated_at": decision.escalated_at,
        "version": decision.version,
    }


def disagreement_data(item: Disagreement) -> dict[str, Any]:
    unit = item.round_unit.unit
    return {
        "unit": {"id": unit.pk, "ref": unit.ref, "url": unit.issue.url or None},
        "dimension": item.dimension,
        "type": item.type,
        "cell": item.decision.cell,
        "waits_for": item.waits_for or None,
        "answers": [_said_data(each, item) for each in item.answers],
        "shared": list(item.shared),
        "contested": [
            {"category": code, "chosen_by": list(letters)} for code, letters in item.contested.items()
        ],
        "proposals": [_said_data(each, item) for each in item.proposals],
        "decision": None if item.decision.is_open else decision_data(item),
        "version": item.version,
    }


def _said_data(said: CoderAnswer | ShownProposal, item: Disagreement) -> dict[str, Any]:
    data = asdict(said)
    if item.round_unit.round.anonymous:
        data["member"] = None  # with the list of members it would be a name
    return data


class DisagreementList(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """Filter by ``type, dimension, pair`` (two member ids), ``cell, repository, decided``."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        refuse_running(coding_round)
        open_reconciliation(coding_round)  # no more than a look, unless a crash cut the close short
        refuse_unopened(coding_round)
        if reaches_report(member, coding_round):
            mark_read(coding_round, member)
        rows = queued_decisions(coding_round, member, **_filters(request.query_params))
        return self.paged(
            rows,
            ordering="id",
            into=lambda page: [disagreement_data(each) for each in with_answers(page, member)],
        )


def refuse_running(coding_round: Round) -> None:
    if not coding_round.is_unblinded:
        raise RoundStateError(f"Round {coding_round.number} is open: answers are compared once it is closed.")


def _filters(params: QueryDict) -> dict[str, Any]:
    filters: dict[str, Any] = {
        name: params[name] for name in ("type", "dimension", "cell", "repository") if params.get(name)
    }
    if filters.get("type", QUEUED[0]) not in QUEUED:
        raise InvalidInputError({"type": [f"Choose one of {', '.join(QUEUED)}."]})
    if decided := params.get("decided"):
        if decided not in ("true", "false"):
            raise InvalidInputError({"decided": ["Write true or false."]})
        filters["decided"] = decided == "true"
    if pair := params.get("pair"):
        ids = pair.split(",")
        if len(ids) != 2 or not all(each.isdecimal() and len(each) < 19 for each in ids):
            raise InvalidInputError({"pair": ["Write two member ids, for example 3,5."]})
        filters["pair"] = (int(ids[0]), int(ids[1]))
    return filters


class Proposals(ApiView):
    @extend_schema(request=ProposalInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, round_id: int, unit_id: int, dimension: str) -> Response:
        round_unit, member = get_round_unit_or_404(self.user, round_id, unit_id)
        body = self.read(ProposalInput)
        decision = propose_decision(
            round_unit=round_unit,
            dimension=dimension,
            by=member,
            answer=answer_of(body, _item(round_unit, dimension, member, body)),
            rationale=body["rationale"],
            disagreement_reason=body["disagreement_reason"],
            escalate=body["escalate"],
        )
        return Response(_item_data(decision, member), status=201)


def _item(
    round_unit: RoundUnit, dimension: str, member: Membership, body: dict[str, Any]
) -> Disagreement | None:
    """What the coders said, where the body decides it category by category."""
    if "choose" not in body:
        return None
    return with_answers([_find(round_unit, dimension, member)], member)[0]


def _item_data(decision: Decision, member: Membership) -> dict[str, Any]:
    """One disagreement, with what its decision said before it was reopened."""
    item = with_answers([decision], member)[0]
    return disagreement_data(item) | {"earlier": [_earlier_data(each) for each in earlier_decisions(item)]}


def _earlier_data(earlier: Earlier) -> dict[str, Any]:
    data = asdict(earlier)
    by_id = ("decided_by", "recorded_by")  # ids of members say nothing in the words of the API
    return data | {"said": {name: value for name, value in earlier.said.items() if name not in by_id}}


class DecisionDetail(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int, unit_id: int, dimension: str) -> Response:
        round_unit, member = get_round_unit_or_404(self.user, round_id, unit_id)
        mark_read(round_unit.round, member)
        return Response(_item_data(_find(round_unit, dimension, member), member))

    @extend_schema(request=DecisionInput, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, round_id: int, unit_id: int, dimension: str) -> Response:
        round_unit, member = get_round_unit_or_404(self.user, round_id, unit_id)
        body = self.read(DecisionInput)
        decision = record_decision(
            round_unit=round_unit,
            dimension=dimension,
            by=member,
            answer=_required_answer(body, _item(round_unit, dimension, member, body)),
            rationale=body["rationale"],
            disagreement_reason=body["disagreement_reason"],
            how=body.get("how"),
            version=body["version"],
        )
        return Response(_item_data(decision, member))


def _find(round_unit: RoundUnit, dimension: str, member: Membership) -> Decision:
    found = (
        Decision.objects.visible_to(member)
        .filter(round_unit=round_unit, dimension=dimension)
        .select_related(
            "round_unit__round__study", "round_unit__unit__issue", "decided_by__user", "recorded_by__user"
        )
        .first()
    )
    if found is None:
        raise Http404("There is nothing to decide in this dimension of the unit.")
    return found


def _required_answer(body: dict[str, Any], item: Disagreement | None = None) -> Answer:
    answer = answer_of(body, item)
    if answer is None:
        raise InvalidInputError({"categories": ["Give the answer: categories, a state, or a text."]})
    return answer


class DecisionReopen(ApiView):
    @extend_schema(request=ReopenInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, round_id: int, unit_id: int, dimension: str) -> Response:
        round_unit, member = get_round_unit_or_404(self.user, round_id, unit_id)
        decision = _find(round_unit, dimension, member)
        reopened = reopen_decision(decision=decision, reason=self.read(ReopenInput)["reason"], by=member)
        return Response(_item_data(reopened, member))


class DecisionBulk(ApiView):
    @extend_schema(request=CellInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, round_id: int) -> Response:
        """Decide all open units of one confusion cell alike."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        body = self.read(CellInput)
        decided = decide_cell(
            coding_round=coding_round,
            dimension=body["dimension"],
            cell=body["cell"],
            answer=_required_answer(body),
            rationale=body["rationale"],
            by=member,
        )
        return Response({"decided": decided})


class CommentList(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int, unit_id: int) -> Response:
        round_unit, member = self._unit(round_id, unit_id)
        rows = Comment.objects.visible_to(member).filter(round_unit=round_unit).select_related("by__user")
        return self.paged(rows, into=lambda page: _comments(page, round_unit))

    @extend_schema(request=CommentInput, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, round_id: int, unit_id: int) -> Response:
        round_unit, member = self._unit(round_id, unit_id)
        body = self.read(CommentInput)
        comment = add_comment(
            round_unit=round_unit, by=member, text=body["text"], dimension=body["dimension"]
        )
        return Response(_comments([comment], round_unit)[0], status=201)

    def _unit(self, round_id: int, unit_id: int) -> tuple[RoundUnit, Membership]:
        refuse_running(get_round_by_id_or_404(self.user, round_id)[0])
        return get_round_unit_or_404(self.user, round_id, unit_id)


def _comments(comments: Iterable[Comment], round_unit: RoundUnit) -> list[dict[str, Any]]:
    letters = unit_letters(round_unit) if round_unit.round.anonymous else {}
    return [
        {
            "id": each.pk,
            "by": called(each.by, round_unit.round, letters),
            "text": each.text,
            "dimension": each.dimension or None,
            "at": each.created_at,
        }
        for each in comments
    ]


class UnitSplit(ApiView):
    @extend_schema(request=UnitSplitInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, unit_id: int) -> Response:
        """Split a unit whose issue holds several problems; refused while it is coded."""
        unit, lead = get_unit_or_404(self.user, unit_id, role=Role.LEAD)
        body = self.read(UnitSplitInput)
        made = split_unit(
            unit=unit,
            parts=[each["title"] for each in body["parts"]],
            reason=body["reason"],
            by=lead,
            follow_up=body["follow_up"],
        )
        parts = [{"id": each.pk, "ref": each.ref, "title": each.title} for each in made]
        return Response({"unit": {"id": unit.pk, "ref": unit.ref}, "parts": parts}, status=201)


UNIT = "rounds/<int:round_id>/units/<int:unit_id>"
DECISION = f"{UNIT}/decisions/<str:dimension>"
urlpatterns: list[URLPattern] = [
    path("rounds/<int:round_id>/disagreements/", DisagreementList.as_view(), name="disagreement-list"),
    path("rounds/<int:round_id>/decisions/bulk/", DecisionBulk.as_view(), name="decision-bulk"),
    path(f"{DECISION}/", DecisionDetail.as_view(), name="decision-detail"),
    path(f"{DECISION}/proposals/", Proposals.as_view(), name="decision-proposals"),
    path(f"{DECISION}/reopen/", DecisionReopen.as_view(), name="decision-reopen"),
    path("units/<int:unit_id>/split/", UnitSplit.as_view(), name="unit-split"),
    path(f"{UNIT}/comments/", CommentList.as_view(), name="comment-list"),
]
