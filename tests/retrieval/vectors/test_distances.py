"""Texts compared without their days: none is read twice, and a failing embedder leaves nothing half known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.errors import ModelCrashed
from lethe_app.retrieval.vectors import distances
from lethe_app.retrieval.vectors.distances import UndatedEmbedder

DAY = datetime(2026, 3, 1, tzinfo=UTC)


class Reader:
    def __init__(self) -> None:
        self.read: list[str] = []
        self.is_broken = False

    async def __call__(self, texts: Sequence[str]) -> list[TextEmbedding]:
        if self.is_broken:
            raise ModelCrashed("It died.")
        self.read += texts
        return [TextEmbedding(text.encode(), b"", ()) for text in texts]


def passage(number: int, text: str) -> Passage:
    return Passage(PassageKind.MEMORY, "mira", uuid4(), uuid4(), text, text, DAY, number=number)


async def test_a_text_is_read_once_however_often_it_is_compared():
    reader = Reader()
    undated = UndatedEmbedder(reader)
    dog, sea = passage(1, "A dog."), passage(2, "The sea.")

    first = await undated.embed_passages([dog, sea])
    again = await undated.embed_passages([sea, replace(dog, number=7)])

    assert (first, again) == ({1: b"A dog.", 2: b"The sea."}, {2: b"The sea.", 7: b"A dog."})
    assert reader.read == ["A dog.", "The sea."]


async def test_what_was_not_asked_for_long_is_read_again(monkeypatch):
    monkeypatch.setattr(distances, "MAX_CACHED_VECTORS", 2)
    reader = Reader()
    undated = UndatedEmbedder(reader)

    for text in ("one", "two", "one", "three", "one", "two"):
        assert await undated.embed_passages([passage(1, text)]) == {1: text.encode()}

    assert reader.read == ["one", "two", "three", "two"]


async def test_where_the_embedder_fails_nothing_is_compared_and_later_it_is():
    reader = Reader()
    undated = UndatedEmbedder(reader)
    await undated.embed_passages([passage(1, "one")])
    reader.is_broken = True

    assert await undated.embed_passages([passage(1, "one"), passage(2, "two")]) == {}
    reader.is_broken = False
    assert await undated.embed_passages([passage(1, "one"), passage(2, "two")]) == {1: b"one", 2: b"two"}
