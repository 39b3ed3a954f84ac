"""Studies of a user, their counts, and the events a member may see."""

from collections.abc import Iterable, Mapping

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from labeling.errors import InvalidInputError
from labeling.models import Event, Invitation, Membership, Notice, Role, Round, Study, User
from labeling.selectors.draws import sampled_count
from labeling.selectors.masks import Masks

TELLING = ("decision.", "comment.")
"""Acts on one unit by those who coded it."""


def own_memberships(user: User) -> QuerySet[Membership]:
    """Where the user is a present member, newest study first."""
    return (
        Membership.objects.filter(user=user, left_at__isnull=True, study__deleted_at__isnull=True)
        .select_related("study")
        .order_by("-study_id")
    )


def deleted_studies(user: User) -> QuerySet[Study]:
    """What the user deleted and can still bring back."""
    return Study.objects.filter(deleted_by=user, deleted_at__isnull=False).order_by("purge_at")


def study_progress(study: Study) -> dict[str, int]:
    """Counts that tell nothing of anybody's answers."""
    # Grouped, and not by id: an index alone answers it.
    issues = dict(study.issues.order_by().values_list("eligible").annotate(issues=Count("*")))
    rounds = study.rounds.filter(discarded_at__isnull=True).aggregate(
        **{state: Count("pk", filter=Q(state=state)) for state in Round.State.values}
    )
    return {
        "issues": sum(issues.values()),
        "eligible": issues.get(True, 0),
        "sampled": sampled_count(study),
        **{f"rounds_{state}": rounds[state] for state in Round.State.values},
    }


def visible_events(member: Membership) -> QuerySet[Event]:
    """The record as the member may see it: leads all of it, others what they did themselves.

    What others do in an open round enters after it closes: times alone would tell how they fare.
    """
    events = Event.objects.filter(study=member.study_id).select_related("by__user", "round")
    if member.role == Role.OBSERVER:
        return events.none()
    own = Q(by__in=member.coder_ids)
    if member.role != Role.LEAD:
        return events.filter(own)
    settled = Q(round__isnull=True) | Q(round__state__in=(*Round.UNBLINDED, Round.State.DRAFT))
    return events.filter(own | settled)


def with_shown_names(events: Iterable[Event], member: Membership) -> list[Event]:
    """Call units as open rounds show them to the member, and nobody where that tells who coder A is."""
    shown = [_without_name(event, member) for event in events]
    if any(event.object.startswith("unit:") for event in shown):
        names = Masks(member).names
        for event in shown:
            event.object = shown_object(event.object, names)
    return shown


def tells_who_is_who(event: Event) -> bool:
    """Where names are kept out of reconciliation, who proposed or wrote would tell which coder is A."""
    return event.round is not None and event.round.anonymous and event.verb.startswith(TELLING)


def _without_name(event: Event, member: Membership) -> Event:
    if tells_who_is_who(event) and event.by_id not in member.coder_ids:
        event.by = None
    return event


def shown_object(named: str, names: Mapping[str, str]) -> str:
    """What an act was done to, a unit by the name that is shown of it."""
    kind, _, name = named.partition(":")
    return f"unit:{names[name]}" if kind == "unit" and name in names else named


def own_notices(user: User) -> QuerySet[Notice]:
    """Notices of all studies in which the user is a present member."""
    return Notice.objects.filter(
        member__user=user, member__left_at__isnull=True, member__study__deleted_at__isnull=True
    ).select_related("member__study")


def notices_with_shown_names(notices: Iterable[Notice]) -> list[Notice]:
    """As ``with_shown_names``, for the member each notice is for."""
    shown = list(notices)
    names = {member: Masks(member).names for member in {notice.member for notice in shown}}
    for notice in shown:
        notice.object = shown_object(notice.object, names[notice.member])
    return shown


def open_invitations(study: Study) -> QuerySet[Invitation]:
    """Invitations whose address still works."""
    return study.invitations.filter(
        used_at__isnull=True, revoked_at__isnull=True, expires_at__gt=timezone.now()
    ).order_by("expires_at")


def find_account(name: str) -> User:
    """The account with this user name or e-mail. Raises InvalidInputError that says how to invite instead."""
    named = Q(email__iexact=name) if "@" in name else Q(username=name)
    found = User.objects.filter(named, is_active=True).order_by("pk").first()
    if found is None:
        raise InvalidInputError(
            {"username": [f"There is no account {name}. Send an invitation link instead."]}
        )
    return found
