"""Forms of a round: what it codes, who codes it and how, and the steps from draft to done."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django import forms
from django.utils.functional import cached_property

from labeling.forms.started import StartedForm
from labeling.models import CODING_ROLES, Codebook, Membership, Role, Round, Sample, Study, Unit
from labeling.selectors.issues import MASKABLE
from labeling.selectors.round_units import next_units
from labeling.services.round_settings import changeable

KINDS = {
    Round.Kind.TRAINING: "Training, with known answers",
    Round.Kind.PILOT: "Pilot, to try the codebook",
    Round.Kind.MAIN: "Main, counts in the results",
    Round.Kind.RECODE: "Recode, units of a closed round asked again",
    Round.Kind.RETEST: "Retest, the same coders again",
}
FIELD_WORDS = {
    "author": "Author",
    "fix": "Fix",
    "github_labels": "GitHub labels",
    "maintainer_comments": "Comments of maintainers",
    "repository": "Repository",
    "state": "Open or closed",
}


class RoundSettingsForm(StartedForm):
    """Settings of a draft; ``only`` leaves those that may still change once it was opened."""

    coders = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False)
    coders_per_unit = forms.IntegerField(label="Coders for each unit", initial=2, min_value=1, max_value=100)
    overlap = forms.FloatField(
        label="Coded by several, %",
        initial=100,
        min_value=0,
        max_value=100,
        help_text="The rest goes to one coder each.",
    )
    goal = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="The coefficient each dimension should reach, for example 0.7.",
    )
    due_on = forms.DateField(
        label="Due on",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="It ends with the day in the zone of the study.",
    )
    instructions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        strip=False,
        help_text="Markdown, beside the codebook of this round.",
    )
    dimensions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Ask only these. None chosen: all of them.",
    )
    masked_fields = forms.MultipleChoiceField(
        label="Hide from coders",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[(name, FIELD_WORDS[name]) for name in MASKABLE],
        help_text="Fields are hidden, texts unchanged; the link to GitHub is off.",
    )
    stages = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "symptom\nroot-cause > fix"}),
        help_text="One a line: dimensions, then > and the fields it reveals. An earlier stage locks.",
    )
    decide = forms.ChoiceField(
        label="Disagreements are decided by", choices=Round.Decide.choices, initial=Round.Decide.TOGETHER
    )
    majority = forms.BooleanField(label="A majority of three or more coders decides", required=False)
    rationale_required = forms.BooleanField(label="A decision needs a rationale", required=False)
    own_answer_first = forms.BooleanField(
        label="Adjudicators answer before they see the others", required=False
    )
    anonymous = forms.BooleanField(label="Coders are anonymous in reconciliation", required=False)
    seed = forms.IntegerField(label="Seed of the dealing", required=False)
    overlap_seed = forms.IntegerField(label="Seed of the overlap", required=False)
    counts_in_results = forms.BooleanField(label="Counts in the results", required=False)

    def __init__(
        self,
        data: Any = None,
        *,
        study: Study,
        codebook: Codebook | None,
        initial: dict[str, Any] | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        if only is not None:
            self.fields = {name: field for name, field in self.fields.items() if name in only}
            return
        coders = possible_coders(study)
        self.fields["coders"].choices = [(str(each.pk), _coder_name(each)) for each in coders]  # type: ignore[attr-defined]
        dimensions = codebook.dimensions.all() if codebook else ()
        self.fields["dimensions"].choices = [(each.key, each.name) for each in dimensions]  # type: ignore[attr-defined]

    @classmethod
    def of_round(cls, coding_round: Round, data: Any, *, codebook: Codebook | None) -> "RoundSettingsForm":
        initial = {
            name: getattr(coding_round, name) for name in cls.base_fields if hasattr(coding_round, name)
        } | {
            "coders": [str(coder.pk) for coder in coding_round.coders.all()],
            "overlap": f"{coding_round.overlap * 100:g}",
            "stages": written_stages(coding_round.stages),
        }
        only = None if coding_round.state == Round.State.DRAFT else changeable(coding_round)
        return cls(data, study=coding_round.study, codebook=codebook, initial=initial, only=only)

    def clean_overlap(self) -> float:
        return float(self.cleaned_data["overlap"]) / 100

    def clean_stages(self) -> list[dict[str, list[str]]]:
        lines = (line.strip() for line in self.cleaned_data["stages"].splitlines())
        parts = [line.partition(">") for line in lines if line]
        return [{"dimensions": _words(asked), "reveals": _words(shown)} for asked, _, shown in parts]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("coders_per_unit") == 1:
            cleaned["overlap"] = 0.0
        return cleaned

    def settings(self) -> dict[str, Any]:
        """The fields of the round; an empty seed leaves what there is."""
        settings = {
            name: self.cleaned_data[name] for name in RoundSettingsForm.base_fields if name in self.fields
        }
        for name in ("seed", "overlap_seed"):
            if settings.get(name) is None:
                settings.pop(name, None)
        if "coders" in settings:
            settings["coders"] = list(Membership.objects.filter(pk__in=settings["coders"]))
        return settings


class RoundCreateForm(RoundSettingsForm):
    kind = forms.ChoiceField(choices=list(KINDS.items()), initial=Round.Kind.MAIN)
    source = forms.ChoiceField(label="Units of")
    size = forms.IntegerField(
        label="How many",
        required=False,
        min_value=1,
        help_text="Empty: all. Of a sample the next ones in the order of the draw that no round has yet.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        study: Study,
        codebook: Codebook | None,
        samples: Iterable[Sample],
        closed: Iterable[Round],
    ) -> None:
        super().__init__(data, study=study, codebook=codebook)
        self.samples = {f"sample:{each.pk}": each for each in samples}
        self.closed = {f"round:{each.pk}": each for each in closed}
        groups = [
            ("Samples", [(value, _sample_name(each)) for value, each in self.samples.items()]),
            (
                "Closed rounds, for recode and retest",
                [(value, str(each)) for value, each in self.closed.items()],
            ),
        ]
        self.fields["source"].choices = [group for group in groups if group[1]]  # type: ignore[attr-defined]
        self.fields["coders"].initial = [
            str(each.pk) for each in possible_coders(study) if each.role == Role.CODER
        ]
        for name in ("seed", "overlap_seed"):
            self.fields[name].initial = secrets.randbelow(1_000_000)
        # It follows from the kind; the lead may change it afterwards.
        del self.fields["counts_in_results"]

    @property
    def sample(self) -> Sample | None:
        return self.samples.get(self.cleaned_data["source"])

    @property
    def based_on(self) -> Round | None:
        return self.closed.get(self.cleaned_data["source"])


class OpenForm(forms.Form):
    """Under which codebook version; without a draft there is nothing to choose."""

    codebook = forms.ChoiceField(widget=forms.RadioSelect)

    def __init__(self, data: Any = None, *, draft: Codebook | None, frozen: Codebook | None) -> None:
        super().__init__(data)
        choices = []
        if draft is not None:
            choices.append(("freeze", f"Freeze the draft as version {draft.version} and code with it"))
        if frozen is not None:
            choices.append((str(frozen.version), f"Code with version {frozen.version}"))
        self.fields["codebook"].choices = choices  # type: ignore[attr-defined]
        self.fields["codebook"].initial = choices[0][0] if choices else None

    def options(self) -> dict[str, Any]:
        """Arguments of ``services.rounds.open_round``."""
        chosen = self.cleaned_data["codebook"]
        return {"freeze": True} if chosen == "freeze" else {"codebook_version": int(chosen)}


class CloseForm(forms.Form):
    missing = forms.ChoiceField(
        label="If answers are missing",
        choices=[
            (Round.Missing.REFUSE, "Do not close, show me which"),
            (Round.Missing.ACCEPT, "Close without them"),
        ],
        initial=Round.Missing.REFUSE,
        widget=forms.RadioSelect,
    )


class ReopenForm(forms.Form):
    reason = forms.CharField(
        label="Why",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Coders read it at the end of the instructions.",
    )


class RedealForm(forms.Form):
    leaving = forms.ChoiceField(label="Take the units that are not submitted from")

    def __init__(self, data: Any = None, *, coders: Sequence[Membership]) -> None:
        super().__init__(data)
        self.coders = {str(each.pk): each for each in coders}
        self.fields["leaving"].choices = [(pk, each.name) for pk, each in self.coders.items()]  # type: ignore[attr-defined]

    @property
    def member(self) -> Membership:
        return self.coders[self.cleaned_data["leaving"]]


class MoreUnitsForm(forms.Form):
    """Units to add to a round: the next ones of its sample, and others of the study by name."""

    sample = forms.ChoiceField(
        label="Sample of the round",
        required=False,
        help_text="Without a number: all that no round has.",
    )
    size = forms.IntegerField(
        label="The next of the sample",
        required=False,
        min_value=1,
        help_text="As many as this, in the order of the draw, that no round has yet.",
    )
    refs = forms.CharField(
        label="Or these",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "octo/spoon#17"}),
        help_text="Drawn units by name, one a line.",
    )

    def __init__(self, data: Any = None, *, coding_round: Round) -> None:
        super().__init__(data)
        self.coding_round = coding_round
        # A draft that was planned without units, as in a copied study, takes its sample here.
        offered = coding_round.study.samples.defer("frame") if _waits_for_a_sample(coding_round) else ()
        self.samples = {str(each.pk): each for each in offered}
        if self.samples:
            choices = [(pk, _sample_name(each)) for pk, each in self.samples.items()]
            self.fields["sample"].choices = [("", "None: units by name"), *choices]  # type: ignore[attr-defined]
        else:
            del self.fields["sample"]
        if coding_round.sample is None and not self.samples:
            del self.fields["size"]
            self.fields["refs"].label = "Which"

    @classmethod
    def naming(cls, units: Sequence[Unit], *, coding_round: Round, sample: Sample | None) -> "MoreUnitsForm":
        """Give the form that asks for these units and no others."""
        data = {"refs": "\n".join(unit.ref for unit in units), "sample": sample.pk if sample else ""}
        return cls(data, coding_round=coding_round)

    @property
    def drawn_from(self) -> Sample | None:
        """The sample of the round, or the one it is to have."""
        return self.coding_round.sample or self.samples.get(self.cleaned_data.get("sample", ""))

    def clean_refs(self) -> list[Unit]:
        refs = list(dict.fromkeys(self.cleaned_data["refs"].split()))
        found = {unit.ref: unit for unit in self.coding_round.study.units.filter(ref__in=refs)}
        if unknown := [ref for ref in refs if ref not in found]:
            raise forms.ValidationError(f"Not drawn in any sample: {', '.join(unknown)}.")
        return [found[ref] for ref in refs]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not any(cleaned.get(name) for name in ("size", "refs", "sample")):
            raise forms.ValidationError("Say how many units, or which.")
        if not self.errors and not self.units:
            raise forms.ValidationError("Every unit of the sample is in a round already.")
        return cleaned

    @cached_property
    def units(self) -> list[Unit]:
        size, refs, sample = self.cleaned_data.get("size"), self.cleaned_data["refs"], self.drawn_from
        if sample is None or (not size and refs):
            return list(refs)
        drawn = next_units(sample, size or sample.size + sample.pilot, self.coding_round.kind)
        return list(dict.fromkeys([*drawn, *refs]))


def _waits_for_a_sample(coding_round: Round) -> bool:
    is_planned = coding_round.state == Round.State.DRAFT and coding_round.based_on_id is None
    return is_planned and coding_round.sample is None and not coding_round.round_units.exists()


class MoreCodersForm(forms.Form):
    more = forms.MultipleChoiceField(label="Who", widget=forms.CheckboxSelectMultiple)

    def __init__(self, data: Any = None, *, coding_round: Round) -> None:
        super().__init__(data)
        named = set(coding_round.coders.values_list("pk", flat=True))
        self.coders = {
            str(each.pk): each for each in possible_coders(coding_round.study) if each.pk not in named
        }
        self.fields["more"].choices = [(pk, _coder_name(each)) for pk, each in self.coders.items()]  # type: ignore[attr-defined]

    @property
    def members(self) -> list[Membership]:
        return [self.coders[pk] for pk in self.cleaned_data["more"]]


def possible_coders(study: Study) -> list[Membership]:
    """Present members who may code, and groups."""
    present = study.memberships.filter(left_at__isnull=True).select_related("user")
    return [each for each in present if each.role in CODING_ROLES or each.kind == Membership.Kind.GROUP]


def written_stages(stages: Sequence[dict[str, Any]]) -> str:
    """Stages as the form takes them."""
    lines = []
    for stage in stages:
        asked, reveals = ", ".join(stage["dimensions"]), ", ".join(stage.get("reveals", ()))
        lines.append(f"{asked} > {reveals}" if reveals else asked)
    return "\n".join(lines)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _coder_name(member: Membership) -> str:
    """A name; of those who are no plain coders also what they are."""
    is_coder = member.role == Role.CODER
    return member.name if is_coder else f"{member.name}, {member.role or member.get_kind_display().lower()}"


def _sample_name(sample: Sample) -> str:
    state = "" if sample.state == Sample.State.FROZEN else ", still being prepared"
    return f"{sample}, seed {sample.seed}{state}"
