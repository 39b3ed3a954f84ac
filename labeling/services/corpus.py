"""Which issues are eligible: the study's ordered rules, then what a lead decided by hand, then duplicates."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from labeling.errors import CorpusError, InvalidInputError
from labeling.models import (
    CorpusRule,
    Issue,
    Membership,
    Round,
    RoundUnit,
    SampleUnit,
    SnapshotDocument,
    Study,
)
from labeling.services.events import record

BATCH = 500
DUPLICATE = "Duplicate of another issue"
BY_HAND = "Left out by hand"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the list: ``field`` ``op`` ``value``, and how the funnel prints it."""

    field: str
    op: str
    value: Any
    text: str = ""


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """How many issues are left after a step, and how many it took away (or brought back, below zero)."""

    kind: str
    text: str
    count: int
    removed: int = 0


@dataclass(frozen=True, slots=True)
class _Facts:
    """What rules may ask about one issue. None: the source did not deliver it."""

    issue: Issue
    body: str
    carries: Collection[str] = field(default=())

    def of(self, name: str) -> Any:
        """Return a value of the newest snapshot, None without one."""
        latest = self.issue.latest
        return getattr(latest, name) if latest is not None else None


@dataclass(frozen=True, slots=True)
class _Field:
    """What a rule can say about one thing: its operators, its values, and how it is tested."""

    label: str
    ops: Mapping[str, str]
    clean: Callable[[Any], Any]
    test: Callable[[_Facts, str, Any], bool]

    def words(self, op: str, value: Any) -> str:
        return self.ops[op].format(label=self.label, value=_said(value))


def set_rules(*, study: Study, rules: Iterable[Rule | Mapping[str, Any]], by: Membership | None) -> int:
    """Write a new version of the list and apply it. Nothing is fetched again. Return the version."""
    cleaned = [_clean(place, rule) for place, rule in enumerate(rules)]
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
    rules = current_rules(study)
    needs_body = any(rule.field in ("body", "text") for rule in rules)
    rows = study.issues.select_related("latest").order_by("pk")
    if issue_ids is not None:
        rows = rows.filter(pk__in=issue_ids)
    changed = 0
    for batch in _batches(rows):
        bodies = _bodies(batch) if needs_body else {}
        moved = []
        for issue in batch:
            latest = issue.latest
            facts = _Facts(
                issue, bodies.get(issue.latest_id or 0, ""), latest.carries if latest is not None else ()
            )
            verdict = _judge(facts, rules)
            if verdict != (issue.eligible, issue.because):
                issue.eligible, issue.because = verdict
                moved.append(issue)
        Issue.objects.bulk_update(moved, ["eligible", "because"])
        changed += len(moved)
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
    rows = list(study.issues.values_list("because", "override", "eligible"))
    total = source_total(study)
    left = len(rows)
    steps = [FunnelStep("total", "Found at the source", total, 0)] if total is not None else []
    steps.append(FunnelStep("stored", "Imported", left, max((total or left) - left, 0)))
    because = Counter(told for told, _, _ in rows)
    rules = current_rules(study)
    for rule in rules:
        left -= because[rule.text]
        steps.append(FunnelStep("rule", rule.text, left, because[rule.text]))
    by_rule = {rule.text for rule in rules}
    back = sum(1 for told, forced, _ in rows if forced and told in by_rule)
    for kind, text, removed in (
        ("override", "Included by hand", -back),
        ("override", BY_HAND, because[BY_HAND]),
        ("duplicate", "Duplicates", because[DUPLICATE]),
    ):
        if removed:
            left -= removed
            steps.append(FunnelStep(kind, text, left, removed))
    steps.append(FunnelStep("eligible", "Eligible", sum(1 for _, _, eligible in rows if eligible)))
    return [*steps, *_later_steps(study)]


def source_total(study: Study) -> int | None:
    """What the sources of the study have before any limit or rule; None if one of them did not say.

    Of runs that asked the same, the newest counts.
    """
    newest: dict[tuple[str, str], int | None] = {}
    for run in study.import_runs.order_by("pk"):
        if run.total is not None or run.fetched:
            newest[run.source, str(sorted(run.query.items()))] = run.total
    known = [count for count in newest.values() if count is not None]
    return sum(known) if known and len(known) == len(newest) else None


def _later_steps(study: Study) -> list[FunnelStep]:
    """Count units drawn, coded and decided; an open round is counted as nothing coded yet."""
    drawn = SampleUnit.objects.filter(sample__study=study, replaced_by__isnull=True)
    coded = RoundUnit.objects.filter(
        round__study=study, round__state__in=Round.UNBLINDED, round__discarded_at__isnull=True
    )
    coded = coded.filter(assignments__submissions__isnull=False)
    final = coded.filter(round__state=Round.State.RECONCILED, round__counts_in_results=True)
    return [
        FunnelStep("sampled", "Sampled", drawn.values("unit").distinct().count()),
        FunnelStep("coded", "Coded", coded.values("unit").distinct().count()),
        FunnelStep("final", "Decided", final.values("unit").distinct().count()),
    ]


def _judge(facts: _Facts, rules: Sequence[Rule]) -> tuple[bool, str]:
    """Whether an issue is eligible, and the first thing that took it out.

    ``because`` keeps the rule also where a lead included the issue by hand, so that the funnel adds up.
    """
    failed = next((rule.text for rule in rules if not _passes(facts, rule)), "")
    if facts.issue.override is True:
        return True, failed
    if failed:
        return False, failed
    if facts.issue.override is False:
        return False, BY_HAND
    if facts.issue.duplicate_of_id is not None:
        return False, DUPLICATE
    return True, ""


