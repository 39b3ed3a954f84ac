"""What the search knows of a text: its words, cut in one way for every database."""

import re
import unicodedata
from collections.abc import Iterable

#: Letters and digits. ``grad_fn`` is two words, as is ``torch.nn``.
_WORD = re.compile(r"[^\W_]+")
#: Longer ones are keys and hashes, which nobody types.
LONGEST = 80
#: So many words of one issue are kept: a tsvector holds no more than a megabyte.
MOST = 20_000


def words_of(texts: Iterable[str]) -> list[str]:
    """Give each word of the texts once."""
    found: dict[str, None] = {}
    for text in texts:
        for word in _WORD.findall(folded(text)):
            found[word[:LONGEST]] = None
        if len(found) > MOST:
            break
    return list(found)[:MOST]


def folded(text: str) -> str:
    """Give the text without the difference between upper and lower case."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
