"""Samples as pages and API show them, and what a size would mean before anything is drawn."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from labeling import sampling
from labeling.errors import InvalidInputError
from labeling.models import Job, Membership, Sample, SampleUnit, Study
from labeling.selectors.corpus import HEAVY
from labeling.selectors.masks import Masks
from labeling.services.samples import is_proportional, refuse_wrong_shares, stratum_sizes
from labeling.services.strata import loaded_by, strata_problem, stratum_of

#: What the answer about kappa assumes; both are said beside it.
EXPECTED_KAPPA, EXPECTED_CATEGORIES = 0.7, 5


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    stratum: str
    eligible: int
    drawn: int
    margin: float | None


@dataclass(frozen=True, slots=True)
class SizePlan:
    """What a sample of ``size`` from ``population`` issues can say about one proportion.

    ``margin`` is None where strata are drawn from unequally: no one margin holds for the whole then.
    """

    population: int
    size: int
    confidence: float
    margin: float | None
    proportion: float
    pilot: int
    strata: list[PlannedStratum]
    units_for_kappa: int

    @property
    def confidence_percent(self) -> float:
        return self.confidence * 100

    @property
    def widest(self) -> PlannedStratum | None:
        """The stratum that can be described least well, of those something is drawn from."""
        known = [(each.margin, each) for each in self.strata if each.margin is not None]
        return max(known, key=lambda pair: pair[0])[1] if known else None


@dataclass(frozen=True, slots=True)
class ListedUnit:
    """A unit of a sample; ``ref`` and ``stratum`` are None where they are hidden from the reader."""

    id: int
    issue: int
    ref: str | None
    title: str
    stratum: str | None
    rank: int
    drawn: str
    replaced_by: str | None
    is_replaced: bool
    reason: str


def eligible_strata(study: Study, strata: str = "") -> Counter[str]:
    """How many issues could be drawn now, by stratum; all in the stratum ``""`` without a field."""
    rows = study.issues.filter(kind__in=study.unit_kinds, eligible=True)
    if not strata:
        return Counter({"": rows.count()})
    left_out = set(HEAVY) - set(loaded_by(strata))
    light = rows.select_related("latest").defer(*(f"latest__{field}" for field in sorted(left_out)))
    return Counter(stratum_of((issue, issue.latest), strata) for issue in light)


def size_plan(
    study: Study,
    *,
    size: int | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    proportion: float | None = None,
    strata: str = "",
    allocation: Mapping[str, Any] | None = None,
    pilot: int = 0,
    population: int | None = None,
) -> SizePlan:
    """Say what a size, or a margin, would mean. Raises ValueError with a sentence where it cannot be.

    InvalidInputError says it by field: a share that is none, unknown strata, both a size and a margin.
    ``population`` is asked of in the place of what is eligible now, before anything was imported.
    """
    refuse_wrong_shares(confidence, margin, proportion)
    if size is not None and margin is not None:
        raise InvalidInputError({"size": ["Give either a size or a margin, not both."]})
    if strata and (problem := strata_problem(strata)):
        raise InvalidInputError({"strata": [problem]})
    if population is not None and strata:
        raise ValueError("Strata are those of the eligible issues. Leave them or the population out.")
    available = Counter({"": population}) if population is not None else eligible_strata(study, strata)
    if not available.total():
        raise ValueError("No issue is eligible yet. Import issues or loosen the rules first.")
    sizes = stratum_sizes(available, size, confidence, margin, allocation or {}, proportion)
    total = sum(sizes.values())
    if total + pilot > available.total():
        raise ValueError(f"The sample leaves {available.total() - total} issues for the pilot alone.")
    expected = proportion or 0.5
    margins = sampling.stratum_margins(sizes, available, confidence, expected) if strata else {}
    is_even = is_proportional(strata, allocation or {})
    return SizePlan(
        population=available.total(),
        size=total,
        confidence=confidence,
        margin=sampling.margin_of(total, available.total(), confidence, expected) if is_even else None,
        proportion=expected,
        pilot=pilot,
        strata=[
            PlannedStratum(stratum, available[stratum], sizes[stratum], margins[stratum])
            for stratum in sorted(margins)
        ],
        units_for_kappa=sampling.units_for_kappa_halfwidth(EXPECTED_KAPPA, EXPECTED_CATEGORIES),
    )


def samples_of(study: Study) -> "QuerySet[Sample]":
    """Samples of a study, newest first, without their frames, and with the number of their rounds."""
    return study.samples.defer("frame").annotate(used=Count("rounds", distinct=True)).order_by("-pk")


def listed_units(member: Membership, rows: "QuerySet[SampleUnit]") -> list[ListedUnit]:
    """Units of a sample in its order, with what the member may see of them while they code."""
    read = list(
        rows.select_related("unit__issue__latest", "unit__snapshot", "replaced_by__issue")
        .defer(
            *(f"unit__issue__latest__{field}" for field in HEAVY),
            *(f"unit__snapshot__{field}" for field in HEAVY),
        )
        .order_by("stratum", "rank")
    )
    masks = Masks(member)
    issues = [row.unit.issue_id for row in read]
    hidden = masks.of_issues([*issues, *(row.replaced_by.issue_id for row in read if row.replaced_by)])
    return [_listed(row, hidden) for row in read]


def _listed(row: SampleUnit, hidden: Mapping[int, frozenset[str]]) -> ListedUnit:
    told = row.unit.snapshot or row.unit.issue.latest
    fields = hidden.get(row.unit.issue_id, frozenset())
    successor = row.replaced_by
    hides_successor = successor is not None and "repository" in hidden.get(successor.issue_id, frozenset())
    return ListedUnit(
        id=row.unit_id,
        issue=row.unit.issue_id,
        ref=None if "repository" in fields else row.unit.ref,
        title=told.title if told is not None else "",
        # Strata are made of fields such as the repository or the state.
        stratum=None if fields else row.stratum,
        rank=row.rank,
        drawn=row.drawn,
        replaced_by=None if successor is None or hides_successor else successor.ref,
        is_replaced=successor is not None,
        reason=row.reason,
    )


def preparing_job(sample: Sample) -> Job | None:
    """The newest job that prepares the sample, for its progress and its error."""
    return sample.jobs.filter(kind=Job.Kind.PREPARE_SAMPLE).order_by("-pk").first()
