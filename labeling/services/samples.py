"""Drawing a sample from the corpus, pinning what its units show, and carrying the draw on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from labeling import sampling
from labeling.errors import InvalidInputError, SampleError
from labeling.frames import pack_frame, unpack_frame
from labeling.models import (
    UNIT,
    Assignment,
    Decision,
    Issue,
    Job,
    Membership,
    Round,
    RoundUnit,
    Sample,
    SampleUnit,
    Study,
    Unit,
)
from labeling.selectors.draws import sampled_units
from labeling.services import jobs
from labeling.services.events import record
from labeling.services.rendering import render_documents
from labeling.services.strata import read_strata, strata_problem, stratum_of

# So many are rendered while the lead waits; more is work for a worker.
RENDERED_AT_ONCE = 500
#: Unknown issues of a list that are named.
MOST_NAMED = 10

FILTERS = {
    "repository",
    "kind",
    "state",
    "github_label",
    "search",
    "has_fix",
    "created_after",
    "created_before",
}


def draw(**asked: Any) -> Sample:
    """Draw what ``draw_or_find`` is asked for, whether or not it was drawn before."""
    return draw_or_find(**asked)[0]


def draw_or_find(
    *,
    study: Study,
    method: str,
    by: Membership,
    seed: int,
    size: int | None = None,
    confidence: float | None = None,
    margin: float | None = None,
    proportion: float | None = None,
    strata: str = "",
    allocation: Mapping[str, Any] | None = None,
    pilot: int = 0,
    issues: Sequence[str | int] | None = None,
    filters: Mapping[str, Any] | None = None,
) -> tuple[Sample, bool]:
    """Draw from what is eligible now, and say whether it was drawn just now.

    The frame is kept, so that the draw can be repeated later. A draw that was made before and that no round
    uses yet is given back instead of a twin.

    ``proportion`` is the one expected, 0.5 where nothing is known. ``pilot`` more units, the next ranks of
    each stratum, are drawn for pilots alone and do not count in the size. The sample is frozen at once
    unless something is left to fetch: then a job prepares it.
    """
    _refuse_invalid(method, size, margin, strata, allocation or {}, issues)
    _refuse_wrong_pilot(method, pilot)
    refuse_wrong_shares(confidence, margin, proportion)
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        eligible = _eligible(study, filters or {}, issues if method == Sample.Method.LIST else None)
        frame = {issue.key: stratum_of((issue, issue.latest), strata) for issue in eligible}
        sizes = _sizes(frame, method, size, confidence, margin, allocation or {}, proportion)
        drawn, for_pilot = _drawn(frame, sizes, pilot, seed)
        same: dict[str, Any] = {
            "method": method,
            "size": sum(sizes.values()),
            "confidence": confidence,
            "margin": margin,
            "proportion": proportion,
            "pilot": pilot,
            "strata": strata,
            "allocation": dict(allocation or {}),
            "seed": seed,
            "filters": dict(filters or {}),
            "frame_hash": sampling.frame_hash(frame),
        }
        if (twin := _unused_twin(study, same)) is not None:
            return twin, False
        sample = _new_sample(study, frame, same)
        by_key = {issue.key: issue for issue in eligible}
        _add_units(sample, drawn, by_key, SampleUnit.Drawn.DRAW)
        _add_units(sample, for_pilot, by_key, SampleUnit.Drawn.PILOT)
        record(study=study, verb="sample.drawn", by=by, object=f"sample:{sample.pk}", size=sample.size)
    return _prepare(sample, by), True


def _new_sample(study: Study, frame: Mapping[str, str], same: Mapping[str, Any]) -> Sample:
    return Sample.objects.create(
        study=study,
        rules_version=study.corpus_rules.aggregate(newest=Max("version"))["newest"] or 0,
        frame=pack_frame(frame),
        frame_size=len(frame),
        **same,
    )


def _unused_twin(study: Study, same: Mapping[str, Any]) -> Sample | None:
    """The newest sample that says the same of itself, as it was drawn, while no round uses it."""
    changed = Q(drawn=SampleUnit.Drawn.TOP_UP) | Q(replaced_by__isnull=False)
    rows = study.samples.filter(frame_hash=same["frame_hash"], seed=same["seed"], rounds__isnull=True)
    rows = rows.exclude(Exists(SampleUnit.objects.filter(changed, sample=OuterRef("pk"))))
    for each in rows.order_by("-pk"):
        if all(getattr(each, name) == value for name, value in same.items()):
            return each
    return None


def pin_sample(*, sample: Sample, by: Membership | None = None) -> Sample:
    """Render and pin what the issues say now, then freeze the sample. A second call changes nothing.

    A pin moves only while no coder opened the unit: nobody may code another text than the others.
    """
    units = list(_movable_units(sample))
    for unit in units:
        if unit.issue.latest is not None:
            render_documents(unit.issue.latest)
    with transaction.atomic():
        locked = Sample.objects.select_for_update().get(pk=sample.pk)
        still_movable = set(_movable_units(locked).values_list("pk", flat=True))
        for unit in units:
            unit.snapshot = unit.issue.latest
        Unit.objects.bulk_update([unit for unit in units if unit.pk in still_movable], ["snapshot"], 200)
        if locked.state != Sample.State.FROZEN:
            locked.state, locked.frozen_at = Sample.State.FROZEN, timezone.now()
            locked.prepared = locked.sample_units.count()
            locked.save(update_fields=["state", "frozen_at", "prepared"])
            record(study=locked.study, verb="sample.frozen", by=by, object=f"sample:{locked.pk}")
    return locked


def top_up(*, sample: Sample, size: int, by: Membership) -> Sample:
    """Draw ``size`` more: the next ranks of each stratum, shared out as a draw of the new total would be."""
    if size < 1:
        raise InvalidInputError({"size": ["Give the number of issues to add, 1 or more."]})
    with transaction.atomic():
        locked = Sample.objects.select_for_update().get(pk=sample.pk)
        frame, taken, have = unpack_frame(locked.frame), _taken(locked), _drawn_from(locked)
        left = left_to_add(locked)
        if size > left.total():
            raise SampleError(f"{left.total()} issues of this draw are left. Add at most those.")
        weights = _weights(Counter(frame.values()), locked.allocation)
        sizes = sampling.allocate_top_up(weights, have + left, have, size)
        drawn = {
            stratum: sampling.next_ranks(frame, stratum, taken, sizes[stratum] - have[stratum], locked.seed)
            for stratum in sorted(left)
        }
        _carry_on(locked, drawn, SampleUnit.Drawn.TOP_UP)
        locked.size += size
        locked.save(update_fields=["size"])
        record(study=locked.study, verb="sample.topped_up", by=by, object=f"sample:{locked.pk}", size=size)
    return _prepare(locked, by)


def left_to_add(sample: Sample) -> Counter[str]:
    """How many issues a top-up can take from each stratum: never drawn, and the stratum has a weight."""
    frame, taken = unpack_frame(sample.frame), _taken(sample)
    weights = _weights(Counter(frame.values()), sample.allocation)
    return Counter(stratum for key, stratum in frame.items() if key not in taken and weights[stratum])


def replace(*, sample: Sample, unit: Unit, reason: str, by: Membership) -> Sample:
    """Put the next rank of the same stratum in the place of a unit, also in rounds not yet opened."""
    if not reason.strip():
        raise InvalidInputError({"reason": ["Say why the unit is replaced."]})
    with transaction.atomic():
        locked = Sample.objects.select_for_update().get(pk=sample.pk)
        old = locked.sample_units.filter(unit=unit).first()
        if old is None or old.replaced_by_id is not None:
            raise SampleError(f"{unit.ref} is not in this sample, or was replaced before.")
        _refuse_dealt(unit)
        ranked = _next_rank(locked, old.stratum)
        # What replaces a unit of the pilot is one too.
        is_pilot = old.drawn == SampleUnit.Drawn.PILOT
        how = SampleUnit.Drawn.PILOT if is_pilot else SampleUnit.Drawn.REPLACEMENT
        (new,) = _carry_on(locked, {old.stratum: ranked}, how)
        old.replaced_by, old.reason = new, reason.strip()
        old.save(update_fields=["replaced_by", "reason"])
        drafts = RoundUnit.objects.filter(unit=unit, round__sample=locked, round__state=Round.State.DRAFT)
        drafts.update(unit=new)
        record(study=locked.study, verb="sample.replaced", by=by, object=f"unit:{unit.ref}")
    return _prepare(locked, by)


def strata_table(sample: Sample) -> list[dict[str, Any]]:
    """How many issues each stratum had and how many of them are in the sample."""
    available, drawn = Counter(unpack_frame(sample.frame).values()), _drawn_from(sample)
    return [
        {"stratum": stratum, "eligible": available[stratum], "drawn": drawn[stratum]}
        for stratum in sorted(available)
    ]


#: How the size was shared out over the strata, in words.
SHARED_OUT = {
    "proportional": "in proportion to their size",
    "equal": "in equal parts",
    "given": "by numbers set beforehand",
}


def statement(sample: Sample) -> str:
    """Say for the paper how the sample was drawn, and what was added to it later."""
    return " ".join(filter(None, sentences(sample)))


def sentences(sample: Sample) -> tuple[str, str]:
    """Say how the sample was drawn, with what was added later in its size; and what that was, if anything."""
    added = sample.sample_units.filter(drawn=SampleUnit.Drawn.TOP_UP).count()
    is_as_at_once = not added or _is_as_drawn_at_once(sample)
    told = _added_sentence(sample, added, is_as_at_once=is_as_at_once) if added else ""
    return _drawn_sentence(sample, added, is_as_at_once=is_as_at_once), told


def _added_sentence(sample: Sample, added: int, *, is_as_at_once: bool) -> str:
    were = "was" if added == 1 else "were"
    if is_as_at_once:
        return f"Of these, {added:,} {were} added later."
    first = f"{sample.size - added:,} were shared out over the strata {_shared_out(sample)}"
    return f"Of these, {first} and {added:,} {were} added later, each stratum keeping what it had."


def _is_as_drawn_at_once(sample: Sample) -> bool:
    """Whether the strata of a sample that was added to have what a draw of its whole size gives them."""
    if not sample.strata:
        return True
    available = Counter(unpack_frame(sample.frame).values())
    weights = _weights(available, sample.allocation)
    if sample.size > sum(count for stratum, count in available.items() if weights[stratum]):
        return False
    at_once = sampling.allocate_top_up(weights, available, {}, sample.size)
    return +Counter(at_once) == _drawn_from(sample)


def _shared_out(sample: Sample, *, added: int = 0) -> str:
    kind = sample.allocation.get("kind", "proportional")
    if kind == "given" and added:
        return "in proportion to numbers set beforehand"
    return SHARED_OUT[kind]


def is_proportional(strata: str, allocation: Mapping[str, Any]) -> bool:
    """Whether all strata are drawn from alike: only then one margin holds for the whole sample."""
    return not strata or allocation.get("kind", "proportional") == "proportional"


def _drawn_sentence(sample: Sample, added: int, *, is_as_at_once: bool) -> str:
    if sample.method == Sample.Method.LIST:
        named = "1 issue that was" if sample.size == 1 else f"{sample.size:,} issues that were"
        return f"We took {named} named one by one."
    kind = {
        Sample.Method.RANDOM: "a simple random sample of",
        Sample.Method.STRATIFIED: f"a random sample, stratified by {_strata_words(sample)}, of",
        Sample.Method.ALL: "all",
    }[Sample.Method(sample.method)]
    text = f"From {sample.frame_size:,} eligible issues we took {kind} {sample.size:,}"
    if sample.method in (Sample.Method.RANDOM, Sample.Method.STRATIFIED):
        if sample.strata and is_as_at_once:
            text += f", shared out over the strata {_shared_out(sample, added=added)}"
        text += f" (keyed hash, seed {sample.seed}"
        is_even = is_as_at_once and is_proportional(sample.strata, sample.allocation)
        if sample.frame_size and sample.size and is_even:
            expected = sample.proportion or 0.5
            margin = sampling.margin_of(sample.size, sample.frame_size, sample.confidence or 0.95, expected)
            text += f"; margin {margin:.1%} for one proportion over the whole sample"
            text += f" at {sample.confidence or 0.95:.0%} confidence"
            text += f", expected at {expected:.0%}" if sample.proportion else ""
        text += ")"
    text += f", and {sample.pilot:,} more for the pilot alone" if sample.pilot else ""
    return text + "."


def _strata_words(sample: Sample) -> str:
    return " and ".join(part.text for part in read_strata(sample.strata)) if sample.strata else ""


def _refuse_invalid(
    method: str,
    size: int | None,
    margin: float | None,
    strata: str,
    allocation: Mapping[str, Any],
    issues: Sequence[str | int] | None,
) -> None:
    errors: dict[str, list[str]] = {}
    drawn = method in (Sample.Method.RANDOM, Sample.Method.STRATIFIED)
    if method not in Sample.Method.values:
        errors["method"] = [f"Choose one of {', '.join(Sample.Method.values)}."]
    given = allocation.get("kind") == "given"
    takes_all = method in (Sample.Method.ALL, Sample.Method.LIST)
    if drawn and not given and (size is None) == (margin is None):
        errors["size"] = ["Give either a size, or a confidence and a margin."]
    for name, value in (("size", size), ("margin", margin)):
        if value is not None and (given or takes_all):
            told = "The numbers of the strata are the size" if given else f"The method {method} takes all"
            errors[name] = [f"{told}. Leave the {name} out."]
    if size is not None and size < 1:
        errors["size"] = ["Draw at least one issue."]
    errors |= _wrong_strata(method, strata)
    if given and method != Sample.Method.STRATIFIED:
        errors["allocation"] = ["Only a stratified sample has numbers of strata. Leave the allocation out."]
    if allocation.get("kind", "proportional") not in ("proportional", "equal", "given"):
        errors["allocation"] = ["Choose proportional, equal, or given with a size for each stratum."]
    if method == Sample.Method.LIST and not issues:
        errors["issues"] = ["Name the issues of the list."]
    if method != Sample.Method.LIST and issues:
        errors["issues"] = ["Only a list names its issues. Choose the method list, or leave them out."]
    if errors:
        raise InvalidInputError(errors)


def _wrong_strata(method: str, strata: str) -> dict[str, list[str]]:
    if method != Sample.Method.STRATIFIED:
        said = "Only a stratified sample has strata. Choose the method stratified, or leave them out."
        return {"strata": [said]} if strata else {}
    if not strata.strip():
        return {"strata": ["Say what the strata are made of: a field, for example repository."]}
    problem = strata_problem(strata)
    return {"strata": [problem]} if problem else {}


def _refuse_wrong_pilot(method: str, pilot: int) -> None:
    if pilot < 0 or (pilot and method not in (Sample.Method.RANDOM, Sample.Method.STRATIFIED)):
        raise InvalidInputError(
            {"pilot": ["Only a random draw has units left for a pilot alone. Give 0 or more of them."]}
        )


def refuse_wrong_shares(confidence: float | None, margin: float | None, proportion: float | None) -> None:
    """Raise InvalidInputError for shares that are none, 0 and 1 included, by field."""
    examples = {
        "confidence": (confidence, "for example 0.95"),
        "margin": (margin, "for example 0.05"),
        "proportion": (proportion, "or leave it out where nothing is expected"),
    }
    errors = {
        name: [f"Give a number between 0 and 1, {example}."]
        for name, (value, example) in examples.items()
        if value is not None and not 0 < value < 1
    }
    if errors:
        raise InvalidInputError(errors)


def _pilot_sizes(frame: Mapping[str, str], sizes: Mapping[str, int], pilot: int) -> dict[str, int]:
    """Share the units for the pilot out by what the sample leaves in each stratum."""
    if not pilot:
        return {}
    available = Counter(frame.values())
    left = {stratum: available[stratum] - sizes.get(stratum, 0) for stratum in available}
    try:
        return sampling.allocate_proportional(left, pilot)
    except ValueError as error:
        raise SampleError(
            f"The sample leaves {sum(left.values())} issues. Take at most those for the pilot alone."
        ) from error


def _eligible(study: Study, filters: Mapping[str, Any], issues: Sequence[str | int] | None) -> list[Issue]:
    rows = study.issues.filter(kind__in=study.unit_kinds).select_related("latest").order_by("key")
    if issues is not None:
        return _listed(rows, issues)
    rows = rows.filter(_filter(filters), eligible=True)
    if wanted := filters.get("github_label"):
        # Each database asks JSON for a member of a list in its own words; the frame is read in any case.
        return [issue for issue in rows if issue.latest and wanted in issue.latest.github_labels]
    return list(rows)


def _refuse_unknown(named: Sequence[str | int], found: Iterable[Issue]) -> None:
    known = {told for issue in found for told in (issue.pk, issue.key, issue.source_id)}
    missing = [
        str(each)
        for each in named
        if each not in known and not (isinstance(each, str) and _keys(each) & known)
    ]
    if missing:
        some = ", ".join(missing[:MOST_NAMED])
        rest = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        raise SampleError(
            f"{len(named)} issues were named, {len(named) - len(missing)} of them are in the corpus. "
            f"Not there: {some}{rest}. Import them first, or take them from the list."
        )


def _keys(name: str) -> set[str]:
    """Give the keys an issue has that is named by its address or its reference."""
    address = name.split("://", 1)[-1].lower().replace("/issues/", "#").replace("/pull/", "#")
    return {address, f"github.com/{name}".lower()}


def _listed(rows: "QuerySet[Issue]", issues: Sequence[str | int]) -> list[Issue]:
    ids = sorted({issue for issue in issues if isinstance(issue, int)})
    names = list(dict.fromkeys(issue.strip() for issue in issues if isinstance(issue, str)))
    keys = {key for name in names for key in _keys(name)}
    found = list(rows.filter(Q(pk__in=ids) | Q(key__in=keys) | Q(source_id__in=names)))
    _refuse_unknown([*ids, *names], found)
    if left_out := [issue.ref for issue in found if not issue.eligible]:
        raise SampleError(
            f"{len(left_out)} issues of the list are not eligible ({', '.join(left_out[:5])}). "
            "Make them eligible in the corpus, or take them from the list."
        )
    return found


def _filter(filters: Mapping[str, Any]) -> Q:
    if unknown := set(filters) - FILTERS:
        raise InvalidInputError(
            {"filters": [f"{name} is no filter of a sample." for name in sorted(unknown)]}
        )
    condition = Q()
    for name in ("repository", "kind"):
        if value := filters.get(name):
            condition &= Q((name, value))
    if state := filters.get("state"):
        condition &= Q(latest__state=state)
    if text := filters.get("search"):
        condition &= Q(latest__title__icontains=text)
    if (has_fix := filters.get("has_fix")) is not None:
        condition &= Q(latest__has_merged_fix=bool(has_fix))
    if after := filters.get("created_after"):
        condition &= Q(latest__opened_at__date__gte=_day("created_after", after))
    if before := filters.get("created_before"):
        condition &= Q(latest__opened_at__date__lte=_day("created_before", before))
    return condition


def _day(field: str, value: str | date) -> date:
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        day = parse_date(value)
    except ValueError:
        day = None
    if day is None:
        raise InvalidInputError({field: [f"{value} is no date. Write it as 2024-01-31."]})
    return day


def _sizes(
    frame: Mapping[str, str],
    method: str,
    size: int | None,
    confidence: float | None,
    margin: float | None,
    allocation: Mapping[str, Any],
    proportion: float | None,
) -> dict[str, int]:
    available = Counter(frame.values())
    if not available:
        raise SampleError("No eligible issue is left to draw from. Import issues or loosen the rules first.")
    if method in (Sample.Method.ALL, Sample.Method.LIST):
        return dict(available)
    try:
        return stratum_sizes(available, size, confidence, margin, allocation, proportion)
    except ValueError as error:
        raise SampleError(str(error)) from error


def stratum_sizes(
    available: Counter[str],
    size: int | None,
    confidence: float | None,
    margin: float | None,
    allocation: Mapping[str, Any],
    proportion: float | None = None,
) -> dict[str, int]:
    """How many to draw from each stratum, to plan a draw or to make it. Raises ValueError with a sentence."""
    if allocation.get("kind") == "given":
        return sampling.allocate_numbers(available, allocation.get("sizes", {}))
    if size is None:
        size = sampling.sample_size(available.total(), confidence or 0.95, margin or 0.05, proportion or 0.5)
    share_out = (
        sampling.allocate_equal if allocation.get("kind") == "equal" else sampling.allocate_proportional
    )
    return share_out(available, size)


def _weights(available: Mapping[str, int], allocation: Mapping[str, Any]) -> dict[str, int]:
    """Give what the strata are drawn from in proportion to."""
    if allocation.get("kind") == "given":
        return {stratum: allocation.get("sizes", {}).get(stratum, 0) for stratum in available}
    return dict.fromkeys(available, 1) if allocation.get("kind") == "equal" else dict(available)


Ranks = dict[str, list[sampling.Ranked]]


def _drawn(frame: Mapping[str, str], sizes: Mapping[str, int], pilot: int, seed: int) -> tuple[Ranks, Ranks]:
    """The first ranks of each stratum are the sample, the next ones are for the pilot alone."""
    more = Counter(sizes) + Counter(_pilot_sizes(frame, sizes, pilot))
    ranked = sampling.draw_stratified(frame, more, seed)
    return (
        {stratum: ranks[: sizes.get(stratum, 0)] for stratum, ranks in ranked.items()},
        {stratum: ranks[sizes.get(stratum, 0) :] for stratum, ranks in ranked.items()},
    )


def _drawn_from(sample: Sample) -> Counter[str]:
    return Counter(sampled_units(sample).values_list("stratum", flat=True))


def _taken(sample: Sample) -> set[str]:
    return set(sample.sample_units.values_list("unit__issue__key", flat=True))


def _next_rank(sample: Sample, stratum: str) -> list[sampling.Ranked]:
    try:
        return sampling.next_ranks(unpack_frame(sample.frame), stratum, _taken(sample), 1, sample.seed)
    except ValueError as error:
        raise SampleError(str(error)) from error


def _carry_on(
    sample: Sample, drawn: Mapping[str, Sequence[sampling.Ranked]], how: SampleUnit.Drawn
) -> list[Unit]:
    keys = [ranked.key for ranks in drawn.values() for ranked in ranks]
    issues = {issue.key: issue for issue in sample.study.issues.filter(key__in=keys).select_related("latest")}
    if gone := sorted(set(keys) - issues.keys()):
        raise SampleError(f"{gone[0]} is next in the draw, and is no longer in the corpus.")
    sample.state = Sample.State.PREPARING
    sample.save(update_fields=["state"])
    return _add_units(sample, drawn, issues, how)


def _add_units(
    sample: Sample,
    drawn: Mapping[str, Sequence[sampling.Ranked]],
    issues: Mapping[str, Issue],
    how: SampleUnit.Drawn,
) -> list[Unit]:
    units = _units_of(sample.study, [issues[ranked.key] for ranks in drawn.values() for ranked in ranks])
    SampleUnit.objects.bulk_create(
        (
            SampleUnit(
                sample=sample, unit=units[issues[ranked.key].pk], stratum=stratum, rank=ranked.rank, drawn=how
            )
            for stratum, ranks in drawn.items()
            for ranked in ranks
        ),
        batch_size=500,
    )
    return list(units.values())


def _units_of(study: Study, issues: Sequence[Issue]) -> dict[int, Unit]:
    """Return the whole of each issue as a unit, made where there is none yet."""
    units = {unit.issue_id: unit for unit in Unit.objects.filter(study=study, part=0, issue__in=issues)}
    refs = set(Unit.objects.filter(study=study).values_list("ref", flat=True))
    new = []
    for issue in issues:
        if issue.pk not in units:
            ref = next(ref for ref in _refs(issue) if ref not in refs)
            refs.add(ref)
            new.append(Unit(study=study, issue=issue, ref=ref))
    Unit.objects.bulk_create(new, batch_size=500)
    made = {unit.issue_id: unit for unit in new}
    return {issue.pk: units.get(issue.pk) or made[issue.pk] for issue in issues}


def _refs(issue: Issue) -> Iterable[str]:
    """Names of a unit, best first: a clash takes the host, or all of the key."""
    yield issue.ref
    if issue.key.startswith("file:"):
        yield issue.key[:17]
    yield issue.key


def _movable_units(sample: Sample) -> "QuerySet[Unit]":
    opened = Assignment.objects.filter(round_unit__unit=OuterRef("pk"), opened_at__isnull=False)
    return sample.units.filter(~Exists(opened)).select_related("issue__latest").order_by("pk")


def _refuse_dealt(unit: Unit) -> None:
    dealt = Assignment.objects.active().filter(round_unit__unit=unit, round_unit__round__discarded_at=None)
    excluded = Decision.objects.filter(dimension=UNIT, excluded=True).exclude(how="")
    dealt = dealt.exclude(round_unit__in=excluded.values("round_unit"))
    numbers = sorted(set(dealt.values_list("round_unit__round__number", flat=True)))
    if numbers:
        raise SampleError(
            f"{unit.ref} is dealt in round {numbers[0]}. A unit can be replaced if nobody codes it, or once "
            "it is decided that it is excluded."
        )


def _prepare(sample: Sample, by: Membership) -> Sample:
    waiting = [unit for unit in _movable_units(sample) if unit.issue.latest is not None]
    if len(waiting) <= RENDERED_AT_ONCE and not any(_has_patches_to_fetch(unit.issue) for unit in waiting):
        return pin_sample(sample=sample, by=by)
    with transaction.atomic():
        job = Job.objects.create(
            kind=Job.Kind.PREPARE_SAMPLE, study=sample.study, sample=sample, by=by, options={}
        )
        jobs.ring(job)
    return sample


def _has_patches_to_fetch(issue: Issue) -> bool:
    # Only GitHub itself gives an issue these ids; a file that merely names an address has all it will have.
    is_from_github = bool(issue.node_id or issue.rest_id)
    if not is_from_github or issue.latest is None or "patches" in issue.latest.carries:
        return False
    return any(fix.get("evidence") != "mentioned" for fix in issue.latest.fixes)
