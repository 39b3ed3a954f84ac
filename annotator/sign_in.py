"""Signing in: one-time links for the demo, for new accounts, and where no mail server is."""

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from sesame.utils import get_query_string
from sesame.views import LoginView

from labeling.models import User


def sign_in_link(user: User) -> str:
    """Address that signs ``user`` in once, within seven days and before they sign in in another way."""
    return f"{settings.PUBLIC_URL}{reverse('sign-in-link')}{get_query_string(user)}"


class SignInLinkView(LoginView):  # type: ignore[misc]  # django-sesame ships no types
    """Where a sign-in link leads; a used or old one gets a page that says so."""

    def login_failed(self) -> HttpResponse:
        return render(self.request, "registration/link_used.html", status=403)
