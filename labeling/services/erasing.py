"""Erasing a person: the account goes, what they coded stays under their pseudonym."""

from django.db import transaction
from django.utils import timezone

from labeling.errors import MembershipError
from labeling.models import Membership, Role, Study, User
from labeling.services.events import record


def erase_person(*, user: User) -> int:
    """Remove account, e-mail, tokens and name of a person; give the number of memberships that stay.

    Raises MembershipError while a study would be left without a lead.
    """
    with transaction.atomic():
        memberships = list(user.memberships.select_related("study"))
        _refuse_orphans(user, memberships)
        for member in memberships:
            member.user, member.left_at = None, member.left_at or timezone.now()
            member.experience = member.training = ""
            member.save(update_fields=["user", "left_at", "experience", "training"])
            record(study=member.study, verb="member.erased", by=member, object=f"member:{member.pk}")
        user.delete()
    return len(memberships)


def _refuse_orphans(user: User, memberships: list[Membership]) -> None:
    led = [each.study for each in memberships if each.role == Role.LEAD and each.left_at is None]
    orphans = [
        study.title for study in led if study.deleted_at is None and not _has_another_lead(study, user)
    ]
    if orphans:
        raise MembershipError(
            f"{user.username} alone leads {', '.join(orphans)}. Make somebody else a lead, or delete it."
        )


def _has_another_lead(study: Study, user: User) -> bool:
    leads = study.memberships.filter(role=Role.LEAD, left_at__isnull=True, user__isnull=False)
    return leads.exclude(user=user).exists()
