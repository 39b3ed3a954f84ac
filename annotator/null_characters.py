"""Refuses the character NUL, which nobody types, PostgreSQL does not store and files of text do not hold."""

from collections.abc import Callable
from http import HTTPStatus

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from annotator.failures import is_api, problem

FORM = "application/x-www-form-urlencoded"
SENTENCE = "The request holds the character NUL, which cannot be stored. Leave it out."


def null_character_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def refuse(request: HttpRequest) -> HttpResponse:
        if not _holds_null(request):
            return get_response(request)
        if is_api(request):
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, SENTENCE)
        raise BadRequest(SENTENCE)

    return refuse


def _holds_null(request: HttpRequest) -> bool:
    if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        return True
    is_form = request.method == "POST" and request.content_type == FORM
    return is_form and (b"%00" in request.body or b"\x00" in request.body)
