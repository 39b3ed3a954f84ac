"""The files of a codebook: which there are, what each leaves out, and how an uploaded one becomes a draft."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labeling import codebook_csv, codebook_qdc
from labeling.codebook_csv import read_csv, write_csv
from labeling.codebook_edits import Data, find_dimension
from labeling.codebook_input import read_codebook
from labeling.codebook_print import write_latex, write_markdown
from labeling.codebook_qdc import read_qdc, write_qdc
from labeling.codebook_yaml import read_yaml, write_yaml
from labeling.errors import InvalidInputError

LARGEST = 2 * 2**20
ORIGIN = "Intercoder"


@dataclass(frozen=True, slots=True)
class FileFormat:
    """``lost`` says what the file cannot hold; it can be uploaded unless ``is_print``."""

    name: str
    title: str
    content_type: str
    write: Callable[[Data], bytes]
    lost: str = ""
    is_print: bool = False


FORMATS: dict[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat("yaml", "YAML", "application/yaml; charset=utf-8", write_yaml),
        FileFormat("csv", "CSV", "text/csv; charset=utf-8", write_csv, codebook_csv.LOST),
        FileFormat(
            "qdc",
            "REFI-QDA",
            "application/xml; charset=utf-8",
            lambda data: write_qdc(data, ORIGIN),
            codebook_qdc.LOST,
        ),
        FileFormat("md", "Markdown", "text/markdown; charset=utf-8", write_markdown, is_print=True),
        FileFormat("tex", "LaTeX", "application/x-tex; charset=utf-8", write_latex, is_print=True),
    )
}
READERS: Mapping[str, Callable[[bytes, Data], tuple[Data, list[str]]]] = {
    "yaml": lambda content, draft: read_yaml(content),
    "yml": lambda content, draft: read_yaml(content),
    "csv": read_csv,
    "tsv": read_csv,
    "qdc": read_qdc,
}


def read_file(name: str, content: bytes, draft: Data) -> tuple[Data, list[str]]:
    """Read an uploaded codebook, by the ending of its name; give it whole, and sentences on what is left out.

    Raises InvalidInputError at ``file`` with line and reason.
    """
    ending = name.rpartition(".")[2].lower()
    if ending not in READERS:
        raise InvalidInputError({"file": ["Give a file that ends in .yaml, .csv or .qdc."]})
    if len(content) > LARGEST:
        raise InvalidInputError({"file": [f"A codebook has at most {LARGEST // 2**20} MB."]})
    data, lost = READERS[ending](content, draft)
    return completed(data, draft), lost


def completed(data: Data, draft: Data) -> Data:
    """Say every field, and give each category the concept it had: what an upload is once it is stored."""
    book: Data = {"dimensions": []}
    for place, dimension in enumerate(read_codebook(copy.deepcopy(data))):
        known = find_dimension(draft, dimension.key)
        concepts = {each["code"]: each["concept"] for each in (known["categories"] if known else ())}
        categories = [
            each.fields()
            | {
                "order": order,
                "parent": each.parent,
                "hotkey": each.hotkey,
                "concept": str(each.concept) if each.concept else concepts.get(each.code),
            }
            for order, each in enumerate(dimension.categories)
        ]
        book["dimensions"].append(dimension.fields() | {"order": place, "categories": categories})
    return book
