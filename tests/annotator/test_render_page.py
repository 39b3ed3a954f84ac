import pytest
from django.test import RequestFactory
from django_htmx.middleware import HtmxMiddleware

from annotator.http import render_page

PAGE, PART = "whole page", "only a part"


@pytest.fixture
def answer(settings, tmp_path):
    """Answer to a GET of /units/?page=2 with the given headers."""
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "_part.html").write_text(PART)
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path], "OPTIONS": {}}]

    def ask(**headers):
        request = RequestFactory().get("/units/?page=2", headers=headers)
        middleware = HtmxMiddleware(
            lambda request: render_page(request, "page.html", {}, partial="_part.html")
        )
        return middleware(request)

    return ask


def test_a_browser_gets_the_page_and_htmx_the_part(answer):
    assert answer().content.decode() == PAGE
    assert answer(**{"HX-Request": "true"}).content.decode() == PART


@pytest.mark.parametrize("header", ["HX-Boosted", "HX-History-Restore-Request"])
def test_htmx_gets_the_page_where_it_replaces_the_page(answer, header):
    assert answer(**{"HX-Request": "true", header: "true"}).content.decode() == PAGE


def test_caches_keep_page_and_part_apart(answer):
    assert answer()["Vary"] == answer(**{"HX-Request": "true"})["Vary"] == "HX-Request"


def test_the_address_is_pushed_only_when_it_changed(answer):
    moved = answer(**{"HX-Request": "true", "HX-Current-URL": "http://testserver/units/"})
    assert moved["HX-Push-Url"] == "/units/?page=2"
    same = answer(**{"HX-Request": "true", "HX-Current-URL": "http://testserver/units/?page=2"})
    assert "HX-Push-Url" not in same
