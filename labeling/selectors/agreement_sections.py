"""Parts of the agreement page that are asked for: a breakdown, another round beside this one, retest gaps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from statistics import median
from typing import Any

from django.db.models import Q

from labeling.agreement.compare import Difference, compare
from labeling.charts.breakdown import DimensionGroups, breakdown
from labeling.charts.change import ChangeRow, change_rows
from labeling.models import AgreementReport, Assignment, Codebook, Membership, Round, RoundUnit, Submission
from labeling.selectors.agreement import coding_pairs, readable_payload
from labeling.selectors.agreement_figures import APART, goal_of, payload_rows
from labeling.selectors.rounds import reachable_rounds

Scope = AgreementReport.Scope
VERSION = "version"
BREAKDOWNS: Mapping[str, str] = {
    Scope.REPOSITORY: "Repository",
    Scope.STRATUM: "Stratum",
    Scope.LEVEL: "Level",
    VERSION: "Codebook version",
}
"""By what a report can be broken down on its page. Pairs and categories have tables of their own."""


# Breakdowns ---------------------------------------------------------------------------------------


def breakdown_choices(coding_round: Round) -> dict[str, str]:
    """The breakdowns that would show more than one group."""
    units = RoundUnit.objects.filter(round=coding_round, left_out=False)
    places = set(units.order_by().values_list("unit__issue__repository", "stratum").distinct())
    codebook = coding_round.codebook
    levels = codebook is not None and codebook.dimensions.filter(categories__parent__isnull=False).exists()
    offered = {
        Scope.REPOSITORY.value: len({repository for repository, _ in places}) > 1,
        Scope.STRATUM.value: len({stratum for _, stratum in places}) > 1,
        Scope.LEVEL.value: levels,
        VERSION: later_version(coding_round) is not None,
    }
    return {scope: name for scope, name in BREAKDOWNS.items() if offered[scope]}


def later_version(coding_round: Round) -> Codebook | None:
    """The newest frozen version of the codebook, if it came after the round's."""
    if coding_round.codebook is None:
        return None
    later = coding_round.study.codebooks.filter(
        version__gt=coding_round.codebook.version, frozen_at__isnull=False
    )
    return later.order_by("-version").first()


def grouped_figures(report: AgreementReport) -> tuple[DimensionGroups, ...]:
    """A report by repository, stratum or level as the page shows it."""
    coding_round = report.round
    payload = readable_payload(report, pseudonyms=coding_round.anonymous)
    groups = [(each["name"] or "(none)", payload_rows(each)) for each in payload["groups"]]
    return breakdown(groups, partial(goal_of, coding_round))


def version_figures(
    own: AgreementReport, mapped: AgreementReport, later: Codebook
) -> tuple[DimensionGroups, ...]:
    """The answers as they were coded beside the same answers in the words of a later version."""
    coding_round = own.round
    version = coding_round.codebook.version if coding_round.codebook is not None else ""
    groups: list[tuple[str, Sequence[Mapping[str, Any]]]] = [
        (f"As coded, version {version}", _payload_rows(own)),
        (f"Mapped to version {later.version}, post hoc", _payload_rows(mapped)),
    ]
    return breakdown(groups, partial(goal_of, coding_round))


def _payload_rows(report: AgreementReport) -> Sequence[Mapping[str, Any]]:
    return payload_rows(readable_payload(report, pseudonyms=report.round.anonymous))


# Two rounds ---------------------------------------------------------------------------------------


def comparable_rounds(coding_round: Round, member: Membership) -> list[Round]:
    """Other rounds whose independent numbers somebody has looked at; none for a round that has none."""
    if coding_round.kind in APART or coding_round.after_unblinding:
        return []
    rounds = reachable_rounds(member).filter(
        state__in=Round.UNBLINDED, first_unblinded_read_at__isnull=False, after_unblinding=False
    )
    rounds = rounds.exclude(kind__in=APART).exclude(pk=coding_round.pk)
    return list(rounds.select_related("study", "codebook").order_by("number"))


def compared_rounds(before: Round, after: Round) -> list[Difference]:
    """Compare every dimension both rounds ask, eligibility first."""
    earlier = {data.key: data for data in coding_pairs(before)}
    return [compare(earlier[data.key], data) for data in coding_pairs(after) if data.key in earlier]


def change_figures(coding_round: Round, other: Round) -> dict[str, Any]:
    """The later of two rounds less the earlier one."""
    before, after = sorted((coding_round, other), key=lambda each: each.number)
    rows: Iterable[ChangeRow] = change_rows(compared_rounds(before, after))
    return {"before": before, "after": after, "rows": [row for row in rows if row.name]}


# Retests ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gap:
    """Days between the two answers of one coder, over the units coded twice."""

    coder: str
    units: int
    middle: float
    shortest: int
    longest: int


def retest_gaps(coding_round: Round) -> list[Gap]:
    """How long ago each coder of a retest had coded the same units."""
    earlier = coding_round.based_on
    if coding_round.kind != Round.Kind.RETEST or earlier is None:
        return []
    rows = Submission.objects.last().filter(
        Q(assignment__in=Assignment.objects.active().filter(purpose=Assignment.Purpose.CODING)),
        assignment__round_unit__round__in=(earlier, coding_round),
    )
    times: dict[tuple[int, int], dict[int, datetime]] = defaultdict(dict)
    for coder, unit, number, at in rows.values_list(
        "assignment__coder", "assignment__round_unit__unit", "assignment__round_unit__round", "at"
    ):
        times[coder, unit][number] = at
    days: dict[int, list[int]] = defaultdict(list)
    for (coder, _), by_round in times.items():
        if len(by_round) == 2:
            days[coder].append((by_round[coding_round.pk] - by_round[earlier.pk]).days)
    members = Membership.objects.filter(pk__in=days).select_related("user").order_by("number")
    return [
        Gap(
            coder=each.pseudonym if coding_round.anonymous else each.name,
            units=len(days[each.pk]),
            middle=median(days[each.pk]),
            shortest=min(days[each.pk]),
            longest=max(days[each.pk]),
        )
        for each in members
    ]
