"""A codebook version as its page shows it: dimensions with their categories below their headings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import Category, Codebook, Dimension, Membership, Study
from labeling.selectors.corpus import may_browse
from labeling.selectors.masks import Masks

UNIT_NAME = re.compile(r"[\w.-]+/[\w.-]+#\d+(?:~\d+)?")
"""How an example names a unit."""


@dataclass(frozen=True, slots=True)
class ShownCategory:
    category: Category
    depth: int
    is_heading: bool


@dataclass(frozen=True, slots=True)
class ShownDimension:
    """``condition``: None, or an earlier dimension and its categories after which this one is asked."""

    dimension: Dimension
    mark: DimensionMark
    rows: list[ShownCategory]
    condition: tuple[str, list[str]] | None

    @property
    def choosable(self) -> int:
        return sum(not row.is_heading and not row.category.archived for row in self.rows)


def shown_dimensions(codebook: Codebook) -> list[ShownDimension]:
    """Every dimension in its order, in two queries."""
    dimensions = list(codebook.dimensions.prefetch_related("categories"))
    marks = mark_dimensions(dimensions)
    by_key = {each.key: each for each in dimensions}
    return [
        ShownDimension(each, marks[each.key], _rows(each), _condition(each, by_key)) for each in dimensions
    ]


def example_links(dimensions: Iterable[ShownDimension], member: Membership) -> dict[str, str]:
    """Pages of the issues that examples name, for who may browse the corpus and codes none of them masked."""
    texts = (str(example) for each in dimensions for row in each.rows for example in row.category.examples)
    named = {name for text in texts for name in UNIT_NAME.findall(text)}
    if not named or not may_browse(member):
        return {}
    keys = {f"github.com/{name.partition('~')[0]}".lower(): name for name in named}
    issues = member.study.issues.filter(key__in=keys).exclude(Masks(member).hiding())
    return {
        keys[key]: reverse("labeling:issue-detail", args=[member.study.slug, pk])
        for pk, key in issues.values_list("pk", "key")
    }


def _rows(dimension: Dimension) -> list[ShownCategory]:
    below: dict[int | None, list[Category]] = {}
    for category in dimension.categories.all():
        below.setdefault(category.parent_id, []).append(category)
    rows: list[ShownCategory] = []
    waiting = [(category, 0) for category in reversed(below.get(None, []))]
    while waiting:
        category, depth = waiting.pop()
        children = below.get(category.pk, [])
        rows.append(ShownCategory(category, depth, bool(children) and not dimension.parents_selectable))
        waiting.extend((child, depth + 1) for child in reversed(children))
    return rows


def _condition(dimension: Dimension, by_key: dict[str, Dimension]) -> tuple[str, list[str]] | None:
    asked_if = dimension.asked_if
    parent = by_key.get(asked_if["dimension"]) if asked_if else None
    if not asked_if or parent is None:
        return None
    names = {each.code: each.name for each in parent.categories.all()}
    return parent.name, [names.get(code, code) for code in asked_if["any_of"]]


def frozen_keys(study: Study) -> set[str]:
    """Keys of dimensions that a frozen version has: answers may hang on them."""
    rows = Dimension.objects.filter(codebook__study=study, codebook__frozen_at__isnull=False)
    return set(rows.order_by().values_list("key", flat=True).distinct())


def frozen_concepts(study: Study, key: str) -> set[str]:
    """Concepts of the dimension that a frozen version has."""
    rows = Category.objects.filter(
        dimension__key=key,
        dimension__codebook__study=study,
        dimension__codebook__frozen_at__isnull=False,
    )
    return {str(concept) for concept in rows.order_by().values_list("concept", flat=True).distinct()}
