"""What differs between two versions of a codebook, in plain words. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labeling.codebook_edits import Data, find_dimension
from labeling.codebook_print import KINDS

Went = Mapping[str, tuple[str, str | None]]
"""By concept: the act that took a category away last, and the concept it was merged into, if it was."""

DIMENSION_TEXTS = {"question": "question", "help": "help"}
CATEGORY_TEXTS = {
    "definition": "definition",
    "include": "list of what belongs to it",
    "exclude": "list of what does not",
    "precedence": "rule for doubtful cases",
}
FLAGS = {
    "required": ("must be answered", "is optional"),
    "allow_unclear": ("may be unclear", "may not be unclear"),
    "allow_not_applicable": ("may be not applicable", "may not be not applicable"),
    "parents_selectable": ("lets headings be chosen", "does not let headings be chosen"),
}


@dataclass(frozen=True, slots=True)
class Changed:
    """What is new about one dimension (or, with no key, about their order)."""

    key: str
    name: str
    sentences: tuple[str, ...]


def differences(before: Data, after: Data, went: Went | None = None) -> list[Changed]:
    """Say by dimension what changed; ``went`` tells a merge from an archived category."""
    changed = []
    for dimension in after["dimensions"]:
        was = find_dimension(before, dimension["key"])
        told = tuple(_changed(was, dimension, after, went or {}) if was else _added(dimension))
        if told:
            changed.append(Changed(dimension["key"], dimension["name"], told))
    for dimension in before["dimensions"]:
        if find_dimension(after, dimension["key"]) is None:
            changed.append(Changed(dimension["key"], dimension["name"], ("The dimension was taken out.",)))
    if _moved(before["dimensions"], after["dimensions"], "key"):
        names = ", ".join(each["name"] for each in after["dimensions"])
        changed.append(Changed("", "All dimensions", (f"They are asked in another order: {names}.",)))
    return changed


def _added(dimension: Data) -> Iterator[str]:
    names = ", ".join(each["name"] for each in dimension["categories"] if not each["archived"])
    yield f"The dimension is new ({KINDS[dimension['kind']]}{': ' if names else ''}{names})."


def _changed(was: Data, now: Data, after: Data, went: Went) -> Iterator[str]:
    if now["name"] != was["name"]:
        yield f"{was['name']} is now called {now['name']}."
    if now["kind"] != was["kind"]:
        yield f"The answer is now {KINDS[now['kind']]} (before: {KINDS[was['kind']]})."
    yield from (
        _text(word, was[field], now[field])
        for field, word in DIMENSION_TEXTS.items()
        if was[field] != now[field]
    )
    for field, (yes, no) in FLAGS.items():
        if was[field] != now[field]:
            yield f"It now {yes if now[field] else no}."
    if was["asked_if"] != now["asked_if"]:
        yield _condition(now, after)
    yield from _categories(was, now, went)


def _condition(now: Data, after: Data) -> str:
    """In the words of the version that asks: what it depends on may be as new as the condition."""
    condition = now["asked_if"]
    if not condition:
        return "It is now always asked."
    asked = find_dimension(after, condition["dimension"])
    names = {each["code"]: each["name"] for each in (asked["categories"] if asked else ())}
    answers = " or ".join(names.get(code, code) for code in condition["any_of"])
    return f"It is now asked only if {asked['name'] if asked else condition['dimension']} is {answers}."


def _categories(was: Data, now: Data, went: Went) -> Iterator[str]:
    old = {each["concept"]: each for each in was["categories"]}
    new = {each["concept"]: each for each in now["categories"] if each["concept"]}
    names = {each["code"]: each["name"] for each in now["categories"]}
    for category in now["categories"]:
        before = old.get(category["concept"])
        if before is None:
            above = f" below {names[category['parent']]}" if category["parent"] else ""
            yield f"{category['name']} is new{above}."
        else:
            yield from _category(before, category, was, names, new, went)
    for concept, category in old.items():
        if concept not in new:
            yield _gone(category, new, went) or f"{category['name']} was taken out."
    if _moved(was["categories"], now["categories"], "concept"):
        yield "The categories stand in another order."


def _category(
    was: Data, now: Data, dimension: Data, names: Mapping[str, str], new: Mapping[str, Data], went: Went
) -> Iterator[str]:
    name = now["name"]
    if name != was["name"]:
        yield f"{was['name']} is now called {name}."
    if now["code"] != was["code"]:
        yield f"The code of {name} is now {now['code']} (before: {was['code']})."
    if _parent(was, dimension) != _parent_concept(now, new):
        place = f"below {names[now['parent']]}" if now["parent"] else "at the top"
        yield f"{name} now stands {place}."
    if now["archived"] != was["archived"]:
        yield (
            (_gone(was, new, went) or f"{name} was archived.")
            if now["archived"]
            else f"{name} is offered again."
        )
    elif (went.get(now["concept"]) or ("",))[0] == "split":
        yield f"{name} was split; it is the heading of its parts."
    for field, word in CATEGORY_TEXTS.items():
        if was[field] != now[field]:
            yield _text(f"{word} of {name}", was[field], now[field])
    if was["examples"] != now["examples"]:
        yield f"The examples of {name} changed."


def _gone(category: Data, new: Mapping[str, Data], went: Went) -> str | None:
    act, target = went.get(category["concept"], ("", None))
    if target is not None and target in new:
        then = ", which was split" if act == "split" else ""
        return f"{category['name']} was merged into {new[target]['name']}{then}."
    return f"{category['name']} was split." if act == "split" else None


def _text(what: str, was: str, now: str) -> str:
    if not was:
        return f"The {what} is new: {now}"
    return f"The {what} is now: {now} (before: {was})" if now else f"The {what} was taken out: {was}"


def _parent(category: Data, dimension: Data) -> str | None:
    concepts = {each["code"]: each["concept"] for each in dimension["categories"]}
    return concepts.get(category["parent"]) if category["parent"] else None


def _parent_concept(category: Data, new: Mapping[str, Data]) -> str | None:
    found = (each["concept"] for each in new.values() if each["code"] == category["parent"])
    return next(found, None) if category["parent"] else None


def _moved(was: list[Data], now: list[Data], identity: str) -> bool:
    """Whether what stands in both stands in another order."""
    old, new = [each[identity] for each in was], [each[identity] for each in now]
    return [each for each in old if each in new] != [each for each in new if each in old]
