import pytest
from django.core.management import CommandError, call_command
from knox.models import AuthToken

from labeling.models import Membership, SourceToken, Submission, User
from labeling.services.tokens import store_token
from tests.factories import assignment_of, make_member, make_round, make_study, make_submission, make_user

pytestmark = pytest.mark.django_db


def test_the_account_goes_and_the_annotations_stay_under_the_pseudonym():
    study = make_study()
    ada = make_member(study, user=make_user("ada", display_name="Ada Park", email="ada@example.org"))
    coding_round = make_round(study, state="open", coders=[ada, make_member(study)])
    make_submission(assignment_of(coding_round, ada))
    AuthToken.objects.create(user=ada.user)
    store_token(user=ada.user, api_base="https://api.github.com", value="ghp_one")
    call_command("erase_user", "ada")
    erased = Membership.objects.get(pk=ada.pk)
    assert (erased.user, erased.name, erased.pseudonym) == (None, "C2", "C2")
    assert erased.left_at is not None
    assert Submission.objects.count() == 1
    assert not User.objects.filter(username="ada").exists()
    assert not SourceToken.objects.exists()
    assert not AuthToken.objects.exists()


def test_a_study_is_not_left_without_a_lead():
    user = make_user("lena")
    study = make_study(lead=user, title="Kernel bugs")
    with pytest.raises(CommandError, match="Kernel bugs"):
        call_command("erase_user", "lena")
    make_member(study, role="lead")
    call_command("erase_user", "lena")
    assert study.memberships.filter(user__isnull=True).count() == 1


def test_an_unknown_name_is_told():
    with pytest.raises(CommandError, match="no user bob"):
        call_command("erase_user", "bob")
