"""Asking for imports, and stopping or continuing them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingest.models import ImportRun
from ingest.normalise import clean_text
from ingest.sources.base import SourceError, SourceQuery
from ingest.sources.files.formats import NO_ISSUES
from ingest.sources.files.preview import preview
from ingest.sources.files.reading import read_header
from ingest.sources.github.addresses import read_issue, read_repository, site_of
from ingest.sources.github.search import texts
from labeling.errors import CorpusError, InvalidInputError
from labeling.models import Membership, Study
from labeling.services import corpus, jobs
from labeling.services.corpus import Rule
from labeling.services.events import record
from labeling.services.known import lock_issues

State = ImportRun.State

STOPPABLE = (State.QUEUED, State.RUNNING, State.WAITING)
RESUMABLE = (State.PAUSED, State.FAILED, State.CANCELLED)
RESUMED = "import.resumed"
LARGEST_FILE = 1024**3


def start_import(
    *, study: Study, source: str, query: Mapping[str, Any], by: Membership | None, ring: bool = True
) -> ImportRun:
    """Ask for an import; a worker does it. What the study has already is brought up to date.

    ``query`` has the fields of the API's request; ``github_labels``, ``with_fix``, ``since`` and ``until``
    become corpus rules and filter nothing at the source. Where the same is under way already nothing is
    fetched twice: the answer is that import, and a paused one goes on.
    """
    is_file = source == ImportRun.Source.FILE
    asked, rules = (dict(query), _rules_of({})) if is_file else _github_query(study, query)
    with transaction.atomic():
        if rules:
            _add_rules(study, rules, by)
        if same := _under_way(study, source, asked):
            if same.state != State.PAUSED:
                return same
            return _move(same, RESUMABLE, State.QUEUED, by, RESUMED, ring=ring)
        run = ImportRun.objects.create(
            study=study, by=by, source=source, query=asked, checkpoint=_where_to_begin(study, source, asked)
        )
        record(study=study, verb="import.started", by=by, object=f"import:{run.pk}")
        if ring:
            jobs.ring(run)
    return run


def _under_way(study: Study, source: str, query: Mapping[str, Any]) -> ImportRun | None:
    """Find an import that asks for the same and has not ended; two tabs must wait for each other."""
    lock_issues(study)
    rows = ImportRun.objects.filter(study=study, source=source, state__in=(*STOPPABLE, State.PAUSED))
    return next((run for run in rows.order_by("pk") if run.query == query), None)


def start_imports(
    *, study: Study, query: Mapping[str, Any], by: Membership | None, ring: bool = True
) -> list[ImportRun]:
    """Ask GitHub for several repositories by an import each, so that workers read them side by side.

    Each goes on, waits and fails by itself. A search and a list of addresses are one import.
    """
    with transaction.atomic():
        # What is wrong is said of all of them at once.
        repositories = _github_query(study, query)[0]["repositories"]
        is_apart = not query.get("search") and repositories
        apart = [[name] for name in repositories] if is_apart else [repositories]
        return [
            start_import(
                study=study,
                source=ImportRun.Source.GITHUB,
                query={**query, "repositories": names},
                by=by,
                ring=ring,
            )
            for names in apart
        ]


def keep_upload(file: IO[bytes], name: str, *, mapping: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Keep an uploaded file below INTERCODER_DATA/uploads and return the query of its import."""
    folder = Path(settings.INTERCODER_DATA) / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).name)[-80:]
    path = folder / f"{secrets.token_hex(8)}-{safe}"
    size = 0
    with path.open("wb") as kept:
        while chunk := file.read(1024**2):
            size += len(chunk)
            if size > LARGEST_FILE:
                break
            kept.write(chunk)
    try:
        if size > LARGEST_FILE:
            raise SourceError("The file is larger than 1 GB. Split it into smaller ones.", permanent=True)
        seen = preview(path, rows=1)
        if not seen.rows or not seen.header:
            raise SourceError(NO_ISSUES, permanent=True)
        refuse_mapping(path, mapping or {})
    except SourceError as error:
        path.unlink()
        raise InvalidInputError({"file": [error.sentence]}) from error
    except InvalidInputError:
        path.unlink()
        raise
    chosen = dict(mapping or {})
    return {"file": path.name, "name": clean_text(name), "format": seen.format, "mapping": chosen}


