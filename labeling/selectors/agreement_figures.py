"""What the page of a closed round's agreement shows: its stored report as figures, for one member."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.charts.categories import CategoryRow, category_rows
from labeling.charts.claims import Claims, claims
from labeling.charts.clusters import cluster_rows
from labeling.charts.coefficients import coefficient_table
from labeling.charts.confusion import ConfusedPair, Confusion, confused_pairs, confusion, differing
from labeling.charts.dimensions import DimensionRow, dimension_row
from labeling.charts.interval import Axis, Interval, axis
from labeling.charts.names import CategoryName
from labeling.charts.trend import Trend, trend
from labeling.marks import DimensionMark, mark_dimensions
from labeling.models import AgreementReport, Category, Dimension, Membership, Round
from labeling.selectors.agreement import ELIGIBILITY, readable_payload
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reports import sealed_units
from labeling.selectors.rounds import reachable_rounds

RECENT = 6
"""So many rounds fit into a panel of the trend."""
APART = (Round.Kind.TRAINING, Round.Kind.RETEST)
"""They compare coders with the reference or with themselves: another question than that of a main round."""
REASONS = {
    "kept": CategoryName("kept", "Kept", "kept"),
    "excluded": CategoryName("excluded", "Excluded", "excl"),
}


@dataclass(frozen=True, slots=True)
class TrendPanel:
    mark: DimensionMark
    trend: Trend


@dataclass(frozen=True, slots=True)
class Comparison:
    """A choice of the page: two coders, or all of a dimension that has no table of pairs."""

    label: str
    payload: Mapping[str, Any]
    matrix: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Closer:
    """One dimension looked at closely, for the pair of coders that was chosen."""

    key: str
    name: str
    comparisons: Sequence[str]
    chosen: int
    confusion: Confusion | None
    pairs: Sequence[ConfusedPair]
    differing: int
    compared: int
    categories: Sequence[CategoryRow]
    coder_a: str
    coder_b: str
    n: int
    axis: Axis


def agreement_figures(
    report: AgreementReport, member: Membership, *, dimension: str = "", pair: int = 0
) -> dict[str, Any]:
    """Everything the page draws, in a number of queries that depends on no count of the round."""
    coding_round = report.round
    payload = readable_payload(report, pseudonyms=coding_round.anonymous)
    asked = round_dimensions(coding_round)
    rows = payload_rows(payload)
    sealed = sealed_units(member, coding_round)
    tables = [dimension_row(each, goal_of(coding_round, each["key"]), sealed) for each in rows]
    names = {ELIGIBILITY: "Eligibility"} | {each.key: each.name for each in asked}
    return {
        "rows": tables,
        "names": names,
        "marks": _marks(coding_round),
        "repeats": len({each.key for each in tables}) < len(tables),
        "constant": {each.key: each for each in tables if each.is_constant and each.key != ELIGIBILITY},
        "scale": next((each.read_by for each in tables if each.read_by), ""),
        "axis": axis(coding_round.goal),
        "plain_axis": axis(),
        "left_out": [each for each in tables if each.left_out],
        "warned": [each for each in tables if each.warnings],
        "has_pairs": any(len(each.pairs) > 1 for each in tables),
        "shape": _shape(tables),
        "draws": max((each["draws"] for each in rows), default=0),
        "seed": next((each["seed"] for each in rows), None),
        "coefficients": [coefficient_table(each) for each in rows if each["statistics"]],
        "clusters": [] if coding_round.kind in APART else cluster_rows(rows),
        "claims": _claims(coding_round, payload),
        "stopping": _stopped_at_goal(coding_round, tables),
        "closer_keys": _closer_keys(rows),
        "closer": _closer(rows, names, category_names(asked), coding_round, dimension, pair),
        "sealed": len(sealed),
    }


def payload_rows(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of a report or of one of its groups: eligibility first, where there is one of it."""
    apart = [payload["eligibility"]] if payload["eligibility"] is not None else []
    return [*apart, *payload["dimensions"]]


def goal_of(coding_round: Round, key: str) -> float | None:
    """The goal is set for the dimensions of the codebook."""
    return None if key == ELIGIBILITY else coding_round.goal


def _claims(coding_round: Round, payload: Mapping[str, Any]) -> Claims | None:
    """What may be said of the goal; with several comparisons per dimension there is no one number to say."""
    if coding_round.kind in APART or coding_round.after_unblinding:
        return None
    return claims(each for each in payload["dimensions"] if each["kind"] != "text")


def _stopped_at_goal(coding_round: Round, rows: Iterable[DimensionRow]) -> bool:
    """Whether a pilot may have ended because it reached its goal: chance helped choose such a value."""
    if coding_round.kind != Round.Kind.PILOT or coding_round.goal is None:
        return False
    values = [row.headline.value for row in rows if row.key != ELIGIBILITY and row.has_numbers]
    known = [value for value in values if value is not None]
    return bool(known) and min(known) >= coding_round.goal


def _marks(coding_round: Round) -> dict[str, DimensionMark]:
    # Of the whole codebook, so that a dimension keeps its letter where only some are asked.
    return mark_dimensions(coding_round.codebook.dimensions.all() if coding_round.codebook else [])


