"""What every page shares: the request of a signed-in person, and pages that htmx may ask for in part."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from labeling.models import User


class CoderRequest(HttpRequest):
    """Request of a signed-in person; the middleware has sent everybody else to the sign-in page."""

    user: User
    htmx: HtmxDetails


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render ``template``, or only ``partial`` of it when htmx will swap that into the page already shown.

    The address is pushed when the part belongs to another one than the browser shows. A page restored from
    history and a boosted link need the whole page.
    """
    htmx: HtmxDetails = getattr(request, "htmx")  # noqa: B009 - django-htmx types no request but its own
    wants_part = bool(htmx) and not htmx.boosted and not htmx.history_restore_request
    chosen = partial if partial and wants_part else template
    response = render(request, chosen, None if context is None else dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    address = request.get_full_path()
    if chosen == partial and request.method == "GET" and htmx.current_url_abs_path not in {None, address}:
        response["HX-Push-Url"] = address
    return response


def client_address(request: HttpRequest) -> str:
    """Address of the browser: what our outermost trusted proxy saw, never what the browser claims."""
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).replace(",", " ").split()
    count: int = settings.TRUSTED_PROXIES
    if count and len(forwarded) >= count:
        return forwarded[-count]
    return str(request.META.get("REMOTE_ADDR", ""))
