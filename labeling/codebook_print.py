"""A codebook to read: Markdown for an appendix on the web, LaTeX for one in a paper. Pure."""

import re
from collections.abc import Iterator

from labeling.codebook_edits import Data, outline

KINDS = {
    "single": "choose one",
    "multiple": "choose any",
    "ordinal": "choose one, ordered",
    "text": "free text",
}
PARTS = {"definition": "", "include": "Also: ", "exclude": "Not: ", "precedence": "If in doubt: "}
TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
MARKDOWN = re.compile(r"([\\`*_\[\]<>#|])")


def write_markdown(data: Data) -> bytes:
    """Print a version as Markdown: a heading for each dimension, a list of its categories."""
    lines = [f"# Codebook, version {data.get('version')}", ""]
    for dimension in data["dimensions"]:
        lines += [f"## {_plain(dimension['name'])}", "", f"*{'; '.join(_rules(data, dimension))}.*", ""]
        lines += [line for field in ("question", "help") for line in _paragraph(dimension[field])]
        lines += [line for row in outline(dimension["categories"]) for line in _item(*row)]
        lines.append("")
    return ("\n".join(lines).rstrip() + "\n").encode()


def _paragraph(text: str) -> list[str]:
    return [_plain(text), ""] if text else []


def _item(category: Data, depth: int) -> Iterator[str]:
    indent = "  " * depth
    archived = " (archived)" if category["archived"] else ""
    meaning = " ".join(f"{word}{_plain(category[field])}" for field, word in PARTS.items() if category[field])
    name = f"**{_plain(category['name'])}** (`{category['code']}`){archived}"
    yield f"{indent}- {name}. {meaning}".rstrip()
    for example in category["examples"]:
        yield f"{indent}  - Example: {_plain(str(example))}"


def _plain(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _rules(data: Data, dimension: Data) -> Iterator[str]:
    yield KINDS[dimension["kind"]]
    if not dimension["required"]:
        yield "optional"
    if condition := dimension["asked_if"]:
        names = {each["key"]: each["name"] for each in data["dimensions"]}
        asked = names.get(condition["dimension"], condition["dimension"])
        yield f"asked only if {asked} is {' or '.join(condition['any_of'])}"
    if dimension["kind"] != "text":
        states = (("unclear", "allow_unclear"), ("not applicable", "allow_not_applicable"))
        yield from (f"may be {state}" for state, allowed in states if dimension[allowed])


def write_latex(data: Data) -> bytes:
    """Print a version as LaTeX: a ``longtable`` for each dimension; needs booktabs and longtable."""
    lines = [
        f"% Codebook, version {data.get('version')}",
        r"% \usepackage{booktabs,longtable}",
    ]
    for dimension in data["dimensions"]:
        lines += ["", rf"\subsection*{{{tex(dimension['name'])}}}"]
        lines += [tex(dimension[field]) for field in ("question", "help") if dimension[field]]
        lines.append(rf"\emph{{{tex('; '.join(_rules(data, dimension)).capitalize())}.}}")
        if dimension["categories"]:
            lines += _table(dimension)
    return ("\n".join(lines) + "\n").encode()


def _table(dimension: Data) -> Iterator[str]:
    yield r"\begin{longtable}{@{}p{0.28\linewidth}p{0.68\linewidth}@{}}"
    yield r"\toprule Category & Meaning \\ \midrule \endhead"
    for category, depth in outline(dimension["categories"]):
        if not category["archived"]:
            parts = [f"{word}{tex(category[field])}" for field, word in PARTS.items() if category[field]]
            yield rf"\hspace*{{{depth}em}}{tex(category['name'])} & {' '.join(parts)} \\"
    yield r"\bottomrule"
    yield r"\end{longtable}"


def tex(text: str) -> str:
    """Print text as LaTeX shows it: no sign of it is a command."""
    return "".join(TEX.get(sign, sign) for sign in " ".join(text.split()))
