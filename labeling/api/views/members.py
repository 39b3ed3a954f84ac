"""Members and invitations of a study."""

from typing import Any

from django.conf import settings
from django.http import Http404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_member_or_404, get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.studies import (
    InvitationInput,
    InvitationOutput,
    MemberInput,
    MemberOutput,
    MemberPatch,
)
from labeling.errors import InvalidInputError
from labeling.models import Invitation, Membership, Role, Study, User
from labeling.selectors.studies import find_account
from labeling.services import members


class MemberList(ApiView):
    @extend_schema(responses=MemberOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study, _ = get_study_or_404(self.user, slug)
        rows = study.memberships.select_related("user")
        return self.paged(rows, ordering="number", into=lambda page: MemberOutput(page, many=True).data)

    @extend_schema(request=MemberInput, responses={201: MemberOutput})
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        body = self.read(MemberInput)
        kind = Membership.Kind(body.get("kind", Membership.Kind.PERSON))
        member = members.add_member(
            study=study,
            user=_account(body) if kind == Membership.Kind.PERSON else None,
            role=body.get("role", Role.CODER) if kind == Membership.Kind.PERSON else "",
            by=lead,
            pseudonym=body.get("pseudonym"),
            kind=kind,
            title=body.get("name", ""),
        )
        return Response(MemberOutput(member).data, status=201)


def _account(body: dict[str, Any]) -> User:
    name = body.get("username") or body.get("email")
    if not name:
        raise InvalidInputError({"username": ["Give a username or an email."]})
    return find_account(name)


class MemberDetail(ApiView):
    @extend_schema(request=MemberPatch, responses=MemberOutput)
    def patch(self, request: Request, member_id: int) -> Response:
        member, caller = get_member_or_404(self.user, member_id)
        body = self.read(MemberPatch)
        if not caller.is_lead and (caller != member or set(body) - {"may_publish"}):
            raise PermissionDenied("Only a lead changes members; of your own you may set may_publish.")
        if "may_publish" in body and caller != member:
            raise PermissionDenied("Whether their annotations may be published is for each coder to say.")
        return Response(
            MemberOutput(members.update_member(member=member, by=caller, **_fields(member, body))).data
        )


def _fields(member: Membership, body: dict[str, Any]) -> dict[str, Any]:
    """What the body asks, in the fields of the model."""
    fields: dict[str, Any] = {
        name: body[name] for name in ("role", "pseudonym", "experience", "training") if name in body
    }
    if "left" in body:
        fields["left_at"] = (member.left_at or timezone.now()) if body["left"] else None
    if "may_publish" in body:
        fields["may_publish_at"] = (member.may_publish_at or timezone.now()) if body["may_publish"] else None
    if "group" in body:
        fields["group"] = _group(member.study, body["group"])
    return fields


def _group(study: Study, pk: int | None) -> Membership | None:
    if pk is None:
        return None
    found = study.memberships.filter(pk=pk, kind=Membership.Kind.GROUP).first()
    if found is None:
        raise InvalidInputError({"group": ["Choose a group of this study."]})
    return found


class InvitationList(ApiView):
    @extend_schema(responses=InvitationOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study, _ = get_study_or_404(self.user, slug, role=Role.LEAD)
        rows = study.invitations.all()
        return self.paged(rows, ordering="-id", into=lambda page: [invitation_data(each) for each in page])

    @extend_schema(request=InvitationInput, responses={201: InvitationOutput})
    def post(self, request: Request, slug: str) -> Response:
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        invitation, token = members.invite(study=study, role=self.read(InvitationInput)["role"], by=lead)
        return Response(invitation_data(invitation, invitation_url(token)), status=201)


def invitation_url(token: str) -> str:
    return settings.PUBLIC_URL.rstrip("/") + reverse("labeling:invitation-accept", args=[token])


def invitation_data(invitation: Invitation, url: str | None = None) -> dict[str, Any]:
    fields = ("id", "role", "expires_at", "used_at", "revoked_at")
    return {field: getattr(invitation, field) for field in fields} | {"url": url}


class InvitationDetail(ApiView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, invitation_id: int) -> Response:
        invitation = Invitation.objects.select_related("study").filter(pk=invitation_id).first()
        if invitation is None:
            raise Http404("There is no such invitation.")
        _, lead = get_study_or_404(self.user, invitation.study.slug, role=Role.LEAD)
        members.revoke_invitation(invitation=invitation, by=lead)
        return Response(status=204)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/members/", MemberList.as_view(), name="member-list"),
    path("members/<int:member_id>/", MemberDetail.as_view(), name="member-detail"),
    path("studies/<slug:slug>/invitations/", InvitationList.as_view(), name="invitation-list"),
    path("invitations/<int:invitation_id>/", InvitationDetail.as_view(), name="invitation-detail"),
]
