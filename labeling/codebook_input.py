"""A codebook as somebody writes it: read from the API, a file or a template, every mistake named. Pure."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.errors import InvalidInputError

KINDS = ("single", "multiple", "ordinal", "text")
RESERVED = ("unclear", "not_applicable", "not_asked")

DIMENSION_FIELDS = (
    "key",
    "name",
    "question",
    "help",
    "kind",
    "required",
    "order",
    "asked_if",
    "allow_unclear",
    "allow_not_applicable",
    "parents_selectable",
)
"""What a dimension says apart from its categories, in files, in the API and in its row."""


@dataclass(frozen=True, slots=True)
class CategoryInput:
    code: str
    name: str
    parent: str | None = None
    concept: uuid.UUID | None = None
    definition: str = ""
    include: str = ""
    exclude: str = ""
    precedence: str = ""
    examples: tuple[str, ...] = ()
    hotkey: str = ""
    archived: bool = False
    order: int = 0

    def fields(self) -> dict[str, Any]:
        """What a row of the category takes as it stands."""
        names = ("code", "name", "definition", "include", "exclude", "precedence", "archived", "order")
        return {name: getattr(self, name) for name in names} | {"examples": list(self.examples)}


@dataclass(frozen=True, slots=True)
class DimensionInput:
    key: str
    name: str
    question: str = ""
    help: str = ""
    kind: str = "single"
    required: bool = True
    order: int = 0
    asked_if: dict[str, Any] | None = None
    allow_unclear: bool = True
    allow_not_applicable: bool = True
    parents_selectable: bool = False
    categories: tuple[CategoryInput, ...] = ()

    def fields(self) -> dict[str, Any]:
        """What a row of the dimension takes as it stands."""
        return {name: getattr(self, name) for name in DIMENSION_FIELDS}


class Problems:
    """Collects sentences by the place they speak of, e.g. ``dimensions[0].categories[2].code``."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def add(self, place: str, sentence: str) -> None:
        self.found.setdefault(place, []).append(sentence)


def read_codebook(data: Mapping[str, Any]) -> list[DimensionInput]:
    """Read ``{"dimensions": [...]}``. Raises InvalidInputError with every mistake by its place."""
    problems = Problems()
    raw = data.get("dimensions")
    if not isinstance(raw, list) or not all(isinstance(each, Mapping) for each in raw):
        raise InvalidInputError(
            {"dimensions": ["Give a list of dimensions, each an object with a key and a name."]}
        )
    dimensions = [_read_dimension(each, n, problems) for n, each in enumerate(raw)]
    dimensions.sort(key=lambda each: each.order)
    _check_keys(dimensions, problems)
    for n, dimension in enumerate(dimensions):
        _check_asked_if(dimension, dimensions[:n], f"dimensions[{n}]", problems)
    if problems.found:
        raise InvalidInputError(problems.found)
    return dimensions


def _read_dimension(raw: Mapping[str, Any], n: int, problems: Problems) -> DimensionInput:
    place = f"dimensions[{n}]"
    kind = raw.get("kind", "single")
    if kind not in KINDS:
        problems.add(f"{place}.kind", f"Choose one of {', '.join(KINDS)}.")
    categories = raw.get("categories") or []
    if not isinstance(categories, list) or not all(isinstance(each, Mapping) for each in categories):
        problems.add(
            f"{place}.categories", "Give a list of categories, each an object with a code and a name."
        )
        categories = []
    read = tuple(
        _read_category(each, i, f"{place}.categories[{i}]", problems) for i, each in enumerate(categories)
    )
    _check_categories(read, place, problems)
    key = _text(raw, "key", place, problems)
    return DimensionInput(
        key=key,
        name=_text(raw, "name", place, problems) or key,
        question=_text(raw, "question", place, problems),
        help=_text(raw, "help", place, problems),
        kind=kind,
        required=_flag(raw, "required", True, place, problems),
        order=_number(raw, n, place, problems),
        asked_if=_asked_if(raw, place, problems),
        allow_unclear=_flag(raw, "allow_unclear", True, place, problems),
        allow_not_applicable=_flag(raw, "allow_not_applicable", True, place, problems),
        parents_selectable=_flag(raw, "parents_selectable", False, place, problems),
        categories=tuple(sorted(read, key=lambda each: each.order)),
    )


def _read_category(raw: Mapping[str, Any], n: int, place: str, problems: Problems) -> CategoryInput:
    code = _text(raw, "code", place, problems)
    examples = raw.get("examples") or []
    if not isinstance(examples, list) or not all(isinstance(each, str) for each in examples):
        problems.add(f"{place}.examples", "Give a list of texts. A text may name a unit: owner/name#12.")
        examples = []
    return CategoryInput(
        code=code,
        name=_text(raw, "name", place, problems) or code,
        parent=_text(raw, "parent", place, problems) or None,
        concept=_concept(raw, place, problems),
        definition=_text(raw, "definition", place, problems),
        include=_text(raw, "include", place, problems),
        exclude=_text(raw, "exclude", place, problems),
        precedence=_text(raw, "precedence", place, problems),
        examples=tuple(examples),
        hotkey=_text(raw, "hotkey", place, problems).lower(),
        archived=_flag(raw, "archived", False, place, problems),
        order=_number(raw, n, place, problems),
    )


def _text(raw: Mapping[str, Any], name: str, place: str, problems: Problems) -> str:
    value = raw.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        problems.add(f"{place}.{name}", "Write a text.")
        return ""
    return value.strip()


