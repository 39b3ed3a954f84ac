"""What is wrong with an uploaded codebook, by the line of the file."""

from collections.abc import Mapping

from labeling.errors import InvalidInputError


class FileError(InvalidInputError):
    """The file cannot be read as a codebook."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__({"file": [f"Line {line}: {reason}"]})


def at_lines(error: InvalidInputError, lines: Mapping[str, int]) -> InvalidInputError:
    """Turn places such as ``dimensions[0].categories[2].code`` into lines; the nearest known one counts."""
    told = sorted(
        (_line(place, lines), sentence) for place, sentences in error.errors.items() for sentence in sentences
    )
    return InvalidInputError({"file": [f"Line {line}: {sentence}" for line, sentence in told]})


def _line(place: str, lines: Mapping[str, int]) -> int:
    while place and place not in lines:
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return lines.get(place, 1)
