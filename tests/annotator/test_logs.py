import logging

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import path

from annotator import urls
from annotator.logs import ShortRefusals
from tests.factories import make_user


def refused(request):
    raise PermissionDenied("Only a lead may do this.")


def broken(request):
    raise ZeroDivisionError


@pytest.fixture
def logged(monkeypatch):
    """Records of refused and failed requests, also where other tests made the logger silent."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    handler.addFilter(ShortRefusals())
    logger = logging.getLogger("django.request")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "propagate", False)
    before = logger.level
    logger.setLevel(logging.WARNING)
    yield records
    logger.setLevel(before)


urlpatterns = [*urls.urlpatterns, path("refused/", refused), path("broken/", broken)]


@pytest.mark.django_db
@pytest.mark.urls(__name__)
@pytest.mark.parametrize(("address", "is_traced"), [("/refused/", False), ("/broken/", True)])
def test_only_a_fault_is_logged_with_its_traceback(logged, address, is_traced):
    client = Client(raise_request_exception=False)
    client.force_login(make_user("ada"))
    client.get(address)
    [record] = logged
    assert (record.exc_info is not None) is is_traced


def test_every_record_of_an_installation_goes_through_the_filter(settings):
    assert settings.LOGGING["handlers"]["console"]["filters"] == ["refusals"]
