"""The app that brings issues into a study, from GitHub or from a file."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    """Imports and their progress."""

    name = "ingest"
    verbose_name = "Imports"
