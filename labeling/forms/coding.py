"""The form of the coding page: the questions of the round, filled with the coder's own state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.http import QueryDict

from labeling.drafts import ANNOTATION
from labeling.marks import mark_dimensions
from labeling.models import Annotation, Assignment, Category, Dimension, Round
from labeling.selectors.questions import CODED, Question, Questions, asked_of, questions, stage_of
from labeling.services.codebooks import next_hotkey

BELOW = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
STATE = "state:"
"""What the value of a choice begins with that is a reserved state."""


@dataclass(frozen=True, slots=True)
class Choice:
    code: str
    name: str
    hotkey: str = ""
    definition: str = ""
    include: str = ""
    exclude: str = ""
    examples: Sequence[Any] = ()
    precedence: str = ""
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Categories under one heading."""

    parent: str
    items: list[Choice]


@dataclass(frozen=True, slots=True)
class StateChoice:
    value: str
    label: str
    checked: bool


@dataclass(frozen=True, slots=True)
class DimensionField:
    key: str
    name: str
    question: str
    help: str
    kind: str
    required: bool
    index: int
    tag: str
    options: list[Group]
    states: list[StateChoice]
    text: str
    asked: bool
    asked_if: Mapping[str, Any] | None
    locked: bool
    summary: str
    is_empty: bool
    errors: Sequence[str]


@dataclass(frozen=True, slots=True)
class CodingForm:
    """What ``labeling/_coding_panel.html`` draws."""

    dimensions: list[DimensionField]
    memo: str
    confidence: str
    exclude: Mapping[str, str] | None
    reasons: Sequence[str]
    errors: list[str] = field(default_factory=list)


def coding_form(
    assignment: Assignment, state: Mapping[str, Any], errors: Mapping[str, list[str]] | None = None
) -> CodingForm:
    """Fill the form with ``state`` (see services.coding.state_of); ``errors`` go to their fields."""
    coding_round = assignment.round_unit.round
    asked = questions(coding_round, assignment.coder)
    shown = {key: each for key, each in asked.items() if stage_of(coding_round, key) <= state["stage"]}
    errors = errors or {}
    names = {ANNOTATION + key for key in shown}
    return CodingForm(
        dimensions=_dimension_fields(coding_round, shown, state, errors),
        memo=state["memo"] or "",
        confidence=state["confidence"] or "",
        exclude=state["exclude"],
        reasons=coding_round.study.exclusion_reasons,
        errors=[text for name, texts in errors.items() if name not in names for text in texts],
    )


def _dimension_fields(
    coding_round: Round, shown: Questions, state: Mapping[str, Any], errors: Mapping[str, list[str]]
) -> list[DimensionField]:
    answers = state["annotations"]
    told = asked_of(shown, answers)
    # Letter and colour are those of the whole codebook, so that they are the same on every page.
    marks = mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else ())
    fields = []
    for key, question in shown.items():
        dimension, answer = question.dimension, answers.get(key)
        options = _groups(question, set(answer["categories"]) if answer else set())
        states = _states(dimension, answer)
        fields.append(
            DimensionField(
                key=key,
                name=dimension.name,
                question=dimension.question,
                help=dimension.help,
                kind=dimension.kind,
                required=dimension.required,
                index=marks[key].index,
                tag=marks[key].letter,
                options=options,
                states=states,
                text=answer["text"] if answer else "",
                asked=told[key],
                asked_if=dimension.asked_if,
                locked=stage_of(coding_round, key) < state["stage"],
                summary=_summary(options, states, answer),
                is_empty=answer is not None and answer["state"] == CODED and not answer["categories"],
                errors=errors.get(ANNOTATION + key, ()),
            )
        )
    return fields


def _groups(question: Question, chosen: set[str]) -> list[Group]:
    """Categories under their headings, in the order of the codebook; own proposals last."""
    rows = list(question.categories.values())
    groups = [
        Group(parent, [_choice(each, chosen) for each in members])
        for parent, members in groupby(rows, key=lambda each: each.parent.name if each.parent else "")
    ]
    if question.proposals:
        hotkeys = _hotkeys_of_proposals(question)
        own = [
            Choice(code, each.name, hotkeys[code], definition=each.definition, checked=code in chosen)
            for code, each in question.proposals.items()
        ]
        groups.append(Group("Your proposals", own))
    return groups


def _hotkeys_of_proposals(question: Question) -> dict[str, str]:
    """Give each, in the order they were made, what is free then: none takes the key of an earlier one."""
    taken = {each.hotkey for each in question.categories.values() if each.hotkey}
    hotkeys: dict[str, str] = {}
    for proposal in sorted(question.proposals.values(), key=attrgetter("created_at")):
        hotkeys[proposal.code] = next_hotkey(proposal.name, taken | set(hotkeys.values()) - {""})
    return hotkeys


def _choice(category: Category, chosen: set[str]) -> Choice:
    return Choice(
        code=category.code,
        name=category.name,
        hotkey=category.hotkey,
        definition=category.definition,
        include=category.include,
        exclude=category.exclude,
        examples=category.examples,
        precedence=category.precedence,
        checked=category.code in chosen,
    )


def _states(dimension: Dimension, answer: Mapping[str, Any] | None) -> list[StateChoice]:
    given = answer["state"] if answer else None
    return [StateChoice(each, Annotation.State(each).label, given == each) for each in dimension.states]


def _summary(options: list[Group], states: list[StateChoice], answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return ""
    if answer["text"]:
        return str(answer["text"])
    names = [
        f"{group.parent}{BELOW}{each.name}" if group.parent else each.name
        for group in options
        for each in group.items
        if each.checked
    ]
    names += [each.label for each in states if each.checked]
    return ", ".join(names) or "None of these"


def read_form(post: QueryDict, assignment: Assignment, state: Mapping[str, Any]) -> dict[str, Any]:
    """The whole form as changes of a draft; what stands there already changes nothing.

    Handing in categories takes an exclusion back; the exclusion has a form and a button of its own.
    """
    coding_round = assignment.round_unit.round
    if post.get("action") == "exclude":
        exclude = {"reason": post.get("exclude_reason", ""), "note": post.get("exclude_note", "")}
        return {"exclude": exclude}
    annotations = {
        key: _read_dimension(post, question.dimension)
        for key, question in questions(coding_round, assignment.coder).items()
        if stage_of(coding_round, key) == state["stage"] or not coding_round.stages
    }
    changes: dict[str, Any] = {
        "annotations": annotations,
        "memo": post.get("memo", ""),
        "confidence": post.get("confidence", ""),
    }
    if post.get("action") == "submit":
        changes["exclude"] = None
    return changes


def _read_dimension(post: QueryDict, dimension: Dimension) -> dict[str, Any] | None:
    if dimension.kind == Dimension.Kind.TEXT:
        text = post.get(f"t-{dimension.key}", "")
        return {"categories": [], "state": CODED, "text": text} if text.strip() else None
    chosen = post.getlist(f"d-{dimension.key}")
    states = [value.removeprefix(STATE) for value in chosen if value.startswith(STATE)]
    codes = [value for value in chosen if not value.startswith(STATE)]
    if not chosen:
        return None
    # "Unclear" and a category at once is a mistake to be told, not one to be guessed away.
    return {"categories": codes, "state": states[0] if states else CODED, "text": ""}
