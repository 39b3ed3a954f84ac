"""The codebook as a draft that changes and versions that do not."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from labeling.codebook_acts import Done
from labeling.codebook_input import DIMENSION_FIELDS, CategoryInput, DimensionInput, read_codebook
from labeling.errors import CodebookError, CodebookFrozenError
from labeling.models import Annotation, Category, Codebook, CodebookAct, Dimension, Membership, Study
from labeling.services.codebook_mappings import stored_mappings, write_mappings
from labeling.services.events import record


def draft_or_current(study: Study) -> Codebook | None:
    """The draft if there is one, else the newest frozen version."""
    return study.codebooks.order_by("-version").first()


def current(study: Study) -> Codebook | None:
    """The newest frozen version."""
    return study.codebooks.filter(frozen_at__isnull=False).order_by("-version").first()


def readable_versions(study: Study, member: Membership) -> QuerySet[Codebook]:
    """Leads read the draft too; everybody else the versions that were frozen."""
    return study.codebooks.all() if member.is_lead else study.codebooks.filter(frozen_at__isnull=False)


def codebook_data(codebook: Codebook) -> dict[str, Any]:
    """A version in the shape in which the API reads and writes it."""
    return {
        "version": codebook.version,
        "frozen_at": codebook.frozen_at,
        "dimensions": [
            _dimension_data(each) for each in codebook.dimensions.prefetch_related("categories__parent")
        ],
    }


def current_data(study: Study) -> dict[str, Any]:
    """The draft, else the newest version, else nothing: what a change starts from."""
    newest = draft_or_current(study)
    return codebook_data(newest) if newest is not None else {"dimensions": []}


def _dimension_data(dimension: Dimension) -> dict[str, Any]:
    data: dict[str, Any] = {field: getattr(dimension, field) for field in DIMENSION_FIELDS}
    data["categories"] = [_category_data(each) for each in dimension.categories.all()]
    return data


def _category_data(category: Category) -> dict[str, Any]:
    fields = (
        "code",
        "name",
        "definition",
        "include",
        "exclude",
        "precedence",
        "order",
        "examples",
        "hotkey",
        "archived",
    )
    data = {field: getattr(category, field) for field in fields}
    data["concept"] = str(category.concept)
    data["parent"] = category.parent.code if category.parent is not None else None
    return data


def save_draft(
    *, study: Study, data: Mapping[str, Any], by: Membership, done: Done | None = None
) -> Codebook:
    """Write the whole draft from ``data``; makes one where only frozen versions exist.

    A category keeps its identity by ``concept``, else by its code in the same dimension. ``done``: the act
    that made ``data``, where it is one. What was there before is kept, so that the change can be undone.
    Raises InvalidInputError with a sentence per field, CodebookError if a used dimension would change kind.
    """
    dimensions = read_codebook(data)
    done = done or Done(CodebookAct.Act.EDIT, "", "The draft was edited.")
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        previous = draft_or_current(study)
        _refuse_changed_kinds(study, dimensions)
        if previous is not None and previous.frozen_at is None:
            draft, before = previous, state_of(previous)
        else:
            draft, before = _new_draft(study, previous), None
        write_draft(draft, dimensions, _concepts(previous))
        write_mappings(draft, act=done.act, dimension=done.dimension, went=done.went)
        CodebookAct.objects.create(
            codebook=draft,
            n=draft.acts.count() + 1,
            act=done.act,
            by=by,
            summary=done.summary,
            before=before,
        )
        record(study=study, verb="codebook.changed", by=by, object=f"codebook:{draft.version}", act=done.act)
    return draft


def state_of(draft: Codebook) -> dict[str, Any]:
    """All that an undo puts back."""
    return {"dimensions": codebook_data(draft)["dimensions"], "mappings": stored_mappings(draft)}


def write_draft(
    draft: Codebook, dimensions: Iterable[DimensionInput], concepts: Mapping[tuple[str, str], uuid.UUID]
) -> None:
    """Write the rows of a draft anew: nothing can point at them yet, and they keep their concepts."""
    draft.dimensions.all().delete()
    for dimension in dimensions:
        _write_dimension(draft, dimension, concepts)


def _new_draft(study: Study, previous: Codebook | None) -> Codebook:
    return Codebook.objects.create(study=study, version=previous.version + 1 if previous is not None else 1)


def _concepts(previous: Codebook | None) -> dict[tuple[str, str], uuid.UUID]:
    if previous is None:
        return {}
    rows = Category.objects.filter(dimension__codebook=previous)
    return {
        (key, code): concept for key, code, concept in rows.values_list("dimension__key", "code", "concept")
    }


def _refuse_changed_kinds(study: Study, dimensions: Iterable[DimensionInput]) -> None:
    used = dict(
        Annotation.objects.filter(dimension__codebook__study=study)
        .order_by()
        .values_list("dimension__key", "dimension__kind")
        .distinct()
    )
    for dimension in dimensions:
        if used.get(dimension.key, dimension.kind) != dimension.kind:
            raise CodebookError(
                f"The dimension {dimension.key} was coded as {used[dimension.key]} in a round. "
                f"For another kind, add a dimension with a new key."
            )


def _write_dimension(
    draft: Codebook, dimension: DimensionInput, concepts: Mapping[tuple[str, str], uuid.UUID]
) -> None:
    row = Dimension.objects.create(codebook=draft, **dimension.fields())
    hotkeys = assign_hotkeys(dimension.categories)
    rows: dict[str, Category] = {}
    for category in dimension.categories:
        rows[category.code] = Category(
            dimension=row,
            concept=category.concept or concepts.get((dimension.key, category.code)) or uuid.uuid4(),
            hotkey=hotkeys.get(category.code, ""),
            **category.fields(),
        )
    # Parents first: children point at their rows.
    Category.objects.bulk_create(rows[each.code] for each in dimension.categories if each.parent is None)
    children = [each for each in dimension.categories if each.parent is not None]
    for depth_first in _by_depth(children, rows):
        rows[depth_first.code].parent = rows[str(depth_first.parent)]
        rows[depth_first.code].save()


def _by_depth(children: Sequence[CategoryInput], rows: Mapping[str, Category]) -> Iterable[CategoryInput]:
    parents = {each.code: str(each.parent) for each in children}

    def depth(code: str) -> int:
        return 1 + depth(parents[code]) if code in parents else 0

    return sorted(children, key=lambda each: depth(each.code))


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def assign_hotkeys(categories: Sequence[CategoryInput]) -> dict[str, str]:
    """A key for every category that can be chosen: letters of its name first, then free ones.

    With more than 26 categories the last letters become prefixes of pairs, so that no key starts another.
    """
    parents = {each.parent for each in categories}
    choosable = [
        each for each in categories if not each.archived and (each.code not in parents or each.hotkey)
    ]
    given = {each.code: each.hotkey for each in choosable if each.hotkey}
    rest = [each for each in choosable if not each.hotkey]
    free = _free_keys(set(given.values()), len(rest))
    for category in rest:
        given[category.code] = key = _wished(category.name + category.code, free)
        free = [each for each in free if each != key]
    return given


def next_hotkey(name: str, taken: Iterable[str]) -> str:
    """Give one more category a key beside the ``taken`` ones; the last free letter starts pairs."""
    return _wished(name, _free_keys(set(taken), 2))


def _wished(name: str, free: Sequence[str]) -> str:
    """Give the first letter of the name that is free, else what is; none where all were given away."""
    return next((letter for letter in name.lower() if letter in free), next(iter(free), ""))


def _free_keys(taken: set[str], needed: int) -> list[str]:
    starts = {key[0] for key in taken}
    singles = [letter for letter in LETTERS if letter not in starts]
    prefixes: list[str] = sorted({key[0] for key in taken if len(key) == 2})
    while True:
        pairs = [prefix + letter for prefix in prefixes for letter in LETTERS if prefix + letter not in taken]
        if len(singles) + len(pairs) >= needed or not singles:
            return singles + pairs
        prefixes.append(singles.pop())


def freeze(*, study: Study, by: Membership, note: str = "") -> Codebook:
    """Freeze the draft: from now on it never changes. It needs a dimension that holds categories or text."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        draft = study.codebooks.filter(frozen_at__isnull=True).first()
        if draft is None:
            raise CodebookFrozenError("There is no draft to freeze: the newest version is frozen already.")
        _refuse_unusable(draft)
        draft.frozen_at, draft.note = timezone.now(), note or draft.note
        draft.save(update_fields=["frozen_at", "note"])
        draft.acts.exclude(before=None).update(before={})
        record(study=study, verb="codebook.frozen", by=by, object=f"codebook:{draft.version}")
    return draft


def _refuse_unusable(draft: Codebook) -> None:
    dimensions = list(draft.dimensions.annotate(size=Max("categories__id")))
    if not dimensions:
        raise CodebookError("The codebook has no dimension yet. Add one before freezing it.")
    if all(each.kind != Dimension.Kind.TEXT and each.size is None for each in dimensions):
        names = ", ".join(each.name for each in dimensions)
        raise CodebookError(f"No dimension has categories yet ({names}). Add at least one category.")
