"""The view every API view is: it replays an answer that was given to the same Idempotency-Key."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404, HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotator.repeated import LARGEST_NUMBER
from labeling.api.pagination import CursorPagination
from labeling.api.problems import problem
from labeling.models import IdempotentReply, User

KEPT = timedelta(hours=24)
GIVEN_UP = timedelta(minutes=1)
"""After this a claim without an answer is of a process that died; the act is done again."""


class _Answered(APIException):
    """Carries an answer that needs no handler out of ``initial``."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class ApiView(APIView):
    """APIView with idempotent POSTs and cursor pages."""

    _claim: IdempotentReply | None = None

    @property
    def user(self) -> User:
        return self.request.user  # type: ignore[return-value]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any(isinstance(part, int) and part > LARGEST_NUMBER for part in kwargs.values()):
            raise Http404
        key = request.headers.get("Idempotency-Key")
        if request.method == "POST" and key:
            self._claim = self._claim_key(request, key)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, _Answered):
            return exc.response
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        if self._claim is not None:
            _settle(self._claim, final)
        return final

    def _claim_key(self, request: Request, key: str) -> IdempotentReply:
        if len(key) > 255:
            raise _Answered(problem(422, "An Idempotency-Key has at most 255 characters."))
        mine = {"user": self.user, "method": request.method, "path": request.path, "key": key}
        now = timezone.now()
        IdempotentReply.objects.filter(user=self.user, created_at__lt=now - KEPT).delete()
        IdempotentReply.objects.filter(**mine, status=None, created_at__lt=now - GIVEN_UP).delete()
        body_hash = _hash_body(request)
        try:
            with transaction.atomic():
                return IdempotentReply.objects.create(**mine, body_hash=body_hash)
        except IntegrityError:
            first = IdempotentReply.objects.get(**mine)
            raise _Answered(_replay(first, body_hash)) from None

    def read(self, body: type[Serializer[Any]]) -> dict[str, Any]:
        """The checked body of the request; a mistake in it ends in a 422 that names the field."""
        serializer = body(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def paged(self, rows: Sequence[Any] | Any, *, ordering: str = "id", into: Any) -> Response:
        """A page of a queryset; ``into`` turns the rows of the page into dicts."""
        paginator = CursorPagination()
        paginator.ordering = ordering
        page = paginator.paginate_queryset(rows, self.request, view=self) or []
        return paginator.get_paginated_response(list(into(page)))


def _replay(reply: IdempotentReply, body_hash: str) -> Response:
    if reply.body_hash != body_hash:
        return problem(422, "This Idempotency-Key was used with another body. Use a new key.")
    if reply.status is None:
        return problem(409, "The first request with this Idempotency-Key is still at work. Try again soon.")
    response = Response(json.loads(bytes(reply.body) or b"null"), status=reply.status)
    if reply.location:
        response["Location"] = reply.location
    response["Idempotent-Replay"] = "true"
    return response


def _settle(claim: IdempotentReply, response: HttpResponseBase) -> None:
    """Keep the answer of an act that was done; a refused one may be tried again with the same key."""
    if response.status_code >= 400 or response.streaming:
        claim.delete()
        return

    def store(rendered: Any) -> None:
        IdempotentReply.objects.filter(pk=claim.pk).update(
            status=rendered.status_code,
            location=rendered.headers.get("Location", ""),
            body=rendered.content,
        )

    if isinstance(response, Response):
        response.add_post_render_callback(store)
    else:
        store(response)


def _hash_body(request: Request) -> str:
    """Of the bytes; of an upload, of its fields and files piece by piece: it may not fit into memory."""
    digest = hashlib.sha256()
    if (request.content_type or "").startswith("multipart/"):
        for part in _parts(request):
            digest.update(part)
    else:
        digest.update(request._request.body)
    return digest.hexdigest()


def _parts(request: Request) -> Iterable[bytes]:
    for name in sorted(request.POST):
        yield f"{name}\0{request.POST.getlist(name)}\0".encode()
    for name in sorted(request.FILES):
        for upload in request.FILES.getlist(name):
            yield f"{name}\0{upload.name}\0".encode()
            yield from upload.chunks()
            upload.seek(0)
