"""Where a study stands, for one member: counts, rounds, the newest agreement, and the next thing to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import (
    AgreementReport,
    Assignment,
    Decision,
    Event,
    Membership,
    Round,
    RoundUnit,
    Study,
)
from labeling.selectors.progress import round_progress
from labeling.selectors.reconciliation import QUEUED
from labeling.selectors.rounds import reachable_rounds
from labeling.selectors.settled import settled_shares
from labeling.selectors.studies import visible_events, with_shown_names


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of data collection; ``share`` is the percentage of the step before, if there is one."""

    name: str
    count: int
    share: float | None
    note: str


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


@dataclass(frozen=True, slots=True)
class NextStep:
    title: str
    text: str
    url: str
    action: str


def dashboard(study: Study, member: Membership) -> dict[str, Any]:
    """Everything the page shows, in a number of queries that does not depend on the size of the study."""
    rounds = round_rows(member)
    running = [row.round for row in rounds if row.round.state == Round.State.OPEN]
    read = [row for row in rounds if row.coefficients]
    return {
        "stages": stages(study),
        "rounds": rounds,
        "marks": list({each.mark.key: each.mark for row in read for each in row.coefficients}.values()),
        "newest": read[0] if read else None,
        "shares": settled_shares(read[0].round) if read else None,
        "progress": [(each, round_progress(each, member)) for each in running],
        "next_step": next_step(study, member, rounds),
        "activity": recent_events(member),
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
    counts = _decision_counts(unblinded)
    reports = _reports([each for each in unblinded if each.first_unblinded_read_at is not None])
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


def stages(study: Study) -> list[Stage]:
    """The funnel of data collection: stored, eligible, sampled, coded, final."""
    issues = study.issues.aggregate(
        stored=Count("pk"),
        eligible=Count("pk", filter=Q(eligible=True)),
        repositories=Count("repository", distinct=True),
    )
    units = RoundUnit.objects.filter(
        round__study=study, round__counts_in_results=True, round__discarded_at__isnull=True
    ).aggregate(
        coded=Count("unit", filter=Q(round__state__in=Round.UNBLINDED), distinct=True),
        waiting=Count("unit", filter=Q(round__state=Round.State.OPEN), distinct=True),
        final=Count("unit", filter=Q(round__state=Round.State.RECONCILED), distinct=True),
    )
    sampled = study.units.filter(part=0).count()
    repositories = f"{issues['repositories']} repositor{'y' if issues['repositories'] == 1 else 'ies'}"
    waiting = f"{units['waiting']} in open rounds" if units["waiting"] else ""
    rows = (
        ("Stored", issues["stored"], repositories),
        ("Eligible", issues["eligible"], f"{issues['stored'] - issues['eligible']} left out by rules"),
        ("Sampled", sampled, ""),
        ("Coded", units["coded"], waiting),
        ("Final", units["final"], f"{units['coded'] - units['final']} to reconcile"),
    )
    before = [None, *(count for _, count, _ in rows)]
    return [
        Stage(name, count, 100 * count / whole if whole else None, note)
        for (name, count, note), whole in zip(rows, before, strict=False)
    ]


def recent_events(member: Membership) -> list[Event]:
    return with_shown_names(visible_events(member)[:8], member)


def next_step(study: Study, member: Membership, rounds: list[RoundRow]) -> NextStep | None:
    """The one thing this member can do that brings the study forward; None: they wait for others."""
    coding = _own_coding(study, member)
    if coding is not None or not member.is_lead:
        return coding or _open_decisions(rounds)
    return _set_up_step(study, rounds) or _open_decisions(rounds) or _round_step(study, rounds)


def _own_coding(study: Study, member: Membership) -> NextStep | None:
    waiting = (
        Assignment.objects.of_member(member)
        .filter(round_unit__round__study=study, round_unit__round__state=Round.State.OPEN)
        .exclude(status__in=(Assignment.Status.SUBMITTED, Assignment.Status.WITHDRAWN))
    )
    first = waiting.order_by("round_unit__round__number").values("round_unit__round__number").first()
    if first is None:
        return None
    number = first["round_unit__round__number"]
    count = waiting.filter(round_unit__round__number=number).count()
    return NextStep(
        f"Code your {count} unit{'' if count == 1 else 's'} of Round {number}",
        "You see your own answers only until the round closes.",
        reverse("labeling:coding-home", args=[study.slug]),
        "Go on coding",
    )


def _open_decisions(rounds: list[RoundRow]) -> NextStep | None:
    for row in rounds:
        left = row.queued - row.decided
        plural = "" if left == 1 else "s"
        if row.round.state == Round.State.CLOSED and left:
            return NextStep(
                f"Reconcile the {left} open disagreement{plural} of Round {row.round.number}",
                "Settling them shows where the codebook is unclear.",
                reverse("labeling:disagreement-list", args=[row.round.study.slug, row.round.number]),
                "Open reconciliation",
            )
    return None


def _set_up_step(study: Study, rounds: list[RoundRow]) -> NextStep | None:
    slug = study.slug
    if not study.issues.exists():
        return NextStep(
            "Bring issues into the corpus",
            "From GitHub repositories, a search, or a file.",
            reverse("ingest:import-create", args=[slug]),
            "Import issues",
        )
    if not study.codebooks.filter(dimensions__isnull=False).exists():
        return NextStep(
            "Write the codebook",
            "Dimensions and categories with definitions. A template is a good start.",
            reverse("labeling:codebook-edit", args=[slug]),
            "Write the codebook",
        )
    if not study.samples.exists():
        return NextStep(
            "Draw a sample",
            "Seeded, so that it can be drawn again by anybody.",
            reverse("labeling:sample-create", args=[slug]),
            "Draw a sample",
        )
    if not rounds:
        return NextStep(
            "Make the first round",
            "A pilot on a few units shows whether the codebook holds.",
            reverse("labeling:round-create", args=[slug]),
            "New round",
        )
    return None


def _round_step(study: Study, rounds: list[RoundRow]) -> NextStep | None:
    for row in rounds:
        number, url = row.round.number, reverse("labeling:round-detail", args=[study.slug, row.round.number])
        if row.round.state == Round.State.DRAFT:
            return NextStep(f"Open Round {number}", "Coders get their units then.", url, "Look it over")
        if row.round.state == Round.State.OPEN:
            return NextStep(
                f"Close Round {number} when its coders are done",
                "Closing freezes the answers and computes agreement from them.",
                url,
                "See its progress",
            )
        if row.round.state == Round.State.CLOSED:
            return NextStep(
                f"Finish Round {number}", "Nothing in it is open any more.", url, "Finish the round"
            )
    return NextStep(
        "Export the results",
        "Labels, annotations and agreement as CSV.",
        reverse("labeling:export-list", args=[study.slug]),
        "Export",
    )
