"""A second opinion on stored kappas, from scikit-learn. Only workers import this module."""

import json
import math
import warnings
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from django.utils import timezone
from sklearn.metrics import cohen_kappa_score

from labeling.agreement.report import DimensionData
from labeling.models import AgreementReport, Round
from labeling.selectors.agreement import coding_pairs

TOLERANCE = 1e-9


def check_round(coding_round: Round) -> list[AgreementReport]:
    """Check every report of the whole round that was not checked yet."""
    reports = coding_round.agreement_reports.filter(
        scope=AgreementReport.Scope.WHOLE, checked_at__isnull=True
    ).exclude(kind=AgreementReport.Kind.MAPPED)
    return [check_agreement(report) for report in reports]


def check_agreement(report: AgreementReport) -> AgreementReport:
    """Compute each kappa of a stored report anew and note whether it is the same number."""
    problems = list(_differences(report))
    report.checked_at = timezone.now()
    report.check_problem = "\n".join(problems)
    report.save(update_fields=["checked_at", "check_problem"])
    return report


def _differences(report: AgreementReport) -> Iterator[str]:
    payload = report.payload
    apart = [payload["eligibility"]] if payload["eligibility"] is not None else []
    stored = apart + payload["dimensions"]
    count_states = json.loads(report.options).get("count_states")
    for data, row in zip(coding_pairs(report.round, count_states=count_states), stored, strict=True):
        for place, (first, second) in enumerate(combinations(data.coders, 2)):
            if row["pairs"]:
                yield from _compared(data, row["pairs"][place], first, second)


def _compared(data: DimensionData, pair: Mapping[str, Any], first: str, second: str) -> Iterator[str]:
    expected = _kappa(data, first, second)
    found = pair["kappa"]["value"]
    same = math.isnan(expected) if found is None else abs(found - expected) <= TOLERANCE
    if not same:
        yield f"{data.key}, {first} and {second}: stored {found}, scikit-learn gives {expected}."


def _kappa(data: DimensionData, first: str, second: str) -> float:
    """Cohen's kappa of two coders; of sets, the mean over the categories for which there is one."""
    units = [unit for unit in data.units if (unit, first) in data.values and (unit, second) in data.values]
    answers = [[data.values[unit, coder] for unit in units] for coder in (first, second)]
    if not units:
        return math.nan
    first_side, second_side = answers
    if data.kind != "multiple":
        return _score(first_side, second_side, list(data.choices))
    each = [
        _score([choice in one for one in first_side], [choice in one for one in second_side], [False, True])
        for choice in data.choices
    ]
    defined = [value for value in each if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def _score(first: list[Any], second: list[Any], labels: list[Any]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an undefined kappa is NaN here, and compared as such
        return float(cohen_kappa_score(first, second, labels=labels))
