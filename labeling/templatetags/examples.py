"""Examples of a category, in which the names of units are links: ``{{ example|with_links:links }}``."""

from collections.abc import Mapping

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from labeling.selectors.codebooks import UNIT_NAME

register = template.Library()


@register.filter
def with_links(example: object, links: Mapping[str, str]) -> SafeString:
    """Give the example as it was written; ``links`` are addresses by the name of the unit."""
    text, parts, end = str(example), [], 0
    for found in UNIT_NAME.finditer(text):
        address = links.get(found[0])
        if address:
            parts += [
                conditional_escape(text[end : found.start()]),
                format_html('<a href="{}">{}</a>', address, found[0]),
            ]
            end = found.end()
    return mark_safe("".join([*parts, conditional_escape(text[end:])]))  # noqa: S308 - each part is escaped
