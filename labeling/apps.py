"""The app of studies, codebooks, rounds, coding, agreement and reconciliation."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    """Registers the checks of this installation and the tasks of its jobs when Django starts."""

    name = "labeling"
    verbose_name = "Studies"

    def ready(self) -> None:
        """Import the checks, which registers them; name the tasks, which only workers import."""
        from labeling import checks  # noqa: F401 - apps must be loaded first
        from labeling.services import jobs

        jobs.register("job.check_agreement", "labeling.tasks.check_agreement")
        jobs.register("job.breakdowns", "labeling.tasks.breakdowns")
        jobs.register("job.mail", "labeling.tasks.send_mail")
        jobs.register("job.purge", "labeling.tasks.purge_study")
        jobs.register("labeling.exportjob", "labeling.tasks.run_export")
