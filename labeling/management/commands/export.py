"""``python manage.py export``: the files of a study in a folder; closed rounds, unsealed."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from labeling.models import Study
from labeling.services.exports import write_folder

FORMATS = ("csv",)


class Command(BaseCommand):
    help = "Write the files of a study into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's short name, as in its address")
        parser.add_argument("--output", type=Path, required=True, help="folder, made if it is not there")
        parser.add_argument("--format", choices=FORMATS, default="csv")
        parser.add_argument("--pseudonyms", action="store_true", help="pseudonyms in place of coders' names")

    def handle(self, *, study: str, output: Path, pseudonyms: bool, **_: Any) -> None:
        row = Study.objects.filter(slug=study, deleted_at__isnull=True).first()
        if row is None:
            raise CommandError(f"There is no study {study}.")
        if output.exists() and not output.is_dir():
            raise CommandError(f"{output} is a file. Name a folder.")
        for path in write_folder(study=row, folder=output, pseudonyms=pseudonyms):
            self.stdout.write(str(path))
