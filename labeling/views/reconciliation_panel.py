"""One disagreement as a reader sees it: both answers, what is proposed and said, and what they may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Max
from django.urls import reverse

from labeling.evidence_marks import NamedQuote, mark_issue, name_quotes
from labeling.forms.reconciliation import Contest, Side, agreements, contests, other_options, reasons, sides
from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import (
    UNIT,
    Comment,
    Decision,
    DecisionProposal,
    Dimension,
    Membership,
    Role,
    Round,
    SampleUnit,
)
from labeling.selectors.answer_names import AnswerNames, answer_names
from labeling.selectors.coding import issue_view
from labeling.selectors.evidence import unit_quotes
from labeling.selectors.reconciliation import (
    QUEUED,
    Disagreement,
    Earlier,
    ShownProposal,
    called,
    coders_of,
    earlier_decisions,
    own_answer,
)
from labeling.services.reconciliation import may_reopen, ways_of_deciding

UNIT_MARK = DimensionMark(UNIT, "Exclusion", "X", 6)


@dataclass(frozen=True, slots=True)
class Other:
    """Another dimension of the unit: what is decided there, or where to decide it."""

    mark: DimensionMark
    words: str
    url: str
    is_open: bool

    @property
    def anchor(self) -> str:
        return f"dimension-{self.mark.index}-{self.mark.letter}"


@dataclass(frozen=True)
class Panel:
    """Everything the page says about one disagreement; each part is read when a template asks for it."""

    item: Disagreement
    member: Membership
    show_images: bool = False

    @cached_property
    def names_by_dimension(self) -> Mapping[str, AnswerNames]:
        return answer_names(self.coding_round)

    @cached_property
    def marks(self) -> Mapping[str, DimensionMark]:
        return round_marks(self.coding_round)

    @property
    def coding_round(self) -> Round:
        return self.item.round_unit.round

    @property
    def decision(self) -> Decision:
        return self.item.decision

    @property
    def mark(self) -> DimensionMark:
        return self.marks.get(self.item.dimension, UNIT_MARK)

    @property
    def names(self) -> AnswerNames:
        return self.names_by_dimension[self.item.dimension]

    @property
    def dimension_kind(self) -> str:
        return self.names.dimension.kind if self.names.dimension is not None else ""

    @property
    def waits_for(self) -> DimensionMark:
        return self.marks.get(self.decision.waits_for, UNIT_MARK)

    @property
    def waits_for_url(self) -> str:
        return decision_url(self.coding_round, self._unit, self.decision.waits_for)

    # What the coders said

    @cached_property
    def letters(self) -> dict[int, str]:
        return self.item.letters

    @cached_property
    def plain_issue(self) -> dict[str, Any]:
        return issue_view(self.item.round_unit.unit, self.member, show_images=self.show_images)

    @cached_property
    def quotes(self) -> Sequence[NamedQuote]:
        found = unit_quotes(self.item.round_unit, self.member)
        here = "" if self.item.dimension == UNIT else self.item.dimension
        return name_quotes(found, self.plain_issue, self.letters, self.marks, here)

    @cached_property
    def issue(self) -> dict[str, Any]:
        return mark_issue(self.plain_issue, self.quotes)

    @cached_property
    def sides(self) -> list[Side]:
        return sides(self.item, self.names, self.quotes)

    @cached_property
    def own_answer(self) -> str:
        """What this reader, an adjudicator, answered before they saw the others."""
        said = own_answer(self.decision, self.member)
        if said is None:
            return ""
        if said.excluded:
            return f"Excluded: {said.exclude_reason}"
        if self.item.dimension == UNIT:
            return "Kept"
        return self.names.say(said.categories, said.state, said.text) if said.state else "No answer"

    # What was proposed, said and decided

    @cached_property
    def proposals(self) -> list[tuple[str, ShownProposal, str]]:
        return [(each.by, each, self._words(each)) for each in self.item.proposals]

    def _words(self, proposal: ShownProposal) -> str:
        if proposal.excluded is not None:
            return f"Exclude: {proposal.exclude_reason}" if proposal.excluded else "Keep the unit"
        if not proposal.state and not proposal.categories and not proposal.text:
            return ""
        return self.names.say(proposal.categories, proposal.state, proposal.text)

    @cached_property
    def comments(self) -> list[tuple[str, Comment]]:
        rows = Comment.objects.visible_to(self.member).filter(
            round_unit=self.item.round_unit, dimension__in=("", self.item.dimension)
        )
        return [(self.called(each.by), each) for each in rows.select_related("by__user")]

    @property
    def final(self) -> str:
        return self.names.decision(self.decision)

    @cached_property
    def earlier(self) -> list[tuple[str, str, Earlier]]:
        """Earlier decisions in words: what was decided, how, and the rest."""
        ways = dict(Decision.How.choices)
        return [
            (self._said(each.said), str(ways.get(each.said["how"], "")), each)
            for each in earlier_decisions(self.item)
        ]

    def _said(self, said: Mapping[str, Any]) -> str:
        if self.item.dimension == UNIT:
            return f"Exclude: {said['reason']}" if said["excluded"] else "Keep the unit"
        return self.names.say(said["categories"], said["state"], said["text"])

    @property
    def decided_by(self) -> str:
        return self.called(self.decision.decided_by) if self.decision.decided_by else ""

    @property
    def recorded_by(self) -> str:
        return self.called(self.decision.recorded_by) if self.decision.recorded_by else ""

    def called(self, member: Membership) -> str:
        return called(member, self.coding_round, self.letters)

    @cached_property
    def others(self) -> list[Other]:
        """The other dimensions of the unit, in the order of the codebook."""
        rows = (
            Decision.objects.visible_to(self.member)
            .filter(round_unit=self.item.round_unit)
            .exclude(pk=self.decision.pk)
            .exclude(dimension=UNIT, type__in=(Decision.Type.AGREED, Decision.Type.SINGLE), excluded=False)
            .prefetch_related("categories", "category_proposals")
        )
        found = {each.dimension: each for each in rows}
        return [
            self._other(key, names, found.get(key))
            for key, names in self.names_by_dimension.items()
            if key in found or self._is_undecided_text(names) or self._is_undecided_part(key)
        ]

    def _is_undecided_text(self, names: AnswerNames) -> bool:
        dimension = names.dimension
        is_text = dimension is not None and dimension.kind == Dimension.Kind.TEXT
        return is_text and dimension is not self.names.dimension

    def _is_undecided_part(self, key: str) -> bool:
        return key == UNIT != self.item.dimension and self.item.round_unit.unit.split_from_id is not None

    def _other(self, key: str, names: AnswerNames, decision: Decision | None) -> Other:
        mark = self.marks.get(key, UNIT_MARK)
        url = decision_url(self.coding_round, self._unit, key)
        if decision is None:
            return Other(mark, "kept" if key == UNIT else "no final text", url, is_open=False)
        return Other(mark, names.decision(decision), url, decision.is_open)

    @property
    def _unit(self) -> int:
        return self.item.round_unit.unit_id

    @property
    def whole_url(self) -> str:
        """Of a part that nobody coded: where the coders' answers on the whole stand."""
        whole = self.item.round_unit.unit.split_from_id
        if whole is None:
            return ""
        asked = Decision.objects.visible_to(self.member).filter(
            round_unit__round=self.coding_round, round_unit__unit=whole, type__in=QUEUED
        )
        first = asked.order_by("pk").first()
        return decision_url(self.coding_round, whole, first.dimension) if first is not None else ""

    @property
    def replace_url(self) -> str:
        """Where a lead draws another unit in the place of one that was decided to be excluded."""
        if not self.member.is_lead or self.item.dimension != UNIT or not self.decision.excluded:
            return ""
        drawn = SampleUnit.objects.filter(unit=self._unit, replaced_by__isnull=True).order_by("-pk").first()
        if drawn is None or drawn.sample_id != (self.coding_round.sample_id or drawn.sample_id):
            return ""
        where = reverse("labeling:sample-detail", args=[self.coding_round.study.slug, drawn.sample_id])
        return f"{where}?replace={self._unit}"

    # What this reader may do

    @cached_property
    def coders(self) -> list[Membership]:
        return coders_of(self.item.round_unit)

    @property
    def is_coder(self) -> bool:
        return bool({each.pk for each in self.coders} & set(self.member.coder_ids))

    @property
    def is_undecided(self) -> bool:
        is_running = self.coding_round.state == Round.State.CLOSED
        return is_running and self.decision.is_open and not self.decision.waits_for

    @property
    def can_propose(self) -> bool:
        is_asked = self.item.dimension == UNIT or not self.decision._state.adding
        return self.is_undecided and is_asked and self.is_coder

    @property
    def can_record(self) -> bool:
        return self.is_undecided and bool(ways_of_deciding(self.decision, self.member))

    @property
    def takes_minutes(self) -> bool:
        """Whether what this reader records counts as decided by the coders."""
        return self.can_record and ways_of_deciding(self.decision, self.member)[0] == Decision.How.DISCUSSED

    @property
    def can_reopen(self) -> bool:
        follows = self.decision.how in (Decision.How.DERIVED, Decision.How.EXCLUDED)
        is_settled = not self.decision.is_open and not follows
        return is_settled and may_reopen(self.item.round_unit, self.member, self.coders)

    @cached_property
    def judge(self) -> str:
        """The adjudicator, where there is only one to ask."""
        asked = self.coding_round.study.memberships.filter(role=Role.ADJUDICATOR, left_at__isnull=True)
        names = [each.name for each in asked.select_related("user")[:2]]
        return names[0] if len(names) == 1 else ""

    @property
    def agreements(self) -> Any:
        return agreements(self.sides)

    @cached_property
    def contests(self) -> list[Contest]:
        return contests(self.item, self.names)

    @property
    def options(self) -> Any:
        """What else can be decided; a category that is decided by itself stands there alone."""
        options = other_options(self.names, self.coding_round)
        contested = self.item.contested if self.contests else ()
        return [each for each in options if each.value not in contested]

    @property
    def shared_words(self) -> str:
        return self.names.say(self.item.shared, "coded") if self.item.shared else ""

    @property
    def reasons(self) -> Any:
        return reasons()

    # What is new since the page was made

    @cached_property
    def form_state(self) -> str:
        """Differs when the form must be another one; not when somebody proposes or writes."""
        flags = (self.can_propose, self.can_record, self.can_reopen, bool(self.decision.waits_for))
        return f"{self.decision.version}." + "".join(str(int(each)) for each in flags)

    @cached_property
    def talk_state(self) -> str:
        """Differs when somebody proposed, wrote or asked an adjudicator."""
        here = {"round_unit": self.item.round_unit, "dimension": self.item.dimension}
        proposed = DecisionProposal.objects.visible_to(self.member).filter(**here)
        written = Comment.objects.visible_to(self.member).filter(
            round_unit=self.item.round_unit, dimension__in=("", self.item.dimension)
        )
        newest = [rows.aggregate(newest=Max("pk"))["newest"] or 0 for rows in (proposed, written)]
        return f"{newest[0]}.{newest[1]}.{int(self.decision.escalated_at is not None)}"

    @property
    def state(self) -> str:
        return f"{self.form_state}-{self.talk_state}"


def round_marks(coding_round: Round) -> dict[str, DimensionMark]:
    return mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else ())


def decision_url(coding_round: Round, unit: int, dimension: str) -> str:
    where = [coding_round.study.slug, coding_round.number, unit, dimension]
    return reverse("labeling:reconciliation-detail", args=where)
