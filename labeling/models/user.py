"""Accounts. An account never codes by itself: a coder is a ``Membership``."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from .base import BytewiseTextField, Row, at_most


class User(AbstractUser):
    class Theme(models.TextChoices):
        AUTO = "auto", "Follow the system"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    username = BytewiseTextField(
        unique=True,
        validators=[UnicodeUsernameValidator()],
        error_messages={"unique": _("This user name is taken. Choose another one.")},
    )
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(blank=True)
    display_name = models.TextField(blank=True)
    zone = models.TextField(
        blank=True, help_text="IANA name, e.g. Europe/Berlin; empty: as the browser says."
    )
    theme = models.TextField(choices=Theme.choices, default=Theme.AUTO)
    key_map = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints: ClassVar = [
            at_most("username", 150, "user"),
            at_most("display_name", 150, "user"),
            models.CheckConstraint(
                condition=models.Q(theme__in=("auto", "light", "dark")), name="user_theme"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class SourceToken(Row):
    """A GitHub token of one user: written, used by workers, never shown again."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="source_tokens")
    api_base = BytewiseTextField()
    value_encrypted = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=("user", "api_base"), name="source_token_user_base")
        ]

    def __str__(self) -> str:
        return f"token of {self.user} for {self.api_base}"
