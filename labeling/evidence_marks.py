"""The quotes of a unit as its page shows them: named by dimension and coder, and marked in the issue.

Colour says the dimension, the look of the line says the coder: neither wins by looks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from labeling.marks import DimensionMark
from labeling.quotes import Quote, mark_html, mark_lines
from labeling.selectors.evidence import CoderQuote

#: Solid for coder A, dashed for B, dotted for everybody else.
LOOKS = {"A": "a", "B": "b"}
OTHERS = "c"


@dataclass(frozen=True, slots=True)
class NamedQuote:
    """A quote as it is listed beside the answer it speaks for, and as it is marked in the text."""

    source: CoderQuote
    mark: Quote


def name_quotes(
    quotes: Iterable[CoderQuote],
    issue: Mapping[str, Any],
    letters: Mapping[int, str],
    marks: Mapping[str, DimensionMark],
    dimension: str,
) -> list[NamedQuote]:
    """Count each coder's quotes in the order of reading: ``RA1`` is the first for root cause by coder A.

    Those for ``dimension`` lead to the answers under comparison, others to the line of theirs.
    """
    order = {key: place for place, key in enumerate(_documents(issue))}
    shown = [each for each in quotes if each.document in order and each.coder in letters]
    counts: Counter[tuple[str, int]] = Counter()
    named = []
    for each in sorted(shown, key=lambda quote: (order[quote.document], quote.start, quote.end)):
        counts[each.dimension, each.coder] += 1
        number = counts[each.dimension, each.coder]
        named.append(
            NamedQuote(each, _mark(each, letters[each.coder], marks[each.dimension], number, dimension))
        )
    return named


def _mark(quote: CoderQuote, letter: str, mark: DimensionMark, number: int, dimension: str) -> Quote:
    look, colour = LOOKS.get(letter, OTHERS), f"dim-{mark.index}"
    here = dimension in (mark.key, "")
    about = f"{mark.name}: {quote.category}" if quote.category else mark.name
    return Quote(
        start=quote.start,
        end=quote.end,
        name=f"{mark.letter}{letter}{number}",
        look=f"evidence evidence--{look} {colour}",
        tag_look=f"evidence-tag evidence-tag--{look} {colour}",
        href=f"#answer-{letter.lower()}" if here else f"#dimension-{mark.index}-{mark.letter}",
        title=f"Coder {letter} for {about}",
    )


def _documents(issue: Mapping[str, Any]) -> Iterator[str]:
    yield from ("title", issue["body"]["key"])
    for comment in issue["comments"]:
        yield comment["document"]
    for fix in issue["fixes"]:
        yield fix["document"]
        yield from (file["document"] for file in fix["files"])


def mark_issue(issue: Mapping[str, Any], quotes: Sequence[NamedQuote]) -> dict[str, Any]:
    """Give the issue, as ``issue_view`` made it, with every quote marked in its texts."""
    of_document: dict[str, list[Quote]] = {}
    for each in quotes:
        of_document.setdefault(each.source.document, []).append(each.mark)

    def html(text: str, document: str) -> SafeString:
        return mark_safe(mark_html(text, of_document.get(document, ())))  # noqa: S308 - sanitised when stored

    def fix_view(fix: Mapping[str, Any]) -> dict[str, Any]:
        files = [_marked_file(file, of_document.get(file["document"], ())) for file in fix["files"]]
        return {**fix, "message_html": html(fix["message_html"], fix["document"]), "files": files}

    body = issue["body"]
    return {
        **issue,
        "title": html(escape(issue["title"], quote=False), "title"),
        "body": {**body, "html": html(body["html"], body["key"])},
        "comments": [{**each, "html": html(each["html"], each["document"])} for each in issue["comments"]],
        "fixes": [fix_view(each) for each in issue["fixes"]],
    }


def _marked_file(file: Mapping[str, Any], quotes: Sequence[Quote]) -> dict[str, Any]:
    if not quotes or not file["lines"]:
        return dict(file)
    texts = mark_lines([line["html"] for line in file["lines"]], quotes)
    lines = [{**line, "html": text} for line, text in zip(file["lines"], texts, strict=True)]
    return {**file, "lines": lines}
