"""``python manage.py restore``: see labeling/backup.py."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from labeling.backup import BackupError, read_backup


class Command(BaseCommand):
    help = "Fill an empty, migrated installation from a backup."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)

    def handle(self, *, path: Path, **_: Any) -> None:
        try:
            rows = read_backup(path)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored {rows:,} rows from {path}.")