def refuse_mapping(path: Path, mapping: Mapping[str, str]) -> None:
    """Refuse columns that a table does not have, and two that become the same."""
    header = read_header(path)
    missing = next((column for column in mapping if column not in header), None) if header else None
    if missing is not None:
        names = ", ".join(f"“{column}”" for column in header[:20])
        raise InvalidInputError({"mapping": [f"The table has no column “{missing}”. It has {names}."]})
    fields = list(mapping.values())
    twice = next((field for field in fields if fields.count(field) > 1), None)
    if twice is not None:
        raise InvalidInputError({"mapping": [f"Two columns become {twice}. Choose one of them."]})


def file_of(query: Mapping[str, Any]) -> Path:
    """Where an uploaded file is kept."""
    return Path(settings.INTERCODER_DATA) / "uploads" / str(query["file"])


def path_of(run: ImportRun) -> Path:
    """Where the file of an import is kept."""
    return file_of(run.query)


def kept_files(study: Study) -> list[Path]:
    """Files that were uploaded for a study."""
    queries = [*study.import_runs.values_list("query", flat=True)]
    queries += study.uploads.values_list("query", flat=True)
    return list({file_of(query): None for query in queries if "file" in query})


def pause(*, run: ImportRun, by: Membership | None) -> ImportRun:
    """Stop after the page that is being read; everything stored stays."""
    return _move(run, STOPPABLE, State.PAUSED, by, "import.paused")


def resume(*, run: ImportRun, by: Membership | None) -> ImportRun:
    """Go on where the import stopped; also the way to try a failed one again."""
    return _move(run, RESUMABLE, State.QUEUED, by, RESUMED)


def cancel(*, run: ImportRun, by: Membership | None) -> ImportRun:
    """End the import; the issues it brought stay."""
    return _move(run, (*STOPPABLE, State.PAUSED), State.CANCELLED, by, "import.cancelled")


def _move(
    run: ImportRun,
    allowed: Sequence[str],
    state: ImportRun.State,
    by: Membership | None,
    verb: str,
    *,
    ring: bool = True,
) -> ImportRun:
    with transaction.atomic():
        locked = ImportRun.objects.select_for_update().get(pk=run.pk)
        if locked.state not in allowed:
            raise CorpusError(f"The import is {locked.get_state_display().lower()}: this cannot be done now.")
        locked.state = state
        locked.lease_until, locked.lease_holder, locked.waiting_until = None, "", None
        locked.attempts, locked.error = 0, ""
        locked.finished_at = timezone.now() if verb == "import.cancelled" else None
        locked.save()
        record(study=locked.study, verb=verb, by=by, object=f"import:{locked.pk}")
        if verb == RESUMED and ring:
            jobs.ring(locked)
    return locked


