"""Texts that nearly say the same: TF-IDF and the cosine between them. Only workers import this module."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

#: Rows compared with all others at a time; each block is a sparse matrix of its own.
BLOCK = 256
#: Words kept, the most frequent first. A word that half of the texts have tells nothing.
WORD = r"(?u)[^\W_]{2,}"
MOST_WORDS = 50_000
TOO_FREQUENT = 0.5


def near_pairs(
    texts: Iterable[str], *, threshold: float, most: int, keep_alive: Callable[[], None] = lambda: None
) -> list[tuple[int, int, float]]:
    """Give the places of two texts and how near they are (from ``threshold`` to 1), the nearest first."""
    vectorizer = TfidfVectorizer(
        token_pattern=WORD, max_features=MOST_WORDS, sublinear_tf=True, dtype=np.float32
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:  # not a single word in all of them
        return []
    count = weights.shape[0]
    if count > 2 / (1 - TOO_FREQUENT):
        frequent = weights.getnnz(axis=0) > TOO_FREQUENT * count
        # Frequent words make every text a little like every other, at the price of a full matrix.
        rare = weights[:, ~frequent]
        weights = normalize(rare, copy=False) if rare.nnz else weights
    pairs: list[tuple[int, int, float]] = []
    for start in range(0, count, BLOCK):
        keep_alive()
        near = (weights[start : start + BLOCK] @ weights[start:].T).tocoo()
        chosen = (near.data >= threshold) & (near.col > near.row)
        rows, columns, scores = near.row[chosen], near.col[chosen], near.data[chosen]
        pairs += [
            (start + int(row), start + int(column), min(1.0, float(score)))
            for row, column, score in zip(rows, columns, scores, strict=True)
        ]
        pairs = sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))[:most]
    return pairs
