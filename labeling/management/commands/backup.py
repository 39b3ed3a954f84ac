"""``python manage.py backup``: see labeling/backup.py."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from labeling.backup import BackupError, write_backup


class Command(BaseCommand):
    help = "Write everything but tokens, sessions and invitations into one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)

    def handle(self, *, path: Path, **_: Any) -> None:
        try:
            rows = write_backup(path)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Wrote {rows:,} rows to {path}.")
