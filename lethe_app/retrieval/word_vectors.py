"""Small word vectors that relate words of similar meaning without an embedder.

They are the principal components of the shipped embedder's vectors of single words, shorter for frequent words, and are
written by `tests/bench/fit_word_vectors.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lethe_app.paths import shipped_root

FILE = shipped_root() / "resources" / "facts" / "words.npz"
"""`words`: UTF-8, one word per line; `vectors`: int8 of shape (words, size)."""


def mean_vector(words: Iterable[str]) -> npt.NDArray[np.float32]:
    """Return the normalised sum of the vectors of lower-case `words`; zeros if none of them is known."""
    rows, vectors = _load_vectors()
    total: npt.NDArray[np.float32] = vectors[[rows[word] for word in words if word in rows]].sum(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else total


@lru_cache(maxsize=1)
def _load_vectors() -> tuple[dict[str, int], npt.NDArray[np.int8]]:
    with np.load(FILE, allow_pickle=False) as read:
        words = read["words"].tobytes().decode().split("\n")
        return {word: row for row, word in enumerate(words)}, read["vectors"]
