import pytest
from django.urls import reverse

from annotator.sign_in import sign_in_link
from labeling.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def eve() -> User:
    return User.objects.create_user("eve", password="correct horse battery")


def sign_in(client, password):
    return client.post(reverse("login"), {"username": "eve", "password": password})


def test_a_sign_in_link_works_once(client, eve):
    link = sign_in_link(eve)
    assert client.get(link).status_code == 302
    assert client.session["_auth_user_id"] == str(eve.pk)
    client.logout()
    assert client.get(link).status_code == 403


def test_ten_wrong_passwords_close_the_door_for_a_while(client, eve):
    for _ in range(9):
        assert sign_in(client, "wrong").status_code == 200
    assert sign_in(client, "wrong").status_code == 429
    answer = sign_in(client, "correct horse battery")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "15 minutes" in answer.content.decode()


def test_a_locked_name_stays_open_elsewhere_and_by_link(client, eve):
    for _ in range(10):
        sign_in(client, "wrong")
    elsewhere = {"username": "eve", "password": "correct horse battery"}
    assert client.post(reverse("login"), elsewhere, REMOTE_ADDR="10.9.8.7").status_code == 302
    client.logout()
    eve.refresh_from_db()
    assert client.get(sign_in_link(eve)).status_code == 302


def test_used_links_lock_nobody_out(client, eve):
    used = sign_in_link(eve)
    client.get(used)
    client.logout()
    for _ in range(20):
        assert client.get(used).status_code == 403
    eve.refresh_from_db()
    assert client.get(sign_in_link(eve)).status_code == 302


def test_an_account_that_was_closed_has_no_way_in(client, eve):
    link = sign_in_link(eve)
    eve.is_active = False
    eve.save()
    assert client.get(link).status_code == 403
    assert sign_in(client, "correct horse battery").status_code == 200


def test_a_stranger_is_sent_to_the_sign_in_page(client):
    answer = client.get("/")
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("login"))


def test_pages_forbid_inline_styles_and_scripts(client):
    policy = client.get(reverse("login"))["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    for directive in ("script-src 'self'", "style-src 'self'", "img-src 'self' data:", "base-uri 'none'"):
        assert directive in policy


def test_cookies_are_for_the_browser_alone(client, eve):
    answer = sign_in(client, "correct horse battery")
    for name in ("sessionid", "csrftoken"):
        assert answer.cookies[name]["httponly"]
        assert answer.cookies[name]["samesite"] == "Lax"
