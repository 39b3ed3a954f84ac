"""Numbers of agreement: stored once when a round closes, from answers that can no longer change."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from labeling.agreement.report import DimensionData, DimensionReport, Statistic, summarise, to_payload
from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import AgreementReport, Codebook, Decision, Job, Membership, Round, Study
from labeling.paper import Paper, PaperFacts, paper_sentence
from labeling.selectors.agreement import CONSENSUS, ELIGIBILITY, coding_pairs, grouped_pairs, pooled_pairs
from labeling.selectors.frozen import round_dimensions
from labeling.selectors.reconciliation import QUEUED
from labeling.services.events import record
from labeling.services.jobs import ring

Kind, Scope = AgreementReport.Kind, AgreementReport.Scope


@cache
def software_version() -> str:
    """What computes a report; numbers of another version stand beside these, never in their place."""
    # It runs from its checkout and is never installed: this file alone says which version it is.
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return f"{project['name']} {project['version']}, numpy {np.__version__}"


def store_agreement(coding_round: Round) -> AgreementReport:
    """Store the agreement of a closed round, once; whoever comes second finds what the first stored."""
    return report_of(coding_round)


def report_of(
    coding_round: Round,
    *,
    scope: str = Scope.WHOLE,
    count_states: str | None = None,
    to_version: int | None = None,
) -> AgreementReport:
    """The report of a closed round, made now if nobody did: a crash after close is healed by the next reader.

    ``count_states`` other than the study's, and values mapped ``to_version`` of the codebook, make reports of
    their own kind beside the first one, never in its place.
    """
    if not coding_round.is_unblinded:
        raise RoundStateError(f"Round {coding_round.number} is open: its agreement exists once it is closed.")
    codebook = _later_version(coding_round, to_version)
    kind, options = _kind_and_options(coding_round, count_states, codebook)
    stored = _stored(coding_round, kind, options, scope)
    if stored is not None:
        return stored
    payload = _payload(coding_round, scope, count_states, codebook)
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
            _ring(Job.Kind.CHECK_AGREEMENT, coding_round)
        if made and scope == Scope.WHOLE and kind == Kind.AS_CODED:
            _ring(Job.Kind.BREAKDOWNS, coding_round)
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


def _ring(kind: Job.Kind, coding_round: Round) -> None:
    ring(Job.objects.create(kind=kind, study=coding_round.study, round=coding_round))


def store_breakdowns(coding_round: Round) -> None:
    """Store the report by repository, stratum and level, so that pages and files have them at once."""
    for scope in (Scope.REPOSITORY, Scope.STRATUM, Scope.LEVEL):
        report_of(coding_round, scope=scope)


def _later_version(coding_round: Round, version: int | None) -> Codebook | None:
    """The version asked for, None where it is the round's own."""
    own = coding_round.codebook.version if coding_round.codebook is not None else None
    if version is None or version == own:
        return None
    found = coding_round.study.codebooks.filter(version=version, frozen_at__isnull=False).first()
    if found is None or own is None or version < own:
        raise InvalidInputError({"to_version": [f"Name a frozen version after {own}, the one coded with."]})
    return found


def _kind_and_options(
    coding_round: Round, count_states: str | None, codebook: Codebook | None
) -> tuple[str, str]:
    options: dict[str, Any] = {}
    if count_states not in (None, coding_round.study.count_states):
        options["count_states"] = count_states
    if codebook is not None:
        options["to_version"] = codebook.version
        return Kind.MAPPED, _canonical(options)
    if options:
        return Kind.POST_HOC, _canonical(options)
    return (Kind.AFTER_UNBLINDING if coding_round.after_unblinding else Kind.AS_CODED), "{}"


def _canonical(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True, separators=(",", ":"))


def _stored(coding_round: Round, kind: str, options: str, scope: str) -> AgreementReport | None:
    """The first report of its kind: what was stored at close stays the headline after an upgrade."""
    rows = coding_round.agreement_reports.filter(kind=kind, options=options, scope=scope)
    return rows.order_by("id").first()


def _payload(
    coding_round: Round, scope: str, count_states: str | None, codebook: Codebook | None
) -> dict[str, Any]:
    study = coding_round.study
    if scope == Scope.WHOLE:
        return _one_payload(study, coding_pairs(coding_round, count_states=count_states, codebook=codebook))
    groups = grouped_pairs(coding_round, scope, count_states=count_states, codebook=codebook)
    return {"groups": [{"name": name, **_one_payload(study, data)} for name, data in groups]}


def pooled_agreement(study: Study, numbers: Sequence[int] | None = None) -> dict[str, Any]:
    """One figure over several closed main rounds (all, unless named), in the words of the newest version.

    It is computed when it is asked for: the reports of its rounds are what was measured.
    """
    rounds = study.rounds.filter(
        kind=Round.Kind.MAIN,
        state__in=Round.UNBLINDED,
        after_unblinding=False,
        discarded_at__isnull=True,
        codebook__isnull=False,
    ).select_related("study", "codebook")
    chosen = [each for each in rounds if numbers is None or each.number in numbers]
    if numbers is not None and len(chosen) < len(set(numbers)):
        raise InvalidInputError(
            {"rounds": ["Only closed main rounds that were coded independently are pooled."]}
        )
    if not chosen:
        raise RoundStateError("No main round is closed yet.")
    newest = max((each.codebook for each in chosen if each.codebook), key=lambda each: each.version)
    return {
        "rounds": [each.number for each in chosen],
        "kind": Kind.AS_CODED if len({each.codebook_id for each in chosen}) == 1 else Kind.MAPPED,
        "software": software_version(),
        **_one_payload(study, pooled_pairs(chosen, newest)),
    }


def _one_payload(study: Study, data: list[DimensionData]) -> dict[str, Any]:
    """The eligibility apart where there is one of it; with several comparisons each stays with its own."""
    rows = [(each, to_payload(_summary(study, each))) for each in data]
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
