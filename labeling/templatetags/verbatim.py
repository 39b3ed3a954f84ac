"""Text that a page must hold exactly as it is stored, so that a quote of it can be found again."""

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def verbatim(text: str) -> SafeString:
    """Escape; a carriage return as well, which a browser would read as a line break."""
    return mark_safe(conditional_escape(text).replace("\r", "&#13;"))  # noqa: S308 - escaped here
