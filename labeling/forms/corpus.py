"""Forms of the corpus: what to show, what to leave out by hand, and the ordered list of rules."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from labeling.selectors.corpus import IssueFilters
from labeling.services.corpus import FIELDS, FunnelStep, Rule

#: As many digits as any id the database can hold is sure to have.
_ID = re.compile("[0-9]{1,18}")
YES_NO = [("", "Either"), ("true", "Yes"), ("false", "No")]


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        label=label,
        choices=choices,
        required=False,
        coerce=lambda told: told == "true",
        empty_value=None,
        widget=PlainSelect,
    )


class PlainSelect(forms.Select):
    """A select that renders no template for each of its options: there may be a hundred repositories."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        chosen = {escape(str(told)) for told in self.format_value(value)}
        options = "".join(
            f'<option value="{key}"{" selected" if key in chosen else ""}>{text}</option>'
            for key, text in ((escape(str(key)), escape(str(text))) for key, text in self.choices)
        )
        given = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        return format_html("<select{}>{}</select>", flatatt(given), mark_safe(options))  # noqa: S308 - escaped


class PlainInput(forms.TextInput):
    """An input that renders no template: five of them took as long as the fifty rows of the list."""

    def __init__(self, kind: str = "text") -> None:
        super().__init__({"type": kind})

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        given = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        told = self.format_value(value)
        return format_html("<input{}>", flatatt(given if told is None else {**given, "value": told}))


class IssueFilterForm(forms.Form):
    search = forms.CharField(label="Search", required=False, max_length=200, widget=PlainInput("search"))
    repository = forms.ChoiceField(required=False, widget=PlainSelect)
    state = forms.ChoiceField(
        required=False, choices=[("", "Any"), ("open", "Open"), ("closed", "Closed")], widget=PlainSelect
    )
    github_label = forms.CharField(label="GitHub label", required=False, max_length=100, widget=PlainInput)
    has_fix = _choice("Merged fix", YES_NO)
    eligible = _choice("Eligible", YES_NO)
    coded = _choice("Coded", YES_NO)
    created_after = forms.DateField(label="Created from", required=False, widget=PlainInput("date"))
    created_before = forms.DateField(label="Created to", required=False, widget=PlainInput("date"))

    def __init__(self, *args: Any, repositories: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "All"), *((name, name) for name in repositories)]
        self.fields["repository"].choices = choices  # type: ignore[attr-defined]

    def filters(self) -> IssueFilters:
        """What was asked for; a filter with a mistake in it asks for nothing."""
        self.is_valid()
        return IssueFilters(**self.cleaned_data) if self.is_bound else IssueFilters()

    @property
    def narrows(self) -> bool:
        return self.filters() != IssueFilters()


