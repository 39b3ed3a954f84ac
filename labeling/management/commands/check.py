"""``python manage.py check``: Django's own, which also asks the database, where no worker would show."""

from typing import Any

from django.core.management.commands import check


class Command(check.Command):
    def handle(self, *app_labels: str, **options: Any) -> None:
        options["databases"] = options["databases"] or ["default"]
        super().handle(*app_labels, **options)