def _flag(raw: Mapping[str, Any], name: str, default: bool, place: str, problems: Problems) -> bool:
    value = raw.get(name, default)
    if not isinstance(value, bool):
        problems.add(f"{place}.{name}", "Write true or false.")
        return default
    return value


def _number(raw: Mapping[str, Any], default: int, place: str, problems: Problems) -> int:
    value = raw.get("order", default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        problems.add(f"{place}.order", "Write a whole number from 0.")
        return default
    return value


def _asked_if(raw: Mapping[str, Any], place: str, problems: Problems) -> dict[str, Any] | None:
    value = raw.get("asked_if")
    if not value:
        return None
    if not isinstance(value, Mapping):
        problems.add(f"{place}.asked_if", 'Write {"dimension": a key, "any_of": [codes]}.')
        return None
    return dict(value)


def _concept(raw: Mapping[str, Any], place: str, problems: Problems) -> uuid.UUID | None:
    if not raw.get("concept"):
        return None
    try:
        return uuid.UUID(str(raw["concept"]))
    except ValueError:
        problems.add(f"{place}.concept", "This is no UUID. Leave concept out to let the code decide.")
        return None


def _check_keys(dimensions: Sequence[DimensionInput], problems: Problems) -> None:
    for n, key in _repeated([each.key for each in dimensions]):
        problems.add(f"dimensions[{n}].key", f"The key {key} stands twice. Give every dimension its own.")
    for n, dimension in enumerate(dimensions):
        key = dimension.key
        if (
            not key
            or key.startswith("_")
            or len(key) > 60
            or not key.replace("-", "").replace("_", "").isalnum()
        ):
            problems.add(
                f"dimensions[{n}].key",
                "Give a key of up to 60 letters, digits and hyphens, for example root-cause.",
            )
        if len(dimension.name) > 120:
            problems.add(f"dimensions[{n}].name", "A name may have at most 120 characters.")


def _check_categories(categories: Sequence[CategoryInput], place: str, problems: Problems) -> None:
    codes = {each.code: each for each in categories}
    for n, code in _repeated([each.code for each in categories]):
        problems.add(f"{place}.categories[{n}].code", f"The code {code} stands twice in this dimension.")
    for n, _ in _repeated([str(each.concept) for each in categories if each.concept]):
        problems.add(f"{place}.categories[{n}].concept", "This concept stands twice in this dimension.")
    for n, category in enumerate(categories):
        here = f"{place}.categories[{n}]"
        _check_code(category, here, problems)
        if category.parent is not None and category.parent not in codes:
            problems.add(f"{here}.parent", f"There is no category {category.parent} in this dimension.")
        elif _is_own_ancestor(category, codes):
            problems.add(f"{here}.parent", "A category cannot stand below itself.")
    _check_hotkeys(categories, place, problems)


def _check_code(category: CategoryInput, here: str, problems: Problems) -> None:
    code = category.code
    if not code or len(code) > 80 or any(character in code for character in "/|\n\r"):
        problems.add(f"{here}.code", "Give a code of 1 to 80 characters without /, | or a line break.")
    if code in RESERVED:
        problems.add(
            f"{here}.code", f"{code} is a reserved state that every dimension offers already. Choose another."
        )
    if len(category.name) > 160:
        problems.add(f"{here}.name", "A name may have at most 160 characters.")


def _is_own_ancestor(category: CategoryInput, codes: Mapping[str, CategoryInput]) -> bool:
    seen = {category.code}
    parent = category.parent
    while parent is not None and parent in codes:
        if parent in seen:
            return True
        seen.add(parent)
        parent = codes[parent].parent
    return False


def _check_hotkeys(categories: Sequence[CategoryInput], place: str, problems: Problems) -> None:
    keys = [each.hotkey for each in categories]
    for n, key in enumerate(keys):
        if not key:
            continue
        here = f"{place}.categories[{n}].hotkey"
        if len(key) > 2 or not (key.isascii() and key.isalpha()):
            problems.add(here, "A hotkey is one letter from a to z, or a pair of them.")
        clash = next(
            (other for i, other in enumerate(keys) if i != n and other and other.startswith(key)), None
        )
        if clash is not None:
            problems.add(
                here, f"The hotkey {key} is taken, or starts the pair {clash}. Choose another letter."
            )


def _check_asked_if(
    dimension: DimensionInput, earlier: Sequence[DimensionInput], place: str, problems: Problems
) -> None:
    condition = dimension.asked_if
    if condition is None:
        return
    if set(condition) != {"dimension", "any_of"}:
        problems.add(f"{place}.asked_if", 'Write {"dimension": a key, "any_of": [codes]}.')
        return
    parent = next((each for each in earlier if each.key == condition["dimension"]), None)
    if parent is None:
        problems.add(
            f"{place}.asked_if",
            f"{condition['dimension']} is no earlier dimension. Name one that comes before.",
        )
        return
    codes = condition["any_of"]
    known = {each.code for each in parent.categories}
    if (
        not isinstance(codes, list)
        or not codes
        or not all(isinstance(code, str) and code in known for code in codes)
    ):
        problems.add(
            f"{place}.asked_if", f"Name at least one category of {parent.key}, and only its categories."
        )


def _repeated(values: Sequence[str]) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for n, value in enumerate(values):
        if value and value in seen:
            yield n, value
        seen.add(value)
