"""Forms of the codebook draft: a dimension, a category, a template to start from, the note of a version."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import slugify

from labeling import codebooks
from labeling.codebook_acts import is_named, same_name, similar_names
from labeling.codebook_edits import Data, choosable, descendants, outline
from labeling.errors import InvalidInputError
from labeling.forms.started import StartedForm
from labeling.models import Dimension


class PlacedForm(forms.Form):
    """A form whose errors come from the whole codebook, by place: ``dimensions[2].categories[0].code``."""

    def add_errors_at(self, place: str, error: InvalidInputError) -> None:
        """Put what is said of ``place`` at its field; what breaks elsewhere stands above the form."""
        for where, sentences in error.errors.items():
            name = where.removeprefix(f"{place}.")
            for sentence in sentences:
                self.add_error(name if where != name and name in self.fields else None, sentence)


class NewDimensionForm(PlacedForm):
    name = forms.CharField(max_length=120, help_text="What is coded, for example: Root cause.")
    kind = forms.ChoiceField(label="Answer", choices=Dimension.Kind.choices)

    def dimension(self) -> Data:
        name, kind = self.cleaned_data["name"], self.cleaned_data["kind"]
        # An optional text is the usual remark; what is counted is asked of every unit.
        return {
            "key": slugify(name)[:60] or "dimension",
            "name": name,
            "kind": kind,
            "required": kind != Dimension.Kind.TEXT,
            "asked_if": None,
        }


@dataclass(frozen=True, slots=True)
class ConditionAnswer:
    value: str
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """An earlier dimension, and its answers after which this one may be asked."""

    dimension: str
    answers: list[ConditionAnswer]

    @property
    def is_chosen(self) -> bool:
        return any(answer.is_chosen for answer in self.answers)


class DimensionForm(StartedForm, PlacedForm):
    name = forms.CharField(max_length=120)
    key = forms.CharField(
        max_length=60, help_text="Names the dimension in files: letters, digits and hyphens."
    )
    question = forms.CharField(
        required=False, help_text="As coders read it, for example: What made the failure possible?"
    )
    help = forms.CharField(
        label="Help", required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="How to answer it."
    )
    kind = forms.ChoiceField(label="Answer", choices=Dimension.Kind.choices)
    required = forms.BooleanField(
        label="Required", required=False, help_text="A unit is submitted only with an answer here."
    )
    allow_unclear = forms.BooleanField(label="May be unclear", required=False)
    allow_not_applicable = forms.BooleanField(label="May be not applicable", required=False)
    parents_selectable = forms.BooleanField(
        label="Headings can be chosen",
        required=False,
        help_text="Otherwise a category that others stand under is a heading only.",
    )
    asked_if = forms.MultipleChoiceField(
        label="Ask only after", required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any = None, *, dimension: Data, earlier: list[Data], is_used: bool) -> None:
        condition = dimension["asked_if"]
        answers = [f"{condition['dimension']}/{code}" for code in condition["any_of"]] if condition else []
        super().__init__(data, initial={**dimension, "asked_if": answers})
        self.fields["asked_if"].choices = [  # type: ignore[attr-defined]
            (each["name"], [(f"{each['key']}/{row['code']}", row["name"]) for row in choosable(each)])
            for each in earlier
            if each["categories"]
        ]
        if is_used:
            # Answers of frozen versions are matched by the key.
            self.fields["key"].disabled = True
            self.fields["key"].help_text = "Fixed: a frozen version has it."

    @property
    def conditions(self) -> list[Condition]:
        """What the dimension may depend on, one entry for each earlier dimension."""
        chosen = set(self["asked_if"].value() or ())
        return [
            Condition(name, [ConditionAnswer(value, label, value in chosen) for value, label in answers])
            for name, answers in self.fields["asked_if"].choices  # type: ignore[attr-defined]
        ]

    def clean_asked_if(self) -> dict[str, Any] | None:
        parts = [answer.partition("/") for answer in self.cleaned_data["asked_if"]]
        keys = {key for key, _, _ in parts}
        if len(keys) > 1:
            raise forms.ValidationError("Choose answers of one earlier dimension.")
        return {"dimension": keys.pop(), "any_of": [code for _, _, code in parts]} if keys else None


class NewCategoryForm(PlacedForm):
    name = forms.CharField(max_length=160)
    parent = forms.ChoiceField(label="Below", required=False)
    definition = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    all_the_same = forms.BooleanField(label="Add it all the same", required=False)

    def __init__(self, *args: Any, dimension: Data, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dimension = dimension
        self.is_like_another = False
        self.fields["parent"].choices = parent_choices(dimension)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        similar = similar_names(self.dimension, cleaned.get("name", ""))
        self.is_like_another = bool(similar)
        if similar and not cleaned["all_the_same"]:
            self.add_error("name", f"It is easily taken for {' or '.join(similar)}, which is there already.")
        return cleaned

    def category(self) -> Data:
        cleaned = self.cleaned_data
        return {
            "code": slugify(cleaned["name"])[:80] or "category",
            "name": cleaned["name"],
            "parent": cleaned["parent"] or None,
            "definition": cleaned["definition"],
        }


class CategoryForm(StartedForm, PlacedForm):
    name = forms.CharField(max_length=160)
    code = forms.CharField(max_length=80, help_text="Its short name in files.")
    parent = forms.ChoiceField(label="Below", required=False)
    hotkey = forms.CharField(
        label="Key", max_length=2, required=False, help_text="One letter, or a pair. Empty: chosen for you."
    )
    definition = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    include = forms.CharField(
        label="Also",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What belongs to it.",
    )
    exclude = forms.CharField(
        label="Not",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What does not, and which category it is instead.",
    )
    precedence = forms.CharField(
        label="If in doubt", required=False, help_text="Which category wins when two fit."
    )
    examples = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="One a line."
    )
    archived = forms.BooleanField(
        label="Archived", required=False, help_text="Not offered any more. What was coded with it stays."
    )

    def __init__(self, data: Any = None, *, dimension: Data, category: Data, is_used: bool) -> None:
        examples = "\n".join(str(example) for example in category["examples"])
        super().__init__(data, initial={**category, "examples": examples})
        self.dimension, self.category = dimension, category
        below = descendants(dimension["categories"], category["code"])
        self.fields["parent"].choices = parent_choices(  # type: ignore[attr-defined]
            dimension, without={category["code"], *below}
        )
        if is_used:
            # Answers hang on these: they change by acts, which say first what they touch.
            for name in ("name", "code", "parent", "archived"):
                del self.fields[name]

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name != self.category["name"] and is_named(self.dimension, name, besides=self.category):
            raise forms.ValidationError(same_name(name))
        return name

    def clean_examples(self) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data["examples"].splitlines())
        return [line for line in lines if line]

    def clean_parent(self) -> str | None:
        return self.cleaned_data["parent"] or None

    def clean_hotkey(self) -> str:
        return str(self.cleaned_data["hotkey"]).lower()


def parent_choices(
    dimension: Data, without: set[str] | frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    rows = outline(dimension["categories"])
    below = [
        (category["code"], "\N{EM SPACE}" * depth + category["name"])
        for category, depth in rows
        if category["code"] not in without
    ]
    return [("", "Nothing: it stands at the top"), *below]


class TemplateForm(forms.Form):
    template = forms.ChoiceField(help_text="Published schemes in our own words, each with its source.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["template"].choices = [  # type: ignore[attr-defined]
            (each.name, f"{each.title} ({each.dimensions} dimensions, {each.categories} categories)")
            for each in codebooks.available()
        ]


class UploadForm(forms.Form):
    file = forms.FileField(
        allow_empty_file=True, max_length=200, help_text="YAML, CSV or REFI-QDA (.qdc), up to 2 MB."
    )


class FreezeForm(forms.Form):
    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What changed and why; it stands in the history of versions.",
    )
