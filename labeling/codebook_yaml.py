"""``codebook.yaml``: all that a version says, as labeling/codebooks/file.schema.json describes it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from labeling.codebook_edits import Data
from labeling.codebook_input import read_codebook
from labeling.codebook_lines import FileError, at_lines
from labeling.errors import InvalidInputError

FORMAT = "intercoder-codebook"
#: Fields that are left out where they say what is so anyway, with what that is.
DIMENSION = {
    "key": None,
    "name": None,
    "question": "",
    "help": "",
    "kind": None,
    "required": True,
    "asked_if": None,
    "allow_unclear": True,
    "allow_not_applicable": True,
    "parents_selectable": False,
}
CATEGORY: dict[str, Any] = {
    "concept": None,
    "code": None,
    "name": None,
    "parent": None,
    "definition": "",
    "include": "",
    "exclude": "",
    "precedence": "",
    "examples": [],
    "hotkey": "",
    "archived": False,
}
HEAD = {"format", "version", "frozen_at", "note", "dimensions"}


def write_yaml(data: Data) -> bytes:
    """Print a version; the same version gives the same bytes."""
    frozen_at = data.get("frozen_at")
    book = {
        "format": FORMAT,
        "version": data.get("version"),
        "frozen_at": frozen_at.strftime("%Y-%m-%dT%H:%M:%SZ") if frozen_at else None,
        "dimensions": [
            _said(each, DIMENSION) | {"categories": [_said(row, CATEGORY) for row in each["categories"]]}
            for each in data["dimensions"]
        ],
    }
    return yaml.safe_dump(book, sort_keys=False, allow_unicode=True, width=110).encode()


def _said(row: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: row[name]
        for name, default in defaults.items()
        if row.get(name) is not None and row[name] != default
    }


def read_yaml(content: bytes) -> tuple[Data, list[str]]:
    """Read a file and list what was left out of it. Raises FileError with line and reason."""
    lines: dict[str, int] = {}
    loader = _Loader(_text(content))
    try:
        node = loader.get_single_node()
        book = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FileError(line, f"This is no YAML: {error.problem or error.context}.") from error
    except (ValueError, RecursionError) as error:
        raise FileError(1, f"This cannot be read as YAML: {error}.") from error
    finally:
        loader.dispose()
    if node is None or not isinstance(book, dict) or not isinstance(book.get("dimensions"), list):
        raise FileError(1, "The file has no list of dimensions. Download a codebook to see its form.")
    lost = [*_places(node, "", lines), *_unknown(book, lines)]
    try:
        read_codebook(book)
    except InvalidInputError as error:
        raise at_lines(error, lines) from error
    return {"dimensions": book["dimensions"]}, lost


class _Loader(yaml.SafeLoader):
    """YAML without references: a few lines of them can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="references (*) are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(line, "This is no UTF-8. Save the file as UTF-8.") from error


def _places(node: yaml.Node, place: str, lines: dict[str, int]) -> Iterator[str]:
    """Note the line of every place; tell of keys that stand twice, of which YAML keeps the last."""
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for n, child in enumerate(node.value):
            yield from _places(child, f"{place}[{n}]", lines)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, child in node.value:
            if key.value in seen:
                yield f"Line {key.start_mark.line + 1}: {key.value} stands twice; the last one counts."
            seen.add(key.value)
            yield from _places(child, f"{place}.{key.value}".lstrip("."), lines)


def _unknown(book: Mapping[str, Any], lines: Mapping[str, int]) -> Iterator[str]:
    yield from _others(book, HEAD, "", lines)
    for n, dimension in enumerate(book["dimensions"]):
        if not isinstance(dimension, Mapping):
            continue
        here = f"dimensions[{n}]"
        yield from _others(dimension, {*DIMENSION, "order", "categories"}, here, lines)
        categories = dimension.get("categories")
        for i, category in enumerate(categories if isinstance(categories, list) else ()):
            if isinstance(category, Mapping):
                yield from _others(category, {*CATEGORY, "order"}, f"{here}.categories[{i}]", lines)


def _others(row: Mapping[str, Any], known: set[str], place: str, lines: Mapping[str, int]) -> Iterator[str]:
    for name in row:
        if name not in known:
            line = lines.get(f"{place}.{name}".lstrip("."), lines.get(place, 1))
            yield f"Line {line}: there is no field {name}; it is left out."
