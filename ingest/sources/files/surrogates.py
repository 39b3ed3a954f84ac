"""Halves of characters in JSON: Python writes them, and the parser of large files stops at them."""

from __future__ import annotations

import re
from typing import IO

_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_PAIR = 12
_HALF = 6
_REPLACED = rb"\ufffd"


class WholeCharacters:
    """A stream of JSON in which every half of a surrogate pair is U+FFFD."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        while True:
            read = self._file.read(size)
            piece = self._held + read
            # An escape may go on in what is read next.
            cut = len(piece) if not read else _safe_end(piece)
            self._held = piece[cut:]
            if cut or not read:
                return _without_halves(piece[:cut])


def _safe_end(piece: bytes) -> int:
    """Where no escape is cut: before the run of backslashes that begins near the end, if there is one."""
    at = piece.find(b"\\", max(len(piece) - _PAIR + 1, 0))
    if at < 0:
        return len(piece)
    while at > 0 and piece[at - 1] == ord("\\"):
        at -= 1
    # The half before it may be the first of a pair.
    return at - _HALF if piece[max(at - _HALF, 0) : at].lower().startswith(rb"\ud") else at


def _without_halves(piece: bytes) -> bytes:
    if rb"\ud" not in piece and rb"\uD" not in piece:
        return piece
    return _ESCAPE.sub(lambda found: _REPLACED if _is_half(found[0]) else found[0], piece)


def _is_half(escape: bytes) -> bool:
    return len(escape) == _HALF
