"""Acts on a codebook draft: rename, move, merge, split, archive. Pure: they change ``data`` in place.

Nothing leaves a codebook by an act. What is merged, split or archived can no longer be chosen, and ``went``
says what answers that were given with it are in the new version.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from django.utils.text import slugify

from labeling.codebook_edits import (
    Data,
    add_category,
    change_category,
    choosable,
    descendants,
    find_category,
    find_dimension,
)
from labeling.errors import InvalidInputError

ALIKE = 0.86
"""Names that share this much of their letters are one typing mistake apart."""
SHORT = 4


@dataclass(frozen=True, slots=True)
class Done:
    """What an act did, in a sentence; ``went`` gives the new concept of old ones, None: nowhere.

    ``warnings`` are sentences about names that are easily taken for each other.
    """

    act: str
    dimension: str
    summary: str
    went: Mapping[str, str | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def retired(self) -> tuple[str, ...]:
        """Concepts that can no longer be chosen."""
        return tuple(self.went)


Act = Callable[[Data], Done]


def rename(data: Data, *, dimension: str, category: str, name: str = "", code: str = "") -> Done:
    """Give a category another name, another code, or both; its concept stays."""
    book, renamed = _find(data, dimension, category)
    before = renamed["name"]
    name, code = name.strip() or before, code.strip() or renamed["code"]
    if (name, code) == (before, renamed["code"]):
        raise InvalidInputError({"name": ["Give another name or another code."]})
    _refuse_taken(book, code, "code", besides=renamed)
    if is_named(book, name, besides=renamed):
        raise InvalidInputError({"name": [same_name(name)]})
    warnings = tuple(_warnings(book, name, besides=renamed)) if name != before else ()
    summary = f"{before} is now called {name} ({code})."
    change_category(data, book, renamed["concept"], {"name": name, "code": code})
    return Done("rename", dimension, summary, warnings=warnings)


def move(data: Data, *, dimension: str, category: str, parent: str | None) -> Done:
    """Put a category below another one, or at the top."""
    book, moved = _find(data, dimension, category)
    above = _category(book, parent, "parent") if parent else None
    below = above["code"] if above else None
    if below == moved["parent"]:
        raise InvalidInputError({"parent": [f"{moved['name']} stands there already."]})
    if above is not None:
        if above is moved:
            raise InvalidInputError({"parent": [f"{moved['name']} cannot stand below itself."]})
        if below in descendants(book["categories"], moved["code"]):
            told = f"{moved['name']} cannot stand below {above['name']}, one of its own categories."
            raise InvalidInputError({"parent": [told]})
        _refuse_archived(above, "parent")
    warnings = tuple(_burying(book, above)) if above else ()
    change_category(data, book, moved["concept"], {"parent": below})
    place = f"below {above['name']}" if above else "at the top"
    return Done("move", dimension, f"{moved['name']} now stands {place}.", warnings=warnings)


def merge(data: Data, *, dimension: str, categories: Sequence[str], into: str) -> Done:
    """Let answers with some categories count as another one; what stood below them moves below it."""
    book = _dimension(data, dimension)
    target = _category(book, into, "into")
    sources = [_category(book, each, "categories") for each in dict.fromkeys(categories)]
    sources = [each for each in sources if each is not target]
    if not sources:
        raise InvalidInputError({"categories": ["Name at least one category besides the one that stays."]})
    _refuse_archived(target, "into")
    for source in sources:
        _refuse_archived(source, "categories")
        _refuse_unlike(book, source, target)
    for source in sources:
        for child in book["categories"]:
            if child["parent"] == source["code"]:
                child["parent"] = target["code"]
        _retire(data, book, source, {target["code"]})
    names = _listed([each["name"] for each in sources])
    return Done(
        "merge",
        dimension,
        f"{names} {'is' if len(sources) == 1 else 'are'} merged into {target['name']}.",
        {each["concept"]: target["concept"] for each in sources},
    )


def split(
    data: Data,
    *,
    dimension: str,
    category: str,
    into: Sequence[Mapping[str, Any]],
    as_heading: bool = False,
) -> Done:
    """Replace a category by new ones; which of them an old answer is, only its coders can say.

    ``as_heading``: the category stays, as the heading of its parts.
    """
    book, whole = _find(data, dimension, category)
    _refuse_archived(whole, "category")
    if any(each["parent"] == whole["code"] for each in book["categories"]):
        raise InvalidInputError(
            {"category": [f"{whole['name']} is a heading. Split a category below it instead."]}
        )
    parts = [_part(book, each) for each in into]
    if len(parts) < 2:
        raise InvalidInputError({"into": ["Name at least two categories to split it into."]})
    warnings = [sentence for part in parts for sentence in _warnings(book, part["name"], besides=whole)]
    parent = whole["code"] if as_heading else whole["parent"]
    for part in parts:
        if any(each["code"] == part["code"] for each in book["categories"]):
            raise InvalidInputError({"into": [_taken(part["code"])]})
        add_category(book, {**part, "parent": parent})
    _retire(data, book, whole, {part["code"] for part in parts}, archived=not as_heading)
    names = _listed([part["name"] for part in parts])
    summary = f"{whole['name']} is split into {names}."
    return Done("split", dimension, summary, {whole["concept"]: None}, tuple(warnings))


def archive(data: Data, *, dimension: str, category: str) -> Done:
    """Offer a category and what stands below it no more; answers with it have no value any more."""
    book, archived = _find(data, dimension, category)
    _refuse_archived(archived, "category")
    codes = {archived["code"], *descendants(book["categories"], archived["code"])}
    gone = [each for each in book["categories"] if each["code"] in codes]
    for each in gone:
        each |= {"archived": True, "hotkey": ""}
    below = f", with the {len(gone) - 1} below it" if len(gone) > 1 else ""
    summary = f"{archived['name']} is archived{below}."
    return Done("archive", dimension, summary, {each["concept"]: None for each in gone})


def is_named(dimension: Data, name: str, *, besides: Data) -> bool:
    """Whether another category that is offered has the name."""
    others = (each for each in dimension["categories"] if each is not besides and not each["archived"])
    return any(each["name"].strip().casefold() == name.strip().casefold() for each in others)


def same_name(name: str) -> str:
    return f"Another category is called {name}. Give a name that tells them apart, or merge the two."


def similar_names(dimension: Data, name: str, *, besides: str | None = None) -> list[str]:
    """Names of the dimension that a reader takes for ``name``: other case, hyphens, a plural, a typo."""
    others = [each for each in dimension["categories"] if besides is None or each["concept"] != besides]
    plain = _plain(name)
    return [each["name"] for each in others if _alike(plain, _plain(each["name"]))]


def new_name_warnings(before: Data, after: Data) -> list[str]:
    """Sentences about categories that are new and named like another one of their dimension."""
    known = {each["concept"] for dimension in before["dimensions"] for each in dimension["categories"]}
    return [
        sentence
        for dimension in after["dimensions"]
        for category in dimension["categories"]
        if category["concept"] not in known
        for sentence in _warnings(dimension, category["name"], besides=category)
    ]


def _alike(first: str, second: str) -> bool:
    if not first or not second:
        return False
    if first == second or first.rstrip("s") == second.rstrip("s"):
        return True
    # Of short names every letter matters: "leak" and "lock" are no mistake.
    if min(len(first), len(second)) <= SHORT:
        return False
    matcher = SequenceMatcher(None, first, second)
    return matcher.real_quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _warnings(dimension: Data, name: str, *, besides: Data | None = None) -> Iterator[str]:
    for other in similar_names(dimension, name, besides=besides["concept"] if besides else None):
        yield f"{name} is easily taken for {other}. Give a name that tells them apart, or keep one of them."


def _dimension(data: Data, key: str) -> Data:
    dimension = find_dimension(data, key)
    if dimension is None:
        raise InvalidInputError({"dimension": [f"The draft has no dimension {key}."]})
    return dimension


def _find(data: Data, dimension: str, category: str) -> tuple[Data, Data]:
    book = _dimension(data, dimension)
    return book, _category(book, category, "category")


def _category(dimension: Data, named: str | None, field: str) -> Data:
    """Find a category by its code, else by its concept."""
    by_code = (each for each in dimension["categories"] if each["code"] == named)
    found = next(by_code, None) or find_category(dimension, str(named))
    if found is None:
        raise InvalidInputError({field: [f"{dimension['name']} has no category {named}."]})
    return found


def _part(dimension: Data, fields: Mapping[str, Any]) -> Data:
    name = str(fields.get("name") or fields.get("code") or "").strip()
    code = str(fields.get("code") or "").strip() or slugify(name)[:80]
    if not name or not code:
        raise InvalidInputError({"into": ["Give each new category a name."]})
    known = {"definition", "include", "exclude", "precedence", "examples"}
    return {**{field: fields[field] for field in known & set(fields)}, "name": name, "code": code}


def _retire(data: Data, dimension: Data, category: Data, instead: set[str], *, archived: bool = True) -> None:
    """Take a category out of choice; questions that depended on it depend on what came instead."""
    if archived:
        category |= {"archived": True, "hotkey": ""}
    else:
        category["hotkey"] = ""
    for other in data["dimensions"]:
        condition = other["asked_if"]
        if (
            condition
            and condition["dimension"] == dimension["key"]
            and category["code"] in condition["any_of"]
        ):
            kept = [code for code in condition["any_of"] if code != category["code"] and code not in instead]
            condition["any_of"] = kept + [
                each["code"] for each in dimension["categories"] if each["code"] in instead
            ]


def _refuse_unlike(dimension: Data, source: Data, target: Data) -> None:
    """Answers must go where answers can be given, and headings where headings are."""
    if target["code"] in descendants(dimension["categories"], source["code"]):
        raise InvalidInputError(
            {"into": [f"{target['name']} stands below {source['name']}. Move it out first, then merge."]}
        )
    answers = {each["code"] for each in choosable(dimension)}
    if dimension["parents_selectable"] or (source["code"] in answers) == (target["code"] in answers):
        return
    heading = target if source["code"] in answers else source
    raise InvalidInputError(
        {"into": [f"{heading['name']} is a heading that nobody can choose. Merge with a category below it."]}
    )


def _burying(dimension: Data, above: Data) -> Iterator[str]:
    """Say where an answer becomes a heading."""
    if (
        above["code"] in {each["code"] for each in choosable(dimension)}
        and not dimension["parents_selectable"]
    ):
        yield f"{above['name']} becomes a heading: nobody can choose it any more."


def _refuse_archived(category: Data, field: str) -> None:
    if category["archived"]:
        raise InvalidInputError({field: [f"{category['name']} is archived."]})


def _refuse_taken(dimension: Data, code: str, field: str, *, besides: Data) -> None:
    if any(each["code"] == code and each is not besides for each in dimension["categories"]):
        raise InvalidInputError({field: [_taken(code)]})


def _taken(code: str) -> str:
    return f"The code {code} is taken in this dimension. An archived category keeps its code too."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
