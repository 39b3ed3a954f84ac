"""Coding over the API: the caller's queue, one unit, saving and handing it in."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_assignment_or_404, get_round_by_id_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.coding import AssignmentChanges, AssignmentOutput, ReturnInput
from labeling.errors import InvalidInputError
from labeling.models import Assignment, Membership, Role, Unit
from labeling.selectors.coding import NARROWING, issue_view, next_assignment, queue, shown_ref
from labeling.selectors.issues import hidden_in_list, shown_url
from labeling.selectors.questions import Questions, questions
from labeling.services import coding

PARTS = {"annotations", "memo", "confidence", "evidence", "exclude"}


def assignment_data(assignment: Assignment) -> dict[str, Any]:
    return {"id": assignment.pk, **coding.state_of(assignment)}


class Queue(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """The caller's units in their order. Filters: ``status``, ``dimension``, ``category``."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        asked = {
            name: value
            for name in ("status", "dimension", "category")
            if (value := request.query_params.get(name))
        }
        _refuse_unknown(asked, questions(coding_round, member))
        rows = queue(member, coding_round, **asked)
        return self.paged(rows, ordering="position", into=lambda page: _rows(page, member))


def _refuse_unknown(asked: Mapping[str, str], questions: Questions) -> None:
    dimension = asked.get("dimension")
    known = {
        "status": NARROWING,
        "dimension": list(questions),
        "category": [
            code for key, each in questions.items() if dimension in (None, key) for code in each.codes
        ],
    }
    for name, value in asked.items():
        if value not in known[name]:
            choices = ", ".join(dict.fromkeys(known[name])) or "nothing: the round has none"
            raise InvalidInputError({name: [f"There is no {name} {value} here. Choose one of {choices}."]})


def _rows(page: Iterable[Assignment], member: Membership) -> list[dict[str, Any]]:
    rows = list(page)
    hidden = hidden_in_list(rows, member)
    return [
        {
            "id": each.pk,
            "position": each.position,
            "status": each.status,
            "unit": _named(each.round_unit.unit, hidden[each.pk]),
        }
        for each in rows
    ]


def _named(unit: Unit, hidden: frozenset[str]) -> dict[str, Any]:
    return {"id": unit.pk, "ref": shown_ref(unit, hidden), "url": shown_url(unit, hidden)}


class QueueNext(ApiView):
    @extend_schema(responses={200: OpenApiTypes.OBJECT, 204: None})
    def get(self, request: Request, round_id: int) -> Response:
        """What to code next, with its issue; 204 when nothing is left."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        following = next_assignment(member, coding_round)
        if following is None or not following.takes_answers:
            return Response(status=HTTPStatus.NO_CONTENT)
        coding.open_assignment(assignment=following)
        return Response(assignment_data(following) | {"issue": issue_view(following, member)})


class AssignmentDetail(ApiView):
    @extend_schema(responses=AssignmentOutput)
    def get(self, request: Request, assignment_id: int) -> Response:
        assignment, _ = get_assignment_or_404(self.user, assignment_id)
        return Response(assignment_data(assignment))

    @extend_schema(request=AssignmentChanges, responses=AssignmentOutput)
    def patch(self, request: Request, assignment_id: int) -> Response:
        """Save changed fields; with ``status`` also hand in or put off. 409 if one was changed elsewhere."""
        return self._write(assignment_id, whole=False)

    @extend_schema(request=AssignmentChanges, responses=AssignmentOutput)
    def put(self, request: Request, assignment_id: int) -> Response:
        """As PATCH, for the whole answer: needs the current version, and what is left out is emptied."""
        return self._write(assignment_id, whole=True)

    def _write(self, assignment_id: int, *, whole: bool) -> Response:
        assignment, member = get_assignment_or_404(self.user, assignment_id)
        body = self.read(AssignmentChanges)
        changes = {name: body[name] for name in PARTS & set(body)}
        if whole:
            changes = _emptied(assignment, changes)
        status, version = body.get("status"), body["version"]
        if status == "submitted" and not whole:
            told = coding.save_and_submit(assignment=assignment, changes=changes, version=version, by=member)
            return Response({"id": assignment.pk, **told})
        if status is None and changes and not whole:
            told = coding.save_and_tell(assignment=assignment, changes=changes, version=version, by=member)
            return Response({"id": assignment.pk, **told})
        if changes or whole:
            assignment = coding.save_draft(
                assignment=assignment, changes=changes, version=version, by=member, whole=whole
            )
        if status == "submitted":
            coding.submit(assignment=assignment, by=member)
        elif status == "skipped":
            coding.skip(assignment=assignment, by=member)
        elif status == "draft" and not changes:
            coding.resume(assignment=assignment, by=member)
        return Response(assignment_data(get_assignment_or_404(self.user, assignment_id)[0]))


def _emptied(assignment: Assignment, changes: dict[str, Any]) -> dict[str, Any]:
    """The changes of a PUT: what it leaves out is taken back."""
    answered = dict.fromkeys(coding.state_of(assignment)["annotations"])
    nothing: dict[str, Any] = {"memo": "", "confidence": "", "evidence": [], "exclude": None}
    return nothing | changes | {"annotations": answered | changes.get("annotations", {})}


class AssignmentReturn(ApiView):
    @extend_schema(request=ReturnInput, responses={204: None})
    def post(self, request: Request, assignment_id: int) -> Response:
        """Ask a coder to look at a unit again. The answer says nothing of what they said."""
        assignment = (
            Assignment.objects.active()
            .filter(pk=assignment_id)
            .select_related("round_unit__round__study", "round_unit__unit")
            .first()
        )
        if assignment is None:
            raise Http404("There is no such assignment.")
        _, lead = get_round_by_id_or_404(self.user, assignment.round_unit.round_id, role=Role.LEAD)
        coding.return_assignment(assignment=assignment, reason=self.read(ReturnInput)["reason"], by=lead)
        return Response(status=HTTPStatus.NO_CONTENT)


urlpatterns: list[URLPattern] = [
    path("rounds/<int:round_id>/queue/", Queue.as_view(), name="queue"),
    path("rounds/<int:round_id>/queue/next/", QueueNext.as_view(), name="queue-next"),
    path("assignments/<int:assignment_id>/", AssignmentDetail.as_view(), name="assignment-detail"),
    path("assignments/<int:assignment_id>/return/", AssignmentReturn.as_view(), name="assignment-return"),
]
