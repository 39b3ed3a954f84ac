"""The app that brings issues into a study, from GitHub or from a file."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    """Imports and their progress."""

    name = "ingest"
    verbose_name = "Imports"

    def ready(self) -> None:
        """Say which tasks do this app's work, by name: only workers import them."""
        from ingest.redaction import redact_notes
        from ingest.services import kept_files
        from labeling.services import jobs, purging, redaction

        purging.register_files(kept_files)
        redaction.register_copies(redact_notes)
        jobs.register("ingest.importrun", "ingest.tasks.run_import")
        jobs.register("ingest.upload", "ingest.tasks.try_file")
        jobs.register("job.prepare_sample", "ingest.tasks.prepare_sample")
        jobs.register("job.fetch_fix", "ingest.tasks.fetch_fix")
        jobs.register("job.index_texts", "ingest.tasks.index_texts")
        jobs.register("job.duplicates", "ingest.tasks.find_near_duplicates")
