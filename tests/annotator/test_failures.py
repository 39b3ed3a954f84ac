import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import path

from annotator import urls


def fail_without_database(request):
    raise OperationalError("could not connect: password=secret")


def fail(request):
    raise ValueError("secret")


urlpatterns = [path("away/", fail_without_database), path("wrong/", fail), *urls.urlpatterns]
handler500 = urls.handler500


@pytest.fixture
def client(settings) -> Client:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "LoginRequired" not in name]
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


def test_a_database_that_is_away_is_no_mistake_of_ours(client):
    answer = client.get("/away/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "secret" not in answer.content.decode()


def test_a_mistake_of_ours_shows_nothing_of_itself(client):
    answer = client.get("/wrong/")
    assert answer.status_code == 500
    assert "secret" not in answer.content.decode()


def test_a_form_that_is_too_old_says_what_to_do(client):
    answer = client.post("/sign-in/")
    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()
