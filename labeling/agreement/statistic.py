"""One reported number: a value with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

NO_PAIR = "No unit was coded by two coders."
NOT_USABLE = "Undefined: no unit has two answers this coefficient can use."
NO_VARIATION = (
    "Undefined: every answer is one and the same category, so agreement by chance is already 1 and the "
    "coefficient would be 0 divided by 0. Report the observed agreement and say that one category occurred."
)
ONE_DECLARED = "Undefined: fewer than two categories are declared, so coders had nothing to choose between."
ONE_PAIRABLE = "Undefined: alpha needs at least two units that were coded by two coders."
NOT_COMPLETE = "Undefined: no unit was coded by all coders."
NEVER_OR_ALWAYS = "Undefined: the category was never used, or used for every unit."
NO_PAIR_KAPPA = "Undefined: kappa is undefined for every pair of coders."
NO_CATEGORY_KAPPA = "Undefined: kappa is undefined for every category."
NO_PARENT_AGREEMENT = "Undefined: the coders agreed on the upper level of no unit."


@dataclass(frozen=True, slots=True)
class Statistic:
    """A coefficient. ``value`` is None exactly when ``undefined`` says why; no interval, no limits.

    ``method`` says how the interval was made. Limits are not cut at -1 and 1.
    """

    value: float | None
    ci_low: float | None
    ci_high: float | None
    method: str | None
    undefined: str | None

    @classmethod
    def of(cls, value: float, undefined: str) -> Self:
        """Take a number that may be NaN, for the given reason."""
        if math.isnan(value):
            return cls.none(undefined)
        return cls(float(value) + 0.0, None, None, None, None)  # + 0.0 turns -0.0 into 0.0

    @classmethod
    def none(cls, undefined: str) -> Self:
        """Say that there is no number, and why."""
        return cls(None, None, None, None, undefined)

    def between(self, low: float | None, high: float | None, method: str) -> Self:
        """Add an interval; a statistic without value, or limits without numbers, stay without."""
        if self.value is None or low is None or high is None or math.isnan(low) or math.isnan(high):
            return self
        return replace(self, ci_low=low + 0.0, ci_high=high + 0.0, method=method)


def reason_for(name: str, *, k: int, pairable: int, complete: int) -> str:
    """Say why the statistic of this name has no value, given what the data look like."""
    plain = name.rpartition(".")[2]
    if pairable == 0:
        return NO_PAIR
    if plain in {"pabak", "gwet_ac1", "gwet_ac1_complete", "gwet_ac2_linear", "gwet_ac2_quadratic"} and k < 2:
        return ONE_DECLARED
    if plain in {"fleiss_kappa", "fleiss_category_kappa", "gwet_ac1_complete"} and complete == 0:
        return NOT_COMPLETE
    reasons = {
        "category_kappa": NEVER_OR_ALWAYS,
        "fleiss_category_kappa": NEVER_OR_ALWAYS,
        "label_kappa": NEVER_OR_ALWAYS,
        "light_kappa": NO_PAIR_KAPPA,
        "macro_label_kappa": NO_CATEGORY_KAPPA,
        "level2_agreement_given_level1_agreement": NO_PARENT_AGREEMENT,
    }
    return reasons.get(plain, NO_VARIATION)


def format_two(value: float) -> str:
    """Print with two decimals, zero without a sign: ``-2e-16`` is ``0.00``."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text
