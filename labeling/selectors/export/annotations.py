"""What coders said: ``annotations.csv``, ``own_annotations.csv`` and ``evidence.csv``."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import Q, QuerySet

from labeling.export.rows import AnnotationRow, EvidenceRow
from labeling.models import Annotation, Assignment, RoundUnit, Submission, Unit
from labeling.selectors.export.reader import Reader, RoundColumns


def annotation_rows(reader: Reader) -> Iterator[AnnotationRow]:
    """What every coder said in closed rounds; adjudicators' own answers are no coding."""
    coding = Q(purpose=Assignment.Purpose.CODING)
    return _annotation_rows(reader, reader.round_units(), coding)


def own_annotation_rows(reader: Reader) -> Iterator[AnnotationRow]:
    """What the reader said, in open rounds too."""
    own = Q(coder__in=reader.member.coder_ids)
    return _annotation_rows(reader, reader.own_round_units(), own)


def _annotation_rows(reader: Reader, round_units: "QuerySet[RoundUnit]", which: Q) -> Iterator[AnnotationRow]:
    for units in reader.units(round_units):
        told = told_of(reader, round_units.filter(unit__in=units), which)
        for unit in units:
            rows = [row for each in told[unit.pk] for row in _assignment_rows(reader, unit, each)]
            yield from sorted(rows, key=lambda row: (row.round, row.dimension, row.coder, row.category))


@dataclass(frozen=True, slots=True)
class Told:
    """An assignment with the submission that counts, if there is one."""

    assignment: Assignment
    submission: Submission | None


def told_of(reader: Reader, round_units: "QuerySet[RoundUnit]", which: Q) -> Mapping[int, list[Told]]:
    assignments = Assignment.objects.using(reader.using).active().filter(which, round_unit__in=round_units)
    submissions = (
        Submission.objects.using(reader.using)
        .last()
        .visible_to(reader.member)
        .filter(assignment__in=assignments)
        .prefetch_related(
            "annotations__dimension",
            "annotations__chosen__category",
            "annotations__chosen__proposal",
            "evidence__dimension",
            "evidence__category",
            "evidence__proposal",
        )
    )
    handed = {each.assignment_id: each for each in submissions}
    found: dict[int, list[Told]] = defaultdict(list)
    for each in assignments.select_related("round_unit"):
        found[each.round_unit.unit_id].append(Told(each, handed.get(each.pk)))
    return found


def _assignment_rows(reader: Reader, unit: Unit, told: Told) -> Iterator[AnnotationRow]:
    columns = reader.rounds[told.assignment.round_unit.round_id]
    said = {each.dimension.key: each for each in told.submission.annotations.all()} if told.submission else {}
    for dimension in columns.dimensions:
        annotation = said.get(dimension.key)
        for category, path in chosen_categories(columns, dimension.key, annotation):
            yield _annotation_row(reader, unit, told, columns, dimension.key, annotation, category, path)


def chosen_categories(
    columns: RoundColumns, dimension: str, annotation: Annotation | None
) -> list[tuple[str, str]]:
    """One entry per chosen category, one empty entry where none was."""
    if annotation is None:
        return [("", "")]
    chosen = [each.category or each.proposal for each in annotation.chosen.all()]
    return sorted(columns.label(each, dimension) for each in chosen) or [("", "")]


def _annotation_row(
    reader: Reader,
    unit: Unit,
    told: Told,
    columns: RoundColumns,
    dimension: str,
    annotation: Annotation | None,
    category: str,
    path: str,
) -> AnnotationRow:
    coding_round, submission = columns.coding_round, told.submission
    return AnnotationRow(
        **unit_columns(reader, unit),
        round=coding_round.number,
        round_kind=coding_round.kind,
        codebook_version=coding_round.codebook.version if coding_round.codebook else None,
        dimension=dimension,
        coder=reader.name(told.assignment.coder_id),
        category=category,
        category_path=path,
        text=annotation.text if annotation else "",
        status=annotation_status(told, annotation),
        exclude_reason=submission.exclude_reason if submission else "",
        confidence=submission.confidence if submission else "",
        memo=submission.memo if submission else "",
        submitted_at=submission.at if submission else None,
        recoded_after_unblinding=coding_round.after_unblinding,
    )


def unit_columns(reader: Reader, unit: Unit) -> dict[str, Any]:
    """Name the unit, as far as the rounds in which the reader codes it do."""
    issue, hides_name = unit.issue, reader.hides_name(unit.issue_id)
    return {
        "unit": f"unit {unit.pk}" if hides_name else unit.ref,
        "repository": "" if hides_name else issue.repository,
        "number": None if hides_name else issue.number,
        "url": "" if issue.pk in reader.hidden_fields else issue.url,
    }


def annotation_status(told: Told, annotation: Annotation | None) -> str:
    if told.submission is None:
        return "skipped" if told.assignment.status == Assignment.Status.SKIPPED else "missing"
    if told.submission.exclude_reason:
        return "excluded"
    return annotation.state if annotation is not None else "missing"


def evidence_rows(reader: Reader) -> Iterator[EvidenceRow]:
    coding = Q(purpose=Assignment.Purpose.CODING)
    round_units = reader.round_units()
    for units in reader.units(round_units):
        told = told_of(reader, round_units.filter(unit__in=units), coding)
        for unit in units:
            rows = [row for each in told[unit.pk] for row in _quotes(reader, unit, each)]
            yield from sorted(
                rows, key=lambda row: (row.round, row.coder, row.dimension, row.document, row.start, row.end)
            )


def _quotes(reader: Reader, unit: Unit, told: Told) -> Iterator[EvidenceRow]:
    columns = reader.rounds[told.assignment.round_unit.round_id]
    for quote in told.submission.evidence.all() if told.submission else ():
        named = quote.category or quote.proposal
        yield EvidenceRow(
            unit=unit.ref,
            round=columns.coding_round.number,
            coder=reader.name(told.assignment.coder_id),
            dimension=quote.dimension.key,
            category=columns.label(named, quote.dimension.key)[0] if named else "",
            document=quote.document,
            start=quote.start,
            end=quote.end,
            quote=quote.quote,
            prefix=quote.prefix,
            suffix=quote.suffix,
            quote_sha256=sha256(quote.quote.encode()).hexdigest(),
        )
