"""What agreement was stored: ``agreement.csv`` and ``left_out.csv``."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from labeling.export.rows import AgreementRow, LeftOutRow
from labeling.models import AgreementReport, Round
from labeling.selectors.agreement import ELIGIBILITY, readable_payload
from labeling.selectors.export.reader import Reader


def agreement_rows(reader: Reader) -> Iterator[AgreementRow]:
    """Every stored number of closed rounds; totals stay visible whatever is sealed."""
    for report in _reports(reader):
        yield from report_rows(report, pseudonyms=reader.pseudonyms)


def report_rows(report: AgreementReport, *, pseudonyms: bool = False) -> Iterator[AgreementRow]:
    """Every number of one stored report."""
    payload = readable_payload(report, pseudonyms=pseudonyms)
    if report.scope == AgreementReport.Scope.WHOLE:
        for row in _dimension_payloads(payload):
            yield from _whole_rows(report, row)
    else:
        for group in payload["groups"]:
            for row in _dimension_payloads(group):
                yield from _statistic_rows(report, row, f"{report.scope}:{group['name']}")


def _reports(reader: Reader) -> "QuerySet[AgreementReport]":
    rows = AgreementReport.objects.using(reader.using).filter(
        round__study=reader.study, round__state__in=Round.UNBLINDED
    )
    rows = rows.select_related("round__study").order_by(
        "round__number", "kind", "options", "scope", "software_version"
    )
    return rows


def _dimension_payloads(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    apart = [payload["eligibility"]] if payload["eligibility"] is not None else []
    return [*apart, *payload["dimensions"]]


def _whole_rows(report: AgreementReport, row: Mapping[str, Any]) -> Iterator[AgreementRow]:
    yield from _statistic_rows(report, row, "whole")
    yield from _claim_rows(report, row)
    for pair in row["pairs"]:
        for name, statistic in (("observed", pair["observed"]), (pair["statistic"], pair["kappa"])):
            coders = (pair["coder_a"], pair["coder_b"])
            yield _agreement_row(report, row, "pair", coders, name, statistic, n_both=pair["n"])
    for category in row["categories"]:
        scope = f"category:{category['category']}"
        yield _agreement_row(report, row, scope, ("", ""), category["statistic"], category["kappa"])


def _statistic_rows(report: AgreementReport, row: Mapping[str, Any], scope: str) -> Iterator[AgreementRow]:
    coders = tuple(row["coders"]) if len(row["coders"]) == 2 else ("", "")
    if row["undefined"]:
        yield _agreement_row(report, row, scope, coders, "observed_agreement", row["observed"])
    for name, statistic in sorted(row["statistics"].items()):
        yield _agreement_row(report, row, scope, coders, name, statistic)


def _claim_rows(report: AgreementReport, row: Mapping[str, Any]) -> Iterator[AgreementRow]:
    """The lower limit of the headline, and what repositories say; reports of older versions have neither."""
    coders = tuple(row["coders"]) if len(row["coders"]) == 2 else ("", "")
    claim, found = row.get("claim"), row.get("clusters")
    if claim and claim["lower"] is not None:
        lower = _bare(claim["lower"], "5 % quantile of the bootstrap over units")
        yield _agreement_row(report, row, "whole", coders, f"{row['headline']}_lower_limit", lower)
    if not found:
        return
    yield _agreement_row(report, row, "repositories", coders, row["headline"], found["headline"])
    yield _agreement_row(report, row, "repositories", coders, "pooled_kappa", found["pooled"])
    test = found["homogeneity"]
    for name in ("chi_squared", "degrees", "p") if test else ():
        number = _bare(test[name], "homogeneity of the kappas of repositories")
        yield _agreement_row(report, row, "repositories", coders, f"homogeneity_{name}", number)


def _bare(value: float, method: str) -> dict[str, Any]:
    return {"value": value, "ci_low": None, "ci_high": None, "method": method, "undefined": None}


def _agreement_row(
    report: AgreementReport,
    row: Mapping[str, Any],
    scope: str,
    coders: tuple[str, ...],
    name: str,
    statistic: Mapping[str, Any],
    n_both: int | None = None,
) -> AgreementRow:
    first, second = coders
    return AgreementRow(
        round=report.round.number,
        round_kind=report.round.kind,
        kind=report.kind,
        dimension=row["key"],
        scope=scope,
        coder_a=first,
        coder_b=second,
        statistic=name,
        value=statistic["value"],
        ci_low=statistic["ci_low"],
        ci_high=statistic["ci_high"],
        method=statistic["method"] or "",
        undefined=statistic["undefined"] or "",
        n_both=row["n_both"] if n_both is None else n_both,
        k=row["k"],
        headline=scope == "whole" and name == row["headline"],
        software=report.software_version,
    )


def left_out_rows(reader: Reader) -> Iterator[LeftOutRow]:
    """The units no number of agreement uses, with the reason."""
    visible = set(reader.round_units().order_by().values_list("round__number", "unit__ref"))
    for report in _reports(reader).filter(scope=AgreementReport.Scope.WHOLE, options="{}"):
        rows = [
            LeftOutRow(ref, report.round.number, row["key"], reason)
            for row in _dimension_payloads(report.payload)
            for reason, refs in row["left_out_units"].items()
            for ref in refs
            if (report.round.number, ref) in visible
        ]
        yield from sorted(set(rows), key=lambda row: (row.dimension != ELIGIBILITY, row.dimension, row.unit))
