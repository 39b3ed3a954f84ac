"""Forms of a sample: how many issues, from which strata, by which seed."""

import secrets
from decimal import Decimal
from typing import Any

from django import forms

from labeling.models import Sample
from labeling.services.strata import FIELDS, read_strata

ALLOCATIONS = (
    ("proportional", "In proportion to the stratum"),
    ("equal", "The same number from each"),
    ("given", "As I write below"),
)


#: What is offered to be ticked; every field and conditions on them can be written.
OFFERED = ("repository", "kind", "state", "state_reason", "author_kind", "milestone", "has_fix", "year")


class SampleForm(forms.Form):
    method = forms.ChoiceField(
        label="How", choices=Sample.Method.choices, initial=Sample.Method.RANDOM, widget=forms.RadioSelect
    )
    size_by = forms.ChoiceField(
        label="Size",
        choices=[("margin", "From a margin of error"), ("size", "A number of issues")],
        initial="margin",
        widget=forms.RadioSelect,
        required=False,
    )
    margin = forms.DecimalField(
        label="Margin of error, ± %", initial=5, required=False, min_value=Decimal("0.1"), max_value=50
    )
    confidence = forms.DecimalField(
        label="Confidence, %", initial=95, required=False, min_value=50, max_value=Decimal("99.9")
    )
    proportion = forms.DecimalField(
        label="Expected share, %",
        required=False,
        min_value=Decimal("0.1"),
        max_value=Decimal("99.9"),
        help_text="Of what you want to count. Empty: 50, the worst case.",
    )
    size = forms.IntegerField(label="Number of issues", required=False, min_value=1)
    pilot = forms.IntegerField(
        label="More, for the pilot alone",
        required=False,
        min_value=0,
        help_text="Drawn beside the sample; the main rounds do not get them.",
    )
    strata = forms.MultipleChoiceField(
        label="Strata",
        required=False,
        choices=[(name, FIELDS[name].words) for name in OFFERED],
        widget=forms.CheckboxSelectMultiple,
        help_text="Several make one stratum for each combination.",
    )
    expression = forms.CharField(
        label="And by",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"placeholder": "comments >= 5 + github_label = bug|crash"}),
        help_text=f"Fields, or conditions on them, joined by +. Fields: {', '.join(FIELDS)}.",
    )
    allocation = forms.ChoiceField(
        label="From each stratum", choices=ALLOCATIONS, required=False, initial="proportional"
    )
    sizes = forms.CharField(
        label="Numbers of the strata",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "octo/spoon = 40"}),
        help_text="One stratum a line: its name, an equals sign, the number of issues.",
    )
    issues = forms.CharField(
        label="Issues of the list",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "placeholder": "octo/spoon#17"}),
        help_text="One a line, as owner/name#number or as an address. They must be in the corpus.",
    )
    seed = forms.IntegerField(
        label="Seed", help_text="The same corpus and the same seed give the same sample again."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seed"].initial = secrets.randbelow(1_000_000)

    def clean_sizes(self) -> dict[str, int]:
        sizes = {}
        for number, line in enumerate(self.cleaned_data["sizes"].splitlines(), start=1):
            stratum, _, count = (part.strip() for part in line.rpartition("="))
            if line.strip() and not (stratum and count.isdecimal()):
                raise forms.ValidationError(f"Line {number}: write it like “octo/spoon = 40”.")
            if line.strip():
                sizes[stratum] = int(count)
        return sizes

    def clean_expression(self) -> str:
        expression = str(self.cleaned_data["expression"]).strip()
        if expression:
            try:
                read_strata(expression)
            except ValueError as error:
                raise forms.ValidationError(str(error)) from error
        return expression

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        method = cleaned.get("method")
        is_named = cleaned.get("strata") or cleaned.get("expression") or "expression" in self.errors
        if method == Sample.Method.STRATIFIED and not is_named:
            self.add_error("strata", "Choose what the strata are made of.")
        if method == Sample.Method.LIST and not cleaned.get("issues", "").strip():
            self.add_error("issues", "Name the issues of the list, one a line.")
        if self.is_drawn and not self.has_given_numbers:
            needed = "size" if self.asks_for_size else "margin"
            if cleaned.get(needed) is None and needed not in self.errors:
                self.add_error(needed, "Give a number.")
        if self.has_given_numbers and not cleaned.get("sizes") and "sizes" not in self.errors:
            self.add_error("sizes", "Give the number of issues of each stratum.")
        return cleaned

    @property
    def is_drawn(self) -> bool:
        return self.cleaned_data.get("method") in (Sample.Method.RANDOM, Sample.Method.STRATIFIED)

    @property
    def asks_for_size(self) -> bool:
        return self.cleaned_data.get("size_by") == "size"

    @property
    def is_stratified(self) -> bool:
        return self.cleaned_data.get("method") == Sample.Method.STRATIFIED

    @property
    def has_given_numbers(self) -> bool:
        return self.is_stratified and self.cleaned_data.get("allocation") == "given"

    def size_options(self) -> dict[str, Any]:
        """How many and from which strata, as the service and the size plan take it."""
        cleaned = self.cleaned_data
        confidence = float(cleaned.get("confidence") or 95) / 100
        options: dict[str, Any] = {"confidence": confidence, "pilot": cleaned.get("pilot") or 0}
        if cleaned.get("proportion"):
            options["proportion"] = float(cleaned["proportion"]) / 100
        if self.is_stratified:
            named = [*cleaned.get("strata", ()), cleaned.get("expression", "")]
            options["strata"] = " + ".join(each for each in named if each)
            options["allocation"] = {"kind": cleaned.get("allocation") or "proportional"}
        if self.has_given_numbers:
            options["allocation"]["sizes"] = cleaned.get("sizes") or {}
        elif self.asks_for_size:
            options["size"] = cleaned.get("size")
        else:
            options["margin"] = float(cleaned["margin"]) / 100 if cleaned.get("margin") else None
        return options

    def draw_options(self) -> dict[str, Any]:
        """Arguments of ``services.samples.draw``."""
        cleaned = self.cleaned_data
        options: dict[str, Any] = {"method": cleaned["method"], "seed": cleaned["seed"]}
        if self.is_drawn:
            options |= self.size_options()
        if cleaned["method"] == Sample.Method.LIST:
            lines = (line.strip() for line in cleaned["issues"].splitlines())
            options["issues"] = list(dict.fromkeys(line for line in lines if line))
        return options


class TopUpForm(forms.Form):
    size = forms.IntegerField(
        label="Issues to add", min_value=1, help_text="The next ranks of the same draw."
    )


class ReplaceForm(forms.Form):
    unit = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why",
        max_length=500,
        help_text="Goes into sample.csv, for example: the repository was deleted.",
    )
