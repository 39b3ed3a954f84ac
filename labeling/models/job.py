"""Work that outlives a request. The row is the queue; the broker only rings the bell."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .base import BytewiseTextField, Row
from .round import Round
from .sample import Sample
from .study import Membership, Study


class Leased(Row):
    """A row a worker takes for a while. A lease that ran out is taken by the next one."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        WAITING = "waiting", "Waiting"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    state = models.TextField(choices=State.choices, default=State.QUEUED)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_holder = models.TextField(
        blank=True, help_text="Who holds the lease; a late holder finds another name."
    )
    waiting_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    progress = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def task_key(self) -> str:
        """Names the task that works on the row, see ``services.jobs``."""
        return str(self._meta.label_lower)


class Job(Leased):
    class Kind(models.TextChoices):
        PREPARE_SAMPLE = "prepare_sample", "Prepare a sample"
        BREAKDOWNS = "breakdowns", "Agreement by repository, stratum and level"
        CHECK_AGREEMENT = "check_agreement", "Check kappa a second way"
        DUPLICATES = "duplicates", "Look for duplicates"
        PURGE = "purge", "Purge a deleted study"
        FETCH_FIX = "fetch_fix", "Fetch the diff of an issue"
        INDEX_TEXTS = "index_texts", "Make new issues searchable"
        MAIL = "mail", "Send notices by e-mail"

    kind = models.TextField(choices=Kind.choices)
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    sample = models.ForeignKey(Sample, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    options = models.JSONField(default=dict, blank=True)
    by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        indexes: ClassVar = [models.Index(fields=("state", "lease_until"), name="job_due")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.get_state_display().lower()})"

    @property
    def task_key(self) -> str:
        return f"job.{self.kind}"


class ExportJob(Leased):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="export_jobs")
    by = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="+")
    kind = models.TextField()
    options = models.JSONField(default=dict, blank=True)
    file = models.TextField(blank=True, help_text="Path below INTERCODER_DATA/exports.")
    findings = models.JSONField(default=list, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=("state", "lease_until"), name="export_job_due")]

    def __str__(self) -> str:
        return f"{self.kind} ({self.get_state_display().lower()})"


class AnnotationImport(Leased):
    """An uploaded sheet of annotations on its way to a closed round."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotation_imports")
    by = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="+")
    file = models.TextField(help_text="Path below INTERCODER_DATA/uploads.")
    mapping = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True, help_text="What is odd about the sheet.")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return self.file


class Heartbeat(Row):
    """A worker that said it is alive."""

    worker = BytewiseTextField(unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.worker


class IdempotentReply(Row):
    """The answer to a POST that carried an Idempotency-Key, kept 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    method = models.TextField()
    path = models.TextField()
    key = BytewiseTextField()
    body_hash = models.TextField()
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    location = models.TextField(blank=True)
    body = models.BinaryField(default=b"")

    class Meta:
        verbose_name_plural = "idempotent replies"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("user", "method", "path", "key"), name="idempotent_reply_once"),
            models.CheckConstraint(condition=Q(key__length__lte=255), name="idempotent_reply_key_length"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"
