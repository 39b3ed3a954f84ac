"""Forms of the acts on one category of the draft; each gives the act, which is tried before it is done."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from django import forms

from labeling import codebook_acts as acts
from labeling.codebook_acts import Act
from labeling.codebook_edits import Data, choosable, descendants
from labeling.errors import InvalidInputError
from labeling.forms.codebooks import parent_choices


class ActForm(forms.Form):
    """``act`` is what it asks for; ``refuse`` says what is wrong with that at its fields."""

    title: ClassVar[str]
    explanation: ClassVar[str]
    button: ClassVar[str]
    fields_of: ClassVar[dict[str, str]] = {}

    def __init__(self, data: Any = None, *, dimension: Data, category: Data, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.of = {"dimension": dimension["key"], "category": category["concept"]}
        self.prepare(dimension, category)

    def prepare(self, dimension: Data, category: Data) -> None:
        """Fill what can be chosen."""

    def act(self) -> Act:
        raise NotImplementedError

    def refuse(self, error: InvalidInputError) -> None:
        for where, sentences in error.errors.items():
            name = self.fields_of.get(where, where)
            for sentence in sentences:
                self.add_error(name if name in self.fields else None, sentence)


class RenameForm(ActForm):
    title, button = "Rename", "Rename it"
    explanation = "The category stays the same one: what was coded with it is found under the new name."
    name = forms.CharField(max_length=160)
    code = forms.CharField(max_length=80, help_text="Its short name in files.")

    def prepare(self, dimension: Data, category: Data) -> None:
        self.initial = {"name": category["name"], "code": category["code"]}

    def act(self) -> Act:
        return partial(acts.rename, **self.of, **self.cleaned_data)


class MoveForm(ActForm):
    title, button = "Move", "Move it"
    explanation = "It keeps its answers. Agreement by level changes, agreement of the dimension does not."
    parent = forms.ChoiceField(label="Below", required=False)

    def prepare(self, dimension: Data, category: Data) -> None:
        below = descendants(dimension["categories"], category["code"])
        self.initial = {"parent": category["parent"]}
        self.fields["parent"].choices = parent_choices(  # type: ignore[attr-defined]
            dimension, without={category["code"], *below}
        )

    def act(self) -> Act:
        return partial(acts.move, **self.of, parent=self.cleaned_data["parent"] or None)


class MergeForm(ActForm):
    title, button = "Merge", "Merge it"
    explanation = "Answers with it count as the category that stays. It is archived, and nothing is deleted."
    fields_of: ClassVar = {"categories": "others"}
    into = forms.ChoiceField(label="Into")
    others = forms.MultipleChoiceField(
        label="Together with",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="These go into the same category, as one step.",
    )

    def prepare(self, dimension: Data, category: Data) -> None:
        others = (each for each in _like(dimension, category) if not each["archived"])
        choices = [(each["code"], each["name"]) for each in others if each is not category]
        # Nothing is chosen yet where the page opens, and what is to stay does not go along with it.
        into, along = self["into"].value(), self["others"].value() or ()
        self.fields["into"].choices = [("", "Choose one"), *choices]  # type: ignore[attr-defined]
        self.fields["others"].choices = [  # type: ignore[attr-defined]
            each for each in choices if each[0] != into or into in along
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("into") in cleaned.get("others", ()):
            self.add_error("others", "The category that stays cannot go into itself. Take it out here.")
        return cleaned

    def act(self) -> Act:
        categories = [self.of["category"], *self.cleaned_data["others"]]
        asked = {"dimension": self.of["dimension"], "categories": categories}
        return partial(acts.merge, **asked, into=self.cleaned_data["into"])


class SplitForm(ActForm):
    title, button = "Split", "Split it"
    explanation = (
        "Which of the new categories an old answer is, only its coders can say: the units are listed, and a "
        "recode round asks for them."
    )
    fields_of: ClassVar = {"into": "parts"}
    parts = forms.CharField(
        label="Into",
        widget=forms.Textarea(attrs={"rows": 4, "placeholder": "Segfault: the process dies from a signal"}),
        help_text="One new category a line: its name, then a colon and what it means.",
    )
    as_heading = forms.BooleanField(
        label="Keep it as their heading", required=False, help_text="Otherwise they take its place."
    )

    def act(self) -> Act:
        lines = (line.strip() for line in self.cleaned_data["parts"].splitlines())
        told = (line.partition(":") for line in lines if line)
        parts = [{"name": name.strip(), "definition": meaning.strip()} for name, _, meaning in told]
        return partial(acts.split, **self.of, into=parts, as_heading=self.cleaned_data["as_heading"])


class ArchiveForm(ActForm):
    title, button = "Archive", "Archive it"
    explanation = "It is offered no more, with all that stands below it. What was coded with it stays."

    def act(self) -> Act:
        return partial(acts.archive, **self.of)


FORMS: dict[str, type[ActForm]] = {
    "rename": RenameForm,
    "move": MoveForm,
    "merge": MergeForm,
    "split": SplitForm,
    "archive": ArchiveForm,
}


def _like(dimension: Data, category: Data) -> Iterable[Data]:
    """Answers are merged into answers, headings into headings."""
    answers = choosable(dimension)
    is_answer = category in answers
    return (each for each in dimension["categories"] if (each in answers) == is_answer)
