"""Pages for requests that fail before or under a view."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say what to do about a form that is too old; ``reason`` is for developers."""
    return HttpResponse(render_to_string("csrf_failure.html"), status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Tell a database that is away from a mistake of ours: the one ends by waiting, the other does not.

    The templates get no context: whatever it would read may be what is broken.
    """
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        return HttpResponse(render_to_string("offline.html"), status=503, headers={"Retry-After": "60"})
    return HttpResponse(render_to_string("500.html"), status=500)
