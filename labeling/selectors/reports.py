"""A stored report as one member may read it: totals for all, names of units only where they are settled."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labeling.blinding import settled
from labeling.models import AgreementReport, Membership, Role, Round, RoundUnit
from labeling.selectors.agreement import readable_payload
from labeling.selectors.rounds import reachable_rounds


def reaches_report(member: Membership, coding_round: Round) -> bool:
    """Coders read the agreement of rounds they coded in, everybody else that of all closed rounds."""
    return member.role != Role.CODER or reachable_rounds(member).filter(pk=coding_round.pk).exists()


def sealed_units(member: Membership, coding_round: Round) -> set[str]:
    """Refs of the round's units that are hidden from the member, since they code them again."""
    all_units = RoundUnit.objects.filter(round=coding_round)
    shown = all_units.filter(settled(member, ""))
    return set(all_units.exclude(pk__in=shown.values("pk")).values_list("unit__ref", flat=True))


def report_data(report: AgreementReport, coding_round: Round, member: Membership) -> dict[str, Any]:
    """The report in the shape of the API."""
    return {
        "round": coding_round.number,
        "kind": report.kind,
        "software": report.software_version,
        **_without(_readable(report, coding_round), sealed_units(member, coding_round)),
    }


def group_data(report: AgreementReport, coding_round: Round, member: Membership) -> list[dict[str, Any]]:
    """The groups of a breakdown, likewise."""
    hidden = sealed_units(member, coding_round)
    return [_without(group, hidden) for group in _readable(report, coding_round)["groups"]]


def pooled_data(pooled: Mapping[str, Any], rounds: Sequence[Round], member: Membership) -> dict[str, Any]:
    """The figure over several rounds, likewise; it is no stored report."""
    newest = max(rounds, key=lambda each: each.number)
    unstored = AgreementReport(round=newest, payload=pooled)
    named = readable_payload(unstored, pseudonyms=any(each.anonymous for each in rounds))
    hidden = {ref for each in rounds for ref in sealed_units(member, each)}
    return _without(named, hidden)


def _readable(report: AgreementReport, coding_round: Round) -> dict[str, Any]:
    return readable_payload(report, pseudonyms=coding_round.anonymous)


def _without(payload: Mapping[str, Any], hidden: set[str]) -> dict[str, Any]:
    # What was left out says how a unit was answered: "excluded by one".
    apart = payload["eligibility"]
    return {
        **payload,
        "eligibility": _row_without(apart, hidden) if apart is not None else None,
        "dimensions": [_row_without(row, hidden) for row in payload["dimensions"]],
    }


def _row_without(row: Mapping[str, Any], hidden: Iterable[str]) -> dict[str, Any]:
    left_out = {
        reason: [unit for unit in units if unit not in hidden]
        for reason, units in row["left_out_units"].items()
    }
    return {**row, "left_out_units": left_out}
