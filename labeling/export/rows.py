"""The rows of every file: one class a file, one field a column, in the order in which they are printed."""

# ruff: noqa: RUF009 - column() gives a field
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from labeling.export import columns
from labeling.export.columns import Column, column, columns_of

UNIT = "Reference of the unit: owner/repo#number, or the file's own id; ~1, ~2 name a part of a split issue."
REPOSITORY = "Repository of the issue, owner/repo; empty where the source had none."
NUMBER = "Number of the issue in its repository."
URL = "Address of the issue."
ROUND = "Number of the round in the study."
CODER = "Name of the coder, or their pseudonym where pseudonyms were asked for."
CATEGORY = "Category code, as in codebook.csv; one row per category where several may be chosen."
CATEGORY_PATH = "Codes from the top of the tree to the category, joined by /."


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """What one coder said about one unit in one dimension."""

    unit: str = column(UNIT)
    repository: str = column(REPOSITORY)
    number: int | None = column(NUMBER)
    url: str = column(URL)
    round: int = column(ROUND)
    round_kind: str = column("Kind of the round: training, pilot, main, recode, retest or imported.")
    codebook_version: int | None = column("Version of the codebook the round was coded with.")
    dimension: str = column("Key of the dimension.")
    coder: str = column(CODER)
    category: str = column(CATEGORY)
    category_path: str = column(CATEGORY_PATH)
    text: str = column("Answer of a free-text dimension.")
    status: str = column(
        "coded, unclear, not_applicable, not_asked, excluded, skipped or missing; coded without a category: "
        "none of them applies."
    )
    exclude_reason: str = column("Why the coder excluded the unit.")
    confidence: str = column("Confidence of the coder in the whole unit: low, medium or high.")
    memo: str = column("Memo of the coder on the whole unit.")
    submitted_at: datetime | None = column("When the answer that counts was submitted, UTC.")
    recoded_after_unblinding: bool = column("Whether one of the round's coders could read earlier answers.")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What was decided about one unit in one dimension."""

    unit: str = column(UNIT)
    repository: str = column(REPOSITORY)
    number: int | None = column(NUMBER)
    url: str = column(URL)
    round: int = column(ROUND)
    codebook_version: int | None = column("Version of the codebook the round was coded with.")
    dimension: str = column("Key of the dimension.")
    category: str = column(CATEGORY)
    category_path: str = column(CATEGORY_PATH)
    text: str = column("Decided text of a free-text dimension.")
    status: str = column(
        "final, unclear, not_applicable, excluded, open, not_asked, missing or split; final without a "
        "category: none of them applies; missing: no coder answered, and there was nothing to decide."
    )
    exclude_reason: str = column("Why the unit is excluded.")
    how: str = column(
        "How it was decided: agreed, discussed, adjudicated, majority, single, derived or excluded."
    )
    disagreement_reason: str = column("Why the coders differed, as they said.")
    rationale: str = column("Why this is the answer.")
    decided_by: str = column("Who decided; empty where the answers themselves did.")
    recorded_by: str = column("Who noted what the coders agreed on in a meeting.")
    decided_at: datetime | None = column("When it was decided, UTC.")


@dataclass(frozen=True, slots=True)
class WideRow:
    """One unit with its final answers side by side; the columns of the dimensions follow these."""

    unit: str = column(UNIT)
    repository: str = column(REPOSITORY)
    number: int | None = column(NUMBER)
    url: str = column(URL)
    title: str = column("Title of the issue, as coded.")
    created_at: datetime | None = column("When the issue was opened, UTC.")
    closed_at: datetime | None = column("When the issue was closed, UTC.")
    stratum: str = column("Stratum the unit was drawn from.")
    round: str = column("Number of the round the answers come from; several are joined by |.")


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One number of a stored agreement report."""

    round: int = column(ROUND)
    round_kind: str = column("Kind of the round.")
    kind: str = column("as_coded, mapped, post_hoc or after_unblinding.")
    dimension: str = column("Key of the dimension; eligibility: whether units are kept or excluded.")
    scope: str = column("whole, pair, category:<code>, or the kind and name of a part of the round.")
    coder_a: str = column("First coder, where the number is of two coders.")
    coder_b: str = column("Second coder, where the number is of two coders.")
    statistic: str = column("Name of the statistic.")
    value: float | None = column("Value in full precision; empty where it is undefined.")
    ci_low: float | None = column("Lower limit of the 95 % interval.")
    ci_high: float | None = column("Upper limit of the 95 % interval.")
    method: str = column("How the interval was made.")
    undefined: str = column("Why there is no value.")
    n_both: int = column("Units with answers of two coders.")
    k: int = column("Number of categories that could be chosen.")
    headline: bool = column("Whether this is the statistic to report for the dimension.")
    software: str = column("Version of the software that computed the number.")


@dataclass(frozen=True, slots=True)
class LeftOutRow:
    unit: str = column(UNIT)
    round: int = column(ROUND)
    dimension: str = column("Key of the dimension; eligibility: whether units are kept or excluded.")
    reason: str = column(
        "single, missing, excluded_by_one, excluded_by_all, not_asked, asked_of_one, or state where reserved "
        "states are left out."
    )


