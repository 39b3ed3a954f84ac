import pytest
from django.http import HttpRequest
from django.test import Client

from annotator.http import client_address


@pytest.mark.django_db
def test_health_is_ok_while_the_database_answers(client: Client):
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "6.6.6.6", "127.0.0.1"),
        (1, "6.6.6.6, 9.9.9.9", "9.9.9.9"),
        (2, "6.6.6.6, 9.9.9.9, 10.0.0.1", "9.9.9.9"),
        (1, "", "127.0.0.1"),
    ],
)
def test_only_trusted_proxies_say_who_asks(settings, proxies, forwarded, address):
    settings.TRUSTED_PROXIES = proxies
    request = HttpRequest()
    request.META = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": forwarded}
    assert client_address(request) == address
