"""What the things in a figure are called: coefficients, categories, reasons."""

from collections.abc import Mapping
from dataclasses import dataclass

from labeling.agreement.summary import CORRECTED
from labeling.paper import STATISTICS

COEFFICIENTS: Mapping[str, str] = STATISTICS | {
    "krippendorff_alpha_masi": "Krippendorff's \N{GREEK SMALL LETTER ALPHA} (MASI)",
    "krippendorff_alpha_jaccard": "Krippendorff's \N{GREEK SMALL LETTER ALPHA} (Jaccard)",
    "krippendorff_alpha_nominal_sets": "Krippendorff's \N{GREEK SMALL LETTER ALPHA} (identical sets)",
    "cohen_kappa_ci95": "Cohen's κ, analytic interval",
    "cohen_kappa_se": "Standard error of κ",
    "cohen_kappa_se0": "Standard error if κ were 0",
    "raw_agreement": "Observed agreement",
    "observed_agreement": "Observed agreement",
    "mean_pairwise_agreement": "Mean agreement of the pairs",
    "expected_agreement": "Agreement expected by chance",
    "kappa_max": "Largest κ the coders' rates allow",
    "pabak": "PABAK",
    "prevalence_index": "Prevalence index",
    "bias_index": "Bias index",
    "scott_pi": "Scott's \N{GREEK SMALL LETTER PI}",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac1_complete": "Gwet's AC1, units all coded",
    "gwet_ac2_linear": "Gwet's AC2 (linear)",
    "gwet_ac2_quadratic": "Gwet's AC2 (quadratic)",
    "fleiss_kappa": "Fleiss' κ, units all coded",
    "fleiss_kappa_general": "Fleiss' κ, missing allowed",
    "light_kappa": "Light's κ",
    "light_weighted_kappa_linear": "Light's weighted κ (linear)",
    "light_weighted_kappa_quadratic": "Light's weighted κ (quadratic)",
    "macro_label_kappa": "Mean κ per category",
    "pooled_label_kappa": "κ over all choices of a category",
    "label_kappa": "κ of the category",
    "category_kappa": "κ of the category",
    "fleiss_category_kappa": "Fleiss' κ of the category",
    "weighted_kappa_linear": "Weighted κ (linear)",
    "weighted_kappa_linear_se": "Standard error of weighted κ (linear)",
    "weighted_kappa_quadratic": "Weighted κ (quadratic)",
    "weighted_kappa_quadratic_se": "Standard error of weighted κ (quadratic)",
    "exact_match": "Identical sets",
    "mean_jaccard_similarity": "Mean Jaccard similarity",
    "mean_masi_similarity": "Mean MASI similarity",
    "level2_agreement_given_level1_agreement": "Agreement below, where the upper level agrees",
    "hierarchical_weighted_kappa_half": "Weighted κ, half credit within a group",
}
UPPER = "level1."
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
    if statistic.startswith(UPPER):
        return f"Upper level: {coefficient_name(statistic.removeprefix(UPPER))}"
    if statistic.endswith(CORRECTED):
        return f"{coefficient_name(statistic.removesuffix(CORRECTED))}, BCa interval"
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
    definition: str = ""


STATES = {
    "unclear": CategoryName("unclear", "Unclear", "?"),
    "not_applicable": CategoryName("not_applicable", "Not applicable", "n/a"),
}


def category_name(code: str, names: Mapping[str, CategoryName]) -> CategoryName:
    """Find the name of a code; a category that only this round knew goes by its code."""
    return names.get(code) or STATES.get(code) or CategoryName(code, code, code[:3])
