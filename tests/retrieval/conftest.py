"""A memory in a temporary home, and an embedder so simple that its vectors can be told in advance."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.ranking import RankedSource, RankedSources
from lethe_app.searchable_text import fold, split_words
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


def sure_hits(found: RankedSources, slots: int = 3) -> list[RankedSource]:
    """Return the hits that go into a prompt: the sure ones among the first `slots`."""
    return [hit for hit in found.hits[:slots] if hit.is_sure]


async def numbers_of(passages: Passages, owner: str) -> list[int]:
    """Return the numbers of the passages of an owner, ascending."""
    rows = await passages.encoded_rows(owner)
    return [int(rows[start : start + 16], 16) for start in range(0, len(rows), 68)]


async def origins_of(passages: Passages, *owners: str, source: UUID | None = None) -> list[UUID]:
    """Return the origins of the passages of these owners, or of one of their sources."""
    stored = await passages.read([number for owner in owners for number in await numbers_of(passages, owner)])
    return [one.origin for one in stored.values() if source in {None, one.source}]
