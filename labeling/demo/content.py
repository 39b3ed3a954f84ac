"""The demo study as values: who takes part, codebook, issues, answers and decisions. Pure.

The texts stand in YAML files beside this module, for people to read and correct; nothing here knows the
database. Units are named as in all files of a study (``owner/repo#number``), coders by user name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

import yaml

from labeling.demo.issue_file import read_issue
from labeling.records import IssueRecord

STATES = ("unclear", "not_applicable")
Status = Literal["submitted", "draft", "skipped"]
_OWN_FIELDS = ("unit", "status", "confidence", "memo", "evidence", "exclude")


@dataclass(frozen=True, slots=True)
class MemberContent:
    username: str
    name: str
    role: str
    experience: str


@dataclass(frozen=True, slots=True)
class RuleContent:
    """One rule of the corpus; ``text`` is its line in the funnel."""

    field: str
    op: str
    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class SampleContent:
    """``pilot``: how many more are drawn beside it, for pilots and trainings alone."""

    method: str
    size: int
    pilot: int
    seed: int


@dataclass(frozen=True, slots=True)
class StudyContent:
    slug: str
    title: str
    zone: str
    members: tuple[MemberContent, ...]
    exclusion_reasons: tuple[str, ...]
    rules: tuple[RuleContent, ...]
    sample: SampleContent


@dataclass(frozen=True, slots=True)
class DimensionAnswer:
    """An answer in one dimension: chosen categories by code, or a reserved state."""

    categories: tuple[str, ...] = ()
    state: str = "coded"


@dataclass(frozen=True, slots=True)
class EvidenceContent:
    """A quote that stands exactly once in the text of ``document``."""

    dimension: str
    category: str | None
    document: str
    quote: str


@dataclass(frozen=True, slots=True)
class ExclusionContent:
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """What one coder has for one unit. A dimension without an answer is absent from ``annotations``."""

    unit: str
    coder: str
    status: Status
    annotations: Mapping[str, DimensionAnswer]
    memo: str = ""
    confidence: str | None = None
    evidence: tuple[EvidenceContent, ...] = ()
    exclude: ExclusionContent | None = None


@dataclass(frozen=True, slots=True)
class KnownContent:
    """The known answer of a unit of a training; ``memo`` says why."""

    unit: str
    annotations: Mapping[str, DimensionAnswer]
    memo: str


@dataclass(frozen=True, slots=True)
class CommentContent:
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class ProposalContent:
    """What somebody proposes or decides: an answer, or for ``_unit`` whether the unit is excluded."""

    by: str
    answer: DimensionAnswer | None
    excluded: bool | None
    rationale: str
    disagreement_reason: str
    escalate: bool = False


@dataclass(frozen=True, slots=True)
class DisagreementContent:
    """How far one disagreement has come. Equal latest proposals of both coders decide it by themselves."""

    unit: str
    dimension: str
    comments: tuple[CommentContent, ...]
    proposals: tuple[ProposalContent, ...]
    decision: ProposalContent | None


@dataclass(frozen=True, slots=True)
class RoundContent:
    """A round; ``ranks`` are the first and the last place in the sample that it takes."""

    number: int
    kind: str
    ranks: tuple[int, int]
    coders: tuple[str, ...]
    seed: int
    state: str
    decide: str
    goal: float | None
    instructions: str
    known: tuple[KnownContent, ...] = ()
    answers: tuple[AnswerContent, ...] = ()
    disagreements: tuple[DisagreementContent, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoContent:
    study: StudyContent
    codebook: dict[str, Any] = field(repr=False)
    issues: tuple[IssueRecord, ...] = field(repr=False)
    rounds: tuple[RoundContent, ...] = field(repr=False)


def load_content() -> DemoContent:
    """Read all files of the demo study. ``codebook`` has the shape that the API takes."""
    study = _read("study.yaml")
    answers = {each["number"]: each for each in _read("answers.yaml")["rounds"]}
    return DemoContent(
        study=_study(study),
        codebook=_read("codebook.yaml"),
        issues=_issues(),
        rounds=tuple(_round(each, answers[each["number"]]) for each in study["rounds"]),
    )


def _read(name: str) -> Any:
    return yaml.safe_load(files("labeling.demo").joinpath(name).read_text(encoding="utf-8"))


def _issues() -> tuple[IssueRecord, ...]:
    paths = sorted(files("labeling.demo").joinpath("issues").iterdir(), key=lambda path: path.name)
    return tuple(
        read_issue(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in paths
        if path.name.endswith(".yaml")
    )


def _study(data: Mapping[str, Any]) -> StudyContent:
    return StudyContent(
        slug=data["slug"],
        title=data["title"],
        zone=data["zone"],
        members=tuple(MemberContent(**each) for each in data["members"]),
        exclusion_reasons=tuple(data["exclusion_reasons"]),
        rules=tuple(RuleContent(**each) for each in data["rules"]),
        sample=SampleContent(**data["sample"]),
    )


def _round(data: Mapping[str, Any], answered: Mapping[str, Any]) -> RoundContent:
    settings = {
        name: data[name] for name in ("number", "kind", "seed", "state", "decide", "goal", "instructions")
    }
    first, last = data["ranks"]
    return RoundContent(
        **settings,
        ranks=(first, last),
        coders=tuple(data["coders"]),
        known=tuple(_known(each) for each in answered.get("known", ())),
        answers=tuple(
            _answer(each["unit"], coder, each[coder])
            for each in answered["answers"]
            for coder in data["coders"]
            if coder in each
        ),
        disagreements=tuple(_disagreement(each) for each in answered.get("reconciliation", ())),
    )


def _answer(unit: str, coder: str, data: Mapping[str, Any]) -> AnswerContent:
    return AnswerContent(
        unit=unit,
        coder=coder,
        status=data.get("status", "submitted"),
        annotations=_annotations(data),
        memo=data.get("memo", ""),
        confidence=data.get("confidence"),
        evidence=tuple(EvidenceContent(**each) for each in data.get("evidence", ())),
        exclude=ExclusionContent(**data["exclude"]) if "exclude" in data else None,
    )


def _known(data: Mapping[str, Any]) -> KnownContent:
    return KnownContent(data["unit"], _annotations(data), data["memo"])


def _annotations(data: Mapping[str, Any]) -> dict[str, DimensionAnswer]:
    return {key: _dimension_answer(said) for key, said in data.items() if key not in _OWN_FIELDS}


def _dimension_answer(said: str | list[str]) -> DimensionAnswer:
    """Read one code, a list of codes, or a reserved state."""
    if isinstance(said, list):
        return DimensionAnswer(tuple(said))
    if said in STATES:
        return DimensionAnswer(state=said)
    return DimensionAnswer((said,))


def _disagreement(data: Mapping[str, Any]) -> DisagreementContent:
    decision = data.get("decision")
    return DisagreementContent(
        unit=data["unit"],
        dimension=data["dimension"],
        comments=tuple(CommentContent(**each) for each in data.get("comments", ())),
        proposals=tuple(_proposal(each) for each in data["proposals"]),
        decision=_proposal(decision) if decision else None,
    )


def _proposal(data: Mapping[str, Any]) -> ProposalContent:
    return ProposalContent(
        by=data["by"],
        answer=_dimension_answer(data["answer"]) if "answer" in data else None,
        excluded=data.get("excluded"),
        rationale=data["rationale"],
        disagreement_reason=data["disagreement_reason"],
        escalate=data.get("escalate", False),
    )
