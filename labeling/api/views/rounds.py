"""Rounds over the API: their settings, their units and coders, and the way from draft to done."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_round_by_id_or_404, get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.rounds import (
    CategoryProposalInput,
    CategoryProposalOutput,
    CloseInput,
    CodersInput,
    OpenInput,
    RedealInput,
    ResolveInput,
    RoundInput,
    RoundOutput,
    RoundPatch,
    RoundReopenInput,
    SeedsOutput,
    UnitsInput,
)
from labeling.blinding import codes_blind
from labeling.errors import InvalidInputError
from labeling.models import CategoryProposal, Membership, Role, Round, RoundUnit, Sample, Study, Unit
from labeling.sampling import Redealt
from labeling.selectors.masks import Masks
from labeling.selectors.planning import preview_units
from labeling.selectors.progress import round_progress
from labeling.selectors.proposals import readable_proposals
from labeling.selectors.round_units import known_units, listed_round_units
from labeling.services import dealing, proposals, rounds
from labeling.services.agreement import mark_read
from labeling.services.round_settings import refuse_unfit_coders


def round_data(coding_round: Round, member: Membership) -> dict[str, Any]:
    """A round as the member may know it."""
    data: dict[str, Any] = dict(RoundOutput(coding_round).data)
    if _may_know_the_seeds(coding_round, member):
        data |= SeedsOutput(coding_round).data
    if coding_round.anonymous and not member.is_lead:
        data["coders"] = [pk for pk in data["coders"] if pk in member.coder_ids]
    return data


def _may_know_the_seeds(coding_round: Round, member: Membership) -> bool:
    """Whoever knows the seeds can work out which units are coded by several; nobody coding may."""
    return coding_round.is_unblinded or (member.is_lead and not codes_blind(coding_round, member))


def _coders(study: Study, names: Sequence[int | str], field: str = "coders") -> list[Membership]:
    """Members by id or user name. Raises InvalidInputError that names those who are not there."""
    ids = [name for name in names if isinstance(name, int)]
    usernames = [name for name in names if isinstance(name, str)]
    found = list(
        study.memberships.filter(Q(pk__in=ids) | Q(user__username__in=usernames)).select_related("user")
    )
    known = {member.pk for member in found} | {member.user.username for member in found if member.user}
    unknown = [str(name) for name in names if name not in known]
    if unknown:
        raise InvalidInputError({field: [f"No member of the study: {', '.join(unknown)}."]})
    return found


def _units(study: Study, ids: Sequence[int]) -> list[Unit]:
    found = {unit.pk: unit for unit in study.units.filter(pk__in=ids)}
    unknown = [str(pk) for pk in ids if pk not in found]
    if unknown:
        raise InvalidInputError({"units": [f"No unit of the study: {', '.join(unknown)}."]})
    return [found[pk] for pk in dict.fromkeys(ids)]


def _one_of(rows: QuerySet[Any], pk: int, field: str, noun: str) -> Any:
    row = rows.filter(pk=pk).first()
    if row is None:
        raise InvalidInputError({field: [f"The study has no {noun} {pk}."]})
    return row


def _sample(study: Study, pk: int) -> Sample:
    found: Sample = _one_of(study.samples.defer("frame"), pk, "sample", "sample")
    return found


class RoundList(ApiView):
    @extend_schema(responses=RoundOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study, member = get_study_or_404(self.user, slug)
        rows = study.rounds.filter(discarded_at__isnull=True)
        if not member.is_lead:
            rows = rows.exclude(state=Round.State.DRAFT)
        rows = rows.select_related("codebook").prefetch_related("coders")
        return self.paged(
            rows, ordering="number", into=lambda page: [round_data(each, member) for each in page]
        )

    @extend_schema(request=RoundInput, responses={201: RoundOutput})
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(RoundInput)
        if "sample" in body:
            body["sample"] = _sample(study, body["sample"])
        if "based_on" in body:
            earlier = study.rounds.filter(discarded_at__isnull=True)
            body["based_on"] = _one_of(earlier, body["based_on"], "based_on", "round")
        if "units" in body:
            body["units"] = _units(study, body["units"])
        if "coders" in body:
            body["coders"] = _coders(study, body["coders"])
        made = rounds.create_round(study=study, by=lead, **body)
        return Response(
            round_data(made, lead), status=201, headers={"Location": f"/api/v1/rounds/{made.pk}/"}
        )


class RoundDetail(ApiView):
    @extend_schema(responses=RoundOutput)
    def get(self, request: Request, round_id: int) -> Response:
        return Response(round_data(*get_round_by_id_or_404(self.user, round_id)))

    @extend_schema(request=RoundPatch, responses=RoundOutput)
    def patch(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = self.read(RoundPatch)
        if "sample" in body:
            body["sample"] = _sample(coding_round.study, body["sample"])
        if "coders" in body:
            body["coders"] = _coders(coding_round.study, body["coders"])
        changed = rounds.update_round(coding_round=coding_round, by=lead, **body)
        return Response(round_data(changed, lead))


class RoundPreview(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """Three units as a coder would see them, and the work the round will be. Nothing is stored."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        return Response(
            {"units": preview_units(coding_round, lead), "workload": rounds.workload(coding_round, lead)}
        )


