"""A draw from the corpus that can be repeated from what is stored here."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from .base import BytewiseTextField, Row
from .study import Study
from .unit import Unit


class Sample(Row):
    class Method(models.TextChoices):
        RANDOM = "random", "Simple random"
        STRATIFIED = "stratified", "Stratified"
        ALL = "all", "All"
        LIST = "list", "A list"

    class State(models.TextChoices):
        PREPARING = "preparing", "Preparing"
        FROZEN = "frozen", "Frozen"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="samples")
    method = models.TextField(choices=Method.choices, default=Method.RANDOM)
    size = models.PositiveIntegerField()
    confidence = models.FloatField(null=True, blank=True)
    margin = models.FloatField(null=True, blank=True)
    proportion = models.FloatField(null=True, blank=True, help_text="Expected; null: nothing is known.")
    pilot = models.PositiveIntegerField(default=0, help_text="Units drawn beside the size, for pilots alone.")
    strata = models.TextField(
        blank=True, help_text="The field, or the expression of fields, that makes the strata."
    )
    allocation = models.JSONField(
        default=dict, help_text='{"kind": proportional|equal|given, "sizes": {stratum: n}}'
    )
    seed = models.BigIntegerField()
    filters = models.JSONField(default=dict)
    rules_version = models.PositiveIntegerField(default=0)
    frame = models.BinaryField(help_text="Key and stratum of every eligible issue, packed by sampling.frame.")
    frame_hash = models.TextField()
    frame_size = models.PositiveIntegerField()
    state = models.TextField(choices=State.choices, default=State.PREPARING)
    prepared = models.PositiveIntegerField(default=0)
    problems = models.JSONField(default=list)
    frozen_at = models.DateTimeField(null=True, blank=True)
    units = models.ManyToManyField(
        Unit, through="SampleUnit", through_fields=("sample", "unit"), related_name="samples"
    )

    class Meta:
        ordering = ("id",)
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state="preparing") | Q(frozen_at__isnull=False), name="sample_frozen_has_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_method_display()} sample of {self.size}"


class SampleUnit(Row):
    class Drawn(models.TextChoices):
        DRAW = "draw", "Drawn"
        TOP_UP = "top_up", "Top-up"
        REPLACEMENT = "replacement", "Replacement"
        PILOT = "pilot", "For the pilot"

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="sample_units")
    unit = models.ForeignKey(Unit, on_delete=models.RESTRICT, related_name="sample_units")
    stratum = BytewiseTextField(blank=True)
    rank = models.PositiveIntegerField()
    drawn = models.TextField(choices=Drawn.choices, default=Drawn.DRAW)
    replaced_by = models.ForeignKey(
        Unit, null=True, blank=True, on_delete=models.RESTRICT, related_name="replaces"
    )
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ("stratum", "rank")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("sample", "unit"), name="sample_unit_once"),
            models.UniqueConstraint(fields=("sample", "stratum", "rank"), name="sample_unit_rank"),
            models.CheckConstraint(condition=Q(rank__gte=1), name="sample_unit_rank_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.stratum} {self.rank}"
