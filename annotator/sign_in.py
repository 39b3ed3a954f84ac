"""Signing in: one-time links for the demo, for new accounts, and where no mail server is."""

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from sesame.backends import ModelBackend as LinkBackend
from sesame.utils import get_query_string

from labeling.models import User


def sign_in_link(user: User) -> str:
    """Address that signs ``user`` in once, within seven days and before they sign in in another way."""
    return f"{settings.PUBLIC_URL}{reverse('sign-in-link')}{get_query_string(user)}"


@never_cache
@login_not_required
def sign_in_by_link(request: HttpRequest) -> HttpResponse:
    """Sign in whoever holds a link that was not used yet.

    A link cannot be guessed, so a used one does not count as a wrong password and locks nobody out: only the
    backend of links is asked.
    """
    user: User | None = LinkBackend().authenticate(request, request.GET.get("sesame"))
    if user is None:
        return render(request, "registration/link_used.html", status=403)
    login(request, user, backend="sesame.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)


def locked(request: HttpRequest, original: HttpResponse | None, credentials: object) -> HttpResponse:
    """Answer to one wrong password too many."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    response = render(request, "registration/locked.html", status=429)
    response["Retry-After"] = str(seconds)
    return response
