"""The patch of one file as lines to show. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
Kind = Literal["add", "del", "ctx", "hunk"]
_KINDS: dict[str, Kind] = {"+": "add", "-": "del"}


@dataclass(frozen=True, slots=True)
class PatchLine:
    """A line with its number before and after the change; ``text`` keeps its sign.

    The texts joined by line breaks are the patch itself, so that a quote from it can be found again.
    """

    kind: Kind
    old: int | None
    new: int | None
    text: str


def patch_lines(patch: str) -> list[PatchLine]:
    lines: list[PatchLine] = []
    old = new = 0
    for text in patch.split("\n"):
        if hunk := _HUNK.match(text):
            old, new = int(hunk[1]), int(hunk[2])
            lines.append(PatchLine("hunk", None, None, text))
            continue
        kind: Kind = _KINDS.get(text[:1], "ctx")
        is_told = not text.startswith("\\")  # "\ No newline at end of file" is no line of the file
        lines.append(
            PatchLine(
                kind,
                old if is_told and kind != "add" else None,
                new if is_told and kind != "del" else None,
                text,
            )
        )
        old += is_told and kind != "add"
        new += is_told and kind != "del"
    return lines
