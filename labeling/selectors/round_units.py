"""The units of a round as one member may know of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from labeling.blinding import settled
from labeling.models import Assignment, Decision, Membership, Role, Round, RoundUnit, Sample, Submission, Unit
from labeling.selectors.draws import units_for
from labeling.selectors.issues import shown_ref
from labeling.selectors.masks import Masks


@dataclass(frozen=True, slots=True)
class ListedRoundUnit:
    """``stratum`` is None where fields are hidden from the reader; the last three until the round closes.

    ``codings`` says how many coders handed it in, ``overlap`` whether several were to.

    ``is_decided`` is None too while the reader may not read of the unit.
    """

    id: int
    ref: str
    stratum: str | None
    left_out: bool
    overlap: bool | None = None
    codings: int | None = None
    is_decided: bool | None = None


def known_units(coding_round: Round, member: Membership) -> "QuerySet[RoundUnit]":
    """Give a lead all units; others what they code and, once the round is closed, what they may read."""
    rows = RoundUnit.objects.filter(round=coding_round)
    if member.role == Role.LEAD:
        return rows
    own = Assignment.objects.of_member(member).active().filter(round_unit=OuterRef("pk"))
    return rows.filter(Q(Exists(own)) | settled(member, ""))


def listed_round_units(
    coding_round: Round, member: Membership, rows: Sequence[RoundUnit]
) -> list[ListedRoundUnit]:
    """Say of units, read with ``unit``, what the member may know, in a fixed number of queries."""
    masked = Masks(member).of_issues([row.unit.issue_id for row in rows])
    known = RoundUnit.objects.filter(settled(member, ""), pk__in=[row.pk for row in rows])
    readable = set(known.values_list("pk", flat=True))
    undecided = _undecided(coding_round, member, rows) if coding_round.is_unblinded else set()
    codings = _codings(rows) if coding_round.is_unblinded else {}
    listed = []
    for row in rows:
        hidden = masked.get(row.unit.issue_id, frozenset())
        listed.append(
            ListedRoundUnit(
                id=row.unit_id,
                ref=shown_ref(row.unit, hidden),
                # Strata are made of fields such as the repository or the state.
                stratum=None if hidden else row.stratum,
                left_out=row.left_out,
                overlap=row.overlap if coding_round.is_unblinded else None,
                codings=codings.get(row.pk, 0) if coding_round.is_unblinded else None,
                is_decided=row.pk not in undecided if row.pk in readable else None,
            )
        )
    return listed


def _codings(rows: Sequence[RoundUnit]) -> dict[int, int]:
    handed = Assignment.objects.active().filter(
        Exists(Submission.objects.filter(assignment=OuterRef("pk"))),
        round_unit__in=rows,
        purpose=Assignment.Purpose.CODING,
    )
    by_coders = handed.exclude(coder__kind=Membership.Kind.REFERENCE).order_by().values("round_unit")
    return dict(by_coders.annotate(count=Count("pk")).values_list("round_unit", "count"))


def _undecided(coding_round: Round, member: Membership, rows: Sequence[RoundUnit]) -> set[int]:
    if coding_round.reconciliation_opened_at is None:
        return {row.pk for row in rows}  # what there is to decide is not written yet
    open_decisions = Decision.objects.visible_to(member).filter(round_unit__in=rows, how="")
    return set(open_decisions.values_list("round_unit", flat=True))


def next_units(sample: Sample, size: int, kind: str) -> list[Unit]:
    """Give the next ``size`` units of the draw that no round has yet, every stratum in its proportion.

    What was drawn for pilots alone is for rounds of their ``kind``.
    """
    rows = list(units_for(sample, kind).select_related("unit"))
    taken = set(
        RoundUnit.objects.filter(round__study=sample.study_id, round__discarded_at__isnull=True).values_list(
            "unit", flat=True
        )
    )
    sizes = Counter(row.stratum for row in rows)
    # How far down its stratum a unit stands: cutting at one depth takes the same share of each.
    rows.sort(key=lambda row: ((row.rank - 0.5) / sizes[row.stratum], row.stratum))
    return [row.unit for row in rows if row.unit_id not in taken][:size]
