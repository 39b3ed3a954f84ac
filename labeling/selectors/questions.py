"""What a round asks one coder: its dimensions, and the categories they may choose, own proposals included."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db.models import Q

from annotator.repeated import Given, RepeatedQuery
from labeling.models import Annotation, Category, CategoryProposal, Codebook, Dimension, Membership, Round

CODED = Annotation.State.CODED.value


@dataclass(frozen=True, slots=True)
class Question:
    """A dimension with what can be chosen in it, by code, in the order of the codebook."""

    dimension: Dimension
    categories: Mapping[str, Category]
    proposals: Mapping[str, CategoryProposal]

    @property
    def key(self) -> str:
        return self.dimension.key

    @property
    def codes(self) -> list[str]:
        return [*self.categories, *self.proposals]

    def is_asked(self, answers: Mapping[str, Any]) -> bool:
        """Whether the answers given so far (by dimension) make this a question."""
        condition = self.dimension.asked_if
        if not condition:
            return True
        parent = answers.get(condition["dimension"])
        if parent is None or parent["state"] != CODED:
            return False
        return bool(set(parent["categories"]) & set(condition["any_of"]))


Questions = Mapping[str, Question]


def questions(coding_round: Round, coder: Membership) -> dict[str, Question]:
    """By key, in order; proposals are those of this coder alone."""
    book = _book(coding_round.codebook) if coding_round.codebook is not None else {}
    dimensions = [each for each in book if not coding_round.dimensions or each.key in coding_round.dimensions]
    proposed: dict[int, dict[str, CategoryProposal]] = {each.pk: {} for each in dimensions}
    own, groups = coder.coder_ids[0], coder.coder_ids[-1]
    told = _PROPOSED.all(round=coding_round.pk, own=own, groups=groups)
    for proposal in sorted(told, key=attrgetter("code")):
        proposed[proposal.dimension_id][proposal.code] = proposal
    return {each.key: Question(each, book[each], proposed[each.pk]) for each in dimensions}


_PROPOSED = RepeatedQuery(
    lambda: CategoryProposal.objects.filter(Q(by=Given("own")) | Q(by=Given("groups")), round=Given("round"))
)
Book = Mapping[Dimension, Mapping[str, Category]]


def _book(codebook: Codebook) -> Book:
    """Give the dimensions of a version with their categories. A frozen one never changes: it is read once."""
    if codebook.frozen_at is None:
        return _read_book(codebook)
    key = (codebook.pk, codebook.frozen_at)
    if key not in _frozen:
        if len(_frozen) >= BOOKS_KEPT:
            _frozen.clear()
        _frozen[key] = _read_book(codebook)
    return _frozen[key]


BOOKS_KEPT = 64
_frozen: dict[tuple[int, datetime], Book] = {}


def _read_book(codebook: Codebook) -> Book:
    dimensions = list(codebook.dimensions.all())
    chosen: dict[int, dict[str, Category]] = {each.pk: {} for each in dimensions}
    for category in _selectable(dimensions):
        chosen[category.dimension_id][category.code] = category
    return {each: chosen[each.pk] for each in dimensions}


def _selectable(dimensions: list[Dimension]) -> list[Category]:
    """Leave out headings: a category others stand under, unless the dimension lets it be chosen."""
    rows = list(
        Category.objects.filter(dimension__in=dimensions, archived=False)
        .select_related("parent")
        .order_by("order", "code")
    )
    with_parents = {each.pk for each in dimensions if each.parents_selectable}
    headings = {each.parent_id for each in rows}
    return [each for each in rows if each.pk not in headings or each.dimension_id in with_parents]


def asked_of(asked: Questions, answers: Mapping[str, Any]) -> dict[str, bool]:
    """Say for each dimension whether it is asked; what hangs on a question that is not asked is not asked."""
    told: dict[str, bool] = {}
    heard: dict[str, Any] = {}
    for key, question in asked.items():
        parent = (question.dimension.asked_if or {}).get("dimension")
        # A round that asks a part of the dimensions cannot know the answer to one it leaves out.
        told[key] = True if parent is not None and parent not in asked else question.is_asked(heard)
        if told[key]:
            heard[key] = answers.get(key)
    return told


def stage_of(coding_round: Round, key: str) -> int:
    """Number of the stage a dimension belongs to; one that no stage names comes last."""
    for number, stage in enumerate(coding_round.stages):
        if key in stage["dimensions"]:
            return number
    return last_stage(coding_round)


def last_stage(coding_round: Round) -> int:
    return max(0, len(coding_round.stages) - 1)
