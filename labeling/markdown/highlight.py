"""Code in quiet colours: each line as HTML whose text is the line, unchanged. Pure.

A stylesheet cannot know a language, so the classes are written once, when a text is rendered. What is hostile
or huge is left plain: nobody misses colours in a log, everybody minds a page that does not come up.
"""

from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import groupby, repeat
from pathlib import PurePosixPath
from time import thread_time
from typing import Any

LONGEST_CODE = 250_000
LONGEST_LINE = 1_000
SECONDS = 0.6
"""So much of the processor one text gets; what is not finished by then stays plain."""

# The languages we trust a lexer of, by the names that fences and files give them.
_NAMES = {
    "bash": "sh shell zsh",
    "c": "h",
    "cmake": "cmakelists.txt",
    "cpp": "c++ cc cxx hpp hh hxx",
    "csharp": "cs c#",
    "css": "",
    "cuda": "cu cuh",
    "diff": "patch",
    "docker": "dockerfile",
    "go": "golang",
    "html": "htm xhtml vue",
    "ini": "cfg conf",
    "java": "",
    "javascript": "js jsx mjs cjs",
    "json": "ipynb",
    "kotlin": "kt kts",
    "lua": "",
    "make": "makefile mk",
    "php": "",
    "protobuf": "proto",
    "pycon": "",
    "pytb": "traceback",
    "python": "py py3 python3 pyi pyx",
    "ruby": "rb",
    "rust": "rs",
    "scala": "",
    "sql": "",
    "swift": "",
    "toml": "",
    "typescript": "ts tsx",
    "xml": "svg",
    "yaml": "yml",
}
_LANGUAGES = {name: language for language, more in _NAMES.items() for name in (language, *more.split())}


def highlight_patch(patch: str, path: str) -> str:
    """Give the patch of a file as HTML, line by line: signs and heads of hunks stay plain."""
    return Highlighter().patch(patch, path)


class Highlighter:
    """Colours for the code of one text, within the time that one text may take."""

    def __init__(self) -> None:
        self.until = thread_time() + SECONDS
        # A lexer may keep notes while it reads: each text has its own.
        self.lexer = cache(_lexer)

    def code(self, code: str, language: str) -> str:
        """Give a block of code as HTML."""
        known = _LANGUAGES.get(language.lower(), "")
        return "\n".join(self._lines(code, known)) if known and _is_modest(code) else _plain(code)

    def patch(self, patch: str, path: str) -> str:
        language = language_of(path)
        if not language or not _is_modest(patch):
            return _plain(patch)
        return "\n".join(self._hunks(patch.split("\n"), language))

    def _hunks(self, lines: list[str], language: str) -> Iterator[str]:
        for is_head, group in groupby(lines, key=lambda line: line.startswith(("@@", "\\"))):
            here = list(group)
            yield from map(_plain, here) if is_head else self._hunk(here, language)

    def _hunk(self, lines: list[str], language: str) -> Iterator[str]:
        """Read the old and the new side each as code of its own: lines of both make no sense together."""
        new = iter(self._side(lines, "-", language))
        has_removed = any(line.startswith("-") for line in lines)
        old = iter(self._side(lines, "+", language)) if has_removed else repeat("")
        for line in lines:
            after = "" if line.startswith("-") else next(new)
            before = "" if line.startswith("+") else next(old)
            yield _plain(line[:1]) + (after or before)

    def _side(self, lines: list[str], other: str, language: str) -> list[str]:
        return self._lines("\n".join(line[1:] for line in lines if line[:1] != other), language)

    def _lines(self, code: str, language: str) -> list[str]:
        if thread_time() > self.until:
            return _plain(code).split("\n")
        return _coloured(code, self.lexer(language), self.until) or _plain(code).split("\n")


def language_of(path: str) -> str:
    """Name the language of a file; empty if it is none that we colour."""
    name = PurePosixPath(path.lower()).name
    return _LANGUAGES.get(name, "") or _LANGUAGES.get(name.rpartition(".")[2], "")


def _is_modest(code: str) -> bool:
    return len(code) <= LONGEST_CODE and all(len(line) <= LONGEST_LINE for line in code.split("\n"))


def _plain(text: str) -> str:
    # A browser would read a carriage return as a line break.
    return escape(text, quote=False).replace("\r", "&#13;")


def _coloured(code: str, lexer: Any, until: float) -> list[str] | None:
    """Give the lines with their classes; None if it takes too long or the lexer changes the text."""
    toned: list[tuple[str, str]] = []
    place = 0
    for start, kind, text in lexer.get_tokens_unprocessed(code):
        if start != place or thread_time() > until:
            return None
        place += len(text)
        toned.append((_tone(kind), text))
    return list(_lines_of(toned)) if place == len(code) else None


def _lines_of(toned: list[tuple[str, str]]) -> Iterator[str]:
    """Put what stands together in one tone into one span, which ends with its line."""
    line: list[str] = []
    for tone, group in groupby(toned, key=lambda each: each[0]):
        first, *others = "".join(text for _, text in group).split("\n")
        line.append(_span(first, tone))
        for part in others:
            yield "".join(line)
            line = [_span(part, tone)]
    yield "".join(line)


def _span(text: str, tone: str) -> str:
    plain = _plain(text)
    return f'<span class="{tone}">{plain}</span>' if tone and text.strip() else plain


def _lexer(language: str) -> Any:
    # Here and not above: a process that renders nothing does without it.
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language)


@cache
def _tone(kind: Any) -> str:
    """Four quiet tones, and what a diff or a traceback says itself."""
    from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

    for parent, tone in (
        (Comment.Preproc, "k"),
        (Comment, "c"),
        (String, "s"),
        (Number, "n"),
        (Keyword, "k"),
        (Operator.Word, "k"),
        (Name.Tag, "k"),
        (Generic.Inserted, "gi"),
        (Generic.Deleted, "gd"),
        (Generic.Error, "gr"),
        (Generic.Subheading, "c"),
    ):
        if kind in parent:
            return tone
    return ""
