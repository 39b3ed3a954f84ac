from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.errors import InvalidInputError, MembershipError
from labeling.models import Event, Invitation, Membership, Role
from labeling.services.members import accept_invitation, add_member, invite, revoke_invitation, update_member
from tests.factories import lead_of, make_member, make_round, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


def test_numbers_follow_the_order_of_joining_and_give_the_pseudonym(study):
    ada = add_member(study=study, user=make_user(), role=Role.CODER, by=lead_of(study))
    group = add_member(study=study, kind=Membership.Kind.GROUP, title="Pairs", by=lead_of(study))
    assert [(ada.number, ada.pseudonym), (group.number, group.pseudonym)] == [(2, "C2"), (3, "C3")]
    assert group.role == ""


def test_a_member_who_left_comes_back_under_the_old_number(study):
    ada = make_member(study, role=Role.CODER)
    update_member(member=ada, by=lead_of(study), left_at=timezone.now())
    back = add_member(study=study, user=ada.user, role=Role.OBSERVER, by=lead_of(study))
    assert (back.pk, back.number, back.left_at, back.role) == (ada.pk, ada.number, None, Role.OBSERVER)


def test_nobody_is_a_member_twice(study):
    ada = make_member(study)
    with pytest.raises(InvalidInputError, match="member already"):
        add_member(study=study, user=ada.user, role=Role.CODER, by=lead_of(study))


def test_the_last_lead_can_neither_leave_nor_change_role(study):
    lead = lead_of(study)
    for fields in ({"left_at": timezone.now()}, {"role": Role.CODER}):
        with pytest.raises(MembershipError, match="needs a lead"):
            update_member(member=lead, by=lead, **fields)
    lead.refresh_from_db()
    assert lead.role == Role.LEAD


def test_one_of_two_leads_may_leave(study):
    second = make_member(study, role=Role.LEAD)
    update_member(member=lead_of(study), by=second, left_at=timezone.now())


def test_who_codes_in_an_open_round_does_not_become_an_observer(study):
    ada, ben = make_member(study), make_member(study)
    make_round(study, state="open", coders=[ada, ben])
    with pytest.raises(MembershipError, match="open round"):
        update_member(member=ada, by=lead_of(study), role=Role.OBSERVER)


def test_a_pseudonym_is_taken_once(study):
    ada, ben = make_member(study), make_member(study)
    update_member(member=ada, by=lead_of(study), pseudonym="R1")
    with pytest.raises(InvalidInputError, match="R1 is taken"):
        update_member(member=ben, by=lead_of(study), pseudonym=" R1 ")


def test_an_invitation_makes_one_member_and_keeps_only_its_hash(study):
    invitation, token = invite(study=study, role=Role.ADJUDICATOR, by=lead_of(study))
    assert token not in str(vars(invitation))
    member = accept_invitation(token=token, user=make_user())
    assert (member.study, member.role) == (study, Role.ADJUDICATOR)
    with pytest.raises(MembershipError, match="Ask the study lead"):
        accept_invitation(token=token, user=make_user())


def test_expired_and_withdrawn_invitations_do_not_work(study):
    old, old_token = invite(study=study, role=Role.CODER, by=lead_of(study))
    Invitation.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    withdrawn, withdrawn_token = invite(study=study, role=Role.CODER, by=lead_of(study))
    revoke_invitation(invitation=withdrawn, by=lead_of(study))
    for token in (old_token, withdrawn_token, "made-up"):
        with pytest.raises(MembershipError):
            accept_invitation(token=token, user=make_user())
    assert study.memberships.count() == 1


def test_acts_are_recorded(study):
    lead = lead_of(study)
    ada = add_member(study=study, user=make_user(), role=Role.CODER, by=lead)
    update_member(member=ada, by=lead, role=Role.OBSERVER)
    update_member(member=ada, by=lead, role=Role.OBSERVER)
    verbs = Event.objects.filter(study=study).order_by("id").values_list("verb", flat=True)
    assert list(verbs) == ["member.added", "member.changed"]
