"""Whether this installation can serve: asked by proxies, containers and ``start``."""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache


@never_cache
@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while the database answers, else 503; never why, for anyone may ask."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "the database does not answer"}, status=503)
    return JsonResponse({"status": "ok"})