def _passes(facts: _Facts, rule: Rule) -> bool:
    return FIELDS[rule.field].test(facts, rule.op, rule.value)


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


#: Stands for a version without any rule.
NO_RULES = "none"


def _clean(place: int, told: Rule | Mapping[str, Any]) -> Rule:
    if isinstance(told, Rule):
        rule = told
    else:
        rule = Rule(told.get("field", ""), told.get("op", ""), told.get("value"), told.get("text", ""))
    where = f"rules.{place}"
    known = FIELDS.get(rule.field)
    if known is None:
        raise InvalidInputError(
            {where: [f"There is no field {rule.field!r}. Choose one of {', '.join(FIELDS)}."]}
        )
    if rule.op not in known.ops:
        raise InvalidInputError({where: [f"{known.label}: choose one of {', '.join(known.ops)}."]})
    try:
        value = known.clean(rule.value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError({where: [f"{known.label}: {error}."]}) from error
    return Rule(rule.field, rule.op, value, rule.text.strip() or known.words(rule.op, value))


def _words_of(told: Any) -> list[str]:
    values = [told] if isinstance(told, str) else list(told or ())
    cleaned = [str(value).strip() for value in values if str(value).strip()]
    if not cleaned:
        raise ValueError("name at least one value")
    return cleaned


def _day_of(told: Any) -> str:
    try:
        return date.fromisoformat(str(told)).isoformat()
    except ValueError:
        raise ValueError("write the day as 2024-01-31") from None


def _truth_of(told: Any) -> bool:
    if not isinstance(told, bool):
        raise ValueError("choose true or false")
    return told


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " or ".join(value) if isinstance(value, list) else str(value)


def _among(read: Callable[[_Facts], str | None]) -> Callable[[_Facts, str, Any], bool]:
    """Test a single value against a list, without regard to case."""

    def test(facts: _Facts, op: str, values: Any) -> bool:
        told = (read(facts) or "").casefold()
        return (told in {value.casefold() for value in values}) == (op == "is")

    return test


def _labels(facts: _Facts, op: str, values: Any) -> bool:
    there = {str(label).casefold() for label in facts.of("github_labels") or ()}
    asked = {value.casefold() for value in values}
    if op == "all":
        return asked <= there
    return bool(asked & there) == (op == "any")


def _contains(read: Callable[[_Facts], str]) -> Callable[[_Facts, str, Any], bool]:
    def test(facts: _Facts, op: str, values: Any) -> bool:
        text = read(facts).casefold()
        return any(value.casefold() in text for value in values) == (op == "contains")

    return test


def _on_day(name: str) -> Callable[[_Facts, str, Any], bool]:
    """Test a time against a UTC day; an issue without the time fails."""

    def test(facts: _Facts, op: str, value: Any) -> bool:
        at: datetime | None = facts.of(name)
        if at is None:
            return False
        day = at.astimezone(UTC).date().isoformat()
        return bool(day >= value if op == "from" else day <= value)

    return test


def _title(facts: _Facts) -> str:
    return facts.of("title") or ""


_CHOICE = {"is": "{label} is {value}", "is_not": "{label} is not {value}"}
_TEXT = {"contains": "{label} contains {value}", "contains_not": "{label} does not contain {value}"}
_DAYS = {"from": "{label} on or after {value}", "to": "{label} on or before {value}"}

FIELDS: dict[str, _Field] = {
    "state": _Field("State", _CHOICE, _words_of, _among(lambda facts: facts.of("state"))),
    "state_reason": _Field(
        "Reason of closing", _CHOICE, _words_of, _among(lambda facts: facts.of("state_reason"))
    ),
    "has_fix": _Field(
        "Has a merged fix",
        {"is": "{label}: {value}"},
        _truth_of,
        lambda facts, op, value: bool(facts.of("has_merged_fix")) == value,
    ),
    "github_labels": _Field(
        "GitHub labels",
        {
            "any": "{label}: any of {value}",
            "all": "{label}: all of {value}",
            "none": "{label}: none of {value}",
        },
        _words_of,
        _labels,
    ),
    "opened_at": _Field("Created", _DAYS, _day_of, _on_day("opened_at")),
    "closed_at": _Field("Closed", _DAYS, _day_of, _on_day("closed_at")),
    "updated_at": _Field("Updated", _DAYS, _day_of, _on_day("updated_at")),
    "author_kind": _Field("Author", _CHOICE, _words_of, _among(lambda facts: facts.of("author_kind"))),
    "repository": _Field("Repository", _CHOICE, _words_of, _among(lambda facts: facts.issue.repository)),
    "kind": _Field("Kind", _CHOICE, _words_of, _among(lambda facts: facts.issue.kind)),
    "title": _Field("Title", _TEXT, _words_of, _contains(_title)),
    "body": _Field("Description", _TEXT, _words_of, _contains(lambda facts: facts.body)),
    "text": _Field("Title or description", _TEXT, _words_of, _contains(lambda f: f"{_title(f)}\n{f.body}")),
    "is_duplicate": _Field(
        "Is a duplicate",
        {"is": "{label}: {value}"},
        _truth_of,
        lambda facts, op, value: (
            (facts.issue.duplicate_of_id is not None or facts.of("state_reason") == "duplicate") == value
        ),
    ),
}
