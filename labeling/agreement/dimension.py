"""What a report is made from: the answers of one dimension, and their translation into ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from labeling.agreement.ratings import NOT_CODED, IntArray, Ratings
from labeling.agreement.sets import Chosen, set_codes

Kind = Literal["single", "multiple", "ordinal", "text"]
GOAL = 0.7
"""What a coefficient is held against where the study names no goal of its own."""


@dataclass(frozen=True, slots=True)
class DimensionData:
    """The independent answers of some coders to one dimension.

    ``categories`` are the declared ids in their order; ``states`` the reserved states that count as
    categories here, in theirs. ``values`` holds, by unit and coder, the answers that take part: an id or a
    state, for multiple choice a frozenset of ids (possibly empty) or of one state. ``parents`` maps a
    category to the id above it. ``left_out`` lists the units that do not take part, by reason. ``seed`` and
    ``draws`` are those of the bootstrap. ``clusters`` says where a unit comes from, say its repository,
    ``goal`` what the headline is held against, and ``names`` what sentences call a choice.
    """

    key: str
    kind: Kind
    categories: tuple[str, ...]
    states: tuple[str, ...]
    coders: tuple[str, ...]
    units: tuple[str, ...]
    values: Mapping[tuple[str, str], str | frozenset[str]]
    parents: Mapping[str, str]
    left_out: Mapping[str, tuple[str, ...]]
    conditional: bool
    seed: int
    draws: int = 10_000
    clusters: Mapping[str, str] = field(default_factory=dict)
    goal: float = GOAL
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def choices(self) -> tuple[str, ...]:
        """Everything a coder could choose: the declared categories, then the states."""
        return (*self.categories, *self.states)

    def quoted(self, choice: str) -> str:
        """Call a choice as sentences do."""
        return (
            f"\N{LEFT DOUBLE QUOTATION MARK}{self.names.get(choice, choice)}\N{RIGHT DOUBLE QUOTATION MARK}"
        )


def single_ratings(data: DimensionData) -> Ratings:
    """Number the choices and group the units; raise ValueError for an answer that is no choice."""
    return Ratings.from_codes(_single_codes(data), len(data.choices))


def multiple_ratings(data: DimensionData) -> tuple[Ratings, list[Chosen]]:
    """Number the distinct sets and group the units; raise ValueError for an answer outside the choices."""
    codes, sets = _multiple_codes(data)
    return Ratings.from_codes(codes, len(sets)), sets


def pattern_of_units(data: DimensionData, ratings: Ratings) -> IntArray:
    """Give the place in ``ratings``, which were made from ``data``, of each unit's pattern."""
    codes = _multiple_codes(data)[0] if data.kind == "multiple" else _single_codes(data)
    rows = np.vstack([ratings.patterns, codes])
    _, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)  # NumPy 2.0 gives it a second axis
    known = len(ratings.patterns)
    places = np.empty(known, dtype=np.int64)
    places[inverse[:known]] = np.arange(known)
    found: IntArray = places[inverse[known:]]
    return found


def _single_codes(data: DimensionData) -> IntArray:
    position: dict[object, int] = {choice: place for place, choice in enumerate(data.choices)}
    position[None] = NOT_CODED
    try:
        codes = [position[data.values.get((unit, coder))] for unit in data.units for coder in data.coders]
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is no category of dimension {data.key!r}.") from None
    return np.array(codes, dtype=np.int64).reshape(-1, len(data.coders))


def _multiple_codes(data: DimensionData) -> tuple[IntArray, list[Chosen]]:
    known = set(data.choices)
    rows: list[list[Chosen | None]] = []
    for unit in data.units:
        row: list[Chosen | None] = []
        for coder in data.coders:
            chosen = data.values.get((unit, coder))
            if chosen is not None and (isinstance(chosen, str) or not chosen <= known):
                raise ValueError(f"{chosen!r} is no set of categories of dimension {data.key!r}.")
            row.append(chosen)
        rows.append(row)
    return set_codes(rows, len(data.coders))


def upper_level(categories: tuple[str, ...], parents: Mapping[str, str]) -> tuple[tuple[str, ...], IntArray]:
    """Give the categories one level up, in order of first use, and the position there of each category.

    A category without a parent stands for itself.
    """
    tops = [parents.get(category, category) for category in categories]
    names = tuple(dict.fromkeys(tops))
    return names, np.array([names.index(top) for top in tops], dtype=np.int64)


def without_states(ratings: Ratings, declared: int) -> Ratings:
    """Take reserved states, which have no place in an order, out of the answers; keep the patterns' places.

    With two coders a unit with a state on one side goes entirely, so that all weighted coefficients use the
    same units.
    """
    positions = [place if place < declared else NOT_CODED for place in range(ratings.k)]
    kept = ratings.recoded(positions, declared)
    if ratings.coders == 2:
        patterns = np.where((kept.answers == 2)[:, None], kept.patterns, NOT_CODED)
        return Ratings(patterns, kept.sizes, declared)
    return kept
