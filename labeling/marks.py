"""How a dimension looks on every page of its codebook: a letter and one of six colours."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

COLOURS = 6


class NamedDimension(Protocol):
    key: str
    name: str


@dataclass(frozen=True)
class DimensionMark:
    """``letter`` is the tag, ``index`` (1 to 6) the number of the colour class ``dim-N``."""

    key: str
    name: str
    letter: str
    index: int


def dimension_index(position: int) -> int:
    """Colour of the dimension at ``position`` (from 1); the seventh shares the first one's."""
    return (position - 1) % COLOURS + 1


def mark_dimensions(dimensions: Iterable[NamedDimension]) -> dict[str, DimensionMark]:
    """Give each dimension of a codebook, in its order, a letter of its name that none before it has."""
    marks: dict[str, DimensionMark] = {}
    taken: set[str] = set()
    for position, dimension in enumerate(dimensions, start=1):
        letters = [letter for letter in dimension.name.upper() if letter.isalnum()]
        letter = next((letter for letter in letters if letter not in taken), str(position))
        taken.add(letter)
        marks[dimension.key] = DimensionMark(dimension.key, dimension.name, letter, dimension_index(position))
    return marks
