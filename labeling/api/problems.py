"""Errors as ``application/problem+json``: title, status, detail and, for input, errors by field."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler

from labeling.errors import NOT_STORED, InvalidInputError, StudyRuleError

CONTENT_TYPE = "application/problem+json"
NOT_FOUND = "There is nothing here, or nothing you may know of."


def problem(
    status: int, detail: str, *, errors: Mapping[str, list[str]] | None = None, **extra: Any
) -> Response:
    body: dict[str, Any] = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail, **extra}
    if errors is not None:
        body["errors"] = errors
    return Response(body, status=status, content_type=CONTENT_TYPE)


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into a problem; None for what is a fault of ours."""
    if isinstance(error, StudyRuleError):
        return problem(HTTPStatus.CONFLICT, error.message, **error.extra)
    if isinstance(error, InvalidInputError):
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), errors=error.errors)
    if isinstance(error, (DataError, OverflowError)):  # the one of PostgreSQL, the other of SQLite
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, NOT_STORED)
    if isinstance(error, exceptions.ValidationError):
        errors = dict(_by_field(error.detail))
        sentences = "; ".join(text for texts in errors.values() for text in texts)
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, sentences, errors=errors)
    if isinstance(error, Http404):
        return problem(HTTPStatus.NOT_FOUND, str(error) or NOT_FOUND)
    if isinstance(error, PermissionDenied):
        return problem(HTTPStatus.FORBIDDEN, str(error) or "Your role may not do this.")
    # DRF sets the headers: WWW-Authenticate, Retry-After.
    answered = drf_handler(error, context)
    if answered is None:
        return None
    detail = answered.data.get("detail", "") if isinstance(answered.data, dict) else ""
    ours = problem(answered.status_code, str(detail))
    for name in ("WWW-Authenticate", "Retry-After"):
        if name in answered:
            ours[name] = answered[name]
    return ours


def _by_field(detail: Any, place: str = "") -> Iterator[tuple[str, list[str]]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _by_field(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(detail, list) and any(isinstance(each, Mapping) for each in detail):
        for n, inner in enumerate(detail):
            yield from _by_field(inner, f"{place}[{n}]")
    elif detail:
        texts = detail if isinstance(detail, list) else [detail]
        yield place or "body", [str(text) for text in texts]
