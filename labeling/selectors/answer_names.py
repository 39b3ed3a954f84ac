"""The answers of a round in words: codes of its categories, of accepted proposals, and reserved states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labeling.models import UNIT, Annotation, Category, CategoryProposal, Decision, Dimension, Round
from labeling.selectors.frozen import names_of, round_dimensions
from labeling.selectors.reconciliation import decided_codes

CODED = Annotation.State.CODED.value
BELOW = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
STATES = {each.value: str(each.label) for each in Annotation.State}
EXCLUSION = {"kept": "Keep the unit", "excluded": "Exclude the unit"}

Named = Category | CategoryProposal


@dataclass(frozen=True, slots=True)
class AnswerNames:
    """Codes of one dimension in words; ``full`` names the heading too: ``Memory > Fragmentation``."""

    dimension: Dimension | None
    categories: Mapping[str, Named] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    full: Mapping[str, str] = field(default_factory=dict)

    def say(self, codes: Sequence[str], state: str, text: str = "", *, in_full: bool = False) -> str:
        if text:
            return text
        words = self.full if in_full else self.words
        if state and state != CODED:
            return words.get(state, state)
        return ", ".join(words.get(code, code) for code in codes) or "none of these"

    def cell(self, cell: str) -> list[str]:
        """The answers that met, each in words: ``overflow|precision-loss``."""
        return [self.say(tuple(filter(None, part.split("/"))), "") for part in cell.split("|")]

    def decision(self, decision: Decision) -> str:
        """What was decided; empty while nothing is."""
        if decision.is_open:
            return ""
        if decision.dimension == UNIT:
            return f"Excluded: {decision.exclude_reason}" if decision.excluded else "Kept"
        if decision.how == Decision.How.EXCLUDED:
            return "The unit is excluded"
        if decision.how == Decision.How.DERIVED and not decision.state:
            return "The unit is split"
        return self.say(decided_codes(decision), decision.state, decision.text)

    @property
    def is_exclusive(self) -> bool:
        return self.dimension is None or self.dimension.is_exclusive

    @property
    def selectable(self) -> dict[str, str]:
        """What a decision may name: no headings, nothing archived, no proposal that was not accepted."""
        if self.dimension is None:
            return {}
        categories = [each for each in self.categories.values() if isinstance(each, Category)]
        headings = set() if self.dimension.parents_selectable else {each.parent_id for each in categories}
        return {
            code: self.full[code]
            for code, each in self.categories.items()
            if (
                # By the name that tells it from another coder's proposal of the same code.
                each.state == CategoryProposal.State.ACCEPTED and code != each.code
                if isinstance(each, CategoryProposal)
                else each.pk not in headings and not each.archived
            )
        }


def answer_names(coding_round: Round) -> dict[str, AnswerNames]:
    """By dimension in the order of the codebook, the exclusion of the unit (``_unit``) first."""
    dimensions = round_dimensions(coding_round)
    labels = names_of(coding_round, tuple(dimensions)).proposals
    named: dict[int, dict[str, Named]] = {each.pk: {} for each in dimensions}
    rows = (
        Category.objects.filter(dimension__in=dimensions).select_related("parent").order_by("order", "code")
    )
    for category in rows:
        named[category.dimension_id][category.code] = category
    proposals = CategoryProposal.objects.filter(round=coding_round, dimension__in=dimensions)
    for proposal in proposals.select_related("parent").order_by("code"):
        # Cells tell proposals of the same code apart by who made them.
        for code in (proposal.code, labels[proposal.pk]):
            named[proposal.dimension_id].setdefault(code, proposal)
    return {UNIT: AnswerNames(None, {}, EXCLUSION, EXCLUSION)} | {
        each.key: _names(each, named[each.pk]) for each in dimensions
    }


def _names(dimension: Dimension, categories: Mapping[str, Named]) -> AnswerNames:
    words = {code: each.name for code, each in categories.items()}
    full = {
        code: f"{each.parent.name}{BELOW}{each.name}" if each.parent is not None else each.name
        for code, each in categories.items()
    }
    return AnswerNames(dimension, categories, words | STATES, full | STATES)