def _shape(rows: Sequence[DimensionRow]) -> dict[str, Any]:
    """Who coded, and how many units at least one dimension compares."""
    coders = dict.fromkeys(coder for row in rows for coder in row.coders)
    return {
        "coders": list(coders),
        "compared": max((row.n for row in rows if row.key != ELIGIBILITY), default=0),
        "units": max((row.n_units for row in rows), default=0),
    }


def category_names(asked: Sequence[Dimension]) -> dict[str, dict[str, CategoryName]]:
    """The categories of each dimension by code, as figures print them."""
    keys = {each.pk: each.key for each in asked}
    names: dict[str, dict[str, CategoryName]] = {key: {} for key in keys.values()}
    using = asked[0]._state.db if asked else None  # an export reads all of it from one state of the database
    rows = Category.objects.using(using).filter(dimension__in=keys).select_related("parent")
    for each in rows:
        group = each.parent.name if each.parent is not None else ""
        key = each.hotkey or each.name[:3]
        names[keys[each.dimension_id]][each.code] = CategoryName(
            each.code, each.name, key, group, each.definition
        )
    return names | {ELIGIBILITY: REASONS}


def _closer_keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Dimensions with categories to compare."""
    return list(dict.fromkeys(each["key"] for each in rows if each["categories"]))


def _closer(
    rows: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    categories: Mapping[str, Mapping[str, CategoryName]],
    coding_round: Round,
    dimension: str,
    pair: int,
) -> Closer | None:
    keys = _closer_keys(rows)
    if not keys:
        return None
    declared = [key for key in keys if key != ELIGIBILITY] or keys
    key = dimension if dimension in keys else declared[0]
    compared = _comparisons([each for each in rows if each["key"] == key and each["categories"]])
    chosen = pair if 0 <= pair < len(compared) else 0
    payload, matrix = compared[chosen].payload, compared[chosen].matrix
    known = categories.get(key, {})
    goal = goal_of(coding_round, key)
    matrices = payload["matrix"]
    two = payload["coders"] if len(payload["coders"]) == 2 else ["", ""]
    return Closer(
        key=key,
        name=names.get(key, key),
        comparisons=[each.label for each in compared],
        chosen=chosen,
        confusion=confusion(matrix, known) if matrix is not None else None,
        pairs=confused_pairs(matrices, known),
        differing=differing(matrices),
        compared=sum(each["n"] for each in payload["pairs"]),
        categories=category_rows(payload, known, goal),
        axis=axis(goal),
        coder_a=two[0],
        coder_b=two[1],
        n=payload["n_both"],
    )


def _comparisons(rows: Iterable[Mapping[str, Any]]) -> list[Comparison]:
    found: list[Comparison] = []
    for row in rows:
        for matrix in row["matrix"]:
            found.append(Comparison(f"{matrix['coder_a']} and {matrix['coder_b']}", row, matrix))
        if not row["matrix"]:
            found.append(Comparison(" and ".join(row["coders"]), row, None))
    return found


# From round to round ------------------------------------------------------------------------------


def agreement_trend(coding_round: Round, member: Membership) -> list[TrendPanel]:
    """The headlines of up to six rounds that somebody has looked at, this one among them, by dimension."""
    rounds = list(
        reachable_rounds(member)
        .exclude(kind__in=APART)
        .exclude(after_unblinding=True)
        .exclude(state=Round.State.DRAFT)
        .order_by("-number")
    )
    is_open = Round.State.OPEN
    shown = [each for each in rounds if each.state == is_open or each.first_unblinded_read_at][:RECENT]
    payloads = _payloads([each for each in shown if each.is_unblinded])
    if len(payloads) < 2 or coding_round.number not in payloads:
        return []
    hidden = [each.number for each in shown if each.state == is_open]
    pilots = {each.number for each in shown if each.kind == Round.Kind.PILOT}
    panels = []
    for key, mark in _marks(coding_round).items():
        intervals = {number: _headline(payload, key) for number, payload in payloads.items()}
        known = {number: each for number, each in intervals.items() if each is not None}
        if sum(each.value is not None for each in known.values()) > 1:
            panels.append(TrendPanel(mark, trend(key, known, hidden, coding_round.goal, pilots)))
    return panels


def _payloads(rounds: Iterable[Round]) -> dict[int, Mapping[str, Any]]:
    """What was stored first of each round, by its number."""
    reports = AgreementReport.objects.filter(
        round__in=list(rounds),
        kind=AgreementReport.Kind.AS_CODED,
        scope=AgreementReport.Scope.WHOLE,
        options="{}",
    ).select_related("round")
    return {each.round.number: each.payload for each in reports.order_by("-id")}


def _headline(payload: Mapping[str, Any], key: str) -> Interval | None:
    row = next((each for each in payload["dimensions"] if each["key"] == key and each["headline"]), None)
    return Interval.of(row["headline"], row["statistics"][row["headline"]]) if row is not None else None


def listed_rounds(member: Membership) -> list[Round]:
    """Rounds of the switch at the top: closed ones, and open ones whose numbers do not exist yet."""
    return list(reachable_rounds(member).exclude(state=Round.State.DRAFT).order_by("number"))
