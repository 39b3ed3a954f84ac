"""Pages for requests that fail before or under a view."""

import sys
from collections.abc import Callable

from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from labeling.errors import NOT_STORED, InvalidInputError, StudyRuleError


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


class RuleMiddleware:
    """Shows the sentence of a rule that a view did not expect: whatever a user does, it ends in words."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer for rules of the study and bad input alone; everything else is a fault of ours."""
        if isinstance(error, StudyRuleError):
            return render(request, "409.html", {"exception": error.message}, status=409)
        if isinstance(error, InvalidInputError):
            return render(request, "409.html", {"exception": str(error)}, status=422)
        if isinstance(error, DataError):  # NUL in a form with files, say, or a number that is out of range
            return render(request, "409.html", {"exception": NOT_STORED}, status=422)
        return None
