"""``python manage.py agreement``: the numbers of the agreement page, of closed rounds, unsealed."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from labeling.agreement.report import format_two
from labeling.export.columns import cells_of, columns_of
from labeling.export.rows import AgreementRow
from labeling.export.writer import Format, write_rows
from labeling.models import AgreementReport, Round, Study
from labeling.selectors.agreement import readable_payload
from labeling.selectors.export.agreement import report_rows
from labeling.services.agreement import report_of

HEADINGS = ("round", "dimension", "n", "observed", "statistic", "value", "95% CI")


class Command(BaseCommand):
    help = "Print the agreement of the closed rounds of a study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's short name, as in its address")
        parser.add_argument("--round", type=int, dest="number", help="only the round of this number")
        parser.add_argument("--format", choices=("table", "json", "csv"), default="table")

    def handle(self, *, study: str, number: int | None, format: str, **_: Any) -> None:  # noqa: A002
        reports = [report_of(each) for each in _rounds(study, number)]
        if format == "json":
            text = json.dumps([_data(each) for each in reports], ensure_ascii=False, indent=2)
        elif format == "csv":
            header = [each.name for each in columns_of(AgreementRow)]
            rows = (cells_of(row) for report in reports for row in report_rows(report))
            text = b"".join(write_rows(header, rows, Format())).decode()
        else:
            text = _table(reports)
        self.stdout.write(text, ending="" if text.endswith("\n") else "\n")


def _rounds(slug: str, number: int | None) -> list[Round]:
    study = Study.objects.filter(slug=slug, deleted_at__isnull=True).first()
    if study is None:
        raise CommandError(f"There is no study {slug}.")
    rounds = study.rounds.filter(discarded_at__isnull=True)
    if number is None:
        return list(rounds.filter(state__in=Round.UNBLINDED))
    coding_round = rounds.filter(number=number).first()
    if coding_round is None:
        raise CommandError(f"{study.title} has no round {number}.")
    if not coding_round.is_unblinded:
        raise CommandError(f"Round {number} is not closed: its agreement exists once it is.")
    return [coding_round]


def _data(report: AgreementReport) -> dict[str, Any]:
    head = {"round": report.round.number, "kind": report.kind, "software": report.software_version}
    return {**head, **readable_payload(report)}


def _table(reports: list[AgreementReport]) -> str:
    lines = [HEADINGS] + [line for report in reports for line in _lines(report)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADINGS))]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def _lines(report: AgreementReport) -> list[tuple[str, ...]]:
    payload = readable_payload(report)
    apart = [payload["eligibility"]] if payload["eligibility"] is not None else []
    return [_line(report, row) for row in (*apart, *payload["dimensions"])]


def _line(report: AgreementReport, row: dict[str, Any]) -> tuple[str, ...]:
    name = row["headline"] or ""
    statistic = row["statistics"][name] if name else row["observed"]
    observed = row["observed"]["value"]
    interval = ""
    if statistic["ci_low"] is not None:
        interval = f"{format_two(statistic['ci_low'])} to {format_two(statistic['ci_high'])}"
    return (
        str(report.round.number),
        row["key"],
        str(row["n_both"]),
        "" if observed is None else f"{100 * observed:.2f}%",
        name,
        format_two(statistic["value"]) if name and statistic["value"] is not None else "undefined",
        interval or statistic["undefined"] or row["undefined"] or "",
    )
