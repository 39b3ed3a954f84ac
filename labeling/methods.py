"""``methods.md``: the paragraphs of a paper on how a study was done, from its facts. Pure.

Every number carries a note that names the file and column, or the event, where it can be found again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

MASKED = {
    "author": "the author",
    "fix": "the fix",
    "github_labels": "the GitHub labels",
    "maintainer_comments": "the comments of maintainers",
    "repository": "the repository",
    "state": "whether an issue is open or closed",
}
ACTS = {
    "rename": "renamed",
    "move": "moved",
    "merge": "merged",
    "split": "split",
    "archive": "archived",
    "reject": "rejected",
}
DECIDED = {
    "together": "Disagreements were for the coders to settle together.",
    "adjudicator": "Disagreements were for an adjudicator to decide.",
    "lead": "Disagreements were for a lead of the study to decide.",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the funnel, as ``funnel.csv`` has it."""

    kind: str
    text: str
    left: int
    removed: int


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """``opened``: days of the first and the last eligible issue; ``sources``: where issues came from."""

    sources: Sequence[str]
    repositories: Sequence[str]
    funnel: Sequence[Step]
    opened: tuple[date, date] | None
    redacted: int


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """``statement`` counts what was added later with the rest; ``added`` says so, empty where nothing was."""

    number: int
    statement: str
    added: str
    replaced: int


@dataclass(frozen=True, slots=True)
class CodebookFacts:
    """A frozen version; ``acts`` says how many categories were merged, split and so on to make it."""

    version: int
    frozen_on: date
    dimensions: Sequence[str]
    categories: int
    acts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CoderFacts:
    name: str
    experience: str = ""
    training: str = ""


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """In how many of the answers to one question a training's coders said what was known."""

    name: str
    matched: int
    of: int


@dataclass(frozen=True, slots=True)
class CountingChange:
    """A lead let a round count, or no longer; ``counts`` is None where the record does not say which."""

    on: date
    counts: bool | None
    after_close: bool


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """A closed round; ``counting_changed`` tells when a lead changed whether it counts."""

    number: int
    kind: str
    version: int
    units: int
    coders: Sequence[str]
    overlap_units: int
    opened_on: date | None
    closed_on: date
    masked: Sequence[str]
    is_staged: bool
    counts: bool
    counts_by_kind: bool
    counting_changed: Sequence[CountingChange]
    after_unblinding: bool
    goal: float | None
    agreement: str
    settled: str
    decide: str
    by_group: bool = False
    known: Sequence[KnownFacts] = ()
    missing: int = 0


@dataclass(frozen=True, slots=True)
class MethodsFacts:
    """Everything the text says. ``open_rounds`` are numbers of rounds of which nothing is told yet."""

    zone: str
    consensus: bool
    corpus: CorpusFacts
    samples: Sequence[SampleFacts]
    codebooks: Sequence[CodebookFacts]
    coders: Sequence[CoderFacts]
    rounds: Sequence[RoundFacts]
    open_rounds: Sequence[int]
    software: str


