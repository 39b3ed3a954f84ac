"""Splitting a unit: what its parts are about, and why."""

from django import forms


class SplitForm(forms.Form):
    """The parts, one a line."""

    parts = forms.CharField(
        label="What the parts are about",
        help_text="One part a line, for example: the crash on start; the wrong warning.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    reason = forms.CharField(
        label="Why it is split",
        help_text="Kept with the unit in its rounds.",
        max_length=2000,
        widget=forms.TextInput(),
    )
    follow_up = forms.BooleanField(
        label="Let coders code the parts in a follow-up round",
        help_text="Otherwise the parts of a closed round are decided there, without being coded.",
        required=False,
    )

    @property
    def titles(self) -> list[str]:
        return str(self.cleaned_data["parts"]).splitlines()
