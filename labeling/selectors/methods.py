"""The facts of ``methods.md``: what is settled for the reader, of closed rounds only."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Max, Min

from labeling.methods import (
    CodebookFacts,
    CoderFacts,
    CorpusFacts,
    CountingChange,
    KnownFacts,
    MethodsFacts,
    RoundFacts,
    SampleFacts,
    Step,
)
from labeling.models import (
    CategoryMapping,
    Dimension,
    Event,
    Membership,
    Round,
    Study,
)
from labeling.paper import PaperFacts, paper_sentence, retest_sentence
from labeling.selectors.agreement import ELIGIBILITY, coder_token
from labeling.selectors.agreement_sections import retest_gaps
from labeling.selectors.codebook_impact import closed_rounds
from labeling.selectors.frozen import FrozenUnit, frozen_round, round_dimensions
from labeling.selectors.known_answers import matches_in
from labeling.selectors.settled import settled_shares
from labeling.services.agreement import report_of, software_version
from labeling.services.corpus import funnel
from labeling.services.samples import sentences

ACTS = ("merge", "split", "rename", "move", "archive")


def methods_facts(study: Study, *, pseudonyms: bool = False) -> MethodsFacts:
    """Collect them; totals only, which no sealing hides."""
    zone = ZoneInfo(study.zone)
    rounds = closed_rounds(study)
    read = [_Read(each, pseudonyms) for each in rounds]
    running = study.rounds.filter(state=Round.State.OPEN, discarded_at__isnull=True)
    people = {coder.pk: coder for each in read for coder in each.people}
    return MethodsFacts(
        zone=study.zone,
        consensus=study.consensus,
        corpus=_corpus(study, zone),
        samples=list(_samples(study)),
        codebooks=list(_codebooks(study, zone)),
        coders=[
            CoderFacts(_name(each, pseudonyms), each.experience, each.training)
            for each in sorted(people.values(), key=lambda each: each.number)
        ],
        rounds=[_round(each, zone) for each in read],
        open_rounds=list(running.order_by("number").values_list("number", flat=True)),
        software=software_version(),
    )


class _Read:
    """A closed round with who coded what in it."""

    def __init__(self, coding_round: Round, pseudonyms: bool) -> None:
        frozen = frozen_round(coding_round)
        # Known answers are handed in too, and by nobody who coded.
        known = {each.pk for each in frozen.coders if each.kind == Membership.Kind.REFERENCE}
        self.coding_round, self.frozen = coding_round, frozen
        self.units = [unit for unit in frozen.units if any(each.coder not in known for each in unit.handed)]
        self.said = {handed.coder for unit in self.units for handed in unit.handed} - known
        self.coders = [each for each in frozen.coders if each.pk in self.said]
        self.names = [_name(each, pseudonyms) for each in self.coders]

    def codings(self, unit: FrozenUnit) -> int:
        """How many coders handed a unit in."""
        return sum(handed.coder in self.said for handed in unit.handed)

    @property
    def missing(self) -> int:
        """How many answers for a unit were asked for and never handed in."""
        return sum(len(unit.coders) - len(unit.handed) for unit in self.frozen.units)

    @property
    def people(self) -> Iterator[Membership]:
        """Who coded, of a group those who are in it."""
        for coder in self.coders:
            if coder.kind == Membership.Kind.GROUP:
                yield from coder.people.select_related("user")
            else:
                yield coder


def _name(member: Membership, pseudonyms: bool) -> str:
    return member.pseudonym if pseudonyms else member.name


def _day(at: datetime, zone: ZoneInfo) -> date:
    return at.astimezone(zone).date()


def _corpus(study: Study, zone: ZoneInfo) -> CorpusFacts:
    eligible = study.issues.filter(eligible=True)
    opened = eligible.aggregate(first=Min("latest__opened_at"), last=Max("latest__opened_at"))
    names = study.issues.exclude(repository="").order_by("repository").values_list("repository", flat=True)
    return CorpusFacts(
        sources=list(dict.fromkeys(_sources(study))),
        repositories=list(names.distinct()),
        funnel=[Step(each.kind, each.text, each.count, each.removed) for each in funnel(study)],
        opened=(_day(opened["first"], zone), _day(opened["last"], zone)) if opened["first"] else None,
        redacted=study.issues.filter(redacted_at__isnull=False).count(),
    )


def _sources(study: Study) -> Iterator[str]:
    """What was asked of the sources, in words."""
    for run in study.import_runs.order_by("pk"):
        if run.source != "github":
            yield "uploaded files"
            continue
        yield f"GitHub{_asked(run.query)}"


def _asked(query: Mapping[str, Any]) -> str:
    parts = []
    if query.get("search"):
        parts.append(f"search `{query['search']}`")
    if query.get("state") in ("open", "closed"):
        parts.append(f"{query['state']} ones only")
    created = query.get("created") or {}
    parts += [
        f"{word} {created[end]}"
        for end, word in (("from", "opened from"), ("to", "opened up to"))
        if created.get(end)
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _samples(study: Study) -> Iterator[SampleFacts]:
    """The samples that were coded, numbered as ``sample.csv`` numbers them."""
    coded = set(
        study.rounds.filter(state__in=Round.UNBLINDED, discarded_at__isnull=True).values_list(
            "sample", flat=True
        )
    )
    for number, sample in enumerate(study.samples.defer("frame").order_by("pk"), start=1):
        if sample.pk in coded:
            replaced = sample.sample_units.filter(replaced_by__isnull=False).count()
            yield SampleFacts(number, *sentences(sample), replaced)


def _codebooks(study: Study, zone: ZoneInfo) -> Iterator[CodebookFacts]:
    versions = study.codebooks.filter(frozen_at__isnull=False).order_by("version")
    for codebook in versions.prefetch_related("dimensions__categories"):
        dimensions = list(codebook.dimensions.all())
        rows = CategoryMapping.objects.filter(to_codebook=codebook).values_list("act", flat=True)
        acts = list(rows)
        if codebook.frozen_at is not None:
            yield CodebookFacts(
                version=codebook.version,
                frozen_on=_day(codebook.frozen_at, zone),
                dimensions=[each.name for each in dimensions],
                categories=sum(_choosable(each) for each in dimensions),
                acts={act: acts.count(act) for act in ACTS if act in acts},
            )


def _choosable(dimension: Dimension) -> int:
    """How many categories can be an answer: neither headings nor what is archived."""
    categories = list(dimension.categories.all())
    headings = set() if dimension.parents_selectable else {each.parent_id for each in categories}
    return sum(each.pk not in headings and not each.archived for each in categories)


def _round(read: _Read, zone: ZoneInfo) -> RoundFacts:
    coding_round = read.coding_round
    assert coding_round.codebook is not None and coding_round.closed_at is not None  # noqa: S101, PT018 - closed
    is_retest, is_training = (coding_round.kind == kind for kind in (Round.Kind.RETEST, Round.Kind.TRAINING))
    return RoundFacts(
        number=coding_round.number,
        kind=coding_round.get_kind_display().lower(),
        version=coding_round.codebook.version,
        units=len(read.units),
        coders=read.names,
        by_group=any(each.kind == Membership.Kind.GROUP for each in read.coders),
        overlap_units=sum(read.codings(unit) > 1 for unit in read.units),
        missing=read.missing,
        opened_on=_day(coding_round.opened_at, zone) if coding_round.opened_at else None,
        closed_on=_day(coding_round.closed_at, zone),
        masked=coding_round.masked_fields,
        is_staged=bool(coding_round.stages),
        counts=coding_round.counts_in_results,
        counts_by_kind=coding_round.kind in Round.IN_RESULTS,
        counting_changed=list(_counting_changes(coding_round, zone)),
        after_unblinding=coding_round.after_unblinding,
        goal=coding_round.goal,
        agreement=_retest(read) if is_retest else _agreement(coding_round),
        # Of known answers and of one's own ones nothing is settled that would count.
        settled="" if is_retest or is_training else settled_shares(coding_round).sentence,
        decide=coding_round.decide,
        known=[KnownFacts(each.name, each.matched, each.of) for each in matches_in(read.frozen)],
    )


def _agreement(coding_round: Round) -> str:
    """Of rounds that compare coders with each other."""
    told = (Round.Kind.PILOT, Round.Kind.MAIN, Round.Kind.RECODE, Round.Kind.IMPORTED)
    if coding_round.study.consensus or coding_round.kind not in told:
        return ""
    return paper_sentence(_paper_facts(coding_round, report_of(coding_round).payload)).text


def _retest(read: "_Read") -> str:
    """What each coder of a retest had in common with themself."""
    coding_round, earlier = read.coding_round, read.coding_round.based_on
    if coding_round.study.consensus or earlier is None:
        return ""
    payload = report_of(coding_round).payload
    days = {each.coder: each.middle for each in retest_gaps(coding_round)}
    sentences = []
    for coder, name in zip(read.coders, read.names, strict=True):
        before = f"{coder_token(coder)} in round {earlier.number}"
        own = [row for row in payload["dimensions"] if row["coders"][0] == before]
        told = payload | {"dimensions": [row for row in own if row["key"] != ELIGIBILITY]}
        gap = days.get(coder.pseudonym if coding_round.anonymous else coder.name)
        if gap is not None:
            sentences.append(retest_sentence(_paper_facts(coding_round, told), name, gap))
    return " ".join(sentences)


def _paper_facts(coding_round: Round, payload: Mapping[str, Any]) -> PaperFacts:
    return PaperFacts(
        payload=payload,
        names={each.key: each.name for each in round_dimensions(coding_round)},
        coders=len({coder for row in payload["dimensions"] for coder in row["coders"]}),
        states_count=coding_round.study.count_states == Study.CountStates.CATEGORY,
        # How disagreements were settled is told with its shares.
        disagreed=0,
        undecided=0,
        settled_by=frozenset(),
        after_unblinding=coding_round.after_unblinding,
    )


def _counting_changes(coding_round: Round, zone: ZoneInfo) -> Iterable[CountingChange]:
    closed_at = coding_round.closed_at
    for event in Event.objects.filter(round=coding_round, verb="round.changed").order_by("at"):
        if "counts_in_results" in event.data.get("fields", ()):
            counts = event.data.get("after", {}).get("counts_in_results")
            yield CountingChange(
                _day(event.at, zone), counts, closed_at is not None and event.at >= closed_at
            )