def _where_to_begin(study: Study, source: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """Begin where finished imports of the same repositories ended, so that only changes are fetched."""
    if source != ImportRun.Source.GITHUB:
        return {}
    limits = {**query, "repositories": None}
    wanted = {f"{name} {kind}" for name in query["repositories"] for kind in query["unit_kinds"]}
    seen: dict[str, str] = {}
    etags: dict[str, str] = {}
    for run in ImportRun.objects.filter(study=study, source=source, state=State.DONE).order_by("-pk"):
        if {**run.query, "repositories": None} == limits:
            told = run.checkpoint.get("seen") or {}
            seen = {target: told[target] for target in wanted & told.keys()} | seen
            etags = {**(run.checkpoint.get("etags") or {}), **etags}
    # What was read before is also looked through for what has vanished since.
    return {"seen": seen, "before": sorted(seen), "etags": etags} if seen else {}


def _spelt_as_before(study: Study, repositories: Iterable[str]) -> list[str]:
    """GitHub minds no case: one repository is one, and is gone on with under its first name."""
    before = {
        name.casefold(): name
        for query in study.import_runs.order_by("-pk").values_list("query", flat=True)
        for name in query.get("repositories") or ()
    }
    once: dict[str, str] = {}
    for name in repositories:
        once.setdefault(name.casefold(), before.get(name.casefold(), name))
    return list(once.values())


def _github_query(study: Study, told: Mapping[str, Any]) -> tuple[dict[str, Any], list[Rule]]:
    errors: dict[str, list[str]] = {}
    api_base = told.get("api_base") or settings.GITHUB_API_URLS[0]
    if api_base not in settings.GITHUB_API_URLS:
        errors["api_base"] = [f"Choose one of {', '.join(settings.GITHUB_API_URLS)}."]
    site = site_of(api_base)
    repositories = _cleaned(told, "repositories", lambda each: read_repository(each, site), errors)
    repositories = _spelt_as_before(study, repositories)
    issues = _cleaned(told, "issues", lambda each: _checked_address(each, site), errors)
    search = clean_text(str(told.get("search") or "")).strip()
    if bool(told.get("issues")) == bool(told.get("repositories") or search):
        errors.setdefault("repositories", ["Give repositories, or a search, or addresses of issues."])
    created = told.get("created") or {}
    days = {name: _day(created.get(name), f"created.{name}", errors) for name in ("from", "to")}
    if days["from"] and days["to"] and days["from"] > days["to"]:
        errors["created.to"] = ["This day is before the first one."]
    state: Any = told.get("state") or "all"
    if state not in ("all", "open", "closed"):
        errors["state"] = ["Choose all, open or closed."]
    if errors:
        raise InvalidInputError(errors)
    query = SourceQuery(
        repositories=tuple(repositories),
        issues=tuple(issues),
        search=search,
        state=state,
        created_from=days["from"],
        created_to=days["to"],
        unit_kinds=tuple(study.unit_kinds),
    )
    if search:
        try:
            texts(query)
        except SourceError as error:
            raise InvalidInputError({"search": [error.sentence]}) from error
    return {**query.as_json(), "api_base": api_base}, _rules_of(told)


def _cleaned(told: Mapping[str, Any], name: str, read: Any, errors: dict[str, list[str]]) -> list[str]:
    cleaned = []
    for value in told.get(name) or ():
        try:
            cleaned.append(read(str(value)))
        except SourceError as error:
            errors.setdefault(name, []).append(error.sentence)
    return list(dict.fromkeys(cleaned))


def _checked_address(told: str, site: str) -> str:
    read_issue(told, site)
    return told.strip()


def _day(told: Any, name: str, errors: dict[str, list[str]]) -> date | None:
    if told in (None, ""):
        return None
    try:
        return date.fromisoformat(str(told))
    except ValueError:
        errors[name] = ["Write the day as 2024-01-31."]
        return None


def _rules_of(told: Mapping[str, Any]) -> list[Rule]:
    rules = []
    if told.get("github_labels"):
        rules.append(Rule("github_labels", "any", list(told["github_labels"])))
    if told.get("with_fix"):
        rules.append(Rule("has_fix", "is", True))
    if told.get("since"):
        rules.append(Rule("opened_at", "from", str(told["since"])))
    if told.get("until"):
        rules.append(Rule("opened_at", "to", str(told["until"])))
    return rules


def _add_rules(study: Study, rules: Sequence[Rule], by: Membership | None) -> None:
    """Put rules at the end of the list, unless they stand there already."""
    current = corpus.current_rules(study)
    there = {(rule.field, rule.op, str(rule.value)) for rule in current}
    new = [rule for rule in rules if (rule.field, rule.op, str(rule.value)) not in there]
    if new:
        corpus.set_rules(study=study, rules=[*current, *new], by=by)
