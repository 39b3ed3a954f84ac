"""What is coded: one part of one issue, normally the whole of it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from .base import BytewiseTextField, Row
from .issue import Issue, IssueSnapshot
from .study import Study


class Unit(Row):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="units")
    issue = models.ForeignKey(Issue, on_delete=models.RESTRICT, related_name="units")
    part = models.PositiveIntegerField(default=0)
    ref = BytewiseTextField()
    title = models.TextField(blank=True, help_text="What this part is about; empty for the whole.")
    split_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="parts"
    )
    split_at = models.DateTimeField(null=True, blank=True)
    snapshot = models.ForeignKey(
        IssueSnapshot, null=True, blank=True, on_delete=models.RESTRICT, related_name="pinned_by"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "issue", "part"), name="unit_study_issue_part"),
            models.UniqueConstraint(fields=("study", "ref"), name="unit_study_ref"),
            models.CheckConstraint(
                condition=Q(part=0) | Q(split_from__isnull=False), name="unit_part_has_a_whole"
            ),
        ]

    def __str__(self) -> str:
        return self.ref
