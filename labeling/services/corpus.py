"""Which issues are eligible: the study's ordered rules, then what a lead decided by hand, then duplicates."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from labeling.errors import CorpusError, InvalidInputError
from labeling.models import (
    CorpusRule,
    Issue,
    Membership,
    Round,
    RoundUnit,
    SnapshotDocument,
    Study,
)
from labeling.models.decision import UNIT
from labeling.selectors.draws import sampled_count
from labeling.services.events import record
from labeling.services.rules import FIELDS, Facts, Rule, clean_rule, passes

__all__ = [
    "FIELDS",
    "FunnelStep",
    "Rule",
    "apply_rules",
    "current_rules",
    "current_version",
    "funnel",
    "mark_duplicates",
    "override",
    "set_rules",
    "source_total",
]

#: Stands for a version without any rule.
NO_RULES = "none"
BATCH = 500
#: What no rule reads; it can be megabytes an issue.
HEAVY = ("latest__comments", "latest__timeline", "latest__fixes", "latest__reactions", "latest__notes")
DUPLICATE = "Duplicate of another issue"
BY_HAND = "Left out by hand"


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """How many issues are left after a step, and how many it took away (or brought back, below zero)."""

    kind: str
    text: str
    count: int
    removed: int = 0


def set_rules(*, study: Study, rules: Iterable[Rule | Mapping[str, Any]], by: Membership | None) -> int:
    """Write a new version of the list and apply it. Nothing is fetched again. Return the version."""
    cleaned = [clean_rule(place, rule) for place, rule in enumerate(rules)]
    texts = [rule.text for rule in cleaned]
    if len(set(texts)) < len(texts):
        raise InvalidInputError({"rules": ["Two rules say the same. Take one of them out."]})
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        version = current_version(study) + 1
        CorpusRule.objects.bulk_create(
            CorpusRule(
                study=study,
                version=version,
                position=position,
                field=rule.field,
                op=rule.op,
                value=rule.value,
                text=rule.text,
            )
            for position, rule in enumerate(cleaned, start=1)
        )
        if not cleaned:
            _write_empty_version(study, version)
        record(study=study, verb="rules.changed", by=by, object=f"rules:{version}", rules=len(cleaned))
        apply_rules(study=study)
    return version


def current_version(study: Study) -> int:
    """Number of the newest version of the rules, 0 before the first."""
    return study.corpus_rules.aggregate(newest=Max("version"))["newest"] or 0


def current_rules(study: Study) -> list[Rule]:
    """The rules in force, in order."""
    rows = study.corpus_rules.filter(version=current_version(study)).exclude(field=NO_RULES)
    return [Rule(row.field, row.op, row.value, row.text) for row in rows.order_by("position")]


def apply_rules(*, study: Study, issue_ids: Collection[int] | None = None) -> int:
    """Set ``eligible`` and ``because`` of all issues, or of some; return how many changed."""
    if issue_ids is not None and not issue_ids:
        return 0
    rules = current_rules(study)
    needs_body = any(rule.field in ("body", "text") for rule in rules)
    rows = study.issues.order_by("pk")
    if rules:
        rows = rows.select_related("latest").defer(*HEAVY)
    else:  # what nobody touched is as eligible as it came
        rows = rows.exclude(eligible=True, because="", override__isnull=True, duplicate_of__isnull=True)
    if issue_ids is not None:
        # Without rules few are left to judge: a range is quicker to ask for than hundreds of ids.
        ends = (min(issue_ids), max(issue_ids))
        rows = rows.filter(pk__in=issue_ids) if rules else rows.filter(pk__range=ends)
    changed = 0
    for batch in _batches(rows):
        bodies = _bodies(batch) if needs_body else {}
        moved: dict[tuple[bool, str], list[int]] = {}
        for issue in batch:
            verdict = _judge(Facts(issue, bodies.get(issue.latest_id or 0, "")), rules)
            if verdict != (issue.eligible, issue.because):
                moved.setdefault(verdict, []).append(issue.pk)
        # There are few verdicts, and many issues to each.
        for (is_eligible, because), ids in moved.items():
            Issue.objects.filter(pk__in=ids).update(eligible=is_eligible, because=because)
            changed += len(ids)
    return changed


def override(
    *, study: Study, issues: Iterable[Issue], eligible: bool | None, reason: str, by: Membership | None
) -> int:
    """Include or leave out issues by hand, whatever the rules say; None gives them back to the rules."""
    if eligible is not None and not reason.strip():
        raise InvalidInputError({"reason": ["Say why: the reason is printed in the funnel."]})
    ids = [issue.pk for issue in issues]
    with transaction.atomic():
        study.issues.filter(pk__in=ids).update(
            override=eligible, override_reason=reason.strip() if eligible is not None else ""
        )
        apply_rules(study=study, issue_ids=ids)
        record(study=study, verb="issues.overridden", by=by, issues=len(ids), eligible=eligible)
    return len(ids)


def mark_duplicates(
    *,
    study: Study,
    issues: Iterable[Issue],
    duplicate_of: Issue | None,
    reason: str = "",
    by: Membership | None,
) -> int:
    """Mark issues as duplicates of one that stays; None takes the mark away."""
    ids = [issue.pk for issue in issues]
    with transaction.atomic():
        original = study.issues.select_for_update().get(pk=duplicate_of.pk) if duplicate_of else None
        if original is not None:
            _refuse_chain(original, ids)
            # Whatever repeated one of these repeats the one that stays.
            study.issues.filter(duplicate_of__in=ids).update(duplicate_of=original)
        study.issues.filter(pk__in=ids).update(duplicate_of=original, override_reason=reason.strip())
        apply_rules(study=study, issue_ids=ids)
        target = original.pk if original else None
        record(study=study, verb="issues.duplicates", by=by, issues=len(ids), duplicate_of=target)
    return len(ids)


def _refuse_chain(original: Issue, ids: Collection[int]) -> None:
    if original.pk in ids:
        raise CorpusError("An issue cannot be a duplicate of itself. Choose the one that stays.")
    if original.duplicate_of_id is not None:
        raise CorpusError(f"{original.ref} is itself a duplicate. Choose the issue it repeats.")


def funnel(study: Study) -> list[FunnelStep]:
    """How the corpus became the sample: found, stored, left by each rule, drawn, coded and decided."""
    told = study.issues.order_by().values_list("because", "override", "eligible").annotate(issues=Count("pk"))
    rows = list(told)
    total = source_total(study)
    left = sum(count for *_, count in rows)
    steps = [FunnelStep("total", "Found at the source", total, 0)] if total is not None else []
    steps.append(FunnelStep("stored", "Imported", left, max((total or left) - left, 0)))
    because: Counter[str] = Counter()
    for text, _, _, count in rows:
        because[text] += count
    rules = current_rules(study)
    for rule in rules:
        left -= because[rule.text]
        steps.append(FunnelStep("rule", rule.text, left, because[rule.text]))
    by_rule = {rule.text for rule in rules}
    back = sum(count for text, forced, _, count in rows if forced and text in by_rule)
    for kind, text, removed in (
        ("override", "Included by hand", -back),
        ("override", BY_HAND, because[BY_HAND]),
        ("duplicate", "Duplicates", because[DUPLICATE]),
    ):
        if removed:
            left -= removed
            steps.append(FunnelStep(kind, text, left, removed))
    eligible = sum(count for _, _, is_eligible, count in rows if is_eligible)
    steps.append(FunnelStep("eligible", "Eligible", eligible))
    return [*steps, *_later_steps(study)]


def source_total(study: Study) -> int | None:
    """What the sources of the study have before any limit or rule; None if one of them did not say.

    Of runs that asked for the same, the newest counts. Of files and lists of addresses counts what is stored:
    a row that was mended, or an address given again, is no other issue.
    """
    newest: dict[str, int | None] = {}
    named = searched = 0
    for run in study.import_runs.order_by("pk"):
        if "file" in run.query or run.query.get("issues"):
            named += run.added
        elif run.total is not None or run.fetched:
            searched += bool(run.query.get("search"))
            told = run.checkpoint.get("totals") or {str(sorted(run.query.items())): run.total}
            newest |= {name.casefold(): count for name, count in told.items()}
    counts = [count for count in newest.values() if count is not None]
    if len(counts) < len(newest) or not (newest or named):
        return None
    return sum(counts) + (named if searched else _stored_elsewhere(study, newest))


def _stored_elsewhere(study: Study, listed: Iterable[str]) -> int:
    """Count the issues of repositories that were not listed; ``listed`` names each with its kind of unit."""
    repositories = {name.rpartition(" ")[0] for name in listed}
    stored = study.issues.order_by().values_list("repository").annotate(Count("pk"))
    return sum(count for repository, count in stored if repository.casefold() not in repositories)


def _later_steps(study: Study) -> list[FunnelStep]:
    """Count units drawn, excluded, coded and decided; an open round is counted as nothing coded yet."""
    closed = RoundUnit.objects.using(study._state.db)
    closed = closed.filter(
        round__study=study,
        round__state__in=Round.UNBLINDED,
        round__counts_in_results=True,
        round__discarded_at__isnull=True,
    )
    out = closed.filter(decisions__dimension=UNIT, decisions__excluded=True).exclude(decisions__how="")
    coded = closed.filter(assignments__submissions__isnull=False).exclude(unit__in=out.values("unit"))
    final = coded.filter(round__state=Round.State.RECONCILED)
    sampled, excluded = sampled_count(study), _units(out)
    return [
        FunnelStep("sampled", "Sampled", sampled),
        FunnelStep("excluded", "Excluded at coding", max(sampled - excluded, 0), excluded),
        FunnelStep("coded", "Coded", _units(coded)),
        FunnelStep("final", "Decided", _units(final)),
    ]


def _units(rows: "QuerySet[Any]") -> int:
    return rows.values("unit").distinct().count()


def _judge(facts: Facts, rules: Sequence[Rule]) -> tuple[bool, str]:
    """Whether an issue is eligible, and the first thing that took it out.

    ``because`` keeps the rule also where a lead included the issue by hand, so that the funnel adds up.
    """
    failed = next((rule.text for rule in rules if not passes(facts, rule)), "")
    if facts.issue.override is True:
        return True, failed
    if failed:
        return False, failed
    if facts.issue.override is False:
        return False, BY_HAND
    if facts.issue.duplicate_of_id is not None:
        return False, DUPLICATE
    return True, ""


def _batches(rows: "QuerySet[Issue]") -> Iterator[list[Issue]]:
    """Walk through all rows by key, a batch at a time, while they are being changed."""
    last = 0
    while batch := list(islice(rows.filter(pk__gt=last)[:BATCH], BATCH)):
        yield batch
        last = batch[-1].pk


def _bodies(issues: Sequence[Issue]) -> dict[int, str]:
    snapshots = [issue.latest_id for issue in issues if issue.latest_id]
    rows = SnapshotDocument.objects.filter(snapshot__in=snapshots, key="body")
    return dict(rows.values_list("snapshot_id", "source"))


def _write_empty_version(study: Study, version: int) -> None:
    """Keep the version in which all rules were taken away."""
    CorpusRule.objects.create(
        study=study, version=version, position=0, field=NO_RULES, op="", value="", text="No rules"
    )
