"""The record of who did what, and the notices it gives to members."""

from typing import ClassVar

from django.db import models

from .base import Row
from .round import Round
from .study import Membership, Study


class Event(Row):
    """Append-only; ``data`` holds ids and numbers, never free text, so that it can be shown and kept."""

    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="events")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.CASCADE, related_name="events")
    by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.RESTRICT, related_name="events"
    )
    verb = models.TextField(help_text="Past tense with its kind of object, e.g. round.closed")
    object = models.TextField(blank=True, help_text="e.g. round:3, unit:owner/repo#1")
    data = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)
        indexes: ClassVar = [models.Index(fields=("study", "-id"), name="event_study_newest")]

    def __str__(self) -> str:
        return f"{self.verb} {self.object}"


class Notice(Row):
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="notices")
    verb = models.TextField()
    object = models.TextField(blank=True)
    url = models.TextField(blank=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        indexes: ClassVar = [models.Index(fields=("member", "read_at"), name="notice_unread")]

    def __str__(self) -> str:
        return f"{self.verb} {self.object}"
