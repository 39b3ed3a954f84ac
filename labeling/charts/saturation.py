"""New categories per batch of units: whether the codebook still grows, or the material repeats itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# The drawing is 216 by 120, its ground at 104.
LEFT, RIGHT, TOP, BOTTOM = 4.0, 212.0, 12.0, 104.0
WIDEST = 24.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Units ``first`` to ``last`` in the order of coding; ``new`` categories came up in them first."""

    first: int
    last: int
    new: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    words: str


@dataclass(frozen=True, slots=True)
class Saturation:
    """``bars`` are the new categories of each batch, ``line`` is how many had come up by then."""

    batches: tuple[Batch, ...]
    bars: tuple[Bar, ...]
    line: str

    @property
    def quiet(self) -> int:
        """How many units at the end brought nothing new."""
        quiet = 0
        for batch in reversed(self.batches):
            if batch.new:
                break
            quiet += batch.last - batch.first + 1
        return quiet


def saturation(units: Sequence[Iterable[str]], size: int) -> Saturation:
    """Take the categories of each unit in the order of coding, ``size`` units a batch (at least 1)."""
    batches: list[Batch] = []
    seen: dict[str, None] = {}
    for start in range(0, len(units), size):
        before = len(seen)
        for used in units[start : start + size]:
            seen.update(dict.fromkeys(sorted(used)))
        new = tuple(list(seen)[before:])
        batches.append(Batch(start + 1, min(start + size, len(units)), new, len(seen)))
    return Saturation(tuple(batches), tuple(_bars(batches)), _line(batches))


def _bars(batches: Sequence[Batch]) -> Iterable[Bar]:
    step = (RIGHT - LEFT) / max(len(batches), 1)
    width = min(0.7 * step, WIDEST)
    for n, batch in enumerate(batches):
        x, y = LEFT + (n + 0.5) * step - width / 2, _height(len(batch.new), batches)
        words = f"Units {batch.first} to {batch.last}: {len(batch.new)} new"
        yield Bar(f"{x:.1f}", f"{y:.1f}", f"{width:.1f}", f"{BOTTOM - y:.1f}", words)


def _line(batches: Sequence[Batch]) -> str:
    step = (RIGHT - LEFT) / max(len(batches), 1)
    points = ((LEFT + (n + 0.5) * step, _height(each.total, batches)) for n, each in enumerate(batches))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _height(count: int, batches: Sequence[Batch]) -> float:
    return BOTTOM - count / max(batches[-1].total, 1) * (BOTTOM - TOP)
