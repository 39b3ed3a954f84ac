"""The app of studies, codebooks, rounds, coding, agreement and reconciliation."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    """Registers the checks of this installation when Django starts."""

    name = "labeling"
    verbose_name = "Studies"

    def ready(self) -> None:
        """Import the checks: registering is what their import does."""
        from labeling import checks  # noqa: F401 - apps must be loaded first
