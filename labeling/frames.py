"""The frame of a draw, packed: key and stratum of every issue that could have been drawn."""

import json
import zlib
from collections.abc import Mapping


def pack_frame(frame: Mapping[str, str]) -> bytes:
    return zlib.compress(json.dumps(sorted(frame.items()), ensure_ascii=False).encode())


def unpack_frame(packed: bytes | memoryview) -> dict[str, str]:
    """Give the stratum of every key, keys in ascending order."""
    return dict(json.loads(zlib.decompress(packed))) if packed else {}
