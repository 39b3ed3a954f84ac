"""From Markdown to the HTML that is stored, shown and quoted from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape

import emoji
from cmarkgfm import markdown_to_html_with_extensions
from cmarkgfm.cmark import Options

from .highlight import Highlighter
from .nesting import cap_quotes, cap_tags
from .sanitise import sanitise

RENDERER = "4"
"""Noted beside every rendered text; counted up when the rules below change what comes out."""

# GitHub takes 65,536 characters. What is much longer, or becomes so, is a log: it is shown as it is.
LONGEST_SOURCE = 262_144
LONGEST_HTML = 1_000_000
FOLDED_LINES = 30

_EXTENSIONS = ["table", "autolink", "tagfilter", "strikethrough", "tasklist"]
# Raw HTML passes here, as on GitHub, where reports fold their logs with <details>: ``sanitise`` decides.
_OPTIONS = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS

# Each of these runs the way its first letter says, from left to right or from right to left.
_BLOCKS = {"p", "li", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td", "summary"}

# The sanitiser wrote this HTML: attributes are quoted, so the pattern finds every tag whole.
_TOKEN = re.compile(r'<(/?+)([a-z0-9]++)((?: [a-z-]++(?:="[^"]*+")?+)*+)>')
_ATTRIBUTE = re.compile(r' ([a-z-]++)(?:="([^"]*+)")?+')
_MARK = re.compile(
    r":(?P<emoji>[a-z0-9_+-]{1,60}):"
    r"|(?<![\w/#&.-])(?P<repository>[\w-]{1,39}/[\w.-]{1,100})?#(?P<number>[1-9]\d{0,9})\b(?![\w-])"
)
_REFERENCE = re.compile(r'<a class="issue-reference" [^>]*+>([^<]*+)</a>')
_IMAGE = re.compile(r'(<span class="image-placeholder" data-src="([^"]++)">)')


@dataclass(frozen=True, slots=True)
class Rendered:
    """``text`` is what a browser gives as the textContent of ``html``."""

    html: str
    text: str


def render_markdown(source: str, *, repository: str = "", host: str = "github.com") -> Rendered:
    """Render GitHub's Markdown; ``#123`` becomes a link where the repository is known."""
    if len(source) > LONGEST_SOURCE:
        return _as_written(source)
    html = markdown_to_html_with_extensions(cap_quotes(source), _OPTIONS, _EXTENSIONS)
    if len(html) > LONGEST_HTML:
        return _as_written(source)
    finished = "".join(_Finish(repository, host).pieces(sanitise(cap_tags(html))))
    return Rendered(finished, text_content(finished))


def render_plain(source: str) -> Rendered:
    """Show a text as it is written."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    # A parser drops the line break that follows the tag; the span keeps it where it is.
    html = f'<pre class="plain-text" dir="auto"><span>{escape(text, quote=False)}</span></pre>'
    return Rendered(html, text)


def _as_written(source: str) -> Rendered:
    """Show a text that is too long to be rendered as it is written, and say so, in what is no text of it."""
    plain = render_plain(source)
    said = "This text is too long to be formatted: it is shown as it was written."
    note = f'<div class="prose__note" role="note" aria-label="{said}"></div>'
    lines = plain.text.count("\n") + 1
    shown = _folded(lines, plain.html) if lines > FOLDED_LINES else plain.html
    return Rendered(note + shown, plain.text)


def _folded(lines: int, html: str, end: str = "</details>") -> str:
    """Show the first lines of a block. The style sheet writes the summary: it is no text of the issue."""
    summary = f'<summary data-lines="{lines}" aria-label="{lines} lines"></summary>'
    return f'<details class="folded-code">{summary}{html}{end}'


def text_content(html: str) -> str:
    return unescape(_TOKEN.sub("", html))


def with_images(html: str) -> str:
    """Load images where only their place was marked; the text, and with it every quote, stays the same."""
    return _IMAGE.sub(r'\1<img src="\2" alt="" referrerpolicy="no-referrer" loading="lazy">', html)


def without_references(html: str) -> str:
    """Take back the links we made of ``#123``: their address names the repository."""
    return _REFERENCE.sub(r"\1", html)


