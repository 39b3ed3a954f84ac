"""Forms of an account: who one is, and the tokens one lends to imports."""

from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.forms import BaseUserCreationForm

from labeling.models import User


class AccountForm(forms.ModelForm[User]):
    zone = forms.ChoiceField(label="Time zone", required=False)
    display_name = forms.CharField(
        label="Name", max_length=150, required=False, help_text="As other members see it."
    )

    class Meta:
        model = User
        fields = ("display_name", "email", "zone")
        labels: ClassVar = {"email": "E-mail"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = [(name, name.replace("_", " ")) for name in sorted(available_timezones())]
        self.fields["zone"].choices = [("", "As my browser says"), *zones]  # type: ignore[attr-defined]


class SourceTokenForm(forms.Form):
    api_base = forms.ChoiceField(label="GitHub")
    value = forms.CharField(
        label="Token",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="A classic token without any scope does for public repositories. It is never shown again.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        bases = [(base, base) for base in settings.GITHUB_API_URLS]
        self.fields["api_base"].choices = bases  # type: ignore[attr-defined]


class JoinForm(BaseUserCreationForm[User]):
    """A new account, made by opening an invitation."""

    display_name = forms.CharField(
        label="Name", max_length=150, required=False, help_text="As other members see it."
    )

    class Meta:
        model = User
        fields = ("username", "display_name", "email")
        field_classes: ClassVar = {"username": forms.CharField}
        labels: ClassVar = {"username": "User name", "email": "E-mail"}
        widgets: ClassVar = {
            "username": forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"})
        }
