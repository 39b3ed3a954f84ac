"""What a change of the codebook means for answers that were given: only closed rounds are looked at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import prefetch_related_objects

from labeling.agreement.report import DimensionData, summarise
from labeling.charts.names import coefficient_name
from labeling.models import Codebook, Dimension, Membership, Round, Study
from labeling.selectors.agreement import CODER, frozen_pairs
from labeling.selectors.frozen import FrozenRound, Names, frozen_round, names_of, round_dimensions
from labeling.selectors.mapping import dimensions_in, mapped_names

Fate = tuple[str, ...]
"""What became of a category: its code, name and headings, or what was done to it."""


@dataclass(frozen=True, slots=True)
class View:
    """The answers of a round in the words of one version; read whole, so that the version may be taken back.

    ``fates``: by dimension and by what the category was called in the round.
    """

    names: Names
    dimensions: tuple[Dimension, ...]
    fates: Mapping[str, Mapping[str, Fate]]


Views = Mapping[int, View]


@dataclass(frozen=True, slots=True)
class RoundImpact:
    round: int
    units: int
    annotations: int


@dataclass(frozen=True, slots=True)
class Headline:
    """The coefficient to report of one dimension, in one set of words."""

    statistic: str
    value: float | None
    n_both: int
    undefined: str

    @property
    def words(self) -> str:
        return coefficient_name(self.statistic) if self.statistic else self.undefined


@dataclass(frozen=True, slots=True)
class AgreementChange:
    """``coders`` are named where a round compares several sets of them."""

    round: int
    dimension: str
    name: str
    coders: str
    before: Headline | None
    after: Headline | None

    @property
    def is_same(self) -> bool:
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class Impact:
    """``units`` counts a unit once, in however many rounds it was coded."""

    units: int = 0
    annotations: int = 0
    rounds: tuple[RoundImpact, ...] = ()
    agreement: tuple[AgreementChange, ...] = ()


def closed_rounds(study: Study) -> list[Round]:
    """Rounds whose answers may be counted: nothing is said of an open one."""
    rounds = study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True, codebook__isnull=False)
    return list(rounds.select_related("study", "codebook", "based_on__codebook").order_by("number"))


def views_of(codebook: Codebook, rounds: Sequence[Round]) -> dict[int, View]:
    """See the rounds coded with this version or an earlier one in its words; by their number."""
    return {
        each.number: view_of(codebook, each)
        for each in rounds
        if each.codebook is not None and each.codebook.version <= codebook.version
    }


def view_of(codebook: Codebook, coding_round: Round) -> View:
    dimensions = tuple(dimensions_in(codebook, coding_round))
    prefetch_related_objects(dimensions, "categories__parent")
    names = mapped_names(coding_round, codebook)
    own = names_of(coding_round, tuple(round_dimensions(coding_round)))
    told = {each.key: _told(each) for each in dimensions}
    fates = {
        key: {
            label: (names.lost[concept],)
            if concept in names.lost
            else told.get(key, {}).get(names.of_concept.get(key, {}).get(concept, label), (label,))
            for concept, label in labels.items()
        }
        for key, labels in own.of_concept.items()
    }
    return View(names, dimensions, fates)


def _told(dimension: Dimension) -> dict[str, Fate]:
    categories = {each.pk: each for each in dimension.categories.all()}
    told = {}
    for category in categories.values():
        fate = [category.code, category.name]
        above = category.parent_id
        while above is not None:
            fate.append(categories[above].name)
            above = categories[above].parent_id
        told[category.code] = tuple(fate)
    return told


def impact_between(rounds: Sequence[Round], before: Mapping[int, View], after: Mapping[int, View]) -> Impact:
    """Compare two sets of words: the answers whose words differ, and the agreement in both."""
    counted: list[RoundImpact] = []
    changes: list[AgreementChange] = []
    units: set[str] = set()
    for coding_round in rounds:
        was, now = before.get(coding_round.number), after.get(coding_round.number)
        if was is None or now is None:
            continue
        touched = _touched(was, now)
        refs, annotations = _count(frozen_round(coding_round), touched)
        units |= refs
        if annotations:
            counted.append(RoundImpact(coding_round.number, len(refs), annotations))
            changes += _agreement(coding_round, was, now, touched)
    total = sum(each.annotations for each in counted)
    return Impact(len(units), total, tuple(counted), tuple(changes))


def _touched(was: View, now: View) -> dict[str, set[str]]:
    touched = {
        key: {label for label, fate in fates.items() if now.fates[key][label] != fate}
        for key, fates in was.fates.items()
    }
    return {key: labels for key, labels in touched.items() if labels}


def _count(frozen: FrozenRound, touched: Mapping[str, set[str]]) -> tuple[set[str], int]:
    refs, annotations = set(), 0
    for unit in frozen.units:
        for handed in unit.kept:
            hit = sum(bool(said.labels & touched.get(key, set())) for key, said in handed.answers.items())
            annotations += hit
            refs |= {unit.ref} if hit else set()
    return refs, annotations


def _agreement(
    coding_round: Round, was: View, now: View, touched: Mapping[str, set[str]]
) -> Iterator[AgreementChange]:
    if coding_round.study.consensus:
        return
    before, after = _pairs(coding_round, was), _pairs(coding_round, now)
    own = {each.key: each.name for each in round_dimensions(coding_round)}
    several = len({coders for _, coders in (*before, *after)}) > 1
    called = _names(coding_round) if several else {}
    for at in dict.fromkeys((*before, *after)):
        key, coders = at
        if key not in touched:
            continue
        yield AgreementChange(
            round=coding_round.number,
            dimension=key,
            name=own[key],
            coders=CODER.sub(lambda found: called[int(found[1])], ", ".join(coders)) if several else "",
            before=_headline(before.get(at)),
            after=_headline(after.get(at)),
        )


def _pairs(coding_round: Round, view: View) -> dict[tuple[str, tuple[str, ...]], DimensionData]:
    frozen = frozen_round(coding_round, names=view.names, dimensions=view.dimensions)
    return {(each.key, each.coders): each for each in frozen_pairs(frozen)}


def _headline(data: DimensionData | None) -> Headline | None:
    """The value alone: an interval takes ten thousand draws, and a preview is asked for often."""
    if data is None:
        return None
    report = summarise(replace(data, draws=0))
    statistic = report.statistics.get(report.headline or "")
    value = statistic.value if statistic is not None else None
    undefined = (statistic.undefined if statistic is not None else report.undefined) or ""
    return Headline(report.headline or "", value, report.n_both, undefined)


def _names(coding_round: Round) -> dict[int, str]:
    members: Sequence[Membership] = list(coding_round.study.memberships.select_related("user"))
    return {each.number: each.pseudonym if coding_round.anonymous else each.name for each in members}


def impact_data(impact: Impact) -> dict[str, Any]:
    """The impact in the shape of the API."""
    return {
        "units": impact.units,
        "annotations": impact.annotations,
        "rounds": [
            {"round": each.round, "units": each.units, "annotations": each.annotations}
            for each in impact.rounds
        ],
        "agreement": [
            {
                "round": each.round,
                "dimension": each.dimension,
                "coders": each.coders,
                "before": _headline_data(each.before),
                "after": _headline_data(each.after),
            }
            for each in impact.agreement
        ],
    }


def _headline_data(headline: Headline | None) -> dict[str, Any] | None:
    if headline is None:
        return None
    return {
        "statistic": headline.statistic,
        "value": headline.value,
        "n_both": headline.n_both,
        "undefined": headline.undefined,
    }
