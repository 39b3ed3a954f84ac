"""Drawing issues: a keyed hash gives every issue its place, the first places are the sample.

An issue's score depends on the seed and its own key only, never on the other issues or their order.
So the same seed gives the same sample on every machine, and a corpus that grew moves few places.
"""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranked:
    """A key and its place in its stratum; the first place is 1."""

    key: str
    rank: int


def score(seed: int, message: str) -> bytes:
    """HMAC-SHA256 of the message, keyed with the seed written in decimal digits."""
    return hmac.digest(str(seed).encode("ascii"), message.encode("utf-8"), "sha256")


def ranking(keys: Iterable[str], seed: int) -> list[str]:
    """All keys by ascending score, equal scores by key; raises ValueError for a repeated key."""
    listed = list(keys)
    if len(set(listed)) != len(listed):
        raise ValueError("A key stands twice in the frame. Remove the repetition and draw again.")
    return sorted(listed, key=lambda key: (score(seed, key), key))


def draw_sample(keys: Collection[str], size: int, seed: int) -> list[str]:
    """Draw a simple random sample: the first ``size`` keys of the ranking, in its order."""
    _refuse_size(size, len(keys))
    return ranking(keys, seed)[:size]


def draw_stratified(frame: Mapping[str, str], sizes: Mapping[str, int], seed: int) -> dict[str, list[Ranked]]:
    """Draw ``sizes[stratum]`` keys of each stratum; ``frame`` gives the stratum of every key.

    Strata come back in the order of their names. A stratum without a size gives nothing.
    """
    unknown = sizes.keys() - set(frame.values())
    if unknown:
        raise ValueError(f"No issue belongs to {', '.join(sorted(unknown))}. Name only strata of the frame.")
    drawn = {}
    for stratum in sorted(sizes):
        ranked = list(_ranked(frame, stratum, seed))
        _refuse_size(sizes[stratum], len(ranked), stratum)
        drawn[stratum] = ranked[: sizes[stratum]]
    return drawn


def next_ranks(
    frame: Mapping[str, str], stratum: str, taken: Collection[str], count: int, seed: int
) -> list[Ranked]:
    """Continue a draw: the next ``count`` ranks of the stratum, for a top-up or a replacement.

    ``frame`` is the frame of the draw. ``taken`` are all keys that were ever drawn from it, those
    replaced since included: none of them is drawn again.
    """
    gone = set(taken)
    left = [ranked for ranked in _ranked(frame, stratum, seed) if ranked.key not in gone]
    _refuse_size(count, len(left), stratum)
    return left[:count]


def frame_hash(frame: Mapping[str, str]) -> str:
    """SHA-256, in hexadecimal, of the frame: what could have been drawn, and from which stratum.

    Hashed are, by ascending key, the key and its stratum, each as a netstring of its UTF-8 bytes
    (``<length>:<bytes>,``), with nothing between. Text of any kind is unambiguous in this form.
    """
    digest = hashlib.sha256()
    for key in sorted(frame):
        digest.update(_netstring(key) + _netstring(frame[key]))
    return digest.hexdigest()


def _ranked(frame: Mapping[str, str], stratum: str, seed: int) -> Iterator[Ranked]:
    members = (key for key, its_stratum in frame.items() if its_stratum == stratum)
    return (Ranked(key, rank) for rank, key in enumerate(ranking(members, seed), start=1))


def _netstring(text: str) -> bytes:
    data = text.encode("utf-8")
    return b"%d:%b," % (len(data), data)


def _refuse_size(size: int, available: int, stratum: str | None = None) -> None:
    where = f" in {stratum}" if stratum is not None else ""
    if size < 0:
        raise ValueError(f"{size} issues{where} cannot be drawn. Ask for 0 or more.")
    if size > available:
        raise ValueError(
            f"{size} issues were asked for{where}, {available} can be drawn. Ask for at most those."
        )
