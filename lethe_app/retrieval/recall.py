"""The memory of every persona, as one thing to keep and to ask: passages in, what a sentence reminds of out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import numpy as np

from lethe_app.domain.clock import now
from lethe_app.domain.passage import Meaning, Passage
from lethe_app.retrieval import evidence, late, render
from lethe_app.retrieval.evidence import Floats
from lethe_app.retrieval.index import EXACT_UP_TO, VectorIndex
from lethe_app.retrieval.rank import Found, Weighing
from lethe_app.retrieval.shelf import Columns, Rows, Shelf
from lethe_app.retrieval.signals import weigh
from lethe_app.retrieval.when import moment
from lethe_app.retrieval.words import Question, question
from lethe_app.storage.passages import Card, Passages, Vectors

Embed = Callable[[Sequence[str]], Awaitable[list[Meaning]]]
"""Texts in, their meanings out, in the same order."""

BATCH = 64
"""Texts embedded at once."""


class Recall:
    """Storage is the truth; the shelf and the index of a persona are read from it when they are first needed.

    Without `embed` everything is found by words alone. Use it from one event loop.
    """

    def __init__(
        self,
        passages: Passages,
        embed: Embed | None = None,
        embedder: str = "",
        clock: Callable[[], datetime] = now,
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:
        self._passages = passages
        self._embed = embed
        self._embedder = embedder
        self._clock = clock
        self._exact_up_to = exact_up_to
        self._shelves: dict[str, Shelf] = {}
        self._indexes: dict[str, VectorIndex] = {}

    # Keeping

    async def keep(self, passages: Sequence[Passage]) -> list[int]:
        """Store passages so that words find them from now on; their meaning follows with `catch_up`."""
        for owner in {passage.owner for passage in passages}:
            await self._opened(owner)
        numbers = await self._passages.add(passages)
        for number, passage in zip(numbers, passages, strict=True):
            if passage.owner in self._shelves:  # else it is read from storage when it is needed
                self._shelves[passage.owner].put([card_of(replace(passage, number=number))])
        return numbers

    async def forget(self, *, source: UUID | None = None, origin: UUID | None = None) -> int:
        """Take away all that came from a session or memory, or from one message or fact; how many passages that was."""
        numbers = await self._passages.remove_of(source=source, origin=origin)
        for shelf in self._shelves.values():
            shelf.take(numbers)
        for index in self._indexes.values():
            index.remove(numbers)
        return len(numbers)

    async def catch_up(self, limit: int = BATCH) -> int:
        """Give a meaning to some passages that have none yet, newest first; 0 when all have one or nobody can tell."""
        if self._embed is None:
            return 0
        waiting = await self._passages.without_vectors(self._embedder, limit)
        if not waiting:
            return 0
        meanings = await self._embed([render.embedded(passage) for passage in waiting])
        vectors = [
            Vectors(passage.number, meaning.vector, late.packed(meaning))
            for passage, meaning in zip(waiting, meanings, strict=True)
        ]
        await self._passages.set_vectors(self._embedder, vectors)
        for passage, meaning in zip(waiting, meanings, strict=True):
            shelf = self._shelves.get(passage.owner)
            if shelf is not None and passage.number in shelf:  # not forgotten meanwhile
                self._add_vector(passage.owner, passage.number, meaning.vector)
        return len(waiting)

    def reload(self) -> None:
        """Forget what is held in memory; it is read from storage again when it is needed."""
        self._shelves.clear()
        self._indexes.clear()

    # Asking

    async def search(
        self, owner: str, text: str, *, limit: int = 10, at: datetime | None = None, without: Collection[UUID] = ()
    ) -> Found:
        """What `text`, said at this moment (`at`), reminds the persona of. Changes nothing.

        What lies in the future keeps silent; `without` names sources that are in view already.
        """
        weighing = await self.weigh(owner, text, at=at, without=without)
        return weighing.found(limit) if weighing is not None else Found()

    async def weigh(
        self, owner: str, text: str, *, at: datetime | None = None, without: Collection[UUID] = ()
    ) -> Weighing | None:
        """All the evidence behind a search; nothing where there is nothing to find."""
        shelf = await self._opened(owner)
        if len(shelf) == 0:
            return None
        meaning = (await self._embed([text]))[0] if self._embed is not None else None
        return await self._weigh(owner, shelf.columns(), question(text), meaning, at or self._clock(), without)

    async def _weigh(
        self, owner: str, columns: Columns, asked: Question, meaning: Meaning | None, at: datetime, without: Collection[UUID]
    ) -> Weighing | None:
        hidden = {str(source) for source in without}
        allowed = columns.day <= at.toordinal()
        if hidden:
            allowed &= np.array([source not in hidden for source in columns.sources])[columns.source]
        if not allowed.any():
            return None
        occurrences = await self._passages.occurrences(asked.words)
        known = evidence.gather(columns, allowed, len(asked.words), asked.neighbours, occurrences, self._near(owner, meaning))
        compared = evidence.to_compare(known)
        near, weight = await self._compare(columns.number[known.rows[compared]], asked, meaning, known.rarity_in_passages)
        when = moment(asked.text, at.date())
        weighed = weigh(columns, known, compared, near, weight, when)
        return Weighing(asked, when, columns, known, compared, weighed, by_meaning=meaning is not None)

    def _near(self, owner: str, meaning: Meaning | None) -> tuple[Rows, Floats]:
        index = self._indexes.get(owner)
        if meaning is None or index is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        every = len(index) if index.is_exact else evidence.NEAREST
        return index.nearest(np.frombuffer(meaning.vector, np.float32), every)

    async def _compare(self, numbers: Rows, asked: Question, meaning: Meaning | None, rarity: Floats) -> tuple[Floats, Floats]:
        """Tokens of the question against passages, and the weight of each token."""
        if meaning is None:
            return np.zeros((0, len(numbers)), np.float32), np.zeros(0, np.float32)
        weights = dict(zip(asked.words, rarity.tolist(), strict=True))
        tokens, weight, _words = late.asked(meaning, weights)
        blobs = await self._passages.token_vectors(self._embedder, numbers.tolist())
        return late.nearness(tokens, [blobs.get(number, b"") for number in numbers.tolist()]), weight

    async def _opened(self, owner: str) -> Shelf:
        """The shelf of a persona, read from storage the first time, with its index."""
        if owner not in self._shelves:
            cards = await self._passages.cards(owner, self._embedder)
            if owner in self._shelves:  # somebody else asked meanwhile, and has perhaps added to it
                return self._shelves[owner]
            self._shelves[owner] = Shelf(cards)
            seen = [card for card in cards if card.vector]
            if seen:
                vectors = np.frombuffer(b"".join(card.vector for card in seen), np.float32).reshape(len(seen), -1)
                self._indexes[owner] = VectorIndex(vectors.shape[1], self._exact_up_to)
                self._indexes[owner].add([card.number for card in seen], vectors)
        return self._shelves[owner]

    def _add_vector(self, owner: str, number: int, vector: bytes) -> None:
        row = np.frombuffer(vector, np.float32)[None, :]
        self._indexes.setdefault(owner, VectorIndex(row.shape[1], self._exact_up_to)).add([number], row)


def card_of(passage: Passage) -> Card:
    """What the shelf needs of a passage that was just stored."""
    return Card(
        passage.number, passage.kind.value, str(passage.source), str(passage.origin), passage.time, passage.speaker,
        passage.place, len(passage.searched), b"",
    )  # fmt: skip
