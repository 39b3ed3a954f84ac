"""A round: who codes which units under which codebook version, and how far it has come."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from labeling.errors import RoundStateError

from .base import BytewiseTextField, Row
from .codebook import Codebook
from .sample import Sample
from .study import Membership, Study
from .unit import Unit


class Round(Row):
    class Kind(models.TextChoices):
        TRAINING = "training", "Training"
        PILOT = "pilot", "Pilot"
        MAIN = "main", "Main"
        RECODE = "recode", "Recode"
        RETEST = "retest", "Retest"
        IMPORTED = "imported", "Imported"

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        CLOSED = "closed", "Reconciling"
        RECONCILED = "reconciled", "Done"

    class Decide(models.TextChoices):
        TOGETHER = "together", "The coders together"
        ADJUDICATOR = "adjudicator", "An adjudicator"
        LEAD = "lead", "A lead"

    class Missing(models.TextChoices):
        REFUSE = "refuse", "Refuse to close"
        ACCEPT = "accept", "Close without them"

    RUNNING = (State.DRAFT, State.OPEN)
    UNBLINDED = (State.CLOSED, State.RECONCILED)
    IN_RESULTS = (Kind.MAIN, Kind.RECODE, Kind.IMPORTED)
    MOVES: ClassVar = {
        (State.DRAFT, State.OPEN),
        (State.OPEN, State.DRAFT),
        (State.OPEN, State.CLOSED),
        (State.CLOSED, State.OPEN),
        (State.CLOSED, State.RECONCILED),
        (State.RECONCILED, State.CLOSED),
    }

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    kind = models.TextField(choices=Kind.choices, default=Kind.MAIN)
    state = models.TextField(choices=State.choices, default=State.DRAFT)
    codebook = models.ForeignKey(
        Codebook, null=True, blank=True, on_delete=models.RESTRICT, related_name="rounds"
    )
    sample = models.ForeignKey(
        Sample, null=True, blank=True, on_delete=models.RESTRICT, related_name="rounds"
    )
    based_on = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="followed_by"
    )
    coders = models.ManyToManyField(Membership, related_name="rounds", blank=True)
    coders_per_unit = models.PositiveSmallIntegerField(default=2)
    overlap = models.FloatField(default=1.0)
    seed = models.BigIntegerField(default=1)
    overlap_seed = models.BigIntegerField(default=1)
    dimensions = models.JSONField(default=list, blank=True, help_text="Keys; empty: all.")
    masked_fields = models.JSONField(default=list, blank=True)
    stages = models.JSONField(default=list, blank=True)
    instructions = models.TextField(blank=True)
    goal = models.FloatField(null=True, blank=True)
    due_on = models.DateField(null=True, blank=True)
    decide = models.TextField(choices=Decide.choices, default=Decide.TOGETHER)
    majority = models.BooleanField(default=False)
    rationale_required = models.BooleanField(default=False)
    own_answer_first = models.BooleanField(default=False)
    anonymous = models.BooleanField(default=False)
    counts_in_results = models.BooleanField(default=True)
    after_unblinding = models.BooleanField(default=False)
    missing = models.TextField(choices=Missing.choices, blank=True)
    first_unblinded_read_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    reconciliation_opened_at = models.DateTimeField(null=True, blank=True)
    reconciled_at = models.DateTimeField(null=True, blank=True)
    discarded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("number",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "number"), name="round_study_number"),
            models.CheckConstraint(
                condition=Q(state="draft") | Q(codebook__isnull=False) | Q(discarded_at__isnull=False),
                name="round_beyond_draft_has_a_codebook",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("closed", "reconciled")) | Q(closed_at__isnull=False),
                name="round_closed_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(overlap__gte=0, overlap__lte=1), name="round_overlap_is_a_share"
            ),
            models.CheckConstraint(condition=Q(coders_per_unit__gte=1), name="round_coders_per_unit"),
            models.CheckConstraint(
                condition=Q(state__in=("draft", "open", "closed", "reconciled")), name="round_state"
            ),
        ]

    def __str__(self) -> str:
        return f"Round {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("labeling:round-detail", args=[self.study.slug, self.number])

    @property
    def is_unblinded(self) -> bool:
        return self.state in self.UNBLINDED

    def move_to(self, state: "Round.State") -> None:
        """The one place where a round changes state. Call it on a locked row, in a transaction."""
        if (self.state, state) not in self.MOVES or self.discarded_at is not None:
            raise RoundStateError(
                f"Round {self.number} is {self.get_state_display().lower()} and cannot become "
                f"{Round.State(state).label.lower()}."
            )
        now = timezone.now()
        if state == self.State.OPEN:
            self.opened_at, self.closed_at = self.opened_at or now, None
        elif state == self.State.CLOSED:
            self.closed_at, self.reconciled_at = self.closed_at or now, None
        elif state == self.State.RECONCILED:
            self.reconciled_at = now
        elif state == self.State.DRAFT:
            self.opened_at = None
        self.state = state
        self.save()


class RoundUnit(Row):
    """A unit in a round. Answers, comments and decisions hang on it."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="round_units")
    unit = models.ForeignKey(Unit, on_delete=models.RESTRICT, related_name="round_units")
    stratum = BytewiseTextField(blank=True)
    overlap = models.BooleanField(default=True, help_text="Coded by coders_per_unit coders.")
    left_out = models.BooleanField(default=False)
    reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=("round", "unit"), name="round_unit_once")]

    def __str__(self) -> str:
        return f"{self.unit_id} in {self.round_id}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of_member(self, member: Membership) -> Self:
        """What a member opens and submits: their own assignments and their group's."""
        return self.filter(coder__in=member.coder_ids)

    def active(self) -> Self:
        return self.exclude(status=Assignment.Status.WITHDRAWN)


