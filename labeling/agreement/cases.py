"""Compute reference cases and compare: a JSON file of ratings with the values they must give.

A case holds ratings as ``table`` (rows first coder, columns second), ``counts`` (units by categories, coders
unknown), ``units`` (one list per unit with one value per coder, null for none; with ``multi`` a list of
categories) or ``set_pairs``; ``categories`` in declared order; and optionally ``coders``,
``agreement_weights``, ``parents``. ``expected`` maps a name to ``{"v": value, "tol": tolerance}``, where null
means undefined.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labeling.agreement.figures import Figures, MultipleChoice, SingleChoice, distance_figures
from labeling.agreement.ratings import NOT_CODED, Ratings
from labeling.agreement.sets import set_ratings

TOLERANCE = 1e-6
SEED = 20_240
BOOTSTRAP = {"boot_ci95", "boot_undefined_share"}


class CaseError(ValueError):
    """The file, or one of its cases, cannot be read."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expected value and what was computed; ``difference`` is None where they agree."""

    case: str
    name: str
    difference: str | None


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Read the cases of a file; raise CaseError where it is not in the format."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CaseError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise CaseError(f"{path} is not JSON in UTF-8: {error}.") from error
    cases = content.get("cases") if isinstance(content, dict) else content
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise CaseError(f'{path} has no list "cases".')
    return cases


def compare_case(case: Mapping[str, Any]) -> Iterator[Comparison]:
    """Compare each expected value of a case with the computed one."""
    name, expected = str(case.get("id", "?")), case.get("expected", {})
    if not isinstance(expected, dict) or not all(map(_is_expectation, expected.values())):
        raise CaseError(f'Case {name}: every entry of "expected" needs a value "v", and "tol" is a number.')
    figures = case_figures(case)
    for key, one in expected.items():
        if key not in figures:
            yield Comparison(name, key, "is not computed for a case of this kind")
            continue
        same = agrees(key, one["v"], figures[key], float(one.get("tol", TOLERANCE)))
        yield Comparison(name, key, None if same else f"expected {one['v']}, computed {figures[key]}")


def case_figures(case: Mapping[str, Any]) -> Figures:
    """Compute every figure of a case; raise CaseError where the case is not in the format."""
    name = case.get("id", "?")
    try:
        if "set_pairs" in case:
            return distance_figures([(frozenset(a), frozenset(b)) for a, b in case["set_pairs"]])
        choice = _multiple(case) if case.get("multi") else _single(case)
        figures = choice.figures()
        if BOOTSTRAP & set(case.get("expected", {})):
            figures |= choice.bootstrap_figures(SEED)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise CaseError(f"Case {name} cannot be computed: {error}") from error
    return figures


def agrees(name: str, expected: Any, computed: Any, tolerance: float) -> bool:
    """Tell whether two figures are the same within the tolerance, entry by entry.

    ``undefined`` holds a sentence; what counts is that there is a reason, not its words.
    """
    if name.rpartition(".")[2] == "undefined":
        return bool(expected) == bool(computed)
    if isinstance(expected, Mapping) and isinstance(computed, Mapping):
        return expected.keys() == computed.keys() and all(
            agrees("", value, computed[key], tolerance) for key, value in expected.items()
        )
    if _is_list(expected) and _is_list(computed):
        return len(expected) == len(computed) and all(
            agrees("", *values, tolerance) for values in zip(expected, computed, strict=True)
        )
    if _is_number(expected) and _is_number(computed):
        return math.isclose(expected, computed, rel_tol=0, abs_tol=tolerance)
    return expected is None and computed is None


def _is_expectation(value: Any) -> bool:
    return isinstance(value, dict) and "v" in value and _is_number(value.get("tol", TOLERANCE))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _single(case: Mapping[str, Any]) -> SingleChoice:
    weights = case.get("agreement_weights")
    ratings, categories, coders = _single_ratings(case)
    table = None if weights is None else np.array(weights, dtype=float)
    if table is not None and table.shape != (len(categories), len(categories)):
        raise ValueError("agreement_weights must have a row and a column for every category.")
    parents = {str(child): str(parent) for child, parent in case.get("parents", {}).items()}
    return SingleChoice(ratings, categories, coders, table, parents)


def _single_ratings(case: Mapping[str, Any]) -> tuple[Ratings, tuple[str, ...], tuple[str, ...]]:
    if "table" in case:
        ratings = Ratings.from_table(case["table"])
        return ratings, _categories(case, ratings.k), _coders(case, 2)
    if "counts" in case:
        ratings = Ratings.from_unit_counts(case["counts"])
        return ratings, _categories(case, ratings.k), _coders(case, ratings.coders)
    rows = _rows(case)
    used = {str(value) for row in rows for value in row if value is not None}
    categories = tuple(map(str, case.get("categories") or sorted(used)))
    if not used <= set(categories):
        raise ValueError(f"{sorted(used - set(categories))[0]!r} is not among its categories.")
    position = {category: place for place, category in enumerate(categories)}
    codes = [[NOT_CODED if value is None else position[str(value)] for value in row] for row in rows]
    coders = _coders(case, len(rows[0]) if rows else None)
    grid = np.array(codes, dtype=np.int64).reshape(len(rows), len(coders))
    return Ratings.from_codes(grid, len(categories)), categories, coders


def _multiple(case: Mapping[str, Any]) -> MultipleChoice:
    rows = [[None if value is None else frozenset(map(str, value)) for value in row] for row in _rows(case)]
    coders = _coders(case, len(rows[0]) if rows else None)
    ratings, sets = set_ratings(rows, len(coders))
    used = frozenset[str]().union(*sets)
    categories = tuple(map(str, case.get("categories") or sorted(used)))
    if not used <= set(categories):
        raise ValueError(f"{sorted(used - set(categories))[0]!r} is not among its categories.")
    return MultipleChoice(ratings, sets, categories, coders)


def _categories(case: Mapping[str, Any], k: int) -> tuple[str, ...]:
    names = case.get("categories") or [str(place + 1) for place in range(k)]
    if len(names) != k:
        raise ValueError(f"it declares {len(names)} categories, the numbers are for {k}.")
    return tuple(map(str, names))


def _rows(case: Mapping[str, Any]) -> list[list[Any]]:
    """Give the answers of each unit. A coder alone stands beside one who answered nothing."""
    rows = [list(row) for row in case["units"]]
    return [[*row, None] for row in rows] if all(len(row) == 1 for row in rows) else rows


def _coders(case: Mapping[str, Any], number: int | None) -> tuple[str, ...]:
    names = list(case.get("coders") or [f"r{place + 1}" for place in range(number or 0)])
    if "units" in case and len(names) == 1:
        names.append("nobody")
    if number is not None and len(names) != number:
        raise ValueError(f"it names {len(names)} coders, the numbers are for {number}.")
    return tuple(map(str, names))