@dataclass(frozen=True, slots=True)
class CodebookRow:
    """One category of one version; a dimension without categories has one row."""

    version: int = column("Version of the codebook.")
    frozen_at: datetime | None = column("When the version was frozen, UTC; empty: a draft.")
    dimension: str = column("Key of the dimension.")
    dimension_name: str = column("Name of the dimension.")
    kind: str = column("single, multiple, ordinal or text.")
    category: str = column("Category code.")
    category_path: str = column(CATEGORY_PATH)
    name: str = column("Name of the category.")
    concept: str = column("Identity of the category across versions.")
    definition: str = column("What the category means.")
    include: str = column("What belongs to it.")
    exclude: str = column("What does not.")
    precedence: str = column("What comes first where several fit.")
    order: int | None = column("Place of the category in its dimension.")
    archived: bool | None = column("Whether it can no longer be chosen.")


@dataclass(frozen=True, slots=True)
class MappingRow:
    from_version: int = column("Codebook version the category comes from.")
    to_version: int = column("Codebook version it goes to.")
    dimension: str = column("Key of the dimension.")
    from_category: str = column("Category code in the first version.")
    to_category: str = column("Category code in the second version; empty: it went nowhere.")
    act: str = column("rename, move, merge, split, archive or reject.")


@dataclass(frozen=True, slots=True)
class SampleRow:
    sample: int = column("Number of the sample in the study, from 1.")
    unit: str = column(UNIT)
    stratum: str = column("Stratum the unit was drawn from.")
    rank: int = column("Place in the draw of its stratum.")
    drawn: str = column("draw, top_up or replacement; pilot: drawn beside the sample, for pilots alone.")
    replaced_by: str = column("Unit that took its place.")


@dataclass(frozen=True, slots=True)
class FrameRow:
    """An issue that could have been drawn."""

    sample: int = column("Number of the sample in the study, from 1.")
    unit: str = column(f"{UNIT} Empty: it was not drawn.")
    key: str = column("Key of the issue, host/owner/repo#number in lower case; the draw hashes it.")
    stratum: str = column("Stratum of the issue.")
    rank: int = column("Place of the issue in its stratum.")


@dataclass(frozen=True, slots=True)
class FunnelRow:
    step: str = column(
        "Kind of the step: total, stored, rule, override, duplicate, eligible, sampled, "
        "excluded, coded, final."
    )
    text: str = column("The step in words.")
    left: int = column("Issues left after the step.")
    removed: int | None = column("Issues the step took out; negative: brought back.")


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    unit: str = column(UNIT)
    round: int = column(ROUND)
    coder: str = column(CODER)
    dimension: str = column("Key of the dimension.")
    category: str = column("Category code the quote speaks for; empty: none yet.")
    document: str = column("Document of the issue: title, body, comment:<id>, fix:<id>:...")
    start: int = column("First code point of the quote in the text of the document, from 0.")
    end: int = column("Code point after the quote.")
    quote: str = column("The quoted text.")
    prefix: str = column("Up to 32 characters before the quote.")
    suffix: str = column("Up to 32 characters after the quote.")
    quote_sha256: str = column("SHA-256 of the quote in UTF-8.")


@dataclass(frozen=True, slots=True)
class EventRow:
    at: datetime = column("When it happened, UTC.")
    round: int | None = column(ROUND)
    by: str = column("Who did it; empty: the system.")
    verb: str = column("What was done.")
    object: str = column("What it was done to.")
    data: str = column("Ids and numbers of the act, as JSON.")


@dataclass(frozen=True, slots=True)
class ColumnRow:
    file: str = column("Name of the file.")
    column: str = columns.column("Name of the column.")
    meaning: str = columns.column("What its cells mean.")


FILES: dict[str, type] = {
    "agreement.csv": AgreementRow,
    "annotations.csv": AnnotationRow,
    "codebook.csv": CodebookRow,
    "columns.csv": ColumnRow,
    "events.csv": EventRow,
    "evidence.csv": EvidenceRow,
    "frame.csv": FrameRow,
    "funnel.csv": FunnelRow,
    "labels.csv": LabelRow,
    "labels_wide.csv": WideRow,
    "left_out.csv": LeftOutRow,
    "mappings.csv": MappingRow,
    "own_annotations.csv": AnnotationRow,
    "sample.csv": SampleRow,
}


@dataclass(frozen=True, slots=True)
class WideLayout:
    """The columns of ``labels_wide.csv`` that depend on the study: dimensions, and the coders of each."""

    coders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def columns(self) -> list[Column]:
        return columns_of(WideRow) + [
            each for dimension, names in self.coders.items() for each in self._dimension(dimension, names)
        ]

    def _dimension(self, key: str, coders: tuple[str, ...]) -> list[Column]:
        own = [
            Column(key, "Final categories of the dimension, joined by |, or its final text."),
            Column(f"{key}__status", "Status of the final answer, as in labels.csv."),
            Column(f"{key}__how", "How it was decided, as in labels.csv."),
        ]
        said = "What {} said in the same round: categories joined by |, a text, or a status."
        return own + [Column(f"{key}__{coder}", said.format(coder)) for coder in coders]


def column_rows(layout: WideLayout) -> list[ColumnRow]:
    """Give every column of every file with its meaning: the content of ``columns.csv``."""
    return [
        ColumnRow(name, each.name, each.meaning)
        for name, row_type in FILES.items()
        for each in (layout.columns() if row_type is WideRow else columns_of(row_type))
    ]