class RoundOpen(ApiView):
    @extend_schema(request=OpenInput, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        opened = rounds.open_round(coding_round=coding_round, by=lead, **self.read(OpenInput))
        return Response(round_data(opened, lead))


class RoundClose(ApiView):
    @extend_schema(request=CloseInput, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        closed = rounds.close_round(
            coding_round=coding_round, missing=Round.Missing(self.read(CloseInput)["missing"]), by=lead
        )
        return Response(round_data(closed, lead))


class RoundReopen(ApiView):
    @extend_schema(request=RoundReopenInput, responses={200: RoundOutput, 201: RoundOutput})
    def post(self, request: Request, round_id: int) -> Response:
        """The open round; once somebody has read of it, 201 with a recode round of the chosen units."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = self.read(RoundReopenInput)
        units = _units(coding_round.study, body["units"]) if "units" in body else None
        result = rounds.reopen_round(coding_round=coding_round, reason=body["reason"], by=lead, units=units)
        if result.pk == coding_round.pk:
            return Response(round_data(result, lead))
        headers = {"Location": f"/api/v1/rounds/{result.pk}/"}
        return Response(round_data(result, lead), status=201, headers=headers)


class RoundFinish(ApiView):
    @extend_schema(request=None, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        return Response(round_data(rounds.finish_round(coding_round=coding_round, by=lead), lead))


class RoundDiscard(ApiView):
    @extend_schema(request=None, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        return Response(round_data(rounds.discard(coding_round=coding_round, by=lead), lead))


class RoundToDraft(ApiView):
    @extend_schema(request=None, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        return Response(round_data(rounds.to_draft(coding_round=coding_round, by=lead), lead))


class RoundUnits(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """Units of the round; after it closed also which were coded by several and which are decided."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        rows = known_units(coding_round, member).select_related("unit")

        def into(page: list[RoundUnit]) -> list[dict[str, Any]]:
            if page:
                # Which units are undecided tells on which their coders differ.
                mark_read(coding_round, member)
            return [unit_data(each) for each in listed_round_units(coding_round, member, page)]

        return self.paged(rows, ordering="id", into=into)

    @extend_schema(request=UnitsInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, round_id: int) -> Response:
        """Add units; an open round deals them at once. ``dry_run`` says who would get how many."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = self.read(UnitsInput)
        units = _units(coding_round.study, body["units"])
        if body["dry_run"]:
            more = dealing.plan_units(coding_round=coding_round, units=units)
            return Response(
                {
                    "new": [each.unit_id for each in more.new],
                    "already": [unit.pk for unit in more.already],
                    "coders": [
                        {"id": coder.pk, "name": coder.name, "units": len(dealt)}
                        for coder, dealt in more.dealt.items()
                    ],
                }
            )
        return Response(round_data(dealing.add_units(coding_round=coding_round, units=units, by=lead), lead))


def unit_data(listed: Any) -> dict[str, Any]:
    data = {"id": listed.id, "ref": listed.ref, "stratum": listed.stratum}
    if listed.overlap is not None:
        data |= {"overlap": listed.overlap, "decided": listed.is_decided}
    return data


class RoundCoders(ApiView):
    @extend_schema(request=CodersInput, responses=RoundOutput)
    def post(self, request: Request, round_id: int) -> Response:
        """Name more coders; they get units when some are added or dealt anew."""
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = self.read(CodersInput)
        coders = _coders(coding_round.study, body["coders"])
        if body["dry_run"]:
            refuse_unfit_coders(coding_round.study, coders)
            present = set(coding_round.coders.values_list("pk", flat=True))
            ids = [coder.pk for coder in coders]
            return Response(
                {
                    "new": [pk for pk in ids if pk not in present],
                    "already": [pk for pk in ids if pk in present],
                }
            )
        return Response(
            round_data(dealing.add_coders(coding_round=coding_round, coders=coders, by=lead), lead)
        )


class RoundRedeal(ApiView):
    @extend_schema(request=RedealInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, round_id: int) -> Response:
        """Give what ``from`` has not submitted to the others; ``dry_run`` only says what would move.

        A lead who codes in the round is told how many units, not which.
        """
        coding_round, lead = get_round_by_id_or_404(self.user, round_id, role=Role.LEAD)
        body = self.read(RedealInput)
        (leaving,) = _coders(coding_round.study, [body["from"]], field="from")
        redealt = dealing.redeal(coding_round=coding_round, leaving=leaving, by=lead, dry_run=body["dry_run"])
        told = redealt_data(coding_round, redealt, lead)
        return Response({"from": leaving.pk, "dry_run": body["dry_run"], **told})


def redealt_data(coding_round: Round, redealt: Redealt[int], lead: Membership) -> dict[str, Any]:
    """Which units go to whom and which stay; to a lead who codes in the round only how many."""
    numbers = dict(coding_round.study.memberships.values_list("number", "pk"))
    if codes_blind(coding_round, lead):
        counts = Counter(numbers[number] for number in redealt.moves.values())
        return {
            "moves": [{"units": count, "to": to} for to, count in sorted(counts.items())],
            "stuck": len(redealt.stuck),
        }
    names = Masks(lead).names
    moves = sorted((names.get(ref, ref), numbers[number]) for ref, number in redealt.moves.items())
    return {
        "moves": [{"unit": unit, "to": to} for unit, to in moves],
        "stuck": sorted(names.get(ref, ref) for ref in redealt.stuck),
    }


class RoundProgress(ApiView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, round_id: int) -> Response:
        """What an open round shows: a lead, per coder; a coder, their own; others, the total."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        return Response(round_progress(coding_round, member))


class ProposalList(ApiView):
    @extend_schema(responses=CategoryProposalOutput(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """Proposed categories: the caller's own while the round is open."""
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        rows = readable_proposals(coding_round, member)
        if rows.exclude(by__in=member.coder_ids).exists():
            mark_read(coding_round, member)
        return self.paged(
            rows, ordering="created_at", into=lambda page: CategoryProposalOutput(page, many=True).data
        )

    @extend_schema(request=CategoryProposalInput, responses={201: CategoryProposalOutput})
    def post(self, request: Request, round_id: int) -> Response:
        coding_round, member = get_round_by_id_or_404(self.user, round_id)
        made = proposals.propose_category(
            coding_round=coding_round, by=member, **self.read(CategoryProposalInput)
        )
        return Response(CategoryProposalOutput(made).data, status=201)


class ProposalResolve(ApiView):
    @extend_schema(request=ResolveInput, responses=CategoryProposalOutput)
    def post(self, request: Request, proposal_id: UUID) -> Response:
        """Accept a proposal into the draft of the codebook, map it to a category, or reject it."""
        proposal = CategoryProposal.objects.select_related("round").filter(pk=proposal_id).first()
        if proposal is None:
            raise Http404("There is no such proposal.")
        coding_round, lead = get_round_by_id_or_404(self.user, proposal.round_id, role=Role.LEAD)
        if not readable_proposals(coding_round, lead).filter(pk=proposal.pk).exists():
            raise Http404("There is no such proposal.")
        resolved = proposals.resolve_proposal(
            proposal=proposal, by=lead, **_resolution(self.read(ResolveInput))
        )
        return Response(CategoryProposalOutput(resolved).data)


def _resolution(body: dict[str, Any]) -> dict[str, Any]:
    if body.get("map_to"):
        return {"act": "map", "map_to": body["map_to"]}
    return {"act": "accept" if body.get("accept") else "reject"}


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/rounds/", RoundList.as_view(), name="round-list"),
    path("rounds/<int:round_id>/", RoundDetail.as_view(), name="round-detail"),
    path("rounds/<int:round_id>/preview/", RoundPreview.as_view(), name="round-preview"),
    path("rounds/<int:round_id>/open/", RoundOpen.as_view(), name="round-open"),
    path("rounds/<int:round_id>/close/", RoundClose.as_view(), name="round-close"),
    path("rounds/<int:round_id>/reopen/", RoundReopen.as_view(), name="round-reopen"),
    path("rounds/<int:round_id>/finish/", RoundFinish.as_view(), name="round-finish"),
    path("rounds/<int:round_id>/discard/", RoundDiscard.as_view(), name="round-discard"),
    path("rounds/<int:round_id>/to_draft/", RoundToDraft.as_view(), name="round-to-draft"),
    path("rounds/<int:round_id>/units/", RoundUnits.as_view(), name="round-units"),
    path("rounds/<int:round_id>/coders/", RoundCoders.as_view(), name="round-coders"),
    path("rounds/<int:round_id>/redeal/", RoundRedeal.as_view(), name="round-redeal"),
    path("rounds/<int:round_id>/progress/", RoundProgress.as_view(), name="round-progress"),
    path("rounds/<int:round_id>/proposals/", ProposalList.as_view(), name="proposal-list"),
    path("proposals/<uuid:proposal_id>/resolve/", ProposalResolve.as_view(), name="proposal-resolve"),
]
