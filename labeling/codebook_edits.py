"""Edits of a codebook as data, in the shape in which the API reads and writes it.

Pure: each function changes ``data`` in place and stores nothing. What results is checked when it is saved.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Data = dict[str, Any]

UP, DOWN = -1, 1


def find_dimension(data: Data, key: str) -> Data | None:
    return next((each for each in data["dimensions"] if each["key"] == key), None)


def find_category(dimension: Data, concept: str) -> Data | None:
    return next((each for each in dimension["categories"] if each["concept"] == concept), None)


def add_dimension(data: Data, fields: Mapping[str, Any]) -> None:
    data["dimensions"].append({"categories": [], **fields})
    _number(data["dimensions"])


def change_dimension(data: Data, key: str, fields: Mapping[str, Any]) -> None:
    """Take over the fields; conditions that name the dimension follow a new key."""
    for dimension in data["dimensions"]:
        condition = dimension["asked_if"]
        if condition and condition["dimension"] == key:
            condition["dimension"] = fields.get("key", key)
        if dimension["key"] == key:
            dimension.update(fields)


def remove_dimension(data: Data, key: str) -> None:
    data["dimensions"] = [each for each in data["dimensions"] if each["key"] != key]
    _number(data["dimensions"])


def move_dimension(data: Data, key: str, step: int) -> None:
    _swap(data["dimensions"], [each["key"] for each in data["dimensions"]].index(key), step)
    _number(data["dimensions"])


def add_template(data: Data, template: Data) -> list[str]:
    """Add the dimensions of a template; give the keys that were there already and stay as they are."""
    taken = {each["key"] for each in data["dimensions"]}
    new = [each for each in template["dimensions"] if each["key"] not in taken]
    data["dimensions"].extend(new)
    _number(data["dimensions"])
    return [each["key"] for each in template["dimensions"] if each["key"] in taken]


def add_category(dimension: Data, fields: Mapping[str, Any]) -> None:
    dimension["categories"].append({"concept": None, **fields})
    _arrange(dimension)


def change_category(data: Data, dimension: Data, concept: str, fields: Mapping[str, Any]) -> None:
    """Take over the fields; what stands below the category, and what depends on it, follow a new code."""
    category = find_category(dimension, concept)
    if category is None:
        return
    before, after = category["code"], fields.get("code", category["code"])
    for other in dimension["categories"]:
        if other["parent"] == before:
            other["parent"] = after
    for other in data["dimensions"]:
        condition = other["asked_if"]
        if condition and condition["dimension"] == dimension["key"]:
            condition["any_of"] = [after if code == before else code for code in condition["any_of"]]
    category.update(fields)
    _arrange(dimension)


def remove_category(dimension: Data, concept: str) -> None:
    """Take a category out; what stood below it moves up to where it stood."""
    removed = find_category(dimension, concept)
    if removed is None:
        return
    for other in dimension["categories"]:
        if other["parent"] == removed["code"]:
            other["parent"] = removed["parent"]
    dimension["categories"].remove(removed)
    _arrange(dimension)


def move_category(dimension: Data, concept: str, step: int) -> None:
    """Move a category before or after its neighbour below the same parent."""
    category = find_category(dimension, concept)
    if category is None:
        return
    siblings = [each for each in dimension["categories"] if each["parent"] == category["parent"]]
    at = siblings.index(category)
    if 0 <= at + step < len(siblings):
        categories = dimension["categories"]
        here, there = categories.index(category), categories.index(siblings[at + step])
        categories[here], categories[there] = categories[there], categories[here]
    _arrange(dimension)


def outline(categories: Sequence[Data]) -> list[tuple[Data, int]]:
    """Every category after its parent, with its depth (0: at the top)."""
    below: dict[str | None, list[Data]] = {}
    for category in categories:
        below.setdefault(category["parent"], []).append(category)
    return list(_walk(below, None, 0))


def choosable(dimension: Data) -> list[Data]:
    """Categories that can be an answer: headings are none unless the dimension says so."""
    headings = {each["parent"] for each in dimension["categories"]}
    return [
        each
        for each, _ in outline(dimension["categories"])
        if dimension["parents_selectable"] or each["code"] not in headings
    ]


def descendants(categories: Sequence[Data], code: str) -> set[str]:
    """Codes below ``code``, at any depth."""
    found: set[str] = set()
    waiting = [code]
    while waiting:
        parent = waiting.pop()
        children = [each["code"] for each in categories if each["parent"] == parent]
        waiting.extend(child for child in children if child not in found)
        found.update(children)
    return found


def _walk(
    below: Mapping[str | None, list[Data]], parent: str | None, depth: int
) -> Iterable[tuple[Data, int]]:
    for category in below.get(parent, ()):
        yield category, depth
        yield from _walk(below, category["code"], depth + 1)


def _arrange(dimension: Data) -> None:
    """Put every category after its parent; one whose parent is unknown stays for the check to find."""
    arranged = [category for category, _ in outline(dimension["categories"])]
    lost = [each for each in dimension["categories"] if each not in arranged]
    dimension["categories"] = [*arranged, *lost]
    _number(dimension["categories"])


def _swap(rows: list[Data], at: int, step: int) -> None:
    if 0 <= at + step < len(rows):
        rows[at], rows[at + step] = rows[at + step], rows[at]


def _number(rows: Iterable[Data]) -> None:
    for order, row in enumerate(rows):
        row["order"] = order
