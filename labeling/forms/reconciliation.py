"""What can be decided on one disagreement, and what somebody chose."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.evidence_marks import NamedQuote
from labeling.models import UNIT, Annotation, Category, CategoryProposal, DisagreementReason, Round
from labeling.selectors.answer_names import AnswerNames
from labeling.selectors.reconciliation import CoderAnswer, Disagreement
from labeling.services.answers import Answer, choose_each

STATE, CHOOSE = "state:", "choose:"
CODED = Annotation.State.CODED.value


@dataclass(frozen=True, slots=True)
class Definition:
    """What the codebook says of a category."""

    name: str
    definition: str
    include: str
    exclude: str


@dataclass(frozen=True, slots=True)
class Side:
    """One coder's answer as the page compares it. ``answer`` is None where there is nothing to agree with."""

    letter: str
    name: str
    said: CoderAnswer
    words: str
    """In short; ``full`` names the headings too."""
    full: str
    definitions: Sequence[Definition]
    answer: Answer | None
    quotes: Sequence[NamedQuote] = ()

    @property
    def look(self) -> str:
        return {"A": "a", "B": "b"}.get(self.letter, "c")


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Contest:
    """A category that only some coders chose, to be decided by itself."""

    name: str
    label: str
    letters: Sequence[str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Something to agree with: an answer, and the letters of the coders who gave it."""

    value: str
    letters: Sequence[str]
    words: str
    action: str
    """Name of its shortcut, if it has one."""


def sides(item: Disagreement, names: AnswerNames, quotes: Iterable[NamedQuote] = ()) -> list[Side]:
    of_coder: dict[int, list[NamedQuote]] = {}
    for quote in quotes:
        if item.dimension in (UNIT, quote.source.dimension):
            of_coder.setdefault(quote.source.coder, []).append(quote)
    return [_side(said, item, names, of_coder.get(said.member, ())) for said in item.answers]


def _side(said: CoderAnswer, item: Disagreement, names: AnswerNames, quotes: Sequence[NamedQuote]) -> Side:
    letter, name = said.letter, "" if item.round_unit.round.anonymous else said.coder
    if item.dimension == UNIT:
        words = f"Excluded: {said.exclude_reason}" if said.excluded else "Kept"
        answer = Answer(excluded=said.excluded, reason=said.exclude_reason)
        return Side(letter, name, said, words, words, (), answer, quotes)
    if said.excluded or not said.state:
        words = f"Excluded the unit: {said.exclude_reason}" if said.excluded else "No answer"
        return Side(letter, name, said, words, words, (), None, quotes)
    return Side(
        letter,
        name,
        said,
        names.say(said.categories, said.state, said.text),
        names.say(said.categories, said.state, said.text, in_full=True),
        _definitions(said, item, names),
        _answer(said, names),
        quotes,
    )


def _answer(said: CoderAnswer, names: AnswerNames) -> Answer | None:
    """What agreeing with a coder means; nothing where they named a category that was rejected since."""
    named = (names.categories.get(code) for code in said.categories)
    rejected = CategoryProposal.State.REJECTED
    is_gone = any(isinstance(each, CategoryProposal) and each.state == rejected for each in named)
    if said.state == Annotation.State.NOT_ASKED or is_gone:
        return None
    return Answer(categories=said.categories, state=said.state, text=said.text)


def _definitions(said: CoderAnswer, item: Disagreement, names: AnswerNames) -> list[Definition]:
    """What the codebook says of the categories that not all coders chose."""
    answered = [set(each.categories) for each in item.answers if each.state and not each.excluded]
    shared = set.intersection(*answered) if len(answered) > 1 else set()
    found = [names.categories[code] for code in said.categories if code in set(names.categories) - shared]
    return [
        Definition(
            each.name,
            each.definition,
            each.include if isinstance(each, Category) else "",
            each.exclude if isinstance(each, Category) else "",
        )
        for each in found
    ]


def agreements(shown: Sequence[Side]) -> list[Agreement]:
    """What can be agreed with: each answer once, however many gave it."""
    same: dict[Answer, list[Side]] = {}
    for side in shown:
        if side.answer is not None:
            same.setdefault(side.answer, []).append(side)
    actions = {"A": "agree_a", "B": "agree_b"}
    return [
        Agreement(
            f"coder:{group[0].letter}",
            [each.letter for each in group],
            group[0].words,
            next((actions[each.letter] for each in group if each.letter in actions), ""),
        )
        for group in same.values()
    ]


def other_options(names: AnswerNames, coding_round: Round) -> list[Option]:
    """Everything that can be decided, for the list behind "Other"."""
    if names.dimension is None:
        reasons = coding_round.study.exclusion_reasons
        return [Option("kept", "Keep the unit"), *(Option(f"excluded:{e}", f"Exclude: {e}") for e in reasons)]
    options = [Option(code, words) for code, words in names.selectable.items()]
    return options + [Option(STATE + each, names.words[each]) for each in names.dimension.states]


def contests(item: Disagreement, names: AnswerNames) -> list[Contest]:
    """What is left to decide of a choice of any number, category by category."""
    if names.is_exclusive:
        return []
    return [
        Contest(CHOOSE + code, names.full.get(code, code), letters)
        for code, letters in item.contested.items()
    ]


def cell_options(dimension: str, cell: str, names: AnswerNames, coding_round: Round) -> list[Option]:
    """What can be decided for all units in which the same answers met: these answers, then all others."""
    others = other_options(names, coding_round)
    if dimension == UNIT:
        return others
    known = {each.value: each for each in others}
    met = dict.fromkeys(cell.split("|"))
    states = {each.removeprefix(STATE): each for each in known if each.startswith(STATE)}
    first = [Option(states.get(each, each or "/"), names.cell(each)[0]) for each in met]
    return first + [each for value, each in known.items() if value not in {option.value for option in first}]


def read_answer(
    post: QueryDict, item: Disagreement, shown: Sequence[Side], names: AnswerNames
) -> Answer | None:
    """What was chosen; None where nothing was."""
    choice = post.get("answer", "")
    if choice.startswith("coder:"):
        return next((each.answer for each in shown if each.letter == choice.removeprefix("coder:")), None)
    if choice != "other":
        return None
    if "text" in post:
        return Answer(text=str(post["text"]))
    chosen = [each for each in post.getlist("other") if each]
    if names.is_exclusive or any(each.startswith(STATE) for each in chosen):
        return read_options(chosen, item.dimension)
    choices = {
        name.removeprefix(CHOOSE): value == "yes" for name, value in post.items() if name.startswith(CHOOSE)
    }
    return choose_each(chosen, item.contested, choices, names.words)


def read_options(chosen: Sequence[str], dimension: str) -> Answer | None:
    """What was picked from a list of options."""
    if dimension == UNIT:
        if not chosen:
            return None
        kind, _, reason = chosen[0].partition(":")
        return Answer(excluded=kind == "excluded", reason=reason)
    states = [each.removeprefix(STATE) for each in chosen if each.startswith(STATE)]
    # An answer of several categories is one option; codes hold no slash, and "/" alone is the empty set.
    codes = [code for each in chosen if not each.startswith(STATE) for code in each.split("/") if code]
    return Answer(categories=tuple(codes), state=states[0] if states else CODED)


def reasons() -> list[Option]:
    return [Option(each.value, str(each.label)) for each in DisagreementReason]


def typed(post: QueryDict) -> dict[str, Any]:
    """What stood in the form, to show it again beside a mistake."""
    return {
        "answer": post.get("answer", ""),
        "other": post.getlist("other"),
        "text": post.get("text", ""),
        "choices": {name: value for name, value in post.items() if name.startswith(CHOOSE)},
        "rationale": post.get("rationale", ""),
        "disagreement_reason": post.get("disagreement_reason", ""),
        "comment": post.get("comment", ""),
    }
