"""The units behind one cell of a table of two coders' answers, as far as blinding leaves them to a member."""

from dataclasses import dataclass

from labeling.blinding import settled
from labeling.models import UNIT, AgreementReport, Decision, Membership, RoundUnit
from labeling.selectors.agreement import ELIGIBILITY, coding_pairs
from labeling.selectors.agreement_figures import payload_rows


@dataclass(frozen=True, slots=True)
class Cell:
    """Two answers of two coders: ``pair`` is the place of their table among those of the dimension."""

    dimension: str
    pair: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class CellUnit:
    """A unit in a cell. ``decided`` is the dimension of its decision, empty before there is one."""

    unit: int
    ref: str
    title: str
    decided: str


@dataclass(frozen=True, slots=True)
class CellUnits:
    units: tuple[CellUnit, ...]
    hidden: int


def cell_units(report: AgreementReport, cell: Cell, member: Membership) -> CellUnits | None:
    """Find the units of a cell in the order of their names; None where the report has no such table."""
    rows = [each for each in payload_rows(report.payload) if each["key"] == cell.dimension]
    tables = [table for row in rows for table in row["matrix"]]
    if not 0 <= cell.pair < len(tables):
        return None
    coders = (tables[cell.pair]["coder_a"], tables[cell.pair]["coder_b"])
    refs = _refs(report, cell, coders)
    shown = RoundUnit.objects.filter(round=report.round_id).filter(settled(member, ""))
    found = [each for each in shown.select_related("unit__snapshot") if each.unit.ref in refs]
    decision = UNIT if cell.dimension == ELIGIBILITY else cell.dimension
    decided = set(
        Decision.objects.visible_to(member)
        .filter(round_unit__round=report.round_id, dimension=decision)
        .values_list("round_unit", flat=True)
    )
    units = tuple(
        CellUnit(each.unit_id, each.unit.ref, _title(each), decision if each.pk in decided else "")
        for each in sorted(found, key=lambda each: each.unit.ref)
    )
    return CellUnits(units, hidden=len(refs) - len(units))


def _refs(report: AgreementReport, cell: Cell, coders: tuple[str, str]) -> set[str]:
    """Units on which the first coder said the first answer and the second the second."""
    first, second = coders
    for data in coding_pairs(report.round):
        if data.key == cell.dimension and {first, second} <= set(data.coders):
            values = data.values
            return {
                ref
                for ref in data.units
                if values.get((ref, first)) == cell.first and values.get((ref, second)) == cell.second
            }
    return set()


def _title(round_unit: RoundUnit) -> str:
    unit = round_unit.unit
    return unit.title or (unit.snapshot.title if unit.snapshot is not None else "")
