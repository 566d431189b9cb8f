"""A memory in a temporary home, and an embedder so simple that its vectors can be told in advance."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.query_terms import fold, split_words
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages

SIZE = 64
SAME = {"vessel": "boat", "feline": "cat"}
"""Words that mean the same."""


def row(word: str) -> np.ndarray:
    """One direction per meaning."""
    seed = int.from_bytes(hashlib.blake2b(SAME.get(word, word).encode(), digest_size=4).digest(), "little")
    vector = np.random.default_rng(seed).normal(size=SIZE)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


async def embed(texts: Sequence[str]) -> list[TextEmbedding]:
    """The mean of the words."""
    meanings = []
    for text in texts:
        words = [fold(word) for word in split_words(text)] or ["nothing"]
        rows = np.stack([row(word) for word in words])
        mean = rows.mean(0) / np.linalg.norm(rows.mean(0))
        meanings.append(TextEmbedding(mean.tobytes(), rows.tobytes(), tuple("\u2581" + word for word in words)))
    return meanings


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "home" / "lethe.sqlite3")
    yield opened
    await opened.close()


@pytest.fixture
def passages(database: Database) -> Passages:
    return Passages(database)