class IdsField(forms.TypedMultipleChoiceField):
    """Ids of ticked rows; whether they belong to the study is for the query that takes them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=int, **kwargs)

    def valid_value(self, value: Any) -> bool:
        return bool(_ID.fullmatch(str(value)))


class EligibilityForm(forms.Form):
    eligible = forms.TypedChoiceField(
        choices=[("true", "Include"), ("false", "Leave out"), ("rules", "Leave it to the rules")],
        coerce=lambda told: {"true": True, "false": False, "rules": None}[told],
        empty_value=None,
    )
    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=300,
        help_text="Needed to include or to leave out; printed in the funnel of the paper.",
        widget=PlainInput,
    )
    issues = IdsField(required=False)
    all_matching = forms.BooleanField(label="All that match, not only those ticked", required=False)

    @property
    def ticked(self) -> set[str]:
        """What was ticked, for the page that comes back because something else is missing."""
        return set(self.data.getlist("issues")) if isinstance(self.data, QueryDict) else set()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("issues") and not cleaned.get("all_matching"):
            self.add_error("issues", "Tick the issues this is about, or choose all that match.")
        if cleaned.get("eligible") is not None and not cleaned.get("reason", "").strip():
            self.add_error("reason", "Say why: the reason is printed in the funnel.")
        return cleaned


class DuplicateForm(forms.Form):
    duplicate_of = forms.CharField(
        label="Duplicate of",
        required=False,
        max_length=300,
        help_text="The issue that stays, as owner/name#number or as an address. Empty: no duplicate.",
    )
    reason = forms.CharField(required=False, max_length=300)


# Rules --------------------------------------------------------------------------------------------


def criteria() -> list[tuple[str, list[tuple[str, str]]]]:
    """What a rule can say, by field: value and words of each option of the select."""
    groups = []
    for name, known in FIELDS.items():
        if set(known.ops) == {"is"}:  # a plain yes or no
            truths = (("true", "yes"), ("false", "no"))
            options = [(f"{name}.is.{truth}", known.words("is", word)) for truth, word in truths]
        else:
            options = [(f"{name}.{op}", known.words(op, "…")) for op in known.ops]
        groups.append((known.label, options))
    return groups


@dataclass(slots=True)
class RuleRow:
    """One line of the list as it is being written."""

    criterion: str
    value: str = ""
    saved: FunnelStep | None = None
    errors: list[str] = field(default_factory=list)

    @classmethod
    def of_rule(cls, rule: Rule) -> "RuleRow":
        if isinstance(rule.value, bool):
            return cls(f"{rule.field}.{rule.op}.{str(rule.value).lower()}")
        value = ", ".join(rule.value) if isinstance(rule.value, list) else str(rule.value)
        return cls(f"{rule.field}.{rule.op}", value)

    @property
    def needs_value(self) -> bool:
        return not self.criterion.endswith((".true", ".false"))

    @property
    def input_type(self) -> str:
        return "date" if self.criterion.endswith((".from", ".to")) else "text"

    def as_rule(self) -> dict[str, Any]:
        name, op, *truth = f"{self.criterion}..".split(".")[:3]
        if truth[0]:
            return {"field": name, "op": op, "value": truth[0] == "true"}
        if op in ("from", "to"):
            return {"field": name, "op": op, "value": self.value.strip()}
        return {"field": name, "op": op, "value": [part.strip() for part in self.value.split(",")]}


class RuleList:
    """The ordered list as one form: each button sends all of it, so that moving a line needs no script."""

    def __init__(self, rows: list[RuleRow]) -> None:
        self.rows = rows

    @classmethod
    def of_rules(cls, rules: list[Rule]) -> "RuleList":
        return cls([RuleRow.of_rule(rule) for rule in rules])

    @classmethod
    def from_post(cls, posted: Any) -> "RuleList":
        told = zip(posted.getlist("criterion"), posted.getlist("value"), strict=False)
        return cls([RuleRow(criterion, value) for criterion, value in told])

    def act(self, action: str) -> None:
        """Carry out ``add``, ``remove:2``, ``up:2`` or ``down:2``; anything else changes nothing."""
        name, _, place = action.partition(":")
        at = int(place) if place.isdecimal() else -1
        if name == "add":
            self.rows.append(RuleRow(criterion="github_labels.any"))
        elif name == "remove" and 0 <= at < len(self.rows):
            del self.rows[at]
        elif name == "up" and 0 < at < len(self.rows):
            self.rows[at - 1], self.rows[at] = self.rows[at], self.rows[at - 1]
        elif name == "down" and 0 <= at < len(self.rows) - 1:
            self.rows[at + 1], self.rows[at] = self.rows[at], self.rows[at + 1]

    def show_errors(self, errors: Mapping[str, list[str]]) -> list[str]:
        """Put the sentences of ``rules.2`` to their line; return those about the list as a whole."""
        general = []
        for where, sentences in errors.items():
            place = where.removeprefix("rules.")
            if place.isdecimal() and int(place) < len(self.rows):
                self.rows[int(place)].errors += sentences
            else:
                general += sentences
        return general

    @property
    def has_errors(self) -> bool:
        return any(row.errors for row in self.rows)

    def count(self, steps: list[FunnelStep]) -> None:
        """Put beside each line what the saved rule of the same words takes away."""
        saved = {step.text: step for step in steps if step.kind == "rule"}
        for row in self.rows:
            row.saved = saved.get(_words(row))

    def as_rules(self) -> list[dict[str, Any]]:
        return [row.as_rule() for row in self.rows]


def _words(row: RuleRow) -> str:
    told = row.as_rule()
    known = FIELDS.get(told["field"])
    if known is None or told["op"] not in known.ops:
        return ""
    return known.words(told["op"], told["value"])
