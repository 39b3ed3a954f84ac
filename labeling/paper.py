"""The sentences about agreement that a paper may print as they are. Pure text from a report's payload."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.agreement.report import format_two

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ALPHA = "Krippendorff's \N{GREEK SMALL LETTER ALPHA}"
STATISTICS = {
    "cohen_kappa": "Cohen's κ",
    "krippendorff_alpha_nominal": ALPHA,
    "krippendorff_alpha_ordinal": f"{ALPHA} (ordinal)",
    "krippendorff_alpha_masi": f"{ALPHA} with MASI distance",
}


@dataclass(frozen=True, slots=True)
class PaperFacts:
    """What the sentences are made of. ``names`` gives each dimension's name by key.

    ``settled_by`` are the ways in which disagreements were decided; ``disagreed`` and ``undecided`` are
    numbers of units.
    """

    payload: Mapping[str, Any]
    names: Mapping[str, str]
    coders: int
    states_count: bool
    disagreed: int
    undecided: int
    settled_by: frozenset[str]
    after_unblinding: bool


@dataclass(frozen=True, slots=True)
class Paper:
    """The text, and what has to happen before its last sentence is true."""

    text: str
    caution: str


def paper_sentence(facts: PaperFacts) -> Paper:
    """Say who coded, every dimension's headline with its interval, and what was counted how."""
    rows = [row for row in facts.payload["dimensions"] if row["kind"] != "text"]
    sentences = [_who(facts, rows), _agreement(facts, rows), _intervals(rows), *_undefined(facts, rows)]
    sentences += [_states(facts), _eligibility(facts.payload["eligibility"]), _disagreements(facts)]
    return Paper(" ".join(filter(None, sentences)), _caution(facts))


def retest_sentence(facts: PaperFacts, coder: str, days: float) -> str:
    """Say how far a coder agreed with what they had said themselves; ``facts`` holds their rows alone."""
    rows = [row for row in facts.payload["dimensions"] if row["kind"] != "text"]
    told = "; ".join(_headline(facts, row) for row in rows if _value(row) is not None)
    gap = f"{days:g} day{'' if days == 1 else 's'}"
    again = f"{coder} answered again after {gap} (median)."
    agreed = f"Between the two times {told}." if told else ""
    return " ".join(filter(None, [again, agreed, *_undefined(facts, rows)]))


def _who(facts: PaperFacts, rows: Sequence[Mapping[str, Any]]) -> str:
    units = max((row["n_both"] for row in rows), default=0)
    coders = _count(facts.coders)
    if facts.after_unblinding:
        return (
            f"{coders.capitalize()} coders labelled {_issues(units)} again after they could read earlier "
            f"answers, so the agreement is not independent."
        )
    return f"{coders.capitalize()} coders independently labelled {_issues(units)}."


def _issues(count: int) -> str:
    return "1 issue" if count == 1 else f"{count:,} issues"


def _agreement(facts: PaperFacts, rows: Sequence[Mapping[str, Any]]) -> str:
    parts = [_headline(facts, row) for row in rows if _value(row) is not None]
    return f"Before discussion, {'; '.join(parts)}." if parts else ""


def _headline(facts: PaperFacts, row: Mapping[str, Any]) -> str:
    statistic = row["statistics"][row["headline"]]
    text = f"{STATISTICS[row['headline']]} was {_two(statistic['value'])}{_interval(statistic)}"
    text += f" for {_name(facts, row)}"
    if "prevalence_paradox" in _cautions(row):
        text += f" (Gwet's AC1 {_two(row['ac1']['value'])}; one category prevails)"
    if row["conditional"]:
        text += f" (where the question was asked of both, {_issues(row['n_both'])})"
    if row["kind"] == "multiple":
        macro = row["statistics"]["macro_label_kappa"]
        several = ", where an issue can have several labels"
        mean = f" (mean κ per label {_two(macro['value'])})" if macro["value"] is not None else ""
        text += several + mean
    return text


def _two(value: float) -> str:
    """Two decimals with a proper minus."""
    return format_two(value).replace("-", "\N{MINUS SIGN}")


def _interval(statistic: Mapping[str, Any]) -> str:
    if statistic["ci_low"] is None:
        return ""
    low, high = max(statistic["ci_low"], -1.0), min(statistic["ci_high"], 1.0)
    return f" (95% CI {_two(low)} to {_two(high)})"


def _undefined(facts: PaperFacts, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    sentences = []
    for row in rows:
        observed = row["observed"]["value"]
        if _value(row) is not None or observed is None:
            continue
        ac1 = row["statistics"].get("gwet_ac1", {}).get("value")
        beside = f", Gwet's AC1 {_two(ac1)}" if ac1 is not None else ""
        sentences.append(
            f"For {_name(facts, row)} the coefficient is undefined because one single label occurred "
            f"({100 * observed:.2f}% agreement{beside})."
        )
    return sentences


def _states(facts: PaperFacts) -> str:
    if facts.states_count:
        return "The answers unclear and not applicable counted as categories of their own."
    return "The answers unclear and not applicable were left out."


def _eligibility(row: Mapping[str, Any] | None) -> str:
    if row is None or row["observed"]["value"] is None:
        return ""
    share = 100 * row["observed"]["value"]
    beside = _eligibility_kappa(row)
    return f"On whether an issue is excluded the coders agreed for {share:.2f}% of the issues{beside}."


def _eligibility_kappa(row: Mapping[str, Any]) -> str:
    """Kappa where it says something, with AC1 beside it where nearly all issues are kept."""
    kappa = row["statistics"].get("cohen_kappa", {}).get("value")
    if kappa is None:
        return ""
    if "constant_coder" in _cautions(row):
        return " (κ is 0 however often they agree, since one of them gave every issue the same answer)"
    if "prevalence_paradox" in _cautions(row) and row["ac1"]["value"] is not None:
        return f", κ {_two(kappa)} and Gwet's AC1 {_two(row['ac1']['value'])}, since one answer prevails"
    return f", κ {_two(kappa)}"


def _cautions(row: Mapping[str, Any]) -> set[str]:
    return {each["key"] for each in row["warnings"]}


def _intervals(rows: Sequence[Mapping[str, Any]]) -> str:
    draws = max((row["draws"] for row in rows if _value(row) is not None), default=0)
    return f"Intervals are bootstrap percentiles over issues ({draws:,} resamples)." if draws else ""


def _disagreements(facts: PaperFacts) -> str:
    if not facts.disagreed:
        return ""
    ways = []
    if "discussed" in facts.settled_by:
        ways.append("by discussion")
    if "majority" in facts.settled_by:
        ways.append("by majority")
    if "adjudicated" in facts.settled_by:
        ways.append("by a third person")
    how = " or ".join(ways) or "by discussion"
    return f"Disagreements (on {_issues(facts.disagreed)}) were resolved {how}."


def _caution(facts: PaperFacts) -> str:
    if not facts.undecided:
        return ""
    return f"Open: {facts.undecided} of {_issues(facts.disagreed)}. The last sentence is true once none is."


def _value(row: Mapping[str, Any]) -> float | None:
    if row["headline"] is None:
        return None
    value: float | None = row["statistics"][row["headline"]]["value"]
    return value


def _name(facts: PaperFacts, row: Mapping[str, Any]) -> str:
    return facts.names.get(row["key"], str(row["key"])).lower()


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)
