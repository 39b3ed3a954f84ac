"""Notes on categories whose definition left coders apart, kept in the note of the codebook draft."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LINE = re.compile(r"^Definition unclear: (?P<dimension>[^,]+), (?P<answers>.+) \(round (?P<round>\d+)\)$")


@dataclass(frozen=True, slots=True)
class Unclear:
    """Answers that met where the coders found the definition unclear. ``answers`` are sets of codes."""

    dimension: str
    answers: Sequence[Sequence[str]]
    round: int
    times: int

    @property
    def words(self) -> str:
        return " or ".join(", ".join(codes) for codes in self.answers)

    def concerns(self, dimension: str, code: str) -> bool:
        """Whether some chose the category and others did not."""
        chosen = [code in codes for codes in self.answers]
        return self.dimension == dimension and any(chosen) and not (len(chosen) > 1 and all(chosen))


def unclear_line(dimension: str, cell: str, number: int) -> str:
    """Say which answers met. Once frozen the note is read by all, so it names no unit."""
    return f"Definition unclear: {dimension}, {cell.replace('|', ' or ')} (round {number})"


def unclear_notes(note: str) -> Iterator[Unclear]:
    """Read them back; other lines of the note are the lead's own."""
    for line, times in Counter(note.splitlines()).items():
        found = LINE.match(line)
        if found is not None:
            answers = tuple(tuple(each.split("/")) for each in found["answers"].split(" or "))
            yield Unclear(found["dimension"], answers, int(found["round"]), times)
