"""Import issues in the foreground, with a progress bar."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from ingest.dry_run import try_file
from ingest.models import ImportRun, Upload
from ingest.pipeline import run_import
from ingest.progress import title_of
from ingest.services import keep_upload, pause, start_import, start_imports
from ingest.sources.files import FIELDS
from ingest.uploads import forget_upload, take_upload
from labeling.errors import CorpusError, InvalidInputError, StudyRuleError
from labeling.models import Membership, Role, Study
from labeling.services import jobs

BAD_INPUT = 2
STOPPED = 3
#: Repositories read side by side: those of one token take turns in asking.
AT_ONCE = 4


class Command(BaseCommand):
    help = "Import issues into a study. Exits with 0 when done, 2 on bad input, 3 if something stopped it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's name in its address")
        parser.add_argument("--github", nargs="+", metavar="OWNER/REPO", default=[], help="repositories")
        parser.add_argument(
            "--issue", nargs="+", metavar="URL", default=[], help="addresses of single issues"
        )
        parser.add_argument("--search", default="", help="a search as on GitHub, within --github if given")
        parser.add_argument(
            "--file", type=Path, help="a file of issues: CSV, TSV, XLSX, JSON, JSON lines, zip"
        )
        parser.add_argument(
            "--map", action="append", default=[], metavar="COLUMN=FIELD", help="what a column of --file holds"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what --file would bring, and store nothing"
        )
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
        by = study.memberships.filter(role=Role.LEAD, left_at__isnull=True).order_by("number").first()
        try:
            _refuse_what_does_not_go_together(options)
            if options["dry_run"]:
                self._try(study, by, options)
                return
            leases = _start(study, by, options)
        except InvalidInputError as error:
            sentences = [sentence for each in error.errors.values() for sentence in each]
            raise CommandError(" ".join(sentences), returncode=BAD_INPUT) from error
        except StudyRuleError as error:
            raise CommandError(error.message, returncode=BAD_INPUT) from error
        self._work(leases, by)
        self._report(ImportRun.objects.filter(pk__in=[lease.row.pk for lease in leases]).order_by("pk"))

    def _work(self, leases: Sequence[jobs.Lease], by: Membership | None) -> None:
        """Read one import here, several side by side."""
        self._told: dict[int, ImportRun] = {}
        try:
            if len(leases) == 1:
                self._run(leases[0])
            else:
                self._run_side_by_side(leases, by)
        except KeyboardInterrupt:
            _pause([lease.row.pk for lease in leases], by)
            runs = ImportRun.objects.filter(pk__in=[lease.row.pk for lease in leases])
            is_file = runs.filter(source=ImportRun.Source.FILE).exists()
            again = "let it go on from its page" if is_file else "run the command again"
            raise CommandError(
                f"Stopped. What was fetched is stored; to go on, {again}.", returncode=STOPPED
            ) from None

    def _run_side_by_side(self, leases: Sequence[jobs.Lease], by: Membership | None) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                futures = {pool.submit(self._run_apart, lease): lease for lease in leases}
                while pending := wait(futures, timeout=jobs.RENEW_EVERY.total_seconds()).not_done:
                    for future in pending:
                        if not future.running():
                            futures[future].renew()  # its turn has not come
            except KeyboardInterrupt:
                # Each ends at its next page, when it finds its lease lost.
                pool.shutdown(wait=False, cancel_futures=True)
                _pause([lease.row.pk for lease in leases], by)
                raise
            for future in futures:
                future.result()

    def _run_apart(self, lease: jobs.Lease) -> None:
        try:
            self._run(lease)
        finally:
            connection.close()

    def _run(self, lease: jobs.Lease) -> None:
        run_import(lease.row.pk, lease=lease, turn=None, on_page=self._show)

    def _show(self, run: ImportRun) -> None:
        """Draw the progress on one line of a terminal."""
        if not self.stderr.isatty():
            return
        self._told[run.pk] = run
        runs = list(self._told.values())
        fetched = sum(run.fetched for run in runs)
        total = sum(run.total or 0 for run in runs) if all(run.total for run in runs) else 0
        width = max(shutil.get_terminal_size().columns - 40, 10)
        filled = width * min(fetched, total) // total if total else 0
        told = f"{fetched:,} of {total:,}" if total else f"{fetched:,}"
        self.stderr.write(f"\r[{'#' * filled}{'.' * (width - filled)}] {told} issues ", ending="")

    def _report(self, runs: Iterable[ImportRun]) -> None:
        """Say how each ended; one that stopped makes the command fail."""
        stopped = []
        runs = list(runs)
        for run in runs:
            name = f"{title_of(run.source, run.query)}: " if len(runs) > 1 else ""
            for sentence in (*run.problems, *run.notes):
                self.stderr.write(sentence)
            if run.state == ImportRun.State.DONE:
                self.stdout.write(f"{name}Imported {_issues(run.fetched)}: {_numbers(run)}.")
            else:
                stopped.append(f"{name}{_why_it_stopped(run)}")
        if stopped:
            raise CommandError("\n".join(stopped), returncode=STOPPED)

    def _try(self, study: Study, by: Membership | None, options: dict[str, Any]) -> None:
        """Read the file to its end and say what it would bring."""
        mapping, path = _mapping(options["map"]), options["file"]
        with _opened(path) as file:
            upload = take_upload(study=study, file=file, name=path.name, mapping=mapping, by=by)
        try:
            Upload.objects.filter(pk=upload.pk).update(state=Upload.State.QUEUED)
            try_file(upload.pk, turn=None)
            upload.refresh_from_db()
        finally:
            forget_upload(upload)
        for sentence in (*upload.problems, *upload.notes):
            self.stderr.write(sentence)
        self.stdout.write(
            f"Rows read: {upload.rows:,}. They would bring {upload.new:,} new, {upload.changed:,} changed, "
            f"{upload.same:,} unchanged, {upload.rejected:,} rejected{_noted(upload)}. Nothing was stored."
        )


def _start(study: Study, by: Membership | None, options: dict[str, Any]) -> list[jobs.Lease]:
    """Ask for the imports and take them in one transaction, before a worker hears of them."""
    with transaction.atomic():
        if options["file"]:
            with _opened(options["file"]) as file:
                query = keep_upload(file, options["file"].name, mapping=_mapping(options["map"]))
            runs = [start_import(study=study, source=ImportRun.Source.FILE, query=query, by=by, ring=False)]
        else:
            runs = start_imports(study=study, query=_query(options), by=by, ring=False)
        leases = [jobs.take_lease(ImportRun, run.pk, "import_issues") for run in runs]
        if None in leases:
            raise CorpusError("This is being imported already. Its page shows how far it is.")
    return [lease for lease in leases if lease is not None]


def _pause(runs: Iterable[int], by: Membership | None) -> None:
    """Pause what has not ended, so that no worker goes on with what somebody stopped."""
    for run in ImportRun.objects.filter(pk__in=runs):
        with suppress(CorpusError):
            pause(run=run, by=by)


def _issues(count: int) -> str:
    return f"{count:,} issue{'' if count == 1 else 's'}"


def _numbers(run: ImportRun) -> str:
    rejected = f", {run.rejected:,} rejected" if run.rejected else ""
    return f"{run.added:,} new, {run.changed:,} changed, {run.same:,} unchanged{rejected}{_noted(run)}"


def _noted(told: ImportRun | Upload) -> str:
    return f", {told.noted:,} with notes" if told.noted else ""


def _why_it_stopped(run: ImportRun) -> str:
    if run.state == ImportRun.State.WAITING:
        return (
            f"{run.progress.get('reason', '')} {_numbers(run)} so far. A worker goes on at "
            f"{run.waiting_until:%Y-%m-%d %H:%M} UTC."
        )
    reason = run.error or f"The import is {run.get_state_display().lower()}."
    return f"{reason} {_numbers(run)} so far."


def _refuse_what_does_not_go_together(options: dict[str, Any]) -> None:
    from_github = options["github"] or options["search"] or options["issue"]
    if bool(options["file"]) == bool(from_github):
        raise InvalidInputError({"source": ["Give either --github (or --search, or --issue), or --file."]})
    if from_github and (options["map"] or options["dry_run"]):
        raise InvalidInputError({"source": ["--map and --dry-run go with --file."]})


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInputError({"file": [f"{path} cannot be read: {error.strerror}."]}) from error


def _mapping(told: Sequence[str]) -> dict[str, str]:
    """Read COLUMN=FIELD; a column may hold the sign itself."""
    mapping = {}
    for each in told:
        column, _, field = each.rpartition("=")
        if not column or field not in FIELDS:
            known = ", ".join(FIELDS)
            raise InvalidInputError({"mapping": [f"Write --map COLUMN=FIELD, the field one of {known}."]})
        mapping[column] = field
    return mapping


def _query(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the API would be asked for."""
    return {
        "repositories": options["github"],
        "issues": options["issue"],
        "search": options["search"],
        "state": options["state"],
        "created": {"from": options["created_from"], "to": options["created_to"]},
        "api_base": options["api_base"],
        "since": options["since"],
        "until": options["until"],
        "github_labels": options["github_label"],
        "with_fix": options["with_fix"],
    }
