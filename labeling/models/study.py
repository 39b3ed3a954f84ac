"""The study, the boundary of access, and who takes part in it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from .base import BytewiseTextField, Row, at_most


def default_unit_kinds() -> list[str]:
    return ["issue"]


def default_exclusion_reasons() -> list[str]:
    return ["not a bug", "duplicate", "no evidence", "out of scope"]


class StudyQuerySet(models.QuerySet["Study"]):
    def of_user(self, user: "settings.AUTH_USER_MODEL") -> "StudyQuerySet":  # type: ignore[name-defined]
        """Studies the user is a present member of and that were not deleted."""
        return self.filter(memberships__user=user, memberships__left_at__isnull=True, deleted_at__isnull=True)


class Study(Row):
    class CountStates(models.TextChoices):
        CATEGORY = "category", "Count as categories"
        LEAVE_OUT = "leave_out", "Leave out"

    class Scale(models.TextChoices):
        LANDIS_KOCH = "landis_koch", "Landis and Koch 1977"
        MCHUGH = "mchugh", "McHugh 2012"
        KRIPPENDORFF = "krippendorff", "Krippendorff 2004"
        NONE = "none", "No scale"

    slug = BytewiseTextField(unique=True)
    title = models.TextField()
    zone = models.TextField(default="UTC")
    unit_kinds = models.JSONField(default=default_unit_kinds)
    exclusion_reasons = models.JSONField(default=default_exclusion_reasons)
    count_states = models.TextField(choices=CountStates.choices, default=CountStates.CATEGORY)
    scale = models.TextField(choices=Scale.choices, default=Scale.LANDIS_KOCH)
    coders_see_corpus = models.BooleanField(default=False)
    consensus = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True, blank=True)
    purge_at = models.DateTimeField(null=True, blank=True)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        constraints: ClassVar = [
            at_most("slug", 60, "study"),
            at_most("title", 200, "study"),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True) | Q(purge_at__isnull=False),
                name="study_deleted_has_purge",
            ),
            models.CheckConstraint(
                condition=Q(count_states__in=("category", "leave_out")), name="study_count_states"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("labeling:study-detail", args=[self.slug])


class Role(models.TextChoices):
    LEAD = "lead", "Lead"
    CODER = "coder", "Coder"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    OBSERVER = "observer", "Observer"


CODING_ROLES = (Role.LEAD, Role.CODER, Role.ADJUDICATOR)


class Membership(Row):
    """The coder: everything said about units is said by a membership, not by an account."""

    class Kind(models.TextChoices):
        PERSON = "person", "Person"
        IMPORTED = "imported", "Imported column"
        REFERENCE = "reference", "Reference answers"
        GROUP = "group", "Group"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="memberships"
    )
    kind = models.TextField(choices=Kind.choices, default=Kind.PERSON)
    role = models.TextField(choices=Role.choices, blank=True)
    number = models.PositiveIntegerField()
    pseudonym = BytewiseTextField()
    title = models.TextField(blank=True, help_text="Name of an imported column, a group or the reference.")
    group = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="people")
    experience = models.TextField(blank=True)
    training = models.TextField(blank=True)
    may_publish_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("number",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("study", "user"), name="membership_study_user"),
            models.UniqueConstraint(fields=("study", "number"), name="membership_study_number"),
            models.UniqueConstraint(fields=("study", "pseudonym"), name="membership_study_pseudonym"),
            at_most("pseudonym", 60, "membership"),
            models.CheckConstraint(
                condition=(Q(kind="person") & Q(role__in=Role.values)) | (~Q(kind="person") & Q(role="")),
                name="membership_only_persons_have_a_role",
            ),
            models.CheckConstraint(
                condition=Q(kind="person") | Q(user__isnull=True),
                name="membership_only_persons_have_an_account",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """As pages and files without pseudonyms print it; an erased person is their pseudonym."""
        if self.user_id is not None:
            return str(self.user)
        return self.title or self.pseudonym

    @property
    def coder_ids(self) -> tuple[int, ...]:
        """Whose assignments this member opens: their own and their group's."""
        return (self.pk,) if self.group_id is None else (self.pk, self.group_id)

    @property
    def is_lead(self) -> bool:
        return self.role == Role.LEAD


class Invitation(Row):
    """A one-time address that makes whoever opens it a member; only its hash is kept."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.TextField(choices=Role.choices, default=Role.CODER)
    token_hash = BytewiseTextField(unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role"),
        ]

    def __str__(self) -> str:
        return f"invitation to {self.study} as {self.role}"