class DraftlessManager(models.Manager["Assignment"]):
    """A draft is its owner's alone: it is never loaded unless asked for by name."""

    def get_queryset(self) -> models.QuerySet["Assignment"]:
        return super().get_queryset().defer("draft")


AssignmentManager = DraftlessManager.from_queryset(AssignmentQuerySet)


class Assignment(Row):
    class Purpose(models.TextChoices):
        CODING = "coding", "Coding"
        ADJUDICATION = "adjudication", "Adjudication"

    class Status(models.TextChoices):
        TODO = "todo", "To do"
        DRAFT = "draft", "Draft"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"
        RETURNED = "returned", "Returned"
        WITHDRAWN = "withdrawn", "Withdrawn"

    round_unit = models.ForeignKey(RoundUnit, on_delete=models.CASCADE, related_name="assignments")
    coder = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="assignments")
    purpose = models.TextField(choices=Purpose.choices, default=Purpose.CODING)
    position = models.PositiveIntegerField()
    status = models.TextField(choices=Status.choices, default=Status.TODO)
    version = models.PositiveIntegerField(default=0)
    draft = models.JSONField(null=True, blank=True)
    draft_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    last_active_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0)
    return_reason = models.TextField(blank=True)

    objects = AssignmentManager()

    class Meta:
        # A coder's queue reads what comes next in this order.
        indexes: ClassVar = [models.Index(fields=("coder", "status", "position"), name="assignment_queue")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("round_unit", "coder"), name="assignment_unit_coder"),
            models.CheckConstraint(
                condition=Q(status__in=("todo", "draft", "submitted", "skipped", "returned", "withdrawn")),
                name="assignment_status",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"

    @property
    def takes_answers(self) -> bool:
        """Whether it can be answered: its round is open, or closed and its adjudicator answers first."""
        state = self.round_unit.round.state
        is_first_answer = self.purpose == self.Purpose.ADJUDICATION and state == Round.State.CLOSED
        return state == Round.State.OPEN or is_first_answer