class _Finish:
    """One walk over sanitised HTML: emoji, references, images, check boxes, code in colours and folded."""

    def __init__(self, repository: str, host: str) -> None:
        self.repository = repository
        self.host = host
        self.verbatim = 0
        self.links = 0
        self.folds: list[bool] = []
        self.language = ""
        self.highlighter = Highlighter()

    def pieces(self, html: str) -> Iterator[str]:
        end, begins_pre = 0, False
        for token in _TOKEN.finditer(html):
            text = self._text(html[end : token.start()])
            # A browser drops the line break after <pre>: without any, it reads the text that is stored.
            yield text.lstrip("\n") if begins_pre else text
            end, begins_pre = token.end(), token[0] == "<pre>"
            yield self._tag(token, html)
        yield self._text(html[end:])

    def _tag(self, token: re.Match[str], html: str) -> str:
        closing, name = bool(token[1]), token[2]
        if name == "img":
            return _image_place(token[3])
        if name == "input":
            return _check_box(token[3])
        if name in ("code", "pre", "kbd", "samp", "tt"):
            self.verbatim += -1 if closing else 1
            # The sanitiser leaves no class but the language of fenced code.
            self.language = _attributes(token[3]).get("class", "").removeprefix("language-")
        elif name == "a":
            self.links += -1 if closing else 1
        if name == "pre":
            return self._fold(token, html, "\n")
        if name == "p":
            # A log that was pasted without a fence is a paragraph of as many lines.
            return self._fold(token, html, "<br")
        return f'{token[0][:-1]} dir="auto">' if name in _BLOCKS and not closing else token[0]

    def _fold(self, token: re.Match[str], html: str, line_end: str) -> str:
        """Fold a long block of lines."""
        name = token[2]
        if token[1]:
            return f"</{name}></details>" if self.folds.pop() else f"</{name}>"
        ends = html.count(line_end, token.end(), html.find(f"</{name}>", token.end()))
        lines = ends + 1 if name == "p" else ends
        self.folds.append(lines > FOLDED_LINES and not any(self.folds))
        start = f'{token[0][:-1]} dir="auto">' if name in _BLOCKS else "<pre>"
        return _folded(lines, start, end="") if self.folds[-1] else start

    def _text(self, escaped: str) -> str:
        text = escaped.replace("\r", "\n")
        if self.language:
            return self.highlighter.code(unescape(text), self.language)
        if self.verbatim or not (":" in text or "#" in text):
            return text
        # The number of a character reference is not that of an issue: mark the text, not its escaped form.
        plain, pieces, end = unescape(text), [], 0
        for mark in _MARK.finditer(plain):
            pieces += [escape(plain[end : mark.start()], quote=False), self._mark(mark)]
            end = mark.end()
        return "".join(pieces) + escape(plain[end:], quote=False)

    def _mark(self, mark: re.Match[str]) -> str:
        if mark["emoji"]:
            return escape(emoji.emojize(mark[0], language="alias"), quote=False)
        repository = mark["repository"] or self.repository
        if self.links or not self.repository:
            return escape(mark[0], quote=False)
        address = escape(f"https://{self.host}/{repository}/issues/{mark['number']}")
        return (
            f'<a class="issue-reference" href="{address}" rel="nofollow noopener noreferrer">'
            f"{escape(mark[0], quote=False)}</a>"
        )


def _attributes(text: str) -> dict[str, str]:
    return {name: value or "" for name, value in _ATTRIBUTE.findall(text)}


def _image_place(attributes: str) -> str:
    """Mark an image by its alternative text: loading it would tell its host who reads the issue, and when."""
    image = _attributes(attributes)
    address = image.get("src", "")
    shown = address if unescape(address).startswith("https://") else ""
    alt = escape(unescape(image.get("alt", "")), quote=False)
    return f'<span class="image-placeholder" data-src="{shown}">{alt}</span>'


def _check_box(attributes: str) -> str:
    box = _attributes(attributes)
    if box.get("type") != "checkbox":
        return ""
    is_done = "checked" in box
    label = "done" if is_done else "not done"
    return f'<input type="checkbox" disabled aria-label="{label}"{" checked" if is_done else ""}>'
