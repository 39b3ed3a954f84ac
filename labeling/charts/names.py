"""What the things in a figure are called: coefficients, categories, reasons."""

from collections.abc import Mapping
from dataclasses import dataclass

from labeling.paper import STATISTICS

COEFFICIENTS: Mapping[str, str] = STATISTICS | {
    "krippendorff_alpha_masi": "Krippendorff's \N{GREEK SMALL LETTER ALPHA} (MASI)",
    "gwet_ac1": "Gwet's AC1",
    "light_kappa": "Light's κ",
    "macro_label_kappa": "Mean κ per category",
    "label_kappa": "κ of the category",
    "category_kappa": "κ of the category",
    "fleiss_category_kappa": "Fleiss' κ of the category",
    "weighted_kappa_quadratic": "Weighted κ (quadratic)",
}
LEFT_OUT = {
    "single": "dealt to one coder only",
    "missing": "an answer is missing",
    "excluded_by_one": "excluded by one coder",
    "excluded_by_all": "excluded by all coders",
    "not_asked": "the question was asked of no coder",
    "asked_of_one": "the question was asked of one coder only",
    "state": "answered unclear or not applicable",
}


def coefficient_name(statistic: str) -> str:
    """Name a statistic as a paper does."""
    return COEFFICIENTS.get(statistic, statistic.replace("_", " "))


def reason_in_words(reason: str) -> str:
    """Say why units take no part."""
    return LEFT_OUT.get(reason, reason.replace("_", " "))


@dataclass(frozen=True, slots=True)
class CategoryName:
    """A category as figures print it: ``key`` where there is no room for the name, ``group`` above it."""

    code: str
    name: str
    key: str
    group: str = ""


STATES = {
    "unclear": CategoryName("unclear", "Unclear", "?"),
    "not_applicable": CategoryName("not_applicable", "Not applicable", "n/a"),
}


def category_name(code: str, names: Mapping[str, CategoryName]) -> CategoryName:
    """Find the name of a code; a category that only this round knew goes by its code."""
    return names.get(code) or STATES.get(code) or CategoryName(code, code, code[:3])
