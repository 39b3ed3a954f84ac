"""``codebook.qdc``: the codebook as other programs for qualitative analysis exchange it (REFI-QDA 1.0). Pure.

A dimension is a code that cannot be chosen, its categories are the codes below it.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.sax import parseString
from django.utils.text import slugify
from django.utils.xmlutils import SimplerXMLGenerator

from labeling.codebook_edits import Data
from labeling.codebook_input import read_codebook
from labeling.codebook_lines import FileError, at_lines
from labeling.errors import InvalidInputError

NAMESPACE = "urn:QDA-XML:codebook:1.0"
LOST = (
    "Codes, keys, examples and the rule for doubtful cases are not in a .qdc file, nor is what kind of "
    "answer a dimension takes, whether it is required, when it is asked and whether it may be unclear or not "
    "applicable."
)
MARKS = {"definition": "Definition", "include": "Include", "exclude": "Exclude"}
DIMENSION_MARKS = {"question": "Question", "help": "Help"}
GUID = re.compile(r"\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")
# What XML 1.0 cannot hold.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NONE: "AttributesImpl[str]" = AttributesImpl({})
OF_DIMENSIONS = uuid.UUID("5ea0c6b4-2f0b-4a4e-8f0c-6d9f6a3a3a51")


def write_qdc(data: Data, origin: str) -> bytes:
    """Print a version; ``origin`` names the program that wrote it."""
    if not data["dimensions"]:
        raise InvalidInputError({"format": ["A .qdc file holds at least one code. Add a dimension first."]})
    text = StringIO()
    xml = SimplerXMLGenerator(text, "utf-8")
    xml.startDocument()
    xml.startElement("CodeBook", AttributesImpl({"xmlns": NAMESPACE, "origin": origin}))
    xml.startElement("Codes", NONE)
    for dimension in data["dimensions"]:
        marks = {DIMENSION_MARKS[name]: dimension[name] for name in DIMENSION_MARKS}
        _start(xml, _dimension_guid(dimension["key"]), dimension["name"], False, marks)
        _write_below(xml, dimension, None)
        xml.endElement("Code")
    xml.endElement("Codes")
    xml.endElement("CodeBook")
    xml.endDocument()
    return (text.getvalue() + "\n").encode()


def _write_below(xml: SimplerXMLGenerator, dimension: Data, parent: str | None) -> None:
    headings = {each["parent"] for each in dimension["categories"]}
    for category in dimension["categories"]:
        if category["parent"] == parent:
            is_answer = dimension["parents_selectable"] or category["code"] not in headings
            marks = {MARKS[name]: category[name] for name in MARKS}
            _start(xml, category["concept"], category["name"], is_answer and not category["archived"], marks)
            _write_below(xml, dimension, category["code"])
            xml.endElement("Code")


def _start(xml: SimplerXMLGenerator, guid: str, name: str, codable: bool, marks: dict[str, str]) -> None:
    attributes = {"guid": guid, "name": _legal(name), "isCodable": str(codable).lower()}
    xml.startElement("Code", AttributesImpl(attributes))
    paragraphs = [f"{mark}: {text}" for mark, text in marks.items() if text]
    if paragraphs:
        xml.startElement("Description", NONE)
        xml.characters(_legal("\n\n".join(paragraphs)))
        xml.endElement("Description")


def _legal(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def _dimension_guid(key: str) -> str:
    return str(uuid.uuid5(OF_DIMENSIONS, key))


@dataclass(slots=True)
class _Code:
    line: int
    guid: str
    name: str
    codable: bool
    description: str = ""
    below: list["_Code"] = field(default_factory=list)


def read_qdc(content: bytes, draft: Data) -> tuple[Data, list[str]]:
    """Read a file over the draft it is for, and list what was left out.

    Raises FileError with line and reason. A code at the top with codes below it is a dimension; those that
    stand alone make a dimension "Codes". What the draft already has keeps what a .qdc file cannot hold.
    """
    handler = _Handler()
    try:
        parseString(content, handler, forbid_dtd=True)
    except SAXParseException as error:
        raise FileError(error.getLineNumber() or 1, f"This is no XML: {error.getMessage()}.") from error
    except (DefusedXmlException, ValueError) as error:
        raise FileError(1, "The file declares a document type or entities, which are not read.") from error
    lines: dict[str, int] = {}
    data = {"dimensions": list(_dimensions(handler.top, draft, lines))}
    try:
        read_codebook(data)
    except InvalidInputError as error:
        raise at_lines(error, lines) from error
    return data, [LOST, *handler.lost]


class _Handler(ContentHandler):
    """Builds the tree of codes, and says where the file is no codebook."""

    def __init__(self) -> None:
        super().__init__()
        self.top: list[_Code] = []
        self.lost: list[str] = []
        self._open: list[str] = []
        self._codes: list[_Code] = []
        self._text: list[str] = []

    @property
    def _line(self) -> int:
        return self._locator.getLineNumber() or 1  # type: ignore[attr-defined]

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 - of the interface
        name = name.rpartition(":")[2]
        if not self._open and name != "CodeBook":
            raise FileError(self._line, f"The file begins with {name}; a .qdc file begins with CodeBook.")
        if name == "Code":
            self._start_code(dict(attrs.items()))
        elif name == "Description":
            self._text = []
        elif name == "Set":
            self.lost.append(f"Line {self._line}: the set {attrs.get('name', '')} is left out.")
        elif name not in ("CodeBook", "Codes", "Sets", "MemberCode"):
            self.lost.append(f"Line {self._line}: {name} is left out.")
        self._open.append(name)

    def _start_code(self, attributes: dict[str, str]) -> None:
        guid, name = attributes.get("guid", ""), attributes.get("name", "").strip()
        if not GUID.fullmatch(guid):
            raise FileError(
                self._line, f"The guid {guid} is none. It looks like 8-4-4-4-12 hexadecimal digits."
            )
        if not name:
            raise FileError(self._line, "This code has no name.")
        if attributes.get("isCodable") not in ("true", "false", "1", "0"):
            raise FileError(self._line, f"{name} does not say with isCodable whether it can be chosen.")
        if "color" in attributes and not any(each.startswith("Colours") for each in self.lost):
            self.lost.append("Colours are left out.")
        codable = attributes["isCodable"] in ("true", "1")
        code = _Code(self._line, str(uuid.UUID(guid.strip("{}"))), name, codable)
        (self._codes[-1].below if self._codes else self.top).append(code)
        self._codes.append(code)

    def characters(self, content: str) -> None:
        if self._open and self._open[-1] == "Description":
            self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802 - of the interface
        name = self._open.pop()
        if name == "Code":
            self._codes.pop()
        elif name == "Description" and self._codes and self._open[-1] == "Code":
            self._codes[-1].description = "".join(self._text).strip()


def _dimensions(top: Sequence[_Code], draft: Data, lines: dict[str, int]) -> Iterator[Data]:
    known = {_dimension_guid(each["key"]): each for each in draft["dimensions"]}
    by_name = {each["name"].casefold(): each for each in draft["dimensions"]}
    alone = [each for each in top if not each.below and each.guid not in known]
    places = [each for each in top if each not in alone]
    if alone:
        places.append(_Code(alone[0].line, "", "Codes", False, below=alone))
    for n, code in enumerate(places):
        same = known.get(code.guid) or by_name.get(code.name.casefold())
        lines[f"dimensions[{n}]"] = code.line
        yield _dimension(code, same, f"dimensions[{n}]", lines)


def _dimension(code: _Code, same: Data | None, place: str, lines: dict[str, int]) -> Data:
    kept = {name: value for name, value in (same or {}).items() if name not in ("order", "categories")}
    codes = {each["concept"]: each for each in (same["categories"] if same else ())}
    taken = {each["code"] for each in codes.values()}
    rows: list[tuple[_Code, str | None, str]] = []
    _flatten(code.below, None, codes, taken, rows)
    categories = []
    for n, (child, parent, short) in enumerate(rows):
        lines[f"{place}.categories[{n}]"] = child.line
        categories.append(_category(child, parent, short, codes.get(child.guid)))
    said = {"name": code.name, **_marked(code.description, DIMENSION_MARKS, "question")}
    fresh = {
        "key": slugify(code.name)[:60] or "codes",
        "kind": "multiple" if categories else "text",
        "parents_selectable": any(each.codable and each.below for each, _, _ in rows),
    }
    return fresh | kept | said | {"categories": categories}


def _flatten(
    below: Sequence[_Code],
    parent: str | None,
    known: dict[str, Data],
    taken: set[str],
    rows: list[tuple[_Code, str | None, str]],
) -> None:
    for code in below:
        short = known[code.guid]["code"] if code.guid in known else _free(slugify(code.name)[:76], taken)
        rows.append((code, parent, short))
        _flatten(code.below, short, known, taken, rows)


def _free(code: str, taken: set[str]) -> str:
    code = code or "category"
    found, n = code, 2
    while found in taken:
        found, n = f"{code}-{n}", n + 1
    taken.add(found)
    return found


def _category(code: _Code, parent: str | None, short: str, same: Data | None) -> Data:
    # A heading that cannot be chosen is no archived one; of that the file does not tell.
    archived = bool(same and same["archived"]) if code.below else not code.codable
    kept = {name: same[name] for name in ("hotkey", "examples", "precedence") if same}
    if archived:
        kept.pop("hotkey", None)
    return kept | {
        "concept": code.guid,
        "code": short,
        "name": code.name,
        "parent": parent,
        "archived": archived,
        **dict.fromkeys(MARKS, ""),
        **_marked(code.description, MARKS, "definition"),
    }


def _marked(description: str, marks: dict[str, str], otherwise: str) -> dict[str, str]:
    """Take marked paragraphs apart; what stands before the first mark is the definition (the question)."""
    found = dict.fromkeys(marks, "")
    at = otherwise
    for paragraph in re.split(r"\n[ \t]*\n", description):
        mark, separator, text = paragraph.strip().partition(":")
        name = next((each for each, word in marks.items() if separator and word == mark.strip()), None)
        at, text = (name, text.strip()) if name else (at, paragraph.strip())
        found[at] = "\n\n".join(filter(None, (found[at], text)))
    return found
