"""Tables and numbers in LaTeX: a plain tabular with the rules of booktabs; ASCII for all but names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{NO-BREAK SPACE}": "~",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{GREEK SMALL LETTER ALPHA}": r"$\alpha$",
    "\N{GREEK SMALL LETTER KAPPA}": r"$\kappa$",
    "\N{GREEK SMALL LETTER PI}": r"$\pi$",
    "\N{GREEK SMALL LETTER CHI}": r"$\chi$",
    "\N{SUPERSCRIPT TWO}": r"$^2$",
    "\r": " ",
    "\n": " ",
    "\t": " ",
}
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
Align = Literal["l", "r", "c"]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and where its cells stand."""

    heading: str
    align: Align = "l"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as people read them, in groups with a rule between; ``label`` is for a reference in a paper."""

    caption: str
    label: str
    columns: tuple[Column, ...]
    groups: tuple[tuple[tuple[str, ...], ...], ...]
    note: str = ""


def escape(text: str) -> str:
    """Write a text so that LaTeX prints it as it is."""
    return "".join(ESCAPES.get(character, character) for character in text)


def table_text(table: Table) -> str:
    """Write one table as a float of its own, ready to be put into a paper that loads booktabs."""
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape(table.caption)}}}",
        rf"  \label{{tab:{label(table.label)}}}",
        rf"  \begin{{tabular}}{{{''.join(column.align for column in table.columns)}}}",
        r"    \toprule",
        f"    {_row([column.heading for column in table.columns])}",
        *_groups(table.groups),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if table.note:
        lines.append(rf"  \par\smallskip\footnotesize {escape(table.note)}")
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def tables_text(tables: Iterable[Table]) -> str:
    """Write a file of tables."""
    head = "% \\usepackage{booktabs} in the preamble; two decimals, full precision is in agreement.csv.\n"
    return head + "".join(f"\n{table_text(table)}" for table in tables)


def label(text: str) -> str:
    """Make a label out of any text: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()


def macro(*parts: str) -> str:
    r"""Name a macro: ``macro("round 3", "root_cause")`` is ``\RoundThreeRootCause``, letters alone."""
    words = re.findall(r"[A-Za-z]+|[0-9]", " ".join(parts))
    return "\\" + "".join(
        DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:] for word in words
    )


def macros_text(numbers: Iterable[tuple[str, str]]) -> str:
    """Write one macro per number, for texts that quote them."""
    return "".join(f"\\newcommand{{{name}}}{{{escape(value)}}}\n" for name, value in numbers)


def _groups(groups: Sequence[Sequence[Sequence[str]]]) -> Iterable[str]:
    for group in groups:
        yield r"    \midrule"
        yield from (f"    {_row(cells)}" for cells in group)


def _row(cells: Sequence[str]) -> str:
    # After a line break an opening bracket would be read as its option, a star as its variant.
    start = "{}" if cells and cells[0][:1] in ("[", "*") else ""
    return start + " & ".join(map(escape, cells)) + r" \\"
