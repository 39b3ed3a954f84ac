"""What was decided: ``labels.csv``, and with the coders beside it ``labels_wide.csv``."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from labeling.export.rows import LabelRow, WideLayout, WideRow
from labeling.models import (
    UNIT,
    Annotation,
    Assignment,
    Decision,
    Dimension,
    Membership,
    Round,
    RoundUnit,
    Submission,
    Unit,
)
from labeling.selectors.export.annotations import (
    Told,
    annotation_status,
    chosen_categories,
    told_of,
    unit_columns,
)
from labeling.selectors.export.reader import BATCH, Reader, RoundColumns, batched

CODED = Annotation.State.CODED


@dataclass(frozen=True, slots=True)
class Final:
    """Where the answer of a unit in a dimension stands; ``decision`` is None while nothing is decided."""

    columns: RoundColumns
    round_unit: RoundUnit
    decision: Decision | None
    whole: Decision | None
    status: str

    @property
    def said(self) -> Decision | None:
        """The decision that speaks: about the unit where that is excluded."""
        return self.whole if self.status == "excluded" and self.whole is not None else self.decision


def label_rows(reader: Reader) -> Iterator[LabelRow]:
    """Final decisions: of each unit and dimension those of the last finished round that counts."""
    for unit, finals in _final_answers(reader):
        for dimension, final in finals:
            yield from _label_rows(reader, unit, dimension, final)


def _final_answers(reader: Reader) -> Iterator[tuple[Unit, list[tuple[str, Final]]]]:
    results = {each.coding_round.pk: each for each in reader.results}
    coded = Q(left_out=False) | Q(unit__split_at__isnull=False)
    round_units = reader.round_units().filter(coded, round__in=results)
    for units in reader.units(round_units):
        rows: dict[int, list[RoundUnit]] = defaultdict(list)
        for each in round_units.filter(unit__in=units):
            rows[each.unit_id].append(each)
        decisions = _decisions(reader, round_units.filter(unit__in=units))
        texts = _texts(reader, round_units.filter(unit__in=units))
        for unit in units:
            yield unit, list(_finals(reader, unit, rows[unit.pk], results, decisions, texts))


def _decisions(reader: Reader, round_units: "QuerySet[RoundUnit]") -> Mapping[tuple[int, str], Decision]:
    rows = Decision.objects.using(reader.using).visible_to(reader.member)
    rows = rows.filter(round_unit__in=round_units).prefetch_related("categories", "category_proposals")
    return {(each.round_unit_id, each.dimension): each for each in rows}


def _texts(reader: Reader, round_units: "QuerySet[RoundUnit]") -> set[tuple[int, str]]:
    """Where coders wrote free text: alone of all answers it may stand without a decision."""
    last = Submission.objects.using(reader.using).last().visible_to(reader.member)
    last = last.filter(
        assignment__round_unit__in=round_units, assignment__purpose=Assignment.Purpose.CODING
    ).exclude(assignment__status=Assignment.Status.WITHDRAWN)
    rows = Annotation.objects.using(reader.using).filter(
        submission__in=last, dimension__kind=Dimension.Kind.TEXT
    )
    rows = rows.exclude(text="", state=CODED)
    return set(rows.values_list("submission__assignment__round_unit", "dimension__key"))


def _finals(
    reader: Reader,
    unit: Unit,
    round_units: Sequence[RoundUnit],
    results: Mapping[int, RoundColumns],
    decisions: Mapping[tuple[int, str], Decision],
    texts: Set[tuple[int, str]],
) -> Iterator[tuple[str, Final]]:
    """The answers of one unit by dimension; where all rounds are asked for, those of every round."""
    asked: dict[str, list[RoundUnit]] = defaultdict(list)
    for round_unit in round_units:
        for dimension in results[round_unit.round_id].dimensions:
            asked[dimension.key].append(round_unit)
    for dimension_key, rows in sorted(asked.items()):
        for round_unit in rows if reader.all_rounds else [_speaks(rows, results)]:
            decision = decisions.get((round_unit.pk, dimension_key))
            whole = decisions.get((round_unit.pk, UNIT))
            columns = results[round_unit.round_id]
            final = reader.all_rounds or columns.coding_round.state == Round.State.RECONCILED
            has_begun = columns.coding_round.reconciliation_opened_at is not None
            has_text = (round_unit.pk, dimension_key) in texts
            status = "open"
            if final or unit.split_at:
                status = _final_status(unit, decision, whole, may_be_missing=has_begun and not has_text)
            yield dimension_key, Final(columns, round_unit, decision, whole, status)


def _speaks(rows: Sequence[RoundUnit], results: Mapping[int, RoundColumns]) -> RoundUnit:
    """The unit in the highest-numbered finished round, else in the highest-numbered one."""
    finished = [each for each in rows if results[each.round_id].coding_round.state == Round.State.RECONCILED]
    return (finished or list(rows))[-1]


def _final_status(
    unit: Unit, decision: Decision | None, whole: Decision | None, *, may_be_missing: bool
) -> str:
    if unit.split_at is not None:
        return "split"
    if whole is not None and whole.how and whole.excluded:
        return "excluded"
    if decision is None and may_be_missing:
        return "missing"
    if decision is None or not decision.how:
        return "open"
    return "final" if decision.state == CODED else decision.state


def _label_rows(reader: Reader, unit: Unit, dimension: str, final: Final) -> Iterator[LabelRow]:
    said = final.said if final.status not in ("open", "split") else None
    coding_round = final.columns.coding_round
    for category, path in _decided(final, dimension):
        yield LabelRow(
            **unit_columns(reader, unit),
            round=coding_round.number,
            codebook_version=coding_round.codebook.version if coding_round.codebook else None,
            dimension=dimension,
            category=category,
            category_path=path,
            text=said.text if said else "",
            status=final.status,
            exclude_reason=said.exclude_reason if said else "",
            how=_how(final),
            disagreement_reason=said.disagreement_reason if said else "",
            rationale=said.rationale if said else "",
            decided_by=reader.name(said.decided_by_id) if said else "",
            recorded_by=reader.name(said.recorded_by_id) if said else "",
            decided_at=said.decided_at if said else None,
        )


def _decided(final: Final, dimension: str) -> list[tuple[str, str]]:
    if final.status != "final" or final.decision is None:
        return [("", "")]
    chosen = [*final.decision.categories.all(), *final.decision.category_proposals.all()]
    return sorted(final.columns.label(each, dimension) for each in chosen) or [("", "")]


def _how(final: Final) -> str:
    if final.status == "excluded":
        return Decision.How.EXCLUDED.value
    return final.decision.how if final.decision is not None and final.status not in ("open", "split") else ""


def wide_layout(reader: Reader) -> WideLayout:
    """Dimensions of the rounds with results, in the order of the newest codebook, and who coded them."""
    coders: dict[str, dict[int, str]] = {}
    newest_first = sorted(reader.results, key=lambda each: -each.coding_round.number)
    for columns in newest_first:
        numbers = _coders(reader, columns.coding_round)
        for dimension in columns.dimensions:
            coders.setdefault(dimension.key, {}).update(numbers)
    return WideLayout(
        {key: tuple(name for _, name in sorted(numbers.items())) for key, numbers in coders.items()}
    )


def _coders(reader: Reader, coding_round: Round) -> dict[int, str]:
    members = Membership.objects.using(reader.using).filter(
        assignments__round_unit__round=coding_round, assignments__purpose=Assignment.Purpose.CODING
    )
    members = members.exclude(assignments__status=Assignment.Status.WITHDRAWN).distinct()
    return {each.number: reader.name(each.pk) for each in members}


def wide_rows(reader: Reader, layout: WideLayout) -> Iterator[list[Any]]:
    """One row a unit: final answers, and beside each what the coders of the same round said."""
    coding = Q(purpose=Assignment.Purpose.CODING)
    latest = Reader(reader.study, reader.member, reader.using, pseudonyms=reader.pseudonyms)
    for finals_of_units in batched(_final_answers(latest), BATCH):
        units = [unit for unit, _ in finals_of_units]
        round_units = reader.round_units().filter(unit__in=units)
        told = told_of(reader, round_units, coding)
        for unit, finals in finals_of_units:
            yield _wide_row(reader, layout, unit, dict(finals), told[unit.pk])


def _wide_row(
    reader: Reader, layout: WideLayout, unit: Unit, finals: Mapping[str, Final], told: Sequence[Told]
) -> list[Any]:
    snapshot = unit.snapshot
    rounds = sorted({each.columns.coding_round.number for each in finals.values()})
    fixed = WideRow(
        **unit_columns(reader, unit),
        title=snapshot.title if snapshot else "",
        created_at=snapshot.opened_at if snapshot else None,
        closed_at=snapshot.closed_at if snapshot else None,
        stratum=next((each.round_unit.stratum for each in finals.values()), ""),
        round="|".join(map(str, rounds)),
    )
    cells: list[Any] = [getattr(fixed, name) for name in WideRow.__slots__]
    for dimension, coders in layout.coders.items():
        cells += _wide_cells(reader, dimension, coders, finals.get(dimension), told)
    return cells


def _wide_cells(
    reader: Reader, dimension: str, coders: Sequence[str], final: Final | None, told: Sequence[Told]
) -> list[str]:
    if final is None:
        return [""] * (3 + len(coders))
    text = final.decision.text if final.decision is not None and final.status == "final" else ""
    decided = text or "|".join(code for code, _ in _decided(final, dimension) if code)
    same_round = {
        reader.name(each.assignment.coder_id): each
        for each in told
        if each.assignment.round_unit_id == final.round_unit.pk
    }
    said = [_said_in_short(final.columns, dimension, same_round.get(coder)) for coder in coders]
    return [decided, final.status, _how(final), *said]


def _said_in_short(columns: RoundColumns, dimension: str, told: Told | None) -> str:
    """What a coder said: categories, a text, or the status where there is neither."""
    if told is None:
        return ""
    annotations = told.submission.annotations.all() if told.submission else ()
    annotation = next((each for each in annotations if each.dimension.key == dimension), None)
    status = annotation_status(told, annotation)
    if annotation is None or status != CODED:
        return status
    return annotation.text or "|".join(
        code for code, _ in chosen_categories(columns, dimension, annotation) if code
    )
