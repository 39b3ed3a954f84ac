"""Members of a study and the addresses that invite new ones."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotator.http import CoderRequest, render_page
from labeling.access import get_study_or_404
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.forms.errors import add_errors
from labeling.forms.studies import InvitationForm, MemberAddForm, MemberForm
from labeling.models import Membership, Role, Study
from labeling.selectors.studies import find_account, open_invitations
from labeling.services.members import add_member, invite, revoke_invitation, update_member


def member_list(request: CoderRequest, slug: str) -> HttpResponse:
    study, member = get_study_or_404(request.user, slug)
    return _member_page(request, study, member)


def _member_page(
    request: CoderRequest, study: Study, member: Membership, status: int = 200, **extra: Any
) -> HttpResponse:
    context = {
        "study": study,
        "membership": member,
        "members": study.memberships.select_related("user", "group"),
        "invitations": open_invitations(study) if member.is_lead else [],
        "add_form": MemberAddForm(),
        "invitation_form": InvitationForm(),
        **extra,
    }
    return render_page(request, "labeling/member_list.html", context, status=status)


@require_POST
def member_add(request: CoderRequest, slug: str) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = MemberAddForm(request.POST)
    if form.is_valid():
        try:
            user = find_account(form.cleaned_data["username"])
            added = add_member(study=study, user=user, role=form.cleaned_data["role"], by=lead)
        except InvalidInputError as error:
            add_errors(form, error)
        else:
            messages.success(
                request, f"{added.name} is {added.get_role_display().lower()} of this study now."
            )
            return redirect("labeling:member-list", slug)
    return _member_page(request, study, lead, status=422, add_form=form)


@require_POST
def invitation_create(request: CoderRequest, slug: str) -> HttpResponse:
    """Show the address once: only its hash is kept, so the page that answers is the only one that has it."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _member_page(request, study, lead, status=422, invitation_form=form)
    invitation, token = invite(study=study, role=form.cleaned_data["role"], by=lead)
    address = settings.PUBLIC_URL.rstrip("/") + reverse("labeling:invitation-accept", args=[token])
    return _member_page(request, study, lead, new_invitation=invitation, new_address=address)


@require_POST
def invitation_revoke(request: CoderRequest, slug: str, invitation_id: int) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    invitation = study.invitations.filter(pk=invitation_id).first()
    if invitation is None:
        raise Http404("There is no such invitation.")
    revoke_invitation(invitation=invitation, by=lead)
    messages.success(request, "The invitation was withdrawn. Its address does not work any more.")
    return redirect("labeling:member-list", slug)


def member_edit(request: CoderRequest, slug: str, member_id: int) -> HttpResponse:
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    member = study.memberships.select_related("user").filter(pk=member_id).first()
    if member is None:
        raise Http404("There is no such member.")
    form = MemberForm(request.POST or None, instance=member)
    if member.kind != Membership.Kind.PERSON:
        del form.fields["role"]
    if form.is_valid():
        try:
            update_member(member=member, by=lead, **form.cleaned_data)
        except InvalidInputError as error:
            add_errors(form, error)
        except StudyRuleError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "The member was saved.")
            return redirect("labeling:member-list", slug)
    context = {"study": study, "membership": lead, "member": member, "form": form}
    return render_page(request, "labeling/member_edit.html", context, status=422 if form.errors else 200)


@require_POST
def member_leave(request: CoderRequest, slug: str, member_id: int) -> HttpResponse:
    """Let a member go: they read nothing any more, what they said stays."""
    study, lead = get_study_or_404(request.user, slug, role=Role.LEAD)
    member = study.memberships.filter(pk=member_id).first()
    if member is None:
        raise Http404("There is no such member.")
    try:
        update_member(member=member, by=lead, left_at=timezone.now())
    except StudyRuleError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{member.name} left the study. Their annotations stay.")
    return redirect("labeling:member-list", slug)


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/members/", member_list, name="member-list"),
    path("studies/<slug:slug>/members/add/", member_add, name="member-add"),
    path("studies/<slug:slug>/members/<int:member_id>/", member_edit, name="member-edit"),
    path("studies/<slug:slug>/members/<int:member_id>/leave/", member_leave, name="member-leave"),
    path("studies/<slug:slug>/invitations/", invitation_create, name="invitation-create"),
    path(
        "studies/<slug:slug>/invitations/<int:invitation_id>/revoke/",
        invitation_revoke,
        name="invitation-revoke",
    ),
]
