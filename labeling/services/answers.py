"""What is proposed or decided, from the words of a request to rows of the codebook."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from labeling.errors import InvalidInputError
from labeling.models import (
    Annotation,
    Category,
    CategoryProposal,
    Decision,
    DecisionProposal,
    Dimension,
    Round,
)
from labeling.selectors.frozen import Label, Names, Said, names_of, round_dimensions

CODED = Annotation.State.CODED.value


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody proposes or decides: of a dimension, or (``excluded``, ``reason``) of the unit."""

    categories: tuple[str, ...] = ()
    state: str = CODED
    text: str = ""
    excluded: bool | None = None
    reason: str = ""


def choose_each(
    shared: Iterable[str],
    contested: Iterable[str],
    choices: Mapping[str, bool],
    words: Mapping[str, str] | None = None,
) -> Answer:
    """Make a set category by category: each that only some coders chose is decided by itself.

    Those that all chose stay unless they are decided too. Raises InvalidInputError naming what is left.
    """
    left = [(words or {}).get(code, code) for code in contested if code not in choices]
    if left:
        message = f"Decide each category that only some chose. Left: {', '.join(left)}."
        raise InvalidInputError({"choose": [message]})
    chosen = {code for code, applies in choices.items() if applies}
    refused = set(choices) - chosen
    return Answer(categories=tuple(sorted((set(shared) | chosen) - refused)))


@dataclass(frozen=True, slots=True)
class Content:
    """The same in rows. Two contents are equal when they say the same."""

    categories: frozenset[int] = frozenset()
    proposals: frozenset[UUID] = frozenset()
    state: str = ""
    text: str = ""
    excluded: bool | None = None
    exclude_reason: str = ""


def content_of(row: Decision | DecisionProposal) -> Content:
    """What a row says, to compare it."""
    return Content(
        categories=frozenset(each.pk for each in row.categories.all()),
        proposals=frozenset(each.pk for each in row.category_proposals.all()),
        state=row.state,
        text=row.text,
        excluded=row.excluded,
        exclude_reason=row.exclude_reason,
    )


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be decided in a round: categories of its codebook version, and its accepted proposals."""

    dimensions: Mapping[str, Dimension]
    categories: Mapping[str, Mapping[Label, Category]]
    proposals: Mapping[str, Mapping[Label, CategoryProposal]]
    names: Names

    @classmethod
    def of(cls, coding_round: Round) -> Self:
        dimensions = round_dimensions(coding_round)
        names = names_of(coding_round, tuple(dimensions))
        categories: dict[str, dict[Label, Category]] = {each.key: {} for each in dimensions}
        for category in Category.objects.filter(dimension__in=dimensions).select_related("dimension"):
            categories[category.dimension.key][category.code] = category
        proposals: dict[str, dict[Label, CategoryProposal]] = {each.key: {} for each in dimensions}
        for proposal in CategoryProposal.objects.filter(round=coding_round).select_related(
            "dimension", "target"
        ):
            proposals[proposal.dimension.key][names.proposals[proposal.pk]] = proposal
        return cls({each.key: each for each in dimensions}, categories, proposals, names)

    def content(self, dimension: str, said: Said) -> Content | None:
        """What a coder's answer says as a decision; None where it names a proposal that was rejected."""
        categories: set[int] = set()
        proposals: set[UUID] = set()
        for label in said.labels:
            proposal = self.proposals[dimension].get(label)
            if proposal is None:
                categories.add(self.categories[dimension][label].pk)
            elif proposal.state == CategoryProposal.State.ACCEPTED:
                proposals.add(proposal.pk)
            elif proposal.target is not None:
                categories.add(self.mapped_to(dimension, proposal.target))
            else:
                return None
        return Content(frozenset(categories), frozenset(proposals), said.state, said.text)

    def mapped_to(self, dimension: str, target: Category) -> int:
        """The category of the round's own version that a proposal was mapped to, if it is in it."""
        own = self.categories[dimension].get(self.names.of_concept[dimension].get(target.concept, ""))
        return own.pk if own is not None else target.pk


def read_answer(choices: Choices, dimension: Dimension, answer: Answer) -> Content:
    """Check an answer in a dimension and find its rows; raise InvalidInputError with what to do."""
    if dimension.kind == Dimension.Kind.TEXT:
        if not answer.text.strip():
            raise InvalidInputError({"text": ["Write the text that is to be final."]})
        return Content(state=CODED, text=answer.text)
    if answer.state != CODED:
        return Content(state=_allowed_state(dimension, answer.state))
    categories, proposals = _chosen(choices, dimension, answer.categories)
    if dimension.is_exclusive and len(categories) + len(proposals) != 1:
        raise InvalidInputError({"categories": [f"Choose one category of {dimension.name}."]})
    return Content(categories, proposals, CODED)


def read_exclusion(coding_round: Round, answer: Answer, reasons: Sequence[str]) -> Content:
    """Check whether a unit is to be kept or excluded. ``reasons`` are those its coders gave."""
    if answer.excluded is None:
        raise InvalidInputError({"excluded": ["Say whether the unit is excluded (true) or kept (false)."]})
    if not answer.excluded:
        return Content(excluded=False)
    known = [*coding_round.study.exclusion_reasons, *reasons]
    reason = answer.reason or (reasons[0] if len(set(reasons)) == 1 else "")
    if reason not in known:
        raise InvalidInputError({"reason": [f"Choose a reason: {', '.join(dict.fromkeys(known))}."]})
    return Content(excluded=True, exclude_reason=reason)


def _allowed_state(dimension: Dimension, state: str) -> str:
    if state not in dimension.states:
        allowed = ", ".join((CODED, *dimension.states))
        raise InvalidInputError({"state": [f"{dimension.name} takes {allowed}."]})
    return state


def _chosen(
    choices: Choices, dimension: Dimension, codes: Sequence[str]
) -> tuple[frozenset[int], frozenset[UUID]]:
    categories = choices.categories[dimension.key]
    headings = set() if dimension.parents_selectable else {each.parent_id for each in categories.values()}
    selectable = {code: each.pk for code, each in categories.items() if each.pk not in headings}
    accepted: dict[str, UUID] = {}
    for label, proposal in choices.proposals[dimension.key].items():
        if proposal.state == CategoryProposal.State.ACCEPTED:
            accepted |= {proposal.code: proposal.pk, label: proposal.pk}
        elif proposal.target is not None:  # whoever names it means what it was mapped to
            target = choices.mapped_to(dimension.key, proposal.target)
            selectable |= {proposal.code: target, label: target}
    unknown = [code for code in codes if code not in selectable and code not in accepted]
    if unknown:
        message = f"{', '.join(unknown)}: no category of {dimension.name} in this round's codebook version."
        raise InvalidInputError({"categories": [message]})
    return (
        frozenset(selectable[code] for code in codes if code in selectable),
        frozenset(accepted[code] for code in codes if code not in selectable),
    )
