"""An import: what was asked, how far it came, what went wrong; and a file before it is imported."""

from typing import ClassVar

from django.db import models

from labeling.models.job import Leased
from labeling.models.study import Membership, Study


class ImportRun(Leased):
    class Source(models.TextChoices):
        GITHUB = "github", "GitHub"
        FILE = "file", "File"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="import_runs")
    by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    source = models.TextField(choices=Source.choices)
    query = models.JSONField(default=dict, help_text="What was asked of the source.")
    checkpoint = models.JSONField(
        default=dict, blank=True, help_text="Where to go on; written with each page."
    )
    fetched = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(
        null=True, blank=True, help_text="As the source says, before any rule."
    )
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    same = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    quota = models.JSONField(
        default=dict, blank=True, help_text="Requests left to the token, as GitHub last said, by budget."
    )
    problems = models.JSONField(default=list, blank=True, help_text="Sentences a study lead understands.")
    noted = models.PositiveIntegerField(
        default=0, help_text="Rows of a file that came in with less than they say."
    )
    notes = models.JSONField(default=list, blank=True, help_text="What the first of these rows lost.")

    class Meta:
        ordering = ("-id",)
        indexes: ClassVar = [models.Index(fields=("state", "lease_until"), name="import_run_due")]

    def __str__(self) -> str:
        return f"import {self.pk} from {self.get_source_display()}"


class Upload(Leased):
    """An uploaded file before its import: what its columns become, and what it would bring.

    It is paused until somebody wants it tried; then a worker reads it to its end and stores nothing of it.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="uploads")
    by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    query = models.JSONField(default=dict, help_text="What the import will be asked for.")
    checkpoint = models.JSONField(default=dict, blank=True, help_text="Where trying it goes on.")
    rows = models.PositiveIntegerField(default=0)
    new = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    same = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    problems = models.JSONField(default=list, blank=True, help_text="Why rows would be rejected.")
    noted = models.PositiveIntegerField(
        default=0, help_text="Rows that would come in with less than they say."
    )
    notes = models.JSONField(default=list, blank=True, help_text="What the first of these rows would lose.")
    run = models.OneToOneField(
        ImportRun, null=True, blank=True, on_delete=models.CASCADE, related_name="upload"
    )

    class Meta:
        indexes: ClassVar = [models.Index(fields=("state", "lease_until"), name="upload_due")]

    def __str__(self) -> str:
        return str(self.query.get("name") or "a file")


class Pace(models.Model):
    """When the next request with a token may be sent; ``key`` tells tokens and budgets apart, not which."""

    key = models.TextField(primary_key=True)
    free_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "paces"

    def __str__(self) -> str:
        return self.key
