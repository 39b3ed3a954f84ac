"""What became of a coder's answers: mine, theirs, final, and why."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labeling.models import UNIT, Decision, Membership, Round
from labeling.selectors.reconciliation import CoderAnswer, Disagreement, decided_codes, with_answers

How = Decision.How
BY_SOMEBODY = (How.DISCUSSED, How.ADJUDICATED, How.MAJORITY, How.DERIVED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A decision that several answers led to, and the reader's own among them if they gave one."""

    item: Disagreement
    mine: CoderAnswer | None
    theirs: tuple[CoderAnswer, ...]

    @property
    def decision(self) -> Decision:
        return self.item.decision

    @property
    def differs(self) -> bool:
        """Whether the final answer is another than mine; for whoever gave none, than any of theirs."""
        given = [self.mine] if self.mine is not None else self.theirs
        return any(not is_final(each, self.decision) for each in given)


def outcomes(
    coding_round: Round, member: Membership, *, dimension: str = "", reason: str = "", differing: bool = True
) -> list[Outcome]:
    """What was decided on answers that did not agree by themselves, by unit; follows blinding."""
    rows = (
        Decision.objects.visible_to(member)
        .filter(round_unit__round=coding_round, how__in=BY_SOMEBODY)
        .exclude(type=Decision.Type.SINGLE)
        .exclude(how=How.DERIVED, type=Decision.Type.AGREED)
    )
    if dimension:
        rows = rows.filter(dimension=dimension)
    if reason:
        rows = rows.filter(disagreement_reason=reason)
    rows = rows.select_related(
        "round_unit__round__study",
        "round_unit__unit__issue",
        "round_unit__unit__snapshot",
        "decided_by__user",
        "recorded_by__user",
    ).prefetch_related("categories", "category_proposals")
    items = with_answers(list(rows.order_by("round_unit__unit__ref", "pk")), member)
    found = [_outcome(item, member) for item in _answered_by(items, member, coding_round)]
    return [each for each in found if each.differs or not differing]


def _answered_by(
    items: Iterable[Disagreement], member: Membership, coding_round: Round
) -> Iterator[Disagreement]:
    """For a coder of the round the units they coded; for everybody else all."""
    codes_here = coding_round.coders.filter(pk__in=member.coder_ids).exists()
    for item in items:
        if not codes_here or any(each.member in member.coder_ids for each in item.answers):
            yield item


def _outcome(item: Disagreement, member: Membership) -> Outcome:
    mine = next((each for each in item.answers if each.member in member.coder_ids), None)
    return Outcome(item, mine, tuple(each for each in item.answers if each is not mine))


def is_final(said: CoderAnswer, decision: Decision) -> bool:
    """Whether an answer is what was decided."""
    if decision.dimension == UNIT:
        return said.excluded == bool(decision.excluded)
    if said.excluded:
        return False
    answer = (said.categories, said.state, said.text)
    return answer == (decided_codes(decision), decision.state, decision.text)
