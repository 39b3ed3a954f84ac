"""Quotes marked in the texts they were taken from. Pure: stored HTML in, the same HTML with marks out.

A quote is anchored in code points of ``textContent``, half-open. Its marks are put around the pieces of text
it covers, so that a quote may run over paragraphs and overlap others; the text itself never changes.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import accumulate, pairwise

# Stored HTML was written by the sanitiser: attributes are quoted, so the pattern finds every tag whole.
_TAG = re.compile(r'<(/?+)([a-z0-9]++)(?: [a-z-]++(?:="[^"]*+")?+)*+>')
# What takes a click itself may hold no link.
_BREAK = "<newline>\n</newline>"
_TAKES_CLICKS = frozenset({"a", "summary"})


@dataclass(frozen=True, slots=True)
class Quote:
    """Code points [start, end) of a text.

    ``name`` is printed behind it and unique on the page: ``RA1``. ``look`` and ``tag_look`` are the classes
    of its marks and of that name, ``href`` leads to the answer it speaks for, ``title`` says whose it is.
    """

    start: int
    end: int
    name: str
    look: str = ""
    tag_look: str = ""
    href: str = ""
    title: str = ""

    @property
    def anchor(self) -> str:
        return f"quote-{self.name.lower()}"


def mark_html(html: str, quotes: Sequence[Quote]) -> str:
    """Mark the quotes in sanitised HTML."""
    tags = list(_TAG.finditer(html))
    starts, ends = [0, *(tag.end() for tag in tags)], [*(tag.start() for tag in tags), len(html)]
    texts = [unescape(html[start:end]) for start, end in zip(starts, ends, strict=True)]
    marks = _Marks(texts, quotes)
    pieces: list[str] = []
    held: list[Quote] = []
    depth = 0
    for place, tag in enumerate([*tags, None]):
        pieces += marks.piece(place, held if depth else None)
        if tag is None:
            break
        pieces.append(tag[0])
        if tag[2] in _TAKES_CLICKS:
            depth += -1 if tag[1] else 1
        if not depth:
            pieces += [_name(quote) for quote in held]
            held.clear()
    return "".join(pieces)


def mark_lines(lines: Sequence[str], quotes: Sequence[Quote]) -> list[str]:
    """Mark the quotes in lines of sanitised HTML that line breaks join."""
    # In an element of its own a break is a piece of its own, which takes no mark: none runs over two lines.
    return mark_html(_BREAK.join(lines), quotes).split(_BREAK)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A quote and the pieces that show something of it: the break between two blocks takes no mark."""

    quote: Quote
    places: tuple[int, ...]

    def covers(self, start: int, stop: int) -> bool:
        return self.quote.start <= start and stop <= self.quote.end


class _Marks:
    """The pieces of a text, and in which of them each quote is seen."""

    def __init__(self, texts: Sequence[str], quotes: Iterable[Quote]) -> None:
        self.texts = texts
        self.begins = [0, *accumulate(len(text) for text in texts)]
        # What begins first lies outside, the longer one of two: so the lines of both are seen.
        ordered = sorted(quotes, key=lambda each: (each.start, -each.end, each.name))
        self.shown = [_Shown(quote, tuple(self._places(quote))) for quote in ordered]

    def _places(self, quote: Quote) -> Iterator[int]:
        for place, (begin, text) in enumerate(zip(self.begins, self.texts, strict=False)):
            if text[max(0, quote.start - begin) : max(0, quote.end - begin)].strip():
                yield place

    def piece(self, place: int, held: list[Quote] | None = None) -> list[str]:
        """One piece as HTML. Names of quotes that end in it are put on ``held`` where that is given."""
        here = [each for each in self.shown if place in each.places]
        begin, end = self.begins[place], self.begins[place + 1]
        limits = {min(max(at, begin), end) for each in here for at in (each.quote.start, each.quote.end)}
        cuts = sorted({begin, end} | limits)
        written: list[str] = []
        for start, stop in pairwise(cuts):
            text = escape(self.texts[place][start - begin : stop - begin], quote=False)
            over = [each for each in here if each.covers(start, stop)]
            first = {
                each.quote
                for each in over
                if place == each.places[0] and start <= max(begin, each.quote.start)
            }
            written.append(_wrapped(text, [each.quote for each in over], first))
            ending = [e.quote for e in over if place == e.places[-1] and (stop == e.quote.end or stop == end)]
            if held is not None:
                held += ending
                continue
            around = [each.quote for each in over if each.quote not in ending and stop < each.quote.end]
            written += [_wrapped(_name(quote), around) for quote in ending]
        return written


def _wrapped(html: str, quotes: Sequence[Quote], first: Collection[Quote] = ()) -> str:
    """Put the marks around; those of ``first`` can be jumped to."""
    for quote in reversed(quotes):
        anchor = f' id="{quote.anchor}"' if quote in first else ""
        html = f'<mark class="{escape(quote.look)}"{anchor}>{html}</mark>'
    return html


def _name(quote: Quote) -> str:
    return (
        f'<a class="{escape(quote.tag_look)}" href="{escape(quote.href)}" title="{escape(quote.title)}">'
        f"{escape(quote.name)}</a>"
    )
