"""Filters of a coder's own units: of one round, and of all of them."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from django import forms

from labeling.models import Assignment, Category, Membership, Round, Study
from labeling.selectors.coding import CHANGED
from labeling.selectors.questions import Question, questions

Choices = list[tuple[str, Any]]


class QueueForm(forms.Form):
    """What a queue shows. A category stands in it as "dimension:code", as in addresses."""

    status = forms.ChoiceField(label="State", required=False)
    category = forms.ChoiceField(label="Category you chose", required=False)
    order = forms.ChoiceField(label="Order", required=False)

    def __init__(self, coding_round: Round, member: Membership, narrowed: Mapping[str, str]) -> None:
        super().__init__(initial=as_initial(narrowed))
        states = [each for each in Assignment.Status if each != Assignment.Status.WITHDRAWN]
        shown = [(each.value, each.label) for each in states]
        offer(self, "status", "Any state", [*shown, (CHANGED, "Submitted, then changed")])
        asked = questions(coding_round, member).values()
        groups = [(each.dimension.name, _choices(each)) for each in asked if each.codes]
        offer(self, "category", "Any category", groups)
        offer(self, "order", "As dealt", [("oldest", "Oldest issue first"), ("newest", "Newest issue first")])


def _choices(question: Question) -> Choices:
    names = {code: each.name for code, each in question.categories.items()}
    names |= {code: each.name for code, each in question.proposals.items()}
    return [(f"{question.key}:{code}", name) for code, name in names.items()]


class OwnUnitsForm(forms.Form):
    """What to look for in all that one has said in a study, whatever codebook version a round has."""

    category = forms.ChoiceField(label="Category you chose", required=False)
    words = forms.CharField(label="Words in your memo or the title", required=False, max_length=200)

    def __init__(self, study: Study, narrowed: Mapping[str, str]) -> None:
        super().__init__(initial=as_initial(narrowed))
        rows = (
            Category.objects.filter(dimension__codebook__study=study)
            .order_by("dimension__order", "dimension__key", "order", "code", "-dimension__codebook__version")
            .values_list("dimension__key", "dimension__name", "code", "name")
        )
        groups: Choices = []
        for key, members in groupby(rows, key=lambda row: row[0]):
            found = list(members)
            names: dict[str, str] = {}
            for _, _, code, name in found:
                names.setdefault(f"{key}:{code}", name)
            groups.append((found[0][1], list(names.items())))
        offer(self, "category", "Any category", groups)


def offer(form: forms.Form, name: str, anything: str, choices: Choices) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared so
    field.choices = [("", anything), *choices]


def as_initial(narrowed: Mapping[str, str]) -> dict[str, str]:
    """Give the parts of an address as the fields of a form."""
    named = {name: value for name, value in narrowed.items() if name != "dimension"}
    if "category" in named and "dimension" in narrowed:
        named["category"] = f"{narrowed['dimension']}:{named['category']}"
    return named
