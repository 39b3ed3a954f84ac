"""Members and invitations. Numbers follow the order of joining and are never given twice."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from labeling.errors import InvalidInputError, MembershipError
from labeling.models import Invitation, Membership, Role, Round, Study, User
from labeling.services.events import record

INVITATION_LASTS = timedelta(days=14)
UPDATABLE = ("role", "pseudonym", "experience", "training", "group", "may_publish_at", "left_at")


def add_member(
    *,
    study: Study,
    by: Membership | None,
    user: User | None = None,
    role: str = "",
    pseudonym: str | None = None,
    kind: Membership.Kind = Membership.Kind.PERSON,
    title: str = "",
) -> Membership:
    """Add a person with an account and a role, or a coder without one (an imported column, a group)."""
    if kind == Membership.Kind.PERSON and role not in Role.values:
        raise InvalidInputError({"role": [f"Choose one of {', '.join(Role.values)}."]})
    with transaction.atomic():
        # The lock keeps two people who join at once from getting the same number.
        Study.objects.select_for_update().get(pk=study.pk)
        if user is not None and (known := study.memberships.filter(user=user).first()) is not None:
            return _welcome_back(known, role, by)
        number = (study.memberships.aggregate(Max("number"))["number__max"] or 0) + 1
        name = (pseudonym or "").strip() or f"C{number}"
        _refuse_taken_pseudonym(study, name)
        member = Membership.objects.create(
            study=study, user=user, kind=kind, role=role, number=number, pseudonym=name, title=title
        )
        record(
            study=study,
            verb="member.added",
            by=by or member,
            object=f"member:{member.pk}",
            role=role,
            kind=kind,
        )
    return member


def _welcome_back(member: Membership, role: str, by: Membership | None) -> Membership:
    if member.left_at is None:
        raise InvalidInputError({"username": [f"{member.name} is a member already."]})
    member.left_at, member.role = None, role
    member.save(update_fields=["left_at", "role"])
    record(
        study=member.study, verb="member.returned", by=by or member, object=f"member:{member.pk}", role=role
    )
    return member


def _refuse_taken_pseudonym(study: Study, name: str, of: Membership | None = None) -> None:
    taken = study.memberships.filter(pseudonym=name)
    if of is not None:
        taken = taken.exclude(pk=of.pk)
    if taken.exists():
        raise InvalidInputError({"pseudonym": [f"{name} is taken in this study. Choose another pseudonym."]})


def update_member(*, member: Membership, by: Membership, **fields: Any) -> Membership:
    """Change role, pseudonym, texts or presence. A study keeps at least one lead."""
    unknown = set(fields) - set(UPDATABLE)
    if unknown:
        raise InvalidInputError({name: ["This field cannot be changed."] for name in sorted(unknown)})
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=member.study_id)
        locked = Membership.objects.get(pk=member.pk)
        _refuse_bad_fields(locked, fields)
        changed = sorted(name for name, value in fields.items() if getattr(locked, name) != value)
        for name in changed:
            setattr(locked, name, fields[name])
        _refuse_leaderless(locked)
        locked.save(update_fields=changed)
        if changed:
            record(
                study=locked.study, verb="member.changed", by=by, object=f"member:{locked.pk}", fields=changed
            )
    return locked


def _refuse_bad_fields(member: Membership, fields: dict[str, Any]) -> None:
    if "role" in fields and (member.kind != Membership.Kind.PERSON or fields["role"] not in Role.values):
        raise InvalidInputError(
            {"role": [f"Choose one of {', '.join(Role.values)}; only persons have a role."]}
        )
    if "pseudonym" in fields:
        name = str(fields["pseudonym"]).strip()
        if not name or len(name) > 60:
            raise InvalidInputError({"pseudonym": ["Give a pseudonym of 1 to 60 characters."]})
        fields["pseudonym"] = name
        _refuse_taken_pseudonym(member.study, name, of=member)
    _refuse_bad_group(member, fields)
    _refuse_change_while_coding(member, fields)


def _refuse_bad_group(member: Membership, fields: dict[str, Any]) -> None:
    group = fields.get("group")
    if group is not None and (group.study_id != member.study_id or group.kind != Membership.Kind.GROUP):
        raise InvalidInputError({"group": ["Choose a group of this study."]})


def _refuse_change_while_coding(member: Membership, fields: dict[str, Any]) -> None:
    # An observer does not code: their open units would be left without a coder.
    coding = member.assignments.active().filter(round_unit__round__state=Round.State.OPEN)
    becomes_reader = fields.get("role") == Role.OBSERVER and member.role != Role.OBSERVER
    if becomes_reader and coding.exists():
        raise MembershipError(
            f"{member.name} codes in an open round. Re-deal their units or close it, then change the role."
        )


def _refuse_leaderless(member: Membership) -> None:
    leads = member.study.memberships.filter(role=Role.LEAD, left_at__isnull=True, user__isnull=False)
    stays_lead = member.role == Role.LEAD and member.left_at is None
    if not stays_lead and not leads.exclude(pk=member.pk).exists():
        raise MembershipError("A study needs a lead. Make somebody else a lead first.")


def hash_token(token: str) -> str:
    """What is stored of a one-time token; random enough to need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def invite(*, study: Study, role: str, by: Membership) -> tuple[Invitation, str]:
    """Make an invitation; the token in its address is returned once and never stored."""
    if role not in Role.values:
        raise InvalidInputError({"role": [f"Choose one of {', '.join(Role.values)}."]})
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            study=study, role=role, token_hash=hash_token(token), expires_at=timezone.now() + INVITATION_LASTS
        )
        record(study=study, verb="invitation.made", by=by, object=f"invitation:{invitation.pk}", role=role)
    return invitation, token


def find_invitation(token: str) -> Invitation | None:
    """The invitation behind an address, if it can still be used."""
    return (
        Invitation.objects.filter(
            token_hash=hash_token(token),
            used_at__isnull=True,
            revoked_at__isnull=True,
            expires_at__gt=timezone.now(),
            study__deleted_at__isnull=True,
        )
        .select_related("study")
        .first()
    )


def accept_invitation(*, token: str, user: User) -> Membership:
    """Make ``user`` a member; of two who open the same address at once, one gets in."""
    with transaction.atomic():
        found = find_invitation(token)
        if found is None:
            raise MembershipError(
                "This invitation was used, withdrawn or has expired. Ask the study lead for a new one."
            )
        invitation = Invitation.objects.select_for_update().get(pk=found.pk)
        if invitation.used_at is not None:
            raise MembershipError("This invitation was used. Ask the study lead for a new one.")
        member = add_member(study=invitation.study, user=user, role=invitation.role, by=None)
        invitation.used_at, invitation.used_by = timezone.now(), member
        invitation.save(update_fields=["used_at", "used_by"])
    return member


def revoke_invitation(*, invitation: Invitation, by: Membership) -> None:
    """Make the address useless."""
    with transaction.atomic():
        changed = Invitation.objects.filter(
            pk=invitation.pk, used_at__isnull=True, revoked_at__isnull=True
        ).update(revoked_at=timezone.now())
        if changed:
            record(
                study=invitation.study, verb="invitation.revoked", by=by, object=f"invitation:{invitation.pk}"
            )
