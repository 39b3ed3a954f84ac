"""A row of a file: an issue, or why it is none."""

from __future__ import annotations

from dataclasses import dataclass

from labeling.records import IssueRecord


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that brings no issue, with a reason its owner understands; ``content`` is what stands in it."""

    row: int
    reason: str
    content: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row; ``number`` counts issues from 1, in a table as a spreadsheet does (the header is row 1)."""

    number: int
    told: IssueRecord | Rejected
