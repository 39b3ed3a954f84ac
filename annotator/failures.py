"""Pages for requests that fail before or under a view."""

import sys
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.defaults import bad_request as not_understood
from django.views.defaults import page_not_found

from labeling.errors import NOT_STORED, InvalidInputError, StudyRuleError

AWAY = "The database cannot be reached just now. Wait a minute and send the request again."
ONLY_FORMS = "This address only takes what a form sends. Go back to the page of the form."
FAULT = (
    "The server could not finish this request; the error is in its log. Nothing that was saved before is "
    "lost. If it happens again, tell whoever runs this installation what you sent and when."
)


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def problem(status: HTTPStatus, sentence: str) -> HttpResponse:
    """Tell a program, where no view of the API could."""
    body = {"title": status.phrase, "status": status, "detail": sentence}
    return JsonResponse(body, status=status, content_type="application/problem+json")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say what to do about a form that is too old; ``reason`` is for developers."""
    return HttpResponse(render_to_string("csrf_failure.html"), status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request):
        return problem(HTTPStatus.NOT_FOUND, "The API has no such address. /api/v1/docs/ lists those it has.")
    return page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses to read: most often more text than one request may hold."""
    if isinstance(exception, RequestDataTooBig):
        most = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) // 1024**2
        said = f"This is more than the {most} MB of text one request may hold. Send less at once, or a file."
        return _failed(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said, "400.html")
    if is_api(request):
        return problem(
            HTTPStatus.BAD_REQUEST, "This request cannot be read. /api/v1/docs/ shows what each takes."
        )
    return not_understood(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Tell a database that is away from a mistake of ours: the one ends by waiting, the other does not.

    The templates get no request: whatever it would read may be what is broken.
    """
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        away = _failed(request, HTTPStatus.SERVICE_UNAVAILABLE, AWAY, "offline.html")
        away["Retry-After"] = "60"
        return away
    return _failed(request, HTTPStatus.INTERNAL_SERVER_ERROR, FAULT, "500.html")


def _failed(request: HttpRequest, status: HTTPStatus, sentence: str, page: str) -> HttpResponse:
    if is_api(request):
        return problem(status, sentence)
    return HttpResponse(render_to_string(page, {"sentence": sentence}), status=status)


class RuleMiddleware:
    """Shows the sentence of a rule that a view did not expect: whatever a user does, it ends in words."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or is_api(request):
            return response
        # The address of a form that was refused stays in the browser's bar, and Enter there asks for it.
        told = render(request, "409.html", {"exception": ONLY_FORMS}, status=response.status_code)
        told["Allow"] = response["Allow"]
        return told

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer for rules of the study and bad input alone; everything else is a fault of ours."""
        if isinstance(error, StudyRuleError):
            return render(request, "409.html", {"exception": error.message}, status=409)
        if isinstance(error, InvalidInputError):
            return render(request, "409.html", {"exception": str(error)}, status=422)
        if isinstance(error, (DataError, OverflowError)):  # NUL in a form with files, say, or a huge number
            return render(request, "409.html", {"exception": NOT_STORED}, status=422)
        return None
