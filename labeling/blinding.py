"""Who may read which answers: the one place that says so.

Every queryset that holds answers has ``visible_to(member)``, which calls ``readable`` or ``settled``.
Pages, API, exports and search read through it, for leads as for everyone; there is no other way in
but two selectors that are named in ARCHITECTURE.md.
"""

from django.apps import apps
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from labeling.models.round import Assignment, Round
from labeling.models.study import Membership, Role


def submissions_of(member: Membership, at: str) -> "QuerySet[Model]":
    """Submissions of the member on the unit of the outer row; ``at`` is the path to its RoundUnit."""
    submission = apps.get_model("labeling", "Submission")
    return submission._default_manager.filter(
        assignment__coder__in=member.coder_ids, assignment__round_unit=OuterRef(at or "pk")
    )


def sealing_assignments(member: Membership) -> "QuerySet[Assignment]":
    """Assignments of open rounds: any part of their issues is sealed for the member."""
    return Assignment.objects.of_member(member).active().filter(round_unit__round__state=Round.State.OPEN)


def codes_blind(coding_round: Round, member: Membership) -> bool:
    """Whether the member is named, alone or in a group, in a round that is open.

    A lead who is coding may know of the others how many units they have left, but not which, and not
    the seeds that tell it.
    """
    return coding_round.state == Round.State.OPEN and any(
        coder.pk in member.coder_ids for coder in coding_round.coders.all()
    )


def settled(member: Membership, at: str) -> Q:
    """Rows of closed rounds that ``member`` may read.

    ``at`` is the path to their RoundUnit, empty for rows that are RoundUnits.
    """
    to = f"{at}__" if at else ""
    sealed = sealing_assignments(member).filter(round_unit__unit__issue=OuterRef(f"{to}unit__issue"))
    closed = Q((f"{to}round__study", member.study_id), (f"{to}round__state__in", Round.UNBLINDED))
    rows = closed & Q(~Exists(sealed))
    if member.role == Role.CODER:
        coded = Assignment.objects.of_member(member).active().filter(round_unit__round=OuterRef(f"{to}round"))
        rows &= Q(Exists(coded))
    if member.role == Role.ADJUDICATOR:
        waiting = Q((f"{to}round__own_answer_first", True), (f"{to}round__state", Round.State.CLOSED))
        rows &= ~waiting | Q(Exists(submissions_of(member, at)))
    return rows


def readable(member: Membership, assignment: str) -> Q:
    """Answers ``member`` may read: own in open rounds, settled ones, reference answers after their own.

    ``assignment`` is the path to the Assignment of the rows.
    """
    at = f"{assignment}__round_unit"
    running = Q((f"{at}__round__study", member.study_id), (f"{at}__round__state__in", Round.RUNNING))
    own = running & Q((f"{assignment}__coder__in", member.coder_ids))
    reference = running & Q((f"{assignment}__coder__kind", Membership.Kind.REFERENCE))
    feedback = reference & Q(Exists(submissions_of(member, at)))
    if member.role == Role.LEAD:
        # Who is named in the round is a coder there, also before it is dealt.
        named = Round.coders.through._default_manager.filter(
            membership__in=member.coder_ids, round=OuterRef(f"{at}__round")
        )
        coding = Assignment.objects.of_member(member).filter(round_unit__round=OuterRef(f"{at}__round"))
        feedback |= reference & Q(~Exists(named)) & Q(~Exists(coding))
    return own | feedback | settled(member, at)
