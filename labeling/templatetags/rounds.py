"""Filters of the pages of a round: its instructions as a page shows them, times and shares in words."""

from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe

from labeling.markdown import render_markdown

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown that a lead wrote, as safe HTML."""
    return mark_safe(_html(text))  # noqa: S308 - sanitised by the renderer


@lru_cache(maxsize=64)
def _html(text: str) -> str:
    """The instructions of a round stand on the page of every unit."""
    return render_markdown(text).html


@register.filter
def duration(seconds: float) -> str:
    """Seconds as people say them: 45 s, 4 min 10 s, 1 h 5 min."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"


@register.filter
def as_percent(share: float) -> str:
    """A share as 20%, or 12.5% where it is no whole number."""
    return f"{round(share * 100, 2):g}%"
