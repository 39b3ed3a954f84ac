"""Where a study stands, for one member: counts, rounds, the newest agreement, and what was done last."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from labeling import sampling
from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import (
    AgreementReport,
    Decision,
    Event,
    Membership,
    Role,
    Round,
    RoundUnit,
    Sample,
    Study,
)
from labeling.selectors.agreement_figures import APART
from labeling.selectors.draws import sampled_count
from labeling.selectors.progress import round_progress
from labeling.selectors.reconciliation import QUEUED
from labeling.selectors.rounds import reachable_rounds
from labeling.selectors.settled import settled_shares
from labeling.selectors.studies import visible_events, with_shown_names
from labeling.services.samples import is_proportional

ACTS = 8
"""So many lines of the record are shown, of at most ``MOST_READ`` events."""
MOST_READ = 60
REASONS = 3


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of data collection; ``share`` is the percentage of the step before, if there is one."""

    name: str
    count: int
    share: float | None
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The headline of one dimension in one round."""

    mark: DimensionMark
    name: str
    value: float | None
    low: float | None
    high: float | None
    undefined: str


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round as the dashboard lists it; numbers only once somebody has chosen to look at them."""

    round: Round
    units: int
    decided: int
    queued: int
    differ: int
    coefficients: list[Coefficient] = field(default_factory=list)

    def of_mark(self) -> dict[str, Coefficient]:
        return {each.mark.key: each for each in self.coefficients}


def dashboard(study: Study, member: Membership) -> dict[str, Any]:
    """Everything the page shows, in a number of queries that does not depend on the size of the study."""
    rounds = round_rows(member)
    # What counts comes before what trains for it.
    opened = [row.round for row in rounds if row.round.state == Round.State.OPEN]
    running = sorted(opened, key=lambda each: not each.counts_in_results)
    read = [row for row in rounds if row.coefficients]
    return {
        "stages": stages(study, member),
        "rounds": rounds,
        "marks": list({each.mark.key: each.mark for row in read for each in row.coefficients}.values()),
        "newest": read[0] if read else None,
        "shares": settled_shares(read[0].round) if read else None,
        "progress": [(each, round_progress(each, member)) for each in running],
        "activity": recent_events(member),
        "facts": study_facts(study),
    }


def round_rows(member: Membership) -> list[RoundRow]:
    """Newest first."""
    rounds = list(
        reachable_rounds(member)
        .select_related("codebook", "study")
        .prefetch_related("codebook__dimensions")
        .annotate(units=Count("round_units"))
        .order_by("-number")
    )
    unblinded = [each for each in rounds if each.is_unblinded]
    counts = _decision_counts(each for each in unblinded if each.kind != Round.Kind.TRAINING)
    compared = [each for each in unblinded if each.kind not in APART]
    reports = _reports([each for each in compared if each.first_unblinded_read_at is not None])
    return [
        RoundRow(
            round=each,
            units=each.units,
            decided=counts.get(each.pk, {}).get("decided", 0),
            queued=counts.get(each.pk, {}).get("queued", 0),
            differ=counts.get(each.pk, {}).get("differ", 0),
            coefficients=headline_coefficients(each, reports[each.pk]) if each.pk in reports else [],
        )
        for each in rounds
    ]


def _decision_counts(rounds: Iterable[Round]) -> dict[int, Mapping[str, Any]]:
    rows = (
        Decision.objects.filter(round_unit__round__in=list(rounds), type__in=QUEUED)
        .order_by()
        .values("round_unit__round")
        .annotate(
            queued=Count("pk"),
            decided=Count("pk", filter=~Q(how="")),
            differ=Count("round_unit", distinct=True),
        )
    )
    return {row["round_unit__round"]: row for row in rows}


def _reports(rounds: Iterable[Round]) -> dict[int, Mapping[str, Any]]:
    kinds = (AgreementReport.Kind.AS_CODED, AgreementReport.Kind.AFTER_UNBLINDING)
    rows = AgreementReport.objects.filter(
        round__in=list(rounds), kind__in=kinds, scope=AgreementReport.Scope.WHOLE, options="{}"
    ).order_by("-id")
    return {row.round_id: row.payload for row in rows}


