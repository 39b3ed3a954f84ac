"""The codebook: versions of dimensions and categories, and how one version maps to the next."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from .base import BytewiseTextField, Row, at_most
from .study import Membership, Study

RESERVED_STATES = ("unclear", "not_applicable", "not_asked")


class Codebook(Row):
    """One version. Unfrozen: the draft, of which a study has at most one. Frozen: never changes."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="codebooks")
    version = models.PositiveIntegerField()
    frozen_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("version",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "version"), name="codebook_study_version"),
            models.UniqueConstraint(
                fields=("study",), condition=Q(frozen_at__isnull=True), name="codebook_one_draft_per_study"
            ),
        ]

    def __str__(self) -> str:
        return f"codebook v{self.version}" + ("" if self.frozen_at else " (draft)")


class Dimension(Row):
    class Kind(models.TextChoices):
        SINGLE = "single", "Choose one"
        MULTIPLE = "multiple", "Choose any"
        ORDINAL = "ordinal", "Choose one, ordered"
        TEXT = "text", "Free text"

    codebook = models.ForeignKey(Codebook, on_delete=models.CASCADE, related_name="dimensions")
    key = BytewiseTextField()
    name = models.TextField()
    question = models.TextField(blank=True)
    help = models.TextField(blank=True)
    kind = models.TextField(choices=Kind.choices, default=Kind.SINGLE)
    required = models.BooleanField(default=True)
    order = models.PositiveIntegerField(default=0)
    asked_if = models.JSONField(null=True, blank=True, help_text='{"dimension": key, "any_of": [codes]}')
    allow_unclear = models.BooleanField(default=True)
    allow_not_applicable = models.BooleanField(default=True)
    parents_selectable = models.BooleanField(default=False)

    class Meta:
        ordering = ("order", "key")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("codebook", "key"), name="dimension_codebook_key"),
            models.CheckConstraint(
                condition=~Q(key__startswith="_") & ~Q(key=""), name="dimension_key_not_reserved"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("single", "multiple", "ordinal", "text")), name="dimension_kind"
            ),
            at_most("key", 60, "dimension"),
            at_most("name", 120, "dimension"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_exclusive(self) -> bool:
        """Whether an answer holds at most one category."""
        return self.kind in (self.Kind.SINGLE, self.Kind.ORDINAL)

    @property
    def states(self) -> tuple[str, ...]:
        """The reserved states a coder may give here, in the order in which they count."""
        allowed = (("unclear", self.allow_unclear), ("not_applicable", self.allow_not_applicable))
        return tuple(state for state, is_allowed in allowed if is_allowed and self.kind != self.Kind.TEXT)


class Category(Row):
    """One value of a dimension in one version; ``concept`` is its identity across versions."""

    dimension = models.ForeignKey(Dimension, on_delete=models.CASCADE, related_name="categories")
    concept = models.UUIDField(default=uuid.uuid4)
    code = BytewiseTextField()
    name = models.TextField()
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    definition = models.TextField(blank=True)
    include = models.TextField(blank=True)
    exclude = models.TextField(blank=True)
    examples = models.JSONField(default=list, blank=True)
    precedence = models.TextField(blank=True)
    order = models.PositiveIntegerField(default=0)
    hotkey = BytewiseTextField(blank=True)
    archived = models.BooleanField(default=False)

    class Meta:
        ordering = ("order", "code")
        verbose_name_plural = "categories"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("dimension", "code"), name="category_dimension_code"),
            models.UniqueConstraint(fields=("dimension", "concept"), name="category_dimension_concept"),
            models.CheckConstraint(
                condition=~Q(code="")
                & ~Q(code__contains="/")
                & ~Q(code__contains="|")
                & ~Q(code__contains="\n")
                & ~Q(code__contains="\r"),
                name="category_code_characters",
            ),
            models.CheckConstraint(condition=~Q(code__in=RESERVED_STATES), name="category_code_not_reserved"),
            at_most("code", 80, "category"),
            at_most("name", 160, "category"),
        ]

    def __str__(self) -> str:
        return self.name


class CategoryMapping(Row):
    """Where a concept of one version went in a later one; without target: it went nowhere."""

    class Act(models.TextChoices):
        RENAME = "rename", "Renamed"
        MOVE = "move", "Moved"
        MERGE = "merge", "Merged"
        SPLIT = "split", "Split"
        ARCHIVE = "archive", "Archived"
        REJECT = "reject", "Rejected"

    from_codebook = models.ForeignKey(Codebook, on_delete=models.CASCADE, related_name="mappings_from")
    to_codebook = models.ForeignKey(Codebook, on_delete=models.CASCADE, related_name="mappings_to")
    dimension = models.TextField(help_text="Key of the dimension.")
    from_concept = models.UUIDField()
    to_concept = models.UUIDField(null=True, blank=True)
    act = models.TextField(choices=Act.choices)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("from_codebook", "to_codebook", "from_concept"), name="category_mapping_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.act}"


class CodebookAct(Row):
    """A change of the draft, with what was there before: the newest can be undone until the next freeze.

    ``before`` is None where the change began the draft, and empty once the draft is frozen.
    """

    class Act(models.TextChoices):
        EDIT = "edit", "Edited"
        RENAME = "rename", "Renamed"
        MOVE = "move", "Moved"
        MERGE = "merge", "Merged"
        SPLIT = "split", "Split"
        ARCHIVE = "archive", "Archived"

    codebook = models.ForeignKey(Codebook, on_delete=models.CASCADE, related_name="acts")
    n = models.PositiveIntegerField()
    act = models.TextField(choices=Act.choices)
    by = models.ForeignKey(Membership, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    summary = models.TextField()
    before = models.JSONField(null=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("n",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("codebook", "n"), name="codebook_act_once"),
        ]

    def __str__(self) -> str:
        return self.summary


class CategoryProposal(Row):
    """A category a coder misses: theirs alone until the round closes, then the lead settles it."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        ACCEPTED = "accepted", "Accepted"
        MAPPED = "mapped", "Mapped"
        REJECTED = "rejected", "Rejected"

    # Its id is shown to the coder while the round is open: a counter would tell how many others were made.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)  # type: ignore[assignment]
    round = models.ForeignKey("Round", on_delete=models.CASCADE, related_name="proposals")
    dimension = models.ForeignKey(Dimension, on_delete=models.RESTRICT, related_name="proposals")
    by = models.ForeignKey(Membership, on_delete=models.RESTRICT, related_name="category_proposals")
    concept = models.UUIDField(default=uuid.uuid4, unique=True)
    code = BytewiseTextField()
    name = models.TextField()
    definition = models.TextField(blank=True)
    parent = models.ForeignKey(Category, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    state = models.TextField(choices=State.choices, default=State.PROPOSED)
    target = models.ForeignKey(Category, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=("round", "dimension", "by", "code"), name="category_proposal_code_once_per_coder"
            ),
            models.CheckConstraint(
                condition=~Q(state="mapped") | Q(target__isnull=False),
                name="category_proposal_mapped_has_target",
            ),
        ]

    def __str__(self) -> str:
        return self.name