class Notes:
    """Notes in the order in which they are first called; the same source has one note."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, source: str) -> str:
        return f"[^{self._numbers.setdefault(source, len(self._numbers) + 1)}]"

    def lines(self) -> Iterator[str]:
        for source, number in self._numbers.items():
            yield f"[^{number}]: {source}"


def methods_text(facts: MethodsFacts) -> str:
    """Write the paragraphs and their notes, in Markdown."""
    note = Notes()
    paragraphs = [
        _corpus(facts.corpus, note),
        _samples(facts.samples, note),
        _codebook(facts.codebooks, note),
        _coders(facts, note),
        *(_round(each, note) for each in facts.rounds),
        _rest(facts, note),
    ]
    text = "\n\n".join(" ".join(each) for each in map(list, paragraphs) if each)
    return f"# How the study was done\n\n{text}\n\n" + "\n".join(note.lines()) + "\n"


def _corpus(corpus: CorpusFacts, note: Notes) -> Iterator[str]:
    steps = {each.kind: each for each in corpus.funnel}
    stored = steps.get("stored")
    if stored is None or not stored.left:
        return
    came = f" from {listed(corpus.sources)}" if corpus.sources else ""
    found = steps.get("total")
    whole = f" of {found.left:,}" if found is not None and found.left != stored.left else ""
    source = "`funnel.csv`, column `left` of the steps total and stored"
    yield f"We collected {stored.left:,}{whole} issues{came}{note(source)}."
    if corpus.repositories:
        count, names = len(corpus.repositories), listed([f"`{each}`" for each in corpus.repositories[:12]])
        told = names if count <= 12 else f"{count:,} repositories"
        yield f"They are of {told}{note('`frame.csv`, column `key`')}."
    removed = [
        each for each in corpus.funnel if each.kind in ("rule", "override", "duplicate") and each.removed
    ]
    if removed:
        parts = [_left_out(each) for each in removed]
        yield f"We left out, in this order: {'; '.join(parts)}{note('`funnel.csv`, column `removed`')}."
    eligible = steps.get("eligible")
    if eligible is not None:
        count, step = eligible.left, note("`funnel.csv`, step eligible")
        yield f"{count:,} issue{_s(count)} {_were(count)} eligible{step}{_opened(corpus)}."
    if corpus.redacted:
        yield (
            f"The texts of {corpus.redacted:,} issue{_s(corpus.redacted)} were redacted"
            f"{note('events `issue.redacted`')}."
        )


def _left_out(step: Step) -> str:
    """A rule says what is kept; a hand or a duplicate says what happened."""
    if step.kind == "rule":
        return f"{step.removed:,} by the rule “{step.text}”"
    count = f"{step.removed:,}" if step.removed > 0 else f"{-step.removed:,} brought back"
    return f"{step.text} ({count})"


def _opened(corpus: CorpusFacts) -> str:
    if corpus.opened is None:
        return ""
    first, last = corpus.opened
    return f", opened from {first.isoformat()} to {last.isoformat()}"


def _samples(samples: Sequence[SampleFacts], note: Notes) -> Iterator[str]:
    for each in samples:
        source = f"`frame.csv` and `sample.csv`, sample {each.number}; the draw can be repeated from them"
        yield f"{each.statement.removesuffix('.')}{note(source)}."
        if each.added:
            drawn = note(f"`sample.csv`, sample {each.number}, column `drawn` top_up")
            yield f"{each.added.removesuffix('.')}{drawn}."
        if each.replaced:
            drawn = note(f"`sample.csv`, sample {each.number}, column `replaced_by`")
            units = f"{each.replaced:,} unit{_s(each.replaced)} {_were(each.replaced)}"
            yield f"{units} replaced by the next of the same stratum{drawn}."


def _codebook(versions: Sequence[CodebookFacts], note: Notes) -> Iterator[str]:
    if not versions:
        return
    newest = versions[-1]
    source = f"`codebook.csv`, version {newest.version}"
    yield (
        f"The codebook has {len(newest.dimensions)} dimension{_s(len(newest.dimensions))} "
        f"({listed(newest.dimensions)}) with {newest.categories:,} categories{note(source)}."
    )
    if len(versions) > 1:
        days = listed([f"version {each.version} on {each.frozen_on.isoformat()}" for each in versions])
        yield f"It was frozen {len(versions)} times: {days}{note('`codebook.csv`, column `frozen_at`')}."
    for each in versions:
        if each.acts:
            acts = listed(
                [
                    f"{count} {'category was' if count == 1 else 'categories were'} {ACTS[act]}"
                    for act, count in each.acts.items()
                ]
            )
            rows = note(f"`mappings.csv`, to_version {each.version}, column `act`")
            yield f"For version {each.version} {acts}{rows}."


def _coders(facts: MethodsFacts, note: Notes) -> Iterator[str]:
    if not facts.coders:
        return
    names = [each.name for each in facts.coders]
    column = note("`annotations.csv`, column `coder`")
    yield f"{_number(len(names))} coder{_s(len(names))} took part ({listed(names)}){column}."
    for each in facts.coders:
        parts = [f"experience: {each.experience}"] if each.experience else []
        parts += [f"training: {each.training}"] if each.training else []
        if parts:
            told = "; ".join(" ".join(part.split()).rstrip(".") for part in parts)
            yield f"{each.name}: {told}{note('members of the study')}."
    if facts.consensus:
        yield (
            "They coded as a group that agreed on each answer; there are no independent answers, so no "
            "coefficient of agreement is given."
        )


def _round(coding_round: RoundFacts, note: Notes) -> Iterator[str]:
    number = coding_round.number
    yield from _coded(coding_round, note)
    if coding_round.masked:
        hidden = listed([MASKED.get(each, each) for each in coding_round.masked])
        setting = note(f"settings of Round {number}: masked fields")
        yield f"The coders did not see {hidden} (fields hidden, texts unchanged){setting}."
    if coding_round.is_staged:
        yield (
            "Material was revealed in stages: what a later question shows was hidden until the earlier ones "
            f"were locked{note(f'settings of Round {number}: stages')}."
        )
    if coding_round.after_unblinding:
        mark = note(f"`annotations.csv`, round {number}, column `recoded_after_unblinding`")
        yield f"A coder could read earlier answers on these units, so this coding is not independent{mark}."
    if coding_round.known:
        yield _known(coding_round, note)
    if coding_round.agreement:
        yield f"{coding_round.agreement}{note(f'`agreement.csv`, round {number}')}"
    if coding_round.goal is not None:
        yield f"The goal set before was {coding_round.goal:.2f}{note(f'settings of Round {number}: goal')}."
    if coding_round.settled:
        rows = note(f"`labels.csv` of all rounds, round {number}, columns `status` and `how`")
        yield f"{DECIDED[coding_round.decide]} {coding_round.settled}{rows}"
    yield from _counting(coding_round, note)


def _coded(coding_round: RoundFacts, note: Notes) -> Iterator[str]:
    number, count = coding_round.number, len(coding_round.coders)
    days = note(f"events `round.opened` and `round.closed` of round {number}")
    rows = note(f"`annotations.csv`, round {number}")
    period = f"closed on {coding_round.closed_on.isoformat()}"
    if coding_round.opened_on is not None:
        period = f"{coding_round.opened_on.isoformat()} to {coding_round.closed_on.isoformat()}"
    noun = "group" if coding_round.by_group else "coder"
    coders = f"{_number(count).lower()} {noun}{_s(count)}"
    units = f"{coding_round.units:,} unit{_s(coding_round.units)}"
    yield f"**Round {number}** ({coding_round.kind}, {period}{days}):"
    yield f"{coders} coded {units} with version {coding_round.version} of the codebook{rows}."
    if count > 1 and coding_round.overlap_units < coding_round.units:
        several = coding_round.overlap_units
        told = f"{several:,} of the units {_were(several)} coded by several coders, the others by one"
        yield f"{told if several else 'No unit was coded by two coders'}{rows}."
    if coding_round.missing:
        left, were = coding_round.missing, _were(coding_round.missing)
        yield f"{left:,} coding{_s(left)} that {were} asked for {were} missing at the close{rows}."


def _known(coding_round: RoundFacts, note: Notes) -> str:
    matched, of = (sum(getattr(each, name) for each in coding_round.known) for name in ("matched", "of"))
    parts = listed([f"{each.name} {each.matched:,} of {each.of:,}" for each in coding_round.known])
    source = note(f"`annotations.csv`, round {coding_round.number}, column `coder`: coders and Known answers")
    return (
        f"{matched:,} of their {of:,} answers matched the known ones "
        f"({100 * matched / of:.2f}%; {parts}){source}."
    )


def _counting(coding_round: RoundFacts, note: Notes) -> Iterator[str]:
    if not coding_round.counting_changed and coding_round.counts == coding_round.counts_by_kind:
        return
    change = note(f"event `round.changed` of round {coding_round.number}, field `counts_in_results`")
    if coding_round.counts != coding_round.counts_by_kind:
        verb = "counts" if coding_round.counts else "does not count"
        yield f"By decision of a lead this {coding_round.kind} round {verb} in the results{change}."
    if coding_round.counting_changed:
        days = listed([_counting_change(each) for each in coding_round.counting_changed])
        yield f"Whether the round counts in the results was changed on {days}{change}."


def _counting_change(change: CountingChange) -> str:
    told = f"{change.on.isoformat()}{' after the round was closed' if change.after_close else ''}"
    if change.counts is None:
        return told
    return f"{told} ({'from no to yes' if change.counts else 'from yes to no'})"


def _rest(facts: MethodsFacts, note: Notes) -> Iterator[str]:
    if facts.open_rounds:
        rounds, count = listed([str(each) for each in facts.open_rounds]), len(facts.open_rounds)
        yield f"Round{_s(count)} {rounds} {_were(count, 'is', 'are')} not closed yet and not told of here."
    if facts.rounds:
        yield f"Numbers were computed with {facts.software}{note('`agreement.csv`, column `software`')}."
    yield f"Days are those of the time zone {facts.zone}."


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _were(count: int, one: str = "was", several: str = "were") -> str:
    return one if count == 1 else several


NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
