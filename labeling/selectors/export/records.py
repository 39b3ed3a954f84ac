"""The study's own records: codebook, samples, funnel and events."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from uuid import UUID

from django.db.models import Q

from labeling.export.rows import CodebookRow, EventRow, FrameRow, FunnelRow, MappingRow, SampleRow
from labeling.frames import unpack_frame
from labeling.models import (
    Category,
    CategoryMapping,
    Codebook,
    Dimension,
    Event,
    Issue,
    Round,
    Sample,
    SampleUnit,
    Unit,
)
from labeling.sampling import ranking
from labeling.selectors.export.reader import BATCH, Reader
from labeling.selectors.masks import Masks
from labeling.selectors.studies import shown_object, tells_who_is_who
from labeling.services.codebooks import readable_versions
from labeling.services.corpus import funnel

EXPORTED = "file.exported"
READS = (EXPORTED, "round.first_read")


def codebook_rows(reader: Reader) -> Iterator[CodebookRow]:
    """Every category of every version the reader may see, in the order of the codebook."""
    codebooks = readable_versions(reader.study, reader.member).order_by("version")
    for codebook in codebooks.prefetch_related("dimensions__categories__parent"):
        for dimension in codebook.dimensions.all():
            categories = list(dimension.categories.all())
            by_id = {each.pk: each for each in categories}
            for category in categories or (None,):
                yield _codebook_row(codebook, dimension, category, by_id)


def _codebook_row(
    codebook: Codebook, dimension: Dimension, category: Category | None, all_of_it: Mapping[int, Category]
) -> CodebookRow:
    path: list[str] = []
    step = category
    while step is not None:
        path.insert(0, step.code)
        step = all_of_it.get(step.parent_id) if step.parent_id is not None else None
    return CodebookRow(
        version=codebook.version,
        frozen_at=codebook.frozen_at,
        dimension=dimension.key,
        dimension_name=dimension.name,
        kind=dimension.kind,
        category=category.code if category else "",
        category_path="/".join(path),
        name=category.name if category else "",
        concept=str(category.concept) if category else "",
        definition=category.definition if category else "",
        include=category.include if category else "",
        exclude=category.exclude if category else "",
        precedence=category.precedence if category else "",
        order=category.order if category else None,
        archived=category.archived if category else None,
    )


def _target_code(mapping: CategoryMapping, codes: Mapping[tuple[int, UUID], str]) -> str:
    """Name where a category went: nowhere too where what it was merged into was split."""
    if mapping.to_concept is None or mapping.act == CategoryMapping.Act.SPLIT:
        return ""
    return codes.get((mapping.to_codebook_id, mapping.to_concept), "")


def mapping_rows(reader: Reader) -> Iterator[MappingRow]:
    """Where categories went from one version to a later one."""
    rows = CategoryMapping.objects.using(reader.using).filter(
        to_codebook__in=readable_versions(reader.study, reader.member)
    )
    codes = {
        (codebook, concept): code
        for codebook, concept, code in Category.objects.using(reader.using)
        .filter(dimension__codebook__study=reader.study)
        .values_list("dimension__codebook", "concept", "code")
    }
    found = [
        MappingRow(
            from_version=each.from_codebook.version,
            to_version=each.to_codebook.version,
            dimension=each.dimension,
            from_category=codes.get((each.from_codebook_id, each.from_concept), ""),
            to_category=_target_code(each, codes),
            act=each.act,
        )
        for each in rows.select_related("from_codebook", "to_codebook")
    ]
    yield from sorted(
        found, key=lambda row: (row.from_version, row.to_version, row.dimension, row.from_category)
    )


def sample_rows(reader: Reader) -> Iterator[SampleRow]:
    """Every drawn unit of every sample; samples are numbered in the order in which they were drawn."""
    numbers = {sample.pk: number for number, sample in _samples(reader)}
    rows = SampleUnit.objects.using(reader.using).filter(sample__study=reader.study)
    rows = rows.order_by("sample", "stratum", "rank").select_related("unit", "replaced_by")
    for each in rows.iterator(chunk_size=BATCH):
        yield SampleRow(
            sample=numbers[each.sample_id],
            unit=_shown_ref(reader, each.unit),
            # Strata are made of fields such as the repository or the state.
            stratum="" if each.unit.issue_id in reader.hidden_fields else each.stratum,
            rank=each.rank,
            drawn=each.drawn,
            replaced_by=_shown_ref(reader, each.replaced_by) if each.replaced_by else "",
        )


def _shown_ref(reader: Reader, unit: Unit) -> str:
    return f"unit {unit.pk}" if reader.hides_name(unit.issue_id) else unit.ref


def _samples(reader: Reader) -> Iterator[tuple[int, Sample]]:
    samples = Sample.objects.using(reader.using).filter(study=reader.study).order_by("pk")
    return enumerate(samples.defer("frame"), start=1)


def frame_rows(reader: Reader) -> Iterator[FrameRow]:
    """Every issue that could have been drawn, with its place: what a draw is repeated from."""
    for number, sample in _samples(reader):
        refs = dict(sample.sample_units.values_list("unit__issue__key", "unit__ref").order_by("unit__part"))
        strata: dict[str, list[str]] = defaultdict(list)
        for key, stratum in unpack_frame(sample.frame).items():
            strata[stratum].append(key)
        hidden = _hidden_keys(reader)
        for stratum, keys in sorted(strata.items()):
            for rank, key in enumerate(ranking(keys, sample.seed), start=1):
                if key in hidden:
                    yield FrameRow(number, "", "", "", rank)
                else:
                    yield FrameRow(number, refs.get(key, ""), key, stratum, rank)


def _hidden_keys(reader: Reader) -> set[str]:
    issues = [pk for pk in reader.hidden_fields if reader.hides_name(pk)]
    rows = Issue.objects.using(reader.using).filter(pk__in=issues)
    return set(rows.values_list("key", flat=True))


def funnel_rows(reader: Reader) -> Iterator[FunnelRow]:
    for step in funnel(reader.study):
        yield FunnelRow(step.kind, step.text, step.count, step.removed)


def event_rows(reader: Reader) -> Iterator[EventRow]:
    """What was done; of an open round only what was done to the round itself. Reading is not doing."""
    closed = Q(round__isnull=True) | Q(round__state__in=Round.UNBLINDED) | Q(verb__startswith="round.")
    rows = Event.objects.using(reader.using).filter(closed, study=reader.study).select_related("round")
    names = Masks(reader.member).names
    for each in rows.exclude(verb__in=READS).order_by("at", "pk").iterator(chunk_size=BATCH):
        yield EventRow(
            at=each.at,
            round=each.round.number if each.round else None,
            by="" if tells_who_is_who(each) else reader.name(each.by_id),
            verb=each.verb,
            object=shown_object(each.object, names),
            data=json.dumps(each.data, sort_keys=True, ensure_ascii=False),
        )
