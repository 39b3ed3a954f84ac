"""Nesting is capped before anything that suffers from it sees the text.

A page of ten thousand quotes within quotes is legal Markdown, and ten thousand open ``<div>``s are legal
HTML. Parsers take time or stack that grows with depth; nobody reads the hundredth level.
"""

import re
from collections import Counter

MAX_DEPTH = 100

# Possessive quantifiers: no input makes these patterns go back.
_DEEP_QUOTE = re.compile(rf"^((?:[ \t]*+>){{{MAX_DEPTH}}})(?:[ \t]*+>)++", re.MULTILINE)
_TAG = re.compile(r"<(/?+)([a-zA-Z][a-zA-Z0-9]*+)((?:[\s/][^<>]*+)?+)>")

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def cap_quotes(source: str) -> str:
    """Take the markers beyond the hundredth away from the front of each line."""
    return _DEEP_QUOTE.sub(r"\1", source)


def cap_tags(html: str) -> str:
    """Rewrite HTML so that each tag is closed where it belongs and none stands below the hundredth level.

    Comments are removed; a ``<`` that begins no tag is text.
    """
    html = _without_comments(html)
    pieces: list[str] = []
    stack = _Stack(pieces)
    end = 0
    for tag in _TAG.finditer(html):
        pieces.append(html[end : tag.start()].replace("<", "&lt;"))
        end = tag.end()
        stack.meet(tag)
    pieces.append(html[end:].replace("<", "&lt;"))
    stack.close_all()
    return "".join(pieces)


class _Stack:
    """The tags that are open, written to ``pieces`` as they open and close."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.open: list[str] = []
        self.counts: Counter[str] = Counter()

    def meet(self, tag: re.Match[str]) -> None:
        name = tag[2].lower()
        if name in _VOID:
            self.pieces.append(tag[0] if not tag[1] else "")
        elif not tag[1]:
            self._open(name, tag[0])
        elif self.counts[name]:
            while self._close() != name:
                pass

    def close_all(self) -> None:
        while self.open:
            self._close()

    def _open(self, name: str, text: str) -> None:
        self.open.append(name)
        self.counts[name] += 1
        if len(self.open) <= MAX_DEPTH:
            self.pieces.append(text)

    def _close(self) -> str:
        if len(self.open) <= MAX_DEPTH:
            self.pieces.append(f"</{self.open[-1]}>")
        name = self.open.pop()
        self.counts[name] -= 1
        return name


def _without_comments(html: str) -> str:
    pieces: list[str] = []
    end = 0
    while (start := html.find("<!--", end)) >= 0:
        pieces.append(html[end:start])
        closed = html.find("-->", start + 4)
        if closed < 0:
            return "".join(pieces)
        end = closed + 3
    pieces.append(html[end:])
    return "".join(pieces)
