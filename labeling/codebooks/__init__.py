"""Templates to start a codebook from: published schemes in our own words, each with its source."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


class UnknownTemplateError(LookupError):
    """There is no template of this name."""


@dataclass(frozen=True, slots=True)
class Source:
    """Publication a template follows, and how closely. What we do not know of it is None."""

    authors: str
    year: int
    title: str | None = None
    venue: str | None = None
    doi: str | None = None
    note: str = ""

    @property
    def citation(self) -> str:
        """As far as it is known: authors (year). Title. Venue."""
        told = [f"{self.authors} ({self.year})", self.title, self.venue]
        return ". ".join(each.rstrip(".") for each in told if each) + "."


@dataclass(frozen=True, slots=True)
class Template:
    """What a list of templates shows of one; ``added`` names what is ours and not of the source."""

    name: str
    title: str
    source: Source
    dimensions: int
    categories: int
    added: tuple[str, ...] = ()


def available() -> list[Template]:
    """All templates, by title."""
    return sorted((_template(name) for name in _names()), key=lambda template: template.title)


def load(name: str) -> dict[str, Any]:
    """Codebook of a template, in the shape in which the API takes one.

    Raises UnknownTemplateError for a name that is not in ``available()``.
    """
    if name not in _names():
        raise UnknownTemplateError(f"There is no template {name!r}. Choose one of {', '.join(_names())}.")
    dimensions = enumerate(_read(name)["dimensions"], start=1)
    return {"dimensions": [_dimension(entry, order) for order, entry in dimensions]}


def _template(name: str) -> Template:
    data = _read(name)
    dimensions = data["dimensions"]
    return Template(
        name,
        data["title"],
        Source(**data["source"]),
        len(dimensions),
        sum(len(dimension.get("categories", [])) for dimension in dimensions),
        tuple(told for dimension in dimensions if (told := _added(dimension))),
    )


def _added(dimension: dict[str, Any]) -> str:
    """What of a dimension is ours; empty where nothing is."""
    if dimension.get("added"):
        return f"{dimension['name']}, all of it"
    names = [each["name"] for each in dimension.get("categories", []) if each.get("added")]
    return f"{dimension['name']}: {', '.join(names)}" if names else ""


def _dimension(entry: dict[str, Any], order: int) -> dict[str, Any]:
    asked_if = entry.get("asked_if")
    return {
        "key": entry["key"],
        "name": entry["name"],
        "question": entry["question"],
        "help": entry["help"],
        "kind": entry["kind"],
        "required": entry["required"],
        "order": order,
        "asked_if": asked_if and {"dimension": asked_if["dimension"], "any_of": list(asked_if["any_of"])},
        "allow_unclear": entry["allow_unclear"],
        "allow_not_applicable": entry["allow_not_applicable"],
        "parents_selectable": entry["parents_selectable"],
        "categories": [
            _category(category, at) for at, category in enumerate(entry.get("categories", []), start=1)
        ],
    }


def _category(entry: dict[str, Any], order: int) -> dict[str, Any]:
    return {
        "code": entry["code"],
        "name": entry["name"],
        "parent": entry.get("parent"),
        "definition": entry["definition"],
        "include": entry["include"],
        "exclude": entry["exclude"],
        "precedence": entry.get("precedence", ""),
        "order": order,
        "examples": list(entry.get("examples", [])),
        "hotkey": entry.get("hotkey"),
        "archived": False,
    }


@cache
def _names() -> tuple[str, ...]:
    entries = files(__name__).iterdir()
    return tuple(
        sorted(entry.name.removesuffix(".yaml") for entry in entries if entry.name.endswith(".yaml"))
    )


@cache
def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(
        files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    )
    return content
