import pytest
from django.db import DataError, OperationalError
from django.test import Client
from django.urls import path

from annotator import urls
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.services.tokens import store_token
from tests.factories import lead_of, make_study, make_user


def fail_without_database(request):
    raise OperationalError("could not connect: password=secret")


def fail(request):
    raise ValueError("secret")


def refuse(request):
    raise StudyRuleError("Store the token again.")


def misfit(request):
    raise InvalidInputError({"token": ["Store the token again."]})


def overflow(request):
    raise DataError("integer out of range")


urlpatterns = [
    path("overflow/", overflow),
    path("refused/", refuse),
    path("misfit/", misfit),
    path("away/", fail_without_database),
    path("wrong/", fail),
    path("api/away/", fail_without_database),
    path("api/wrong/", fail),
    *urls.urlpatterns,
]
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


@pytest.mark.parametrize(("address", "status"), [("/api/wrong/", 500), ("/api/away/", 503)])
def test_a_program_is_told_of_a_failure_in_its_own_language(client, address, status):
    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status
    assert answer.json()["detail"]
    assert "secret" not in answer.text


def test_the_address_of_a_form_asked_for_as_a_page_says_so(signed_in):
    answer = signed_in.get("/sign-out/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "only takes what a form sends" in answer.text


@pytest.mark.parametrize("address", ["/sign-in/", "/api/v1/studies/"])
def test_more_than_one_request_may_hold_is_told_with_its_bound(address, settings, signed_in):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024**2
    sent = {"title": "x" * 1024**2}
    kind = {"content_type": "application/json"} if address.startswith("/api/") else {}
    answer = signed_in.post(address, sent, **kind)
    assert answer.status_code == 413
    assert "more than the 1 MB of text one request may hold" in answer.text
    assert ("problem+json" in answer["Content-Type"]) == address.startswith("/api/")


@pytest.fixture
def signed_in(db) -> Client:
    browser = Client()
    browser.force_login(make_user("lead"))
    return browser


def test_a_form_that_is_too_old_says_what_to_do(client):
    answer = client.post("/sign-in/")
    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.urls(__name__)
@pytest.mark.parametrize(("address", "status"), [("/refused/", 409), ("/misfit/", 422)])
def test_a_rule_that_a_view_does_not_expect_ends_in_its_sentence(client, address, status):
    client.force_login(make_user())
    answer = client.get(address)
    assert answer.status_code == status
    assert "Store the token again." in answer.content.decode()


@pytest.mark.django_db
def test_a_token_of_another_secret_key_is_told_on_the_page_of_imports(client, settings):
    study = make_study()
    store_token(user=lead_of(study).user, api_base="https://api.github.com", value="ghp_one")
    settings.SECRET_KEY = "another-key" * 5
    client.force_login(lead_of(study).user)
    answer = client.get(f"/studies/{study.slug}/imports/new/")
    assert answer.status_code == 409
    assert "Store the token again" in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "address", "data", "status"),
    [
        ("get", "/?search=a%00b", None, 400),
        ("get", "/studies/a%00b/", None, 400),
        ("post", "/sign-in/", "username=a%00b", 400),
        ("get", "/api/v1/studies/?search=%00", None, 422),
        ("get", "/overflow/", None, 422),
    ],
)
def test_what_no_database_stores_is_refused_and_no_mistake_of_ours(client, method, address, data, status):
    sent = {"data": data, "content_type": "application/x-www-form-urlencoded"} if data else {}
    answer = getattr(client, method)(address, **sent)
    assert answer.status_code == status
    assert "NUL" in answer.text or "out of range" in answer.text or status == 400
