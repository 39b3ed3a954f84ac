"""Markdown of issues as safe HTML, and the text that quotes are anchored in: strings in, strings out."""

from .highlight import highlight_patch
from .render import (
    RENDERER,
    Rendered,
    render_markdown,
    render_plain,
    text_content,
    with_images,
    without_references,
)

__all__ = [
    "RENDERER",
    "Rendered",
    "highlight_patch",
    "render_markdown",
    "render_plain",
    "text_content",
    "with_images",
    "without_references",
]
