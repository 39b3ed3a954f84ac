"""``python manage.py check``: Django's own, which also asks the database, where no worker would show."""

from django.core.management import CommandParser
from django.core.management.commands import check


class Command(check.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(databases=["default"])
