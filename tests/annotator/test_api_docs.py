import pytest
from django.urls import reverse


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_api_page_draws_itself_under_our_policy(page, live_server):
    page.goto(live_server.url + reverse("api:docs"))
    page.wait_for_selector(".opblock-summary", timeout=30_000)
    assert "Intercoder" in page.inner_text("h1, h2.title")
