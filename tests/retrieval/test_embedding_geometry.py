"""Recall works alike with embedders that put everything near, use other axes or want a prefix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelCrashed
from lethe_app.retrieval.embedding_geometry import STARTER, Embed, measure_geometry
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import SIZE, embed, sure_hits
from tests.retrieval.test_memory_index import FRIDAY, lived

CHANCE = np.random.default_rng(5)
TURN = np.linalg.qr(CHANCE.normal(size=(SIZE, SIZE)))[0].astype(np.float32)
SIDE = (CHANCE.normal(size=SIZE) / SIZE**0.5).astype(np.float32)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def compressed(rows: np.ndarray) -> np.ndarray:
    """All cosines between 0.7 and 1."""
    return unit(unit(rows) + 1.6 * SIDE)


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rotated": lambda rows: rows @ TURN,
    "compressed": compressed,
    "rotated and compressed": lambda rows: compressed(rows @ TURN),
    "longer": lambda rows: np.concatenate([rows, np.zeros_like(rows)], axis=-1),
}


def changed(change: Callable[[np.ndarray], np.ndarray]) -> Embed:
    async def embed_otherwise(texts: Sequence[str]) -> list[TextEmbedding]:
        found = []
        for meaning in await embed(texts):
            rows = np.frombuffer(meaning.tokens, np.float32).reshape(len(meaning.pieces), -1)
            vector = change(np.frombuffer(meaning.vector, np.float32)).astype(np.float32)
            found.append(TextEmbedding(vector.tobytes(), change(rows).astype(np.float32).tobytes(), meaning.pieces))
        return found

    return embed_otherwise


@pytest.mark.parametrize("name", CHANGES)
async def test_an_embedder_of_other_geometry_brings_up_the_same(passages: Passages, name: str):
    recall = MemoryIndex(passages, embed, "toy")
    sessions = await lived(recall)
    texts = ("What is my cat called?", "Where is the vessel?", "ok", "Lovely weather for a picnic.")
    before = [await recall.search(["mara"], text, at=FRIDAY) for text in texts]

    recall.set_embedder(changed(CHANGES[name]), "other")
    while await recall.embed_pending():
        pass
    after = [await recall.search(["mara"], text, at=FRIDAY) for text in texts]

    assert sure_hits(before[0])[0].source == sessions["cat"]
    for one, other in zip(before, after, strict=True):
        assert [hit.source for hit in sure_hits(one)] == [hit.source for hit in sure_hits(other)]
        for hit in one.hits:
            same = next(found for found in other.hits if found.source == hit.source)
            assert same.likelihood == pytest.approx(hit.likelihood, abs=0.1)


async def test_the_background_of_a_compressed_embedder_is_taken_away():
    plain, pressed = await measure_geometry(embed, embed), await measure_geometry(changed(compressed), changed(compressed))

    assert pressed.texts > 0.6 > plain.texts
    assert pressed.scale_texts(np.array([pressed.texts, 1], np.float32)) == pytest.approx([STARTER.texts, 1], abs=1e-4)


async def test_an_embedder_that_fails_is_read_as_the_starter():
    async def fail(_texts: Sequence[str]) -> list[TextEmbedding]:
        raise ModelCrashed("The embedding model ended.")

    assert await measure_geometry(fail, fail) == STARTER
