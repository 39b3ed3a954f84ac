"""Forms of a study and of its members."""

from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms

from labeling import codebooks
from labeling.models import Issue, Membership, Role, Study, User
from labeling.selectors.studies import own_memberships

KINDS = ((Issue.Kind.ISSUE, "Issues"), (Issue.Kind.PULL_REQUEST, "Pull requests"))


class StudyCreateForm(forms.Form):
    title = forms.CharField(
        label="Title", max_length=200, help_text="As it will stand in the paper, or nearly so."
    )
    slug = forms.CharField(
        label="Short name",
        max_length=60,
        required=False,
        help_text="Lower-case letters, digits and hyphens, for the address. Empty: made from the title.",
    )
    start = forms.ChoiceField(
        label="Codebook", required=False, help_text="A start that you change as you like."
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        templates = [(f"template:{each.name}", each.title) for each in codebooks.available()]
        led = [each.study for each in own_memberships(user) if each.is_lead]
        copies = [
            (f"copy:{study.slug}", f"Design of {study.title}")
            for study in sorted(led, key=lambda study: study.title)
        ]
        choices: list[Any] = [("", "Start with nothing"), ("Templates", templates)]
        self.fields["start"].choices = [*choices, ("Your studies", copies)] if copies else choices  # type: ignore[attr-defined]

    def start_from(self) -> tuple[str | None, str | None]:
        """Name of a template, or slug of a study to copy."""
        kind, _, name = self.cleaned_data["start"].partition(":")
        return (name if kind == "template" else None, name if kind == "copy" else None)


class StudySettingsForm(forms.Form):
    title = forms.CharField(max_length=200)
    zone = forms.ChoiceField(
        label="Time zone of the study", help_text="Due dates end with the day in this zone."
    )
    unit_kinds = forms.MultipleChoiceField(label="Units", choices=KINDS, widget=forms.CheckboxSelectMultiple)
    exclusion_reasons = forms.CharField(
        label="Reasons to exclude a unit",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One a line.",
        required=False,
    )
    count_states = forms.ChoiceField(
        label="Unclear and not applicable",
        choices=Study.CountStates.choices,
        help_text="How they enter agreement. Fixed once the first round was opened.",
    )
    scale = forms.ChoiceField(label="Words for kappa", choices=Study.Scale.choices)
    coders_see_corpus = forms.BooleanField(
        label="Coders may browse the corpus", required=False, help_text="It holds the units of later rounds."
    )
    consensus = forms.BooleanField(
        label="Consensus coding",
        required=False,
        help_text="The coders code together; no agreement is computed.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["zone"].choices = [(name, name) for name in sorted(available_timezones())]  # type: ignore[attr-defined]

    @classmethod
    def of_study(cls, study: Study, data: Any) -> "StudySettingsForm":
        initial = {name: getattr(study, name) for name in cls.base_fields}
        return cls(data, initial=initial | {"exclusion_reasons": "\n".join(study.exclusion_reasons)})

    def clean_exclusion_reasons(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["exclusion_reasons"].splitlines()]
        return list(dict.fromkeys(line for line in lines if line))


class MemberAddForm(forms.Form):
    username = forms.CharField(label="User name or e-mail", help_text="Of somebody who has an account here.")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.CODER)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.CODER)


class MemberForm(forms.ModelForm[Membership]):
    class Meta:
        model = Membership
        fields = ("role", "pseudonym", "experience", "training")
        widgets: ClassVar = {
            "pseudonym": forms.TextInput,
            "role": forms.Select(choices=Role.choices),
            "experience": forms.Textarea(attrs={"rows": 2}),
            "training": forms.Textarea(attrs={"rows": 2}),
        }
        help_texts: ClassVar = {
            "pseudonym": "Stands in files that are made with pseudonyms.",
            "experience": "Goes into the methods text, for example: six years with deep-learning compilers.",
            "training": "Goes into the methods text, for example: two training rounds of 20 issues.",
        }
