"""Numbers of agreement: stored once when a round closes, from answers that can no longer change."""

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from labeling.agreement.report import DimensionData, DimensionReport, Statistic, summarise, to_payload
from labeling.errors import RoundStateError
from labeling.models import AgreementReport, Decision, Job, Membership, Round, Study
from labeling.paper import Paper, PaperFacts, paper_sentence
from labeling.selectors.agreement import CONSENSUS, ELIGIBILITY, coding_pairs, grouped_pairs
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reconciliation import QUEUED
from labeling.services.events import record
from labeling.services.jobs import ring

Kind, Scope = AgreementReport.Kind, AgreementReport.Scope


def software_version() -> str:
    """What computed a report; numbers of another version stand beside these, never in their place."""
    try:
        own = version("intercoder")
    except PackageNotFoundError:  # run from its checkout
        own = "0.1.0"
    return f"intercoder {own}, numpy {np.__version__}"


def store_agreement(coding_round: Round) -> AgreementReport:
    """Store the agreement of a closed round, once; whoever comes second finds what the first stored."""
    return report_of(coding_round)


def report_of(
    coding_round: Round, *, scope: str = Scope.WHOLE, count_states: str | None = None
) -> AgreementReport:
    """The report of a closed round, made now if nobody did: a crash after close is healed by the next reader.

    ``count_states`` other than the study's makes a second report, marked post hoc.
    """
    if not coding_round.is_unblinded:
        raise RoundStateError(f"Round {coding_round.number} is open: its agreement exists once it is closed.")
    kind, options = _kind_and_options(coding_round, count_states)
    stored = _stored(coding_round, kind, options, scope)
    if stored is not None:
        return stored
    payload = _payload(coding_round, scope, count_states)
    with transaction.atomic():
        report, made = AgreementReport.objects.get_or_create(
            round=coding_round,
            kind=kind,
            options=options,
            scope=scope,
            software_version=software_version(),
            defaults={"payload": payload},
        )
        if made and scope == Scope.WHOLE:
            check = Job.Kind.CHECK_AGREEMENT
            ring(Job.objects.create(kind=check, study=coding_round.study, round=coding_round))
        if made:
            record(
                study=coding_round.study,
                round=coding_round,
                verb="agreement.stored",
                object=f"round:{coding_round.number}",
                kind=kind,
                scope=scope,
            )
    return report


def _kind_and_options(coding_round: Round, count_states: str | None) -> tuple[str, str]:
    if count_states not in (None, coding_round.study.count_states):
        return Kind.POST_HOC, _canonical({"count_states": count_states})
    return (Kind.AFTER_UNBLINDING if coding_round.after_unblinding else Kind.AS_CODED), "{}"


def _canonical(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True, separators=(",", ":"))


def _stored(coding_round: Round, kind: str, options: str, scope: str) -> AgreementReport | None:
    """The first report of its kind: what was stored at close stays the headline after an upgrade."""
    rows = coding_round.agreement_reports.filter(kind=kind, options=options, scope=scope)
    return rows.order_by("id").first()


def _payload(coding_round: Round, scope: str, count_states: str | None) -> dict[str, Any]:
    if scope == Scope.WHOLE:
        return _one_payload(coding_round, coding_pairs(coding_round, count_states=count_states))
    groups = grouped_pairs(coding_round, scope, count_states=count_states)
    return {"groups": [{"name": name, **_one_payload(coding_round, data)} for name, data in groups]}


def _one_payload(coding_round: Round, data: list[DimensionData]) -> dict[str, Any]:
    """The eligibility apart where there is one of it; with several comparisons each stays with its own."""
    rows = [(each, to_payload(_summary(coding_round.study, each))) for each in data]
    for each, row in rows:
        row["left_out_units"] = {reason: list(refs) for reason, refs in each.left_out.items()}
    first = [row for _, row in rows if row["key"] == ELIGIBILITY]
    apart = first[0] if len(first) == 1 else None
    return {"eligibility": apart, "dimensions": [row for _, row in rows if row is not apart]}


def _summary(study: Study, data: DimensionData) -> DimensionReport:
    if study.consensus:
        nothing = summarise(replace(data, coders=()))
        return replace(nothing, coders=data.coders, undefined=CONSENSUS, observed=Statistic.none(CONSENSUS))
    if study.scale == Study.Scale.NONE:
        return replace(summarise(data), reading=None)
    return summarise(data, scale=study.scale)


def mark_read(coding_round: Round, member: Membership | None = None) -> None:
    """Note that somebody was shown another's answer, a number or an export: its close cannot be undone."""
    first = Round.objects.filter(
        pk=coding_round.pk, state__in=Round.UNBLINDED, first_unblinded_read_at__isnull=True
    )
    with transaction.atomic():
        if first.update(first_unblinded_read_at=timezone.now()):
            record(
                study=coding_round.study,
                round=coding_round,
                by=member,
                verb="round.first_read",
                object=f"round:{coding_round.number}",
            )


def sentence_for_paper(report: AgreementReport) -> Paper:
    """The sentence about a stored report, and what has to happen before all of it is true."""
    coding_round = report.round
    # Decisions made with another's answer in view; totals, which no sealing hides.
    settled = Decision.objects.filter(round_unit__round=coding_round, type__in=QUEUED)
    coders = {coder for row in report.payload["dimensions"] for coder in row["coders"]}
    options = json.loads(report.options)
    counted = options.get("count_states", coding_round.study.count_states)
    return paper_sentence(
        PaperFacts(
            payload=report.payload,
            names={each.key: each.name for each in round_dimensions(coding_round)},
            coders=len(coders),
            states_count=counted == Study.CountStates.CATEGORY,
            disagreed=settled.values("round_unit").distinct().count(),
            undecided=settled.filter(how="").values("round_unit").distinct().count(),
            settled_by=frozenset(settled.exclude(how="").values_list("how", flat=True).distinct()),
            after_unblinding=report.kind == Kind.AFTER_UNBLINDING,
        )
    )
