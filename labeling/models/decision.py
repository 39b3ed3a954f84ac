"""From the coders' answers to one: disagreements, proposals, the decision and the talk about it."""

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q

from labeling.blinding import settled

from .base import BytewiseTextField, Row
from .codebook import Category, CategoryProposal
from .round import RoundUnit
from .study import Membership

UNIT = "_unit"
"""The dimension of a decision whether the unit is excluded."""


class DisagreementReason(models.TextChoices):
    MISREAD = "misread", "One of us misread it"
    DEFINITION_UNCLEAR = "definition_unclear", "The definition is unclear"
    EVIDENCE_MISSING = "evidence_missing", "The evidence is missing"
    BOTH_APPLY = "both_apply", "Both apply"
    OTHER = "other", "Other"


R = TypeVar("R", bound=models.Model)


class SettledQuerySet(models.QuerySet[R]):
    """Rows that hang on a unit of a round and are shown only once it is closed."""

    def visible_to(self, member: Membership) -> Self:
        return self.filter(settled(member, "round_unit"))


class Answer(Row):
    """What a decision or a proposal says: categories, a reserved state, a text, or an exclusion."""

    round_unit = models.ForeignKey(RoundUnit, on_delete=models.CASCADE, related_name="%(class)ss")
    dimension = BytewiseTextField(help_text="Key of the dimension, or _unit.")
    categories = models.ManyToManyField(Category, related_name="+", blank=True)
    category_proposals = models.ManyToManyField(CategoryProposal, related_name="+", blank=True)
    state = models.TextField(blank=True, help_text="coded, unclear, not_applicable or not_asked")
    text = models.TextField(blank=True)
    excluded = models.BooleanField(null=True, blank=True)
    exclude_reason = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    disagreement_reason = models.TextField(choices=DisagreementReason.choices, blank=True)

    class Meta:
        abstract = True


class DecisionQuerySet(SettledQuerySet["Decision"]):
    """Decisions, open ones included."""


class Decision(Answer):
    """The final answer in one dimension of one unit of a round.

    A row exists from the time reconciliation opens; while ``how`` is empty it is an open
    disagreement. ``version`` counts its decisions, 0: none yet.
    """

    class Type(models.TextChoices):
        AGREED = "agreed", "Agreed"
        SINGLE = "single", "Coded by one"
        DISAGREED = "disagreed", "Disagreed"
        ONE_SIDED = "one_sided", "Answered by some"
        EXCLUDED = "excluded", "Excluded by some"
        WAITING = "waiting", "Waits for another decision"

    class How(models.TextChoices):
        AGREED = "agreed", "Agreed"
        DISCUSSED = "discussed", "Discussed"
        ADJUDICATED = "adjudicated", "Adjudicated"
        MAJORITY = "majority", "Majority"
        SINGLE = "single", "Coded by one"
        DERIVED = "derived", "Derived"
        EXCLUDED = "excluded", "Excluded"

    type = models.TextField(choices=Type.choices)
    cell = BytewiseTextField(blank=True, help_text="The answers that met, sorted and joined by |.")
    waits_for = BytewiseTextField(blank=True, help_text="Key of the dimension that must be decided first.")
    how = models.TextField(choices=How.choices, blank=True)
    decided_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    recorded_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("round_unit", "dimension"), name="decision_unit_dimension"),
            models.CheckConstraint(
                condition=Q(how="") | (Q(decided_at__isnull=False) & Q(version__gte=1)),
                name="decision_has_a_time",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=("round_unit", "how"), name="decision_open"),
        ]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.get_how_display() or 'open'}"

    @property
    def is_open(self) -> bool:
        return self.how == ""


class DecisionVersion(Row):
    """What a decision said before it was reopened or replaced. Append-only."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    said = models.JSONField()
    by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("decision", "version"), name="decision_version_once"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.decision_id}"


class DecisionProposalQuerySet(SettledQuerySet["DecisionProposal"]):
    """What coders proposed, also what they proposed before."""


class DecisionProposal(Answer):
    """What one coder proposes; the latest of each coder counts. Append-only."""

    by = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="+")
    escalate = models.BooleanField(default=False)
    at = models.DateTimeField()

    objects = DecisionProposalQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=("round_unit", "dimension", "by", "at"), name="proposal_latest")
        ]

    def __str__(self) -> str:
        return f"proposal of {self.by_id} on {self.dimension}"


class CommentQuerySet(SettledQuerySet["Comment"]):
    """The discussion."""


class Comment(Row):
    round_unit = models.ForeignKey(RoundUnit, on_delete=models.CASCADE, related_name="comments")
    dimension = BytewiseTextField(blank=True)
    by = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="+")
    text = models.TextField()
    mentions = models.ManyToManyField(Membership, related_name="+", blank=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints: ClassVar = [models.CheckConstraint(condition=~Q(text=""), name="comment_has_text")]

    def __str__(self) -> str:
        return self.text
