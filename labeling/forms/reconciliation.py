"""What can be decided on one disagreement, and what somebody chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.models import UNIT, Annotation, Category, Dimension, DisagreementReason, Round
from labeling.selectors.reconciliation import CoderAnswer, Disagreement
from labeling.services.answers import Answer

STATE = "state:"
CODED = Annotation.State.CODED.value
BELOW = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Names:
    """Codes of one dimension in words; ``full`` names the heading too: ``Memory > Fragmentation``."""

    words: Mapping[str, str]
    full: Mapping[str, str]
    definitions: Mapping[str, str]

    @classmethod
    def of(cls, dimension: Dimension | None) -> "Names":
        if dimension is None:
            words = {"kept": "Keep the unit", "excluded": "Exclude the unit"}
            return cls(words, words, {})
        rows = Category.objects.filter(dimension=dimension).select_related("parent")
        full = {each.code: _with_parent(each) for each in rows}
        words = {each.code: each.name for each in rows}
        states = {each.value: each.label for each in Annotation.State}
        return cls(words | states, full | states, {each.code: each.definition for each in rows})

    def say(self, codes: Sequence[str], state: str, text: str = "") -> str:
        if text:
            return text
        if state and state != CODED:
            return self.words.get(state, state)
        return ", ".join(self.words.get(code, code) for code in codes) or "none of these"

    def cell(self, cell: str) -> str:
        """The answers that met: ``overflow|precision-loss`` in words."""
        return " / ".join(self.say(tuple(filter(None, part.split("/"))), "") for part in cell.split("|"))


def _with_parent(category: Category) -> str:
    return f"{category.parent.name}{BELOW}{category.name}" if category.parent else category.name


@dataclass(frozen=True, slots=True)
class Side:
    """One coder's answer as the page compares it."""

    letter: str
    name: str
    answer: CoderAnswer
    words: str
    """In short; ``full`` names the headings too."""
    full: str
    definition: str
    chosen: str
    """Value of the option that agrees with this coder; empty where there is nothing to agree with."""


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


def sides(item: Disagreement, names: Names) -> list[Side]:
    """The answers by coder A, B, …; in a round that keeps names out of it, in an order of the unit's own."""
    coding_round, unit = item.round_unit.round, item.round_unit.unit_id
    answers = list(item.answers)
    if coding_round.anonymous:
        answers.sort(key=lambda each: hash_of(unit, each.member))
    return [_side(letter, each, item, names) for letter, each in zip(LETTERS, answers, strict=False)]


def hash_of(unit: int, member: int) -> int:
    """A number that shuffles two members differently from unit to unit and alike for every reader."""
    return (unit * 2654435761 ^ member * 40503 ^ (unit % 97) * member * 7919) % 2**32


def _side(letter: str, answer: CoderAnswer, item: Disagreement, names: Names) -> Side:
    name = "" if item.round_unit.round.anonymous else answer.coder
    if item.dimension == UNIT:
        words = f"Excluded: {answer.exclude_reason}" if answer.excluded else "Kept"
        return Side(letter, name, answer, words, words, "", f"coder:{answer.member}")
    if answer.excluded or not answer.state:
        words = f"Excluded the unit: {answer.exclude_reason}" if answer.excluded else "No answer"
        return Side(letter, name, answer, words, words, "", "")
    return Side(
        letter,
        name,
        answer,
        names.say(answer.categories, answer.state, answer.text),
        names.say([names.full.get(code, code) for code in answer.categories], answer.state, answer.text),
        _definitions(answer, item, names),
        "" if answer.state == Annotation.State.NOT_ASKED else f"coder:{answer.member}",
    )


def _definitions(answer: CoderAnswer, item: Disagreement, names: Names) -> str:
    """What the codebook says of the categories that not all coders chose."""
    shared = set.intersection(*(set(each.categories) for each in item.answers))
    return " ".join(names.definitions.get(code, "") for code in answer.categories if code not in shared)


def other_options(dimension: Dimension | None, coding_round: Round) -> list[Option]:
    """Everything else that can be decided, for the list behind "Other"."""
    if dimension is None:
        excluded = [
            Option(f"excluded:{each}", f"Exclude: {each}") for each in coding_round.study.exclusion_reasons
        ]
        return [Option("kept", "Keep the unit"), *excluded]
    rows = list(Category.objects.filter(dimension=dimension, archived=False).select_related("parent"))
    headings = {each.parent_id for each in rows}
    names = Names.of(dimension)
    options = [
        Option(each.code, names.full[each.code])
        for each in rows
        if each.pk not in headings or dimension.parents_selectable
    ]
    return options + [Option(STATE + each, names.words[each]) for each in dimension.states]


def read_answer(post: QueryDict, item: Disagreement) -> Answer | None:
    """What was chosen; None where nothing was."""
    choice = post.get("answer", "")
    if choice.startswith("coder:"):
        return _answer_of_coder(choice.removeprefix("coder:"), item)
    if choice != "other":
        return None
    if "text" in post:
        return Answer(text=str(post["text"]))
    chosen = [each for each in post.getlist("other") if each]
    if not chosen and item.dimension == UNIT:
        return None
    return _answer_of_list(chosen, item)


def _answer_of_coder(member: str, item: Disagreement) -> Answer | None:
    given = next((each for each in item.answers if str(each.member) == member), None)
    if given is None:
        return None
    if item.dimension == UNIT:
        return Answer(excluded=given.excluded, reason=given.exclude_reason)
    return Answer(categories=given.categories, state=given.state, text=given.text)


def _answer_of_list(chosen: Sequence[str], item: Disagreement) -> Answer:
    if item.dimension == UNIT:
        kind, _, reason = chosen[0].partition(":")
        return Answer(excluded=kind == "excluded", reason=reason)
    states = [each.removeprefix(STATE) for each in chosen if each.startswith(STATE)]
    codes = tuple(each for each in chosen if not each.startswith(STATE))
    return Answer(categories=codes, state=states[0] if states else CODED)


def reasons() -> list[Option]:
    return [Option(each.value, str(each.label)) for each in DisagreementReason]


def typed(post: QueryDict) -> dict[str, Any]:
    """What stood in the form, to show it again beside a mistake."""
    return {
        "answer": post.get("answer", ""),
        "other": post.getlist("other"),
        "text": post.get("text", ""),
        "rationale": post.get("rationale", ""),
        "disagreement_reason": post.get("disagreement_reason", ""),
    }
