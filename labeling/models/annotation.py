"""What a coder handed in. Rows here are written once and never change."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q

from labeling.blinding import readable

from .base import BytewiseTextField, Row
from .codebook import Category, CategoryProposal, Dimension
from .round import Assignment
from .study import Membership


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, member: Membership) -> Self:
        return self.filter(readable(member, "assignment"))

    def last(self) -> Self:  # type: ignore[override]
        """The submission that counts of each assignment."""
        newer = Submission.objects.filter(
            assignment=models.OuterRef("assignment"), n__gt=models.OuterRef("n")
        )
        return self.filter(~models.Exists(newer))


class Submission(Row):
    class Confidence(models.TextChoices):
        LOW = "low", "Low"
        MEDIUM = "medium", "Medium"
        HIGH = "high", "High"

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="submissions")
    n = models.PositiveIntegerField()
    at = models.DateTimeField()
    memo = models.TextField(blank=True)
    confidence = models.TextField(choices=Confidence.choices, blank=True)
    exclude_reason = models.TextField(blank=True)
    exclude_note = models.TextField(blank=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("assignment", "n"), name="submission_assignment_n"),
            models.CheckConstraint(
                condition=Q(confidence__in=("", "low", "medium", "high")), name="submission_confidence"
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.n} of {self.assignment_id}"


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    def visible_to(self, member: Membership) -> Self:
        return self.filter(readable(member, "submission__assignment"))


class Annotation(Row):
    """The answer of a submission in one dimension."""

    class State(models.TextChoices):
        CODED = "coded", "Coded"
        UNCLEAR = "unclear", "Unclear"
        NOT_APPLICABLE = "not_applicable", "Not applicable"
        NOT_ASKED = "not_asked", "Not asked"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="annotations")
    dimension = models.ForeignKey(Dimension, on_delete=models.RESTRICT, related_name="annotations")
    state = models.TextField(choices=State.choices, default=State.CODED)
    text = models.TextField(blank=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("submission", "dimension"), name="annotation_submission_dimension"
            ),
            models.CheckConstraint(
                condition=Q(state__in=("coded", "unclear", "not_applicable", "not_asked")),
                name="annotation_state",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension_id}: {self.state}"


class AnnotationCategory(Row):
    """A chosen category: of the codebook version, or one the coder proposed."""

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="chosen")
    category = models.ForeignKey(
        Category, null=True, blank=True, on_delete=models.RESTRICT, related_name="chosen"
    )
    proposal = models.ForeignKey(
        CategoryProposal, null=True, blank=True, on_delete=models.RESTRICT, related_name="chosen"
    )
    exclusive = models.BooleanField(help_text="Copied from the kind of the dimension, for the constraint.")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(category__isnull=False, proposal__isnull=True)
                | Q(category__isnull=True, proposal__isnull=False),
                name="annotation_category_one_source",
            ),
            models.UniqueConstraint(
                fields=("annotation",),
                condition=Q(exclusive=True),
                name="annotation_category_one_if_exclusive",
            ),
            models.UniqueConstraint(fields=("annotation", "category"), name="annotation_category_once"),
            models.UniqueConstraint(fields=("annotation", "proposal"), name="annotation_proposal_once"),
        ]

    def __str__(self) -> str:
        return f"{self.category_id or self.proposal_id}"


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    def visible_to(self, member: Membership) -> Self:
        return self.filter(readable(member, "submission__assignment"))


class Evidence(Row):
    """A quote that speaks for a category: code points [start, end) of a document's text."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="evidence")
    dimension = models.ForeignKey(Dimension, on_delete=models.RESTRICT, related_name="evidence")
    category = models.ForeignKey(
        Category, null=True, blank=True, on_delete=models.RESTRICT, related_name="evidence"
    )
    proposal = models.ForeignKey(
        CategoryProposal, null=True, blank=True, on_delete=models.RESTRICT, related_name="evidence"
    )
    document = BytewiseTextField(help_text="Key of a document of the pinned snapshot.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    prefix = models.TextField(blank=True)
    suffix = models.TextField(blank=True)

    objects = EvidenceQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "evidence"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="evidence_not_empty"),
        ]

    def __str__(self) -> str:
        return self.quote
