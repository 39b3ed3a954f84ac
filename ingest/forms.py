"""Forms of an import: what to ask GitHub for, which file, and which column holds what."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings

from ingest.sources.files import FIELDS
from ingest.sources.files.preview import Preview

COLUMN_WORDS = {
    "id": "Id of the source",
    "title": "Title",
    "body": "Issue text",
    "url": "Address",
    "repository": "Repository",
    "number": "Number",
    "state": "State",
    "state_reason": "Reason of closing",
    "author": "Author",
    "github_labels": "GitHub labels",
    "milestone": "Milestone",
    "created_at": "Created",
    "closed_at": "Closed",
    "updated_at": "Updated",
    "comments": "Comments",
}


class GithubImportForm(forms.Form):
    kind = forms.ChoiceField(
        label="From",
        choices=[("repositories", "Repositories"), ("issues", "Single issues"), ("search", "A search")],
        initial="repositories",
        widget=forms.RadioSelect,
    )
    repositories = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "placeholder": "owner/name"}),
        help_text="One per line, as owner/name or as a GitHub address.",
    )
    issues = forms.CharField(
        label="Addresses of issues",
        required=False,
        widget=forms.Textarea(
            attrs={
                "rows": 4,
                "spellcheck": "false",
                "placeholder": "https://github.com/owner/name/issues/123",
            }
        ),
        help_text="One per line.",
    )
    search = forms.CharField(
        required=False,
        max_length=256,
        help_text="In GitHub's own words, for example: org:pytorch label:bug NaN in:title.",
    )
    state = forms.ChoiceField(
        choices=[("closed", "Closed"), ("open", "Open"), ("all", "Both")],
        initial="all",
        widget=forms.RadioSelect,
    )
    created_from = forms.DateField(
        label="Created from", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    created_to = forms.DateField(
        label="Created to", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    github_labels = forms.CharField(
        label="Eligible with any of these GitHub labels",
        required=False,
        max_length=1000,
        help_text="Commas between them. Everything is imported; this adds a rule you can change.",
    )
    with_fix = forms.BooleanField(
        label="Eligible only with a linked, merged fix",
        required=False,
        help_text="Adds a rule too. Comments come along; diffs come with the sample.",
    )
    api_base = forms.ChoiceField(label="GitHub server", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bases = [(base, base) for base in settings.GITHUB_API_URLS]
        if len(bases) > 1:
            self.fields["api_base"].choices = bases  # type: ignore[attr-defined]
        else:
            del self.fields["api_base"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        kind = cleaned.get("kind")
        if kind and not cleaned.get(kind, "").strip() and kind not in self.errors:
            words = {
                "repositories": "Name at least one repository.",
                "issues": "Give at least one address.",
                "search": "Say what to search for.",
            }
            self.add_error(kind, words[kind])
        return cleaned

    def query(self) -> dict[str, Any]:
        """The body of the same request to the API."""
        cleaned = self.cleaned_data
        kind = cleaned["kind"]
        asked = cleaned["search"] if kind == "search" else _lines(cleaned[kind])
        return {
            kind: asked,
            "state": cleaned["state"],
            "created": {"from": _day(cleaned["created_from"]), "to": _day(cleaned["created_to"])},
            "github_labels": [part.strip() for part in cleaned["github_labels"].split(",") if part.strip()],
            "with_fix": cleaned["with_fix"],
            "api_base": cleaned.get("api_base") or None,
        }

    def show_errors(self, errors: Mapping[str, Sequence[str]]) -> None:
        """Put what the service found wrong to its fields; of several lines each has its sentence."""
        names = {"created.from": "created_from", "created.to": "created_to"}
        for where, sentences in errors.items():
            name = names.get(where, where)
            self.add_error(name if name in self.fields else None, list(sentences))


class FileImportForm(forms.Form):
    file = forms.FileField(
        help_text="CSV, TSV, XLSX, JSON, JSON lines, or a zip of JSON files; up to 1 GB",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx,.json,.jsonl,.ndjson,.zip"}),
    )


class MappingForm(forms.Form):
    """Which column becomes which field; a field is taken from one column at most.

    Where a program wrote the file its columns are shown, and nothing is asked.
    """

    def __init__(self, *args: Any, seen: Preview, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.header = seen.header
        self.is_fixed = bool(seen.written_by)
        choices = [("", "Do not import"), *((field, COLUMN_WORDS.get(field, field)) for field in FIELDS)]
        for place, column in enumerate(seen.header):
            self.fields[f"column{place}"] = forms.ChoiceField(
                label=column,
                choices=choices,
                required=False,
                disabled=self.is_fixed,
                initial=seen.mapping.get(column, ""),
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        chosen = [field for field in cleaned.values() if field]
        twice = sorted({COLUMN_WORDS.get(field, field) for field in chosen if chosen.count(field) > 1})
        if twice:
            raise forms.ValidationError(
                f"Two columns become the same: {', '.join(twice)}. Choose one of them."
            )
        if not {"title", "body"} & set(chosen):
            raise forms.ValidationError("Choose the column with the title or with the text of the issues.")
        return cleaned

    def mapping(self) -> dict[str, str]:
        """What the columns become; nothing where that is fixed."""
        if self.is_fixed:
            return {}
        chosen = {column: self.cleaned_data[f"column{place}"] for place, column in enumerate(self.header)}
        return {column: field for column, field in chosen.items() if field}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _day(day: Any) -> str | None:
    return day.isoformat() if day else None
