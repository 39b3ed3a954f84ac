"""Reports of agreement: stored when a round closes, never recomputed in place."""

from typing import ClassVar

from django.db import models

from .base import BytewiseTextField, Row
from .round import Round


class AgreementReport(Row):
    class Kind(models.TextChoices):
        AS_CODED = "as_coded", "As coded"
        MAPPED = "mapped", "Mapped to a later codebook"
        POST_HOC = "post_hoc", "Post hoc"
        AFTER_UNBLINDING = "after_unblinding", "Not independent"

    class Scope(models.TextChoices):
        WHOLE = "whole", "Whole round"
        REPOSITORY = "repository", "By repository"
        STRATUM = "stratum", "By stratum"
        CATEGORY = "category", "By category"
        PAIR = "pair", "By pair of coders"
        LEVEL = "level", "By level"

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="agreement_reports")
    kind = models.TextField(choices=Kind.choices, default=Kind.AS_CODED)
    options = BytewiseTextField(default="{}", help_text="Canonical JSON, so that it can be unique.")
    scope = models.TextField(choices=Scope.choices, default=Scope.WHOLE)
    software_version = models.TextField()
    payload = models.JSONField()
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="When scikit-learn gave the same kappas."
    )
    check_problem = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("round", "kind", "options", "scope", "software_version"), name="agreement_report_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} agreement of round {self.round_id}"
