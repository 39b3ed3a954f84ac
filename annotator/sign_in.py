"""One-time sign-in links: for the demo, for new accounts, and where no mail server is."""

from django.conf import settings
from django.urls import reverse
from sesame.utils import get_query_string

from labeling.models import User


def sign_in_link(user: User) -> str:
    """Address that signs ``user`` in once, within seven days and before they next sign in another way."""
    return f"{settings.PUBLIC_URL}{reverse('sign-in-link')}{get_query_string(user)}"
