"""From a URL to its object and the member who asks. Every view and API view begins here.

404 for what somebody may not know of, 403 (with a sentence) for what their role may not do.
"""

from collections.abc import Container
from functools import partial
from operator import attrgetter

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from annotator.repeated import Given, RepeatedQuery
from labeling.blinding import sealing_assignments, settled
from labeling.models import Assignment, Membership, Role, Round, RoundUnit, Study, Unit, User

Roles = Role | Container[str] | None


def get_study_or_404(
    user: User | AnonymousUser, slug: str, *, role: Roles = None
) -> tuple[Study, Membership]:
    return _of_study(user, role, "study__slug", slug)


def get_member_or_404(
    user: User | AnonymousUser, pk: int, *, role: Roles = None
) -> tuple[Membership, Membership]:
    """A member of a study the user belongs to, and the user's own membership."""
    other = Membership.objects.select_related("study", "user").filter(pk=pk).first()
    if other is None:
        raise Http404
    _, member = _of_study(user, role, "study", other.study_id)
    return other, member


def _mine(by: str) -> "QuerySet[Membership]":
    present = Membership.objects.filter(left_at__isnull=True, study__deleted_at__isnull=True)
    return present.filter(user=Given("user"), **{by: Given("value")}).select_related("study")


_MINE = {by: RepeatedQuery(partial(_mine, by)) for by in ("study", "study__slug", "study__rounds")}


def _of_study(user: User | AnonymousUser, role: Roles, by: str, value: int | str) -> tuple[Study, Membership]:
    member = _membership(user, by, value) if isinstance(user, User) else None
    if member is None:
        raise Http404("There is no such study, or you are not a member of it.")
    refuse_other_roles(member, role)
    return member.study, member


def _membership(user: User, by: str, value: int | str) -> Membership | None:
    member = _MINE[by].first(user=user.pk, value=value)
    if member is not None:
        member.user = user
    return member


def refuse_other_roles(member: Membership, role: Roles) -> None:
    """Raise PermissionDenied unless the member holds the role, or one of the roles."""
    if role is None or member.role == role or (not isinstance(role, str) and member.role in role):
        return
    needed = [Role(role).label] if isinstance(role, str) else [each.label for each in Role if each in role]
    raise PermissionDenied(
        f"Only a {' or '.join(needed).lower()} may do this; you are {member.get_role_display().lower()}."
    )


def get_round_or_404(
    user: User | AnonymousUser, slug: str, number: int, *, role: Roles = None
) -> tuple[Round, Membership]:
    study, member = get_study_or_404(user, slug, role=role)
    return _known(_ROUND_OF_STUDY.first(study=study.pk, number=number), member), member


def get_round_by_id_or_404(
    user: User | AnonymousUser, pk: int, *, role: Roles = None
) -> tuple[Round, Membership]:
    _, member = _of_study(user, role, "study__rounds", pk)
    return _known(_ROUND.first(pk=pk), member), member


def _rounds(**which: Given) -> "QuerySet[Round]":
    return Round.objects.filter(discarded_at__isnull=True, **which).select_related("codebook")


_ROUND = RepeatedQuery(lambda: _rounds(pk=Given("pk")))
_ROUND_OF_STUDY = RepeatedQuery(lambda: _rounds(study=Given("study"), number=Given("number")))


def _known(found: Round | None, member: Membership) -> Round:
    # A round in preparation is the lead's desk: others hear of it when it opens.
    if found is None or (found.state == Round.State.DRAFT and not member.is_lead):
        raise Http404("There is no such round.")
    found.study = member.study
    return found


def get_assignment_or_404(user: User | AnonymousUser, pk: int) -> tuple[Assignment, Membership]:
    """The caller's own assignment (or their group's). Anybody else's does not exist for them.

    It is read for each answer given, so it comes without what answers need not know of unit and round.
    """
    found = _ASSIGNMENT.first(pk=pk)
    if found is None:
        raise Http404(NOT_ONES_OWN)
    _, member = _of_study(user, None, "study", found.round_unit.round.study_id)
    if found.coder_id not in member.coder_ids:
        raise Http404(NOT_ONES_OWN)
    return _own(found, member), member


_OF_ANSWERS = (
    "coder",
    "purpose",
    "status",
    "version",
    "active_seconds",
    "return_reason",
    "round_unit__round__study",
    "round_unit__round__state",
    "round_unit__round__stages",
    "round_unit__round__masked_fields",
    "round_unit__unit__ref",
    "round_unit__unit__snapshot",
    "round_unit__unit__issue__url",
)
_ASSIGNMENT = RepeatedQuery(
    lambda: (
        Assignment.objects.active()
        .filter(pk=Given("pk"))
        .select_related("round_unit__round", "round_unit__unit__issue")
        .only(*_OF_ANSWERS)
    )
)
NOT_ONES_OWN = "You have no such unit to code."


def get_unit_assignment_or_404(
    user: User | AnonymousUser, slug: str, number: int, unit_id: int
) -> tuple[Assignment, Membership]:
    coding_round, member = get_round_or_404(user, slug, number)
    own = Assignment.objects.of_member(member).active()
    rows = own.filter(round_unit__round=coding_round, round_unit__unit__pk=unit_id).select_related(
        "round_unit__unit__issue", "round_unit__unit__snapshot"
    )
    # To say in SQL how to sort them costs a third of making so wide a query.
    found = min(rows.order_by(), key=attrgetter("pk"), default=None)
    if found is None:
        raise Http404(NOT_ONES_OWN)
    found.round_unit.round = coding_round
    return _own(found, member), member


def _own(found: Assignment, member: Membership) -> Assignment:
    if _is_sealed(found, member):
        raise Http404(NOT_ONES_OWN)
    found.round_unit.round.study = member.study
    if found.coder_id == member.pk:
        found.coder = member
    return found


def _is_sealed(own: Assignment, member: Membership) -> bool:
    """What one said before is hidden while one codes the issue again, as everything about it is."""
    if own.round_unit.round.state in Round.RUNNING:
        return False
    issue = own.round_unit.unit.issue_id
    return sealing_assignments(member).filter(round_unit__unit__issue=issue).exists()


def get_round_unit_or_404(
    user: User | AnonymousUser, round_id: int, unit_id: int
) -> tuple[RoundUnit, Membership]:
    """A unit whose answers the member may read: of a closed round, reached by their role, not sealed."""
    coding_round, member = get_round_by_id_or_404(user, round_id)
    found = (
        RoundUnit.objects.filter(round=coding_round, unit__pk=unit_id)
        .filter(settled(member, ""))
        .select_related("round__study", "round__codebook", "unit__issue", "unit__snapshot")
        .first()
    )
    if found is None:
        raise Http404(
            "There is no such unit, the round is still open, or the unit is hidden while you code it again."
        )
    return found, member


def get_unit_or_404(user: User | AnonymousUser, pk: int, *, role: Roles = None) -> tuple[Unit, Membership]:
    """A unit of a study the user belongs to; ask for a role: units of open rounds are not everybody's."""
    found = Unit.objects.filter(pk=pk).select_related("study", "issue", "snapshot").first()
    if found is None:
        raise Http404
    _, member = _of_study(user, role, "study", found.study_id)
    return found, member
