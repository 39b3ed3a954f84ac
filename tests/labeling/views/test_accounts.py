import re

import pytest
from django.urls import reverse

from labeling.models import Membership, Notice, Role, SourceToken, User
from labeling.services.members import invite
from tests.factories import lead_of, make_member, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client):
    user = make_user("ada")
    client.force_login(user)
    return user


def test_a_password_signs_in_and_out(client):
    make_user("ada", password="a-long-password")
    wrong = client.post(reverse("login"), {"username": "ada", "password": "no"})
    assert wrong.status_code == 200
    assert "correct" in wrong.content.decode()
    right = client.post(reverse("login"), {"username": "ada", "password": "a-long-password"})
    assert right.headers["Location"] == "/"
    assert client.get("/").status_code == 200
    client.post(reverse("logout"))
    assert client.get("/").status_code == 302


def test_ten_wrong_passwords_lock_the_name_for_a_while(client):
    make_user("ada", password="a-long-password")
    for _ in range(10):
        answer = client.post(reverse("login"), {"username": "ada", "password": "no"})
    assert answer.status_code == 429
    assert (
        client.post(reverse("login"), {"username": "ada", "password": "a-long-password"}).status_code == 429
    )


def test_a_sign_in_link_works_once(client):
    from annotator.sign_in import sign_in_link

    link = sign_in_link(make_user("ada"))
    path = link.split("://", 1)[1].partition("/")[2]
    assert client.get(f"/{path}").status_code == 302
    assert client.get("/").status_code == 200
    client.post(reverse("logout"))
    again = client.get(f"/{path}")
    assert again.status_code == 403
    assert "does not work any more" in again.content.decode()


def test_the_account_is_saved_and_a_wrong_zone_told(client, ada):
    saved = client.post(
        reverse("labeling:account"), {"display_name": "Ada Park", "email": "", "zone": "Asia/Seoul"}
    )
    assert saved.status_code == 302
    ada.refresh_from_db()
    assert (str(ada), ada.zone) == ("Ada Park", "Asia/Seoul")
    assert client.post(reverse("labeling:account"), {"zone": "Mars"}).status_code == 422


def test_a_password_is_changed(client, ada):
    body = {
        "old_password": "secret-password",
        "new_password1": "tundra-violin-9",
        "new_password2": "tundra-violin-9",
    }
    assert client.post(reverse("password_change"), body).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password("tundra-violin-9")


def test_tokens_are_stored_and_never_shown(client, ada):
    base = "https://api.github.com"
    client.post(reverse("labeling:source-token-create"), {"api_base": base, "value": "ghp_secret"})
    page = client.get(reverse("labeling:account")).content.decode()
    assert base in page
    assert "ghp_secret" not in page
    refused = client.post(reverse("labeling:source-token-create"), {"api_base": base, "value": "two words"})
    assert refused.status_code == 422
    assert "two words" not in refused.content.decode()
    token = SourceToken.objects.get()
    client.force_login(make_user())
    assert client.post(reverse("labeling:source-token-delete", args=[token.pk])).status_code == 404


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "abc", "-1"])
def test_the_colour_scheme_is_kept_and_sends_nobody_elsewhere(client, ada, elsewhere):
    answer = client.post(reverse("labeling:theme"), {"theme": "dark", "next": elsewhere})
    assert answer.headers["Location"] == "/"
    ada.refresh_from_db()
    assert ada.theme == "dark"
    assert 'data-theme="dark"' in client.get("/").content.decode()
    client.logout()
    client.post(reverse("labeling:theme"), {"theme": "light", "next": "/login/"})
    assert 'data-theme="light"' in client.get("/login/").content.decode()


def test_an_invitation_makes_an_account_and_a_member(client):
    study = make_study()
    _, token = invite(study=study, role=Role.CODER, by=lead_of(study))
    address = reverse("labeling:invitation-accept", args=[token])
    assert study.title in client.get(address).content.decode()
    weak = {"username": "cleo", "password1": "1234", "password2": "1234"}
    assert client.post(address, weak).status_code == 422
    strong = weak | {"password1": "tundra-violin-9", "password2": "tundra-violin-9"}
    assert client.post(address, strong).headers["Location"] == study.get_absolute_url()
    assert Membership.objects.get(user__username="cleo").role == Role.CODER
    assert client.get(study.get_absolute_url()).status_code == 200
    assert client.get(address).status_code == 404


def test_who_is_signed_in_joins_with_their_account(client, ada):
    study = make_study()
    _, token = invite(study=study, role=Role.OBSERVER, by=lead_of(study))
    client.post(reverse("labeling:invitation-accept", args=[token]))
    assert study.memberships.get(user=ada).role == Role.OBSERVER


def test_a_member_who_opens_an_invitation_is_told(client):
    study = make_study()
    client.force_login(make_member(study).user)
    _, token = invite(study=study, role=Role.LEAD, by=lead_of(study))
    answer = client.post(reverse("labeling:invitation-accept", args=[token]))
    assert answer.status_code == 422
    assert "member already" in answer.content.decode()


def test_a_taken_name_makes_no_second_account(client):
    make_user("cleo")
    study = make_study()
    _, token = invite(study=study, role=Role.CODER, by=lead_of(study))
    body = {"username": "cleo", "password1": "tundra-violin-9", "password2": "tundra-violin-9"}
    answer = client.post(reverse("labeling:invitation-accept", args=[token]), body)
    assert answer.status_code == 422
    assert "taken" in answer.content.decode()
    assert User.objects.filter(username="cleo").count() == 1


def test_the_inbox_lists_notices_and_marks_them_read(client):
    member = make_member(make_study())
    Notice.objects.create(member=member, verb="round.opened", object="round:2", url="/x/")
    client.force_login(member.user)
    page = client.get(reverse("labeling:inbox")).content.decode()
    assert re.search(r'href="/x/">Opened for coding: round 2<', page)
    client.post(reverse("labeling:inbox"))
    assert Notice.objects.get().read_at is not None


def test_own_keys_are_kept_and_shown(client, ada):
    saved = client.post(
        reverse("labeling:key-map"), {"single_keys": "on", "skip": "Shift+Y", "memo": "Shift+N"}
    )
    assert saved.status_code == 302
    ada.refresh_from_db()
    assert ada.key_map == {"skip": "Shift+Y"}
    assert client.get(reverse("labeling:account")).context["key_form"]["skip"].value() == "Shift+Y"


@pytest.mark.parametrize(
    ("keys", "field", "told"),
    [
        ({"skip": "Shift+X"}, "exclude", "is taken: Skip"),
        ({"skip": "a"}, "skip", "Press one sign"),
        ({"skip": "7"}, "skip", "Press one sign"),
        ({"skip": "Control+W"}, "skip", "Press one sign"),
        ({"discuss": "a"}, "discuss", "is taken: Agree on A"),
    ],
)
def test_a_key_that_is_taken_is_refused_at_its_field(client, ada, keys, field, told):
    answer = client.post(reverse("labeling:key-map"), {"single_keys": "on"} | keys)
    assert answer.status_code == 422
    assert told in answer.context["key_form"].errors[field][0]
    ada.refresh_from_db()
    assert ada.key_map == {}


def test_single_keys_can_be_switched_off_for_good(client, ada):
    client.post(reverse("labeling:key-map"), {})
    ada.refresh_from_db()
    assert ada.key_map == {"single_keys": "off"}
    overview = client.get(reverse("labeling:account")).content.decode()
    assert 'id="single-keys">' in overview
