"""Import issues in the foreground, with a progress bar."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from ingest.models import ImportRun
from ingest.pipeline import run_import
from ingest.services import keep_upload, start_import
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.models import Role, Study
from labeling.services import jobs

BAD_INPUT = 2
STOPPED = 3


class Command(BaseCommand):
    help = "Import issues into a study. Exits with 0 when done, 2 on bad input, 3 if the source stopped it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's name in its address")
        parser.add_argument("--github", nargs="+", metavar="OWNER/REPO", default=[], help="repositories")
        parser.add_argument(
            "--file", type=Path, help="a file of issues: CSV, TSV, XLSX, JSON, JSON lines, zip"
        )
        parser.add_argument("--search", default="", help="a search as on GitHub, within --github if given")
        parser.add_argument("--state", choices=("all", "open", "closed"), default="all")
        parser.add_argument("--created-from", metavar="DATE", help="first day of creation (UTC)")
        parser.add_argument("--created-to", metavar="DATE", help="last day of creation (UTC)")
        parser.add_argument("--api-base", metavar="URL", help="a server named in GITHUB_API_URLS")
        parser.add_argument("--since", metavar="DATE", help="rule: created on or after this day")
        parser.add_argument("--until", metavar="DATE", help="rule: created on or before this day")
        parser.add_argument(
            "--github-label", action="append", default=[], help="rule: has one of these labels"
        )
        parser.add_argument("--with-fix", action="store_true", help="rule: has a merged fix")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"], deleted_at__isnull=True).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']}.", returncode=BAD_INPUT)
        lease = self._start(study, options)
        run_import(lease.row.pk, lease=lease, turn=None, on_page=self._show)
        run = ImportRun.objects.get(pk=lease.row.pk)
        for problem in run.problems:
            self.stderr.write(problem)
        self._report(run)

    def _start(self, study: Study, options: dict[str, Any]) -> jobs.Lease:
        """Ask for the import and take it in one transaction, before a worker hears of it."""
        by = study.memberships.filter(role=Role.LEAD, left_at__isnull=True).order_by("number").first()
        try:
            with transaction.atomic():
                source, query = _query(options)
                run = start_import(study=study, source=source, query=query, by=by, ring=False)
                lease = jobs.take_lease(ImportRun, run.pk, "import_issues")
        except InvalidInputError as error:
            sentences = [sentence for each in error.errors.values() for sentence in each]
            raise CommandError(" ".join(sentences), returncode=BAD_INPUT) from error
        except StudyRuleError as error:
            raise CommandError(error.message, returncode=BAD_INPUT) from error
        assert lease is not None  # noqa: S101 (nobody else could see the row)
        return lease

    def _show(self, run: ImportRun) -> None:
        """Draw the progress on one line of a terminal."""
        if not self.stderr.isatty():
            return
        width = max(shutil.get_terminal_size().columns - 40, 10)
        filled = width * min(run.fetched, run.total) // run.total if run.total else 0
        told = f"{run.fetched:,} of {run.total:,}" if run.total else f"{run.fetched:,}"
        self.stderr.write(f"\r[{'#' * filled}{'.' * (width - filled)}] {told} issues ", ending="")

    def _report(self, run: ImportRun) -> None:
        numbers = f"{run.added:,} new, {run.changed:,} changed, {run.same:,} unchanged"
        rejected = f", {run.rejected:,} rejected" if run.rejected else ""
        if run.state == ImportRun.State.DONE:
            self.stdout.write(f"Imported {run.fetched:,} issues: {numbers}{rejected}.")
            return
        if run.state == ImportRun.State.WAITING:
            raise CommandError(
                f"{run.progress.get('reason', '')} {numbers} so far. A worker goes on at "
                f"{run.waiting_until:%Y-%m-%d %H:%M} UTC; to go on here, run the command again.",
                returncode=STOPPED,
            )
        reason = run.error or f"The import is {run.get_state_display().lower()}."
        raise CommandError(f"{reason} {numbers} so far.", returncode=STOPPED)


def _query(options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return source and query, as the API would be asked."""
    if bool(options["file"]) == bool(options["github"] or options["search"]):
        raise InvalidInputError({"source": ["Give either --github (or --search), or --file."]})
    if options["file"]:
        try:
            with options["file"].open("rb") as file:
                return ImportRun.Source.FILE, keep_upload(file, options["file"].name)
        except OSError as error:
            raise InvalidInputError(
                {"file": [f"{options['file']} cannot be read: {error.strerror}."]}
            ) from error
    return ImportRun.Source.GITHUB, {
        "repositories": options["github"],
        "search": options["search"],
        "state": options["state"],
        "created": {"from": options["created_from"], "to": options["created_to"]},
        "api_base": options["api_base"],
        "since": options["since"],
        "until": options["until"],
        "github_labels": options["github_label"],
        "with_fix": options["with_fix"],
    }
