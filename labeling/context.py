"""What the frame of every page needs: the reader's theme, keys, zone and unread notices."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from labeling.models import Notice, User

CHOSEN_THEMES = (User.Theme.LIGHT, User.Theme.DARK)


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Context of base.html; ``theme`` is empty where the system decides."""
    user = getattr(request, "user", None)  # none where the request failed before it was known who asks
    if not isinstance(user, User):
        theme = request.COOKIES.get("theme", "")
        return {"theme": theme if theme in CHOSEN_THEMES else "", "key_map": {}, "zone": ""}
    return {
        "theme": user.theme if user.theme in CHOSEN_THEMES else "",
        "key_map": user.key_map,
        "zone": user.zone,
        "unread_notices": SimpleLazyObject(lambda: unread_notices(user)),
    }


def unread_notices(user: User) -> int:
    return Notice.objects.filter(
        member__user=user, member__left_at__isnull=True, read_at__isnull=True
    ).count()