def headline_coefficients(coding_round: Round, payload: Mapping[str, Any]) -> list[Coefficient]:
    """The headline of every dimension of a stored report that has one, or the reason why it has none."""
    marks = mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else [])
    found = []
    for each in payload["dimensions"]:
        mark = marks.get(each["key"])
        if mark is None or each["kind"] == "text":
            continue
        name = each["headline"] or ""
        statistic = each["statistics"].get(name, {})
        found.append(
            Coefficient(
                mark=mark,
                name=name,
                value=statistic.get("value"),
                low=statistic.get("ci_low"),
                high=statistic.get("ci_high"),
                undefined=statistic.get("undefined") or each["observed"].get("undefined") or "",
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """What the line under the title says."""

    coders: int
    repositories: int
    version: int | None


def study_facts(study: Study) -> StudyFacts:
    coders = study.memberships.filter(
        kind=Membership.Kind.PERSON, role=Role.CODER, left_at__isnull=True
    ).count()
    repositories = study.issues.exclude(repository="").aggregate(found=Count("repository", distinct=True))
    frozen = study.codebooks.filter(frozen_at__isnull=False).order_by("-version")
    return StudyFacts(coders, repositories["found"], frozen.values_list("version", flat=True).first())


def stages(study: Study, member: Membership) -> list[Stage]:
    """The funnel of data collection: stored, eligible, sampled, coded, final."""
    issues = study.issues.aggregate(
        stored=Count("pk"),
        eligible=Count("pk", filter=Q(eligible=True)),
        repositories=Count("repository", distinct=True),
    )
    units = _counted_units(study)
    sampled = sampled_count(study)
    repositories = f"{issues['repositories']} repositor{'y' if issues['repositories'] == 1 else 'ies'}"
    waiting = [f"{units['waiting']} in open rounds"] if units["waiting"] else []
    rows: tuple[tuple[str, int, list[str]], ...] = (
        ("Stored", issues["stored"], [repositories]),
        ("Eligible", issues["eligible"], _left_out(study, member, issues["stored"] - issues["eligible"])),
        ("Sampled", sampled, _drawn(study, member)),
        ("Coded", units["coded"], waiting),
        ("Final", units["final"], _not_final(units)),
    )
    before = [None, *(count for _, count, _ in rows)]
    return [
        Stage(name, count, 100 * count / whole if whole else None, notes)
        for (name, count, notes), whole in zip(rows, before, strict=False)
    ]


def _counted_units(study: Study) -> dict[str, int]:
    """Count the units of rounds that count in the results, and those nobody has settled yet."""
    rows = RoundUnit.objects.filter(
        round__study=study, round__counts_in_results=True, round__discarded_at__isnull=True
    )
    final = rows.filter(unit=OuterRef("unit"), round__state=Round.State.RECONCILED)
    undecided = Decision.objects.filter(round_unit=OuterRef("pk"), type__in=QUEUED, how="")
    # Until the proposed categories of a round are settled, nobody knows where its coders differ.
    is_held = Q(round__state=Round.State.CLOSED, round__reconciliation_opened_at=None)
    counted: dict[str, int] = rows.annotate(is_final=Exists(final), differs=Exists(undecided)).aggregate(
        coded=Count("unit", filter=Q(round__state__in=Round.UNBLINDED), distinct=True),
        waiting=Count("unit", filter=Q(round__state=Round.State.OPEN), distinct=True),
        final=Count("unit", filter=Q(is_final=True), distinct=True),
        differ=Count("unit", filter=Q(differs=True, is_final=False), distinct=True),
        held=Count("unit", filter=is_held & Q(is_final=False), distinct=True),
    )
    return counted


def _not_final(units: Mapping[str, int]) -> list[str]:
    """Say of the units that are coded and not final whether something is left to decide."""
    rest = units["coded"] - units["final"] - units["differ"] - units["held"]
    told = [
        (units["differ"], "with open disagreements"),
        (units["held"], "waiting for proposed categories to be settled"),
        (max(rest, 0), "settled, in a round to finish"),
    ]
    return [f"{count} {words}" for count, words in told if count]


def _left_out(study: Study, member: Membership, count: int) -> list[str]:
    """Why issues are not eligible, the commonest reasons first; rules are the lead's to know."""
    if not count or not member.is_lead:
        return [f"{count} left out by rules"]
    counted = study.issues.filter(eligible=False).values("because").annotate(found=Count("pk"))
    reasons = list(counted.order_by("-found", "because")[:REASONS])
    told = [
        f"{row['found']} by “{row['because']}”" if row["because"] else f"{row['found']} by hand"
        for row in reasons
    ]
    rest = count - sum(row["found"] for row in reasons)
    return [*told, f"{rest} for other reasons"] if rest else told


def _drawn(study: Study, member: Membership) -> list[str]:
    """How the newest sample that a round uses was drawn, in short; before there is one, the newest of all."""
    if not member.is_lead:
        return []
    is_used = Exists(Round.objects.filter(sample=OuterRef("pk"), discarded_at__isnull=True))
    sample = study.samples.defer("frame").order_by(is_used.desc(), "-pk").first()
    if sample is None or sample.method not in (Sample.Method.RANDOM, Sample.Method.STRATIFIED):
        return []
    told = [f"by {sample.strata}"] if sample.strata else []
    if is_proportional(sample.strata, sample.allocation):
        confidence = sample.confidence or 0.95
        margin = sampling.margin_of(sample.size, sample.frame_size, confidence, sample.proportion or 0.5)
        told.append(f"± {margin:.2%} margin at {confidence:.0%}")
    return [*told, f"{sample.pilot:,} more for the pilot alone"] if sample.pilot else told


@dataclass(frozen=True, slots=True)
class Activity:
    """An event, and how often it was done in a row."""

    event: Event
    times: int


def recent_events(member: Membership) -> list[Activity]:
    """The newest acts; what somebody did several times in a row stands once."""
    recent = with_shown_names(visible_events(member)[:MOST_READ], member)
    runs = groupby(recent, key=lambda event: (event.by_id, event.verb, event.object))
    grouped = [list(run) for _, run in runs]
    return [Activity(run[0], len(run)) for run in grouped[:ACTS]]
