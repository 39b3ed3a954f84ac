"""How often categories were used, and where new ones came up, in closed rounds that were looked at."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Min

from labeling.charts.saturation import Saturation, saturation
from labeling.models import Codebook, Dimension, Membership, Round, Submission
from labeling.selectors.codebook_impact import closed_rounds, view_of
from labeling.selectors.codebooks import ShownCategory, shown_dimensions
from labeling.selectors.frozen import FrozenRound, frozen_round
from labeling.selectors.rounds import reachable_rounds

SIZES = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class UsedCategory:
    """Answers with a category in each round, in the order of ``Usage.rounds``; a heading has none."""

    shown: ShownCategory
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class UsedDimension:
    dimension: Dimension
    rows: tuple[UsedCategory, ...]
    saturation: Saturation


@dataclass(frozen=True, slots=True)
class Usage:
    """``unread`` rounds are closed, but nobody has looked at their answers yet; nothing is told of them."""

    rounds: tuple[Round, ...]
    unread: tuple[Round, ...]
    dimensions: tuple[UsedDimension, ...] = field(default=())


def usage(codebook: Codebook, member: Membership, size: int) -> Usage:
    """Count in the words of one version; training with known answers does not count."""
    reach = set(reachable_rounds(member).values_list("pk", flat=True))
    closed = [
        each
        for each in closed_rounds(codebook.study)
        if each.pk in reach and each.codebook and each.codebook.version <= codebook.version
    ]
    counted = [each for each in closed if each.kind != Round.Kind.TRAINING]
    read = tuple(each for each in counted if each.first_unblinded_read_at is not None)
    unread = tuple(each for each in counted if each.first_unblinded_read_at is None)
    frozen = [_in_words_of(codebook, each) for each in read]
    # A retest brings no new units: the same coders answer the same ones again.
    asked_first = [each for each in frozen if each.coding_round.kind != Round.Kind.RETEST]
    order = _order_of_coding(read, member)
    dimensions = tuple(
        UsedDimension(
            shown.dimension,
            tuple(
                UsedCategory(
                    row, tuple(_count(each, shown.dimension.key)[row.category.code] for each in frozen)
                )
                for row in shown.rows
            ),
            saturation(_units(asked_first, shown.dimension, order), size),
        )
        for shown in shown_dimensions(codebook)
        if shown.dimension.kind != Dimension.Kind.TEXT
    )
    return Usage(read, unread, dimensions)


def usage_data(codebook: Codebook, used: Usage, size: int) -> dict[str, Any]:
    """The use of a version in the shape of the API; counts stand in the order of ``rounds``."""
    return {
        "version": codebook.version,
        "rounds": [each.number for each in used.rounds],
        "unread": [each.number for each in used.unread],
        "batch": size,
        "dimensions": [_dimension_data(each) for each in used.dimensions],
    }


def _dimension_data(used: UsedDimension) -> dict[str, Any]:
    return {
        "key": used.dimension.key,
        "categories": [
            {
                "concept": row.shown.category.concept,
                "code": row.shown.category.code,
                "archived": row.shown.category.archived,
                "counts": row.counts,
                "total": row.total,
            }
            for row in used.rows
            if not row.shown.is_heading
        ],
        "saturation": {
            "batches": [
                {"first": each.first, "last": each.last, "new": each.new, "total": each.total}
                for each in used.saturation.batches
            ],
            "quiet": used.saturation.quiet,
        },
    }


def _in_words_of(codebook: Codebook, coding_round: Round) -> FrozenRound:
    view = view_of(codebook, coding_round)
    return frozen_round(coding_round, names=view.names, dimensions=view.dimensions)


def _count(frozen: FrozenRound, key: str) -> Counter[str]:
    said = (said for unit in frozen.units for said in unit.said(key).values())
    return Counter(label for each in said if not each.lost for label in each.labels)


def _order_of_coding(rounds: Sequence[Round], member: Membership) -> Mapping[int, int]:
    """The place of each RoundUnit by the time somebody first submitted it; sealed ones have none."""
    rows = Submission.objects.visible_to(member).filter(assignment__round_unit__round__in=rounds)
    times = rows.values("assignment__round_unit").annotate(first=Min("at")).order_by("first")
    return {row["assignment__round_unit"]: n for n, row in enumerate(times)}


def _units(
    frozen: Sequence[FrozenRound], dimension: Dimension, order: Mapping[int, int]
) -> list[frozenset[str]]:
    names = {each.code: each.name for each in dimension.categories.all()}
    found = []
    for coding_round in frozen:
        for unit in coding_round.units:
            if unit.id in order and (said := unit.said(dimension.key)):
                labels = {label for each in said.values() if not each.lost for label in each.labels}
                found.append((order[unit.id], frozenset(names.get(label, label) for label in labels)))
    return [labels for _, labels in sorted(found, key=lambda each: each[0])]
