"""The memory of every persona, as one thing to keep and to ask: passages in, what a sentence reminds of out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

import numpy as np

from lethe_app.domain.clock import now
from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.retrieval import late_interaction, passage_builder
from lethe_app.retrieval.assertions import parts_of, substance
from lethe_app.retrieval.candidates import Looked, Looker
from lethe_app.retrieval.embedding_geometry import STARTER, Geometry, measured
from lethe_app.retrieval.features import SATURATION, Floats, slowed
from lethe_app.retrieval.query_terms import QueryTerms, question, spaced, unaddressed
from lethe_app.retrieval.ranking import RankedSources, Weighing
from lethe_app.retrieval.signals import weigh
from lethe_app.retrieval.time_expressions import moment
from lethe_app.retrieval.vectors import distances as vectors_distances
from lethe_app.retrieval.vectors.columns import Columns
from lethe_app.retrieval.vectors.owner_views import Views
from lethe_app.retrieval.vectors.store import EXACT_UP_TO
from lethe_app.storage.index.passages import Passages, Vectors

Embed = Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]]
"""Texts in, their meanings out, in the same order."""

BATCH = 64
"""Texts embedded at once."""
PREPARED_AT_ONCE = 8
"""Texts that a question which comes meanwhile waits for."""


class Recall:
    """Storage is the truth; what is needed of it to search for some owners is read when they are first asked about.

    An owner is a persona, or a world that several personas know. Without an embedder everything is found by words alone.
    Vectors of owners with very many are kept in files in `folder` besides. Use it from one event loop.
    """

    def __init__(
        self,
        passages: Passages,
        embed: Embed | None = None,
        embedder: str = "",
        clock: Callable[[], datetime] = now,
        exact_up_to: int = EXACT_UP_TO,
        folder: Path | None = None,
    ) -> None:
        self._passages = passages
        self._embed = self._ask = embed
        self._undated = vectors_distances.Undated(embed) if embed is not None else None
        self._embedder = embedder
        self._clock = clock
        self._views = Views(passages, embedder, folder, exact_up_to)
        self._geometry: Geometry | None = None
        self._changing = asyncio.Lock()

    def use(self, embed: Embed | None, embedder: str, ask: Embed | None = None) -> None:
        """From now on this embedder says what texts mean, or nobody does. Vectors of another are no longer compared.

        `ask` is for questions, where the embedder wants to be told that a text is one.
        """
        self._embed, self._embedder = embed, embedder if embed is not None else ""
        self._ask = ask or embed
        self._undated = vectors_distances.Undated(embed) if embed is not None else None
        if embed is not None:
            self._views.use(embedder)
        self._geometry = None

    # Keeping

    async def add_passages(self, passages: Sequence[Passage]) -> list[int]:
        """Store passages so that words find them from now on; their meaning follows with `catch_up`. Their numbers."""
        async with self._changing:
            numbers = await self._passages.add(passages)
            self._views.change([], _numbered(passages, numbers))
        return numbers

    async def replace(self, origins: Sequence[UUID], passages: Sequence[Passage], settled: Sequence[int] = ()) -> None:
        """Put these passages in the place of all that came from these origins, and strike debts off the list with it.

        A passage that is stored already just so stays as it is, with its number and its vectors.
        """
        async with self._changing:
            gone, numbers = await self._passages.replace(origins, passages, settled)
            self._views.change(gone, _numbered(passages, numbers))

    async def remove_passages(self, *, source: UUID | None = None, origin: UUID | None = None, owner: str | None = None) -> int:
        """Take away all that is of this source (session, memory), origin (message, fact) and owner, as far as they are given.

        How many passages that was; none where nothing is given.
        """
        async with self._changing:
            numbers = await self._passages.remove_of(source=source, origin=origin, owner=owner)
            self._views.change(numbers, [])
        return len(numbers)

    async def waiting(self) -> int:
        """How many passages the embedder has not seen yet; 0 where there is none."""
        return await self._passages.waiting(self._embedder) if self._embed is not None else 0

    async def catch_up(self, limit: int = BATCH) -> int:
        """Give a meaning to some passages that have none yet, newest first; 0 when all have one or nobody can tell.

        Raises what the embedder raises.
        """
        embed, embedder = self._embed, self._embedder
        await self._measured()  # here, in the background, so that no turn waits for it
        waiting = await self._passages.without_vectors(embedder, limit) if embed is not None else []
        if embed is None or not waiting:
            return 0
        meanings = await embed([passage_builder.embedded(passage) for passage in waiting])
        vectors = {
            passage.number: Vectors(passage.number, meaning.vector, late_interaction.packed(meaning), passage)
            for passage, meaning in zip(waiting, meanings, strict=True)
        }
        async with self._changing:
            if embedder == self._embedder:  # else they are of no use any more
                stored = set(await self._passages.set_vectors(embedder, list(vectors.values())))
                known = [passage for passage in waiting if passage.number in stored]
                await self._views.add_vectors(known, [vectors[passage.number].vector for passage in known])
        return len(waiting)

    def reload(self) -> None:
        """Forget what is held in memory; it is read from storage again when it is needed."""
        self._views.clear()

    async def wait_until_idle(self) -> None:
        """Wait until what is read and written in the background is done."""
        await self._views.wait_until_idle()

    async def close(self) -> None:
        """Write what the next start needs to be quick. Before the database is closed."""
        async with self._changing:
            await self._views.close()

    # Asking

    async def understand(self, text: str, present: Collection[str] = ()) -> TextEmbedding | None:
        """What a text that asks means, to be handed to several searches; None without an embedder, or when it fails.

        `present` are the names of those to whom or by whom it is said: whom it addresses is no part of what it means.
        """
        return await _understood(self._ask, substance(unaddressed(text, present), present))

    async def search(
        self,
        owners: Sequence[str],
        text: str,
        *,
        limit: int = 10,
        at: datetime | None = None,
        without: Collection[UUID] = (),
        only: Collection[UUID] | None = None,
        meaning: TextEmbedding | None = None,
        present: Collection[str] = (),
        personas: Collection[str] = (),
    ) -> RankedSources:
        """What `text`, said at this moment (`at`), reminds of in the memory of these owners. Changes nothing.

        What lies in the future keeps silent; `without` names sources that are in view already, `only` those that may come;
        `meaning` is that of the text where it is known. The names of those `present` lead nowhere, and what `personas` said of
        others is no evidence. A long text is searched for in parts (`parts_of`). When the embedder fails, words find.
        """
        parts, found = parts_of(text, present), list[RankedSources]()
        for part in parts:
            known = meaning if part == text else None
            weighing = await self.weigh(
                owners, part, at=at, without=without, only=only, meaning=known, present=present, personas=personas
            )
            found.append(weighing.found(limit) if weighing is not None else RankedSources())
        return found[0].with_others(found[1:], limit)

    async def weigh(
        self,
        owners: Sequence[str],
        text: str,
        *,
        at: datetime | None = None,
        without: Collection[UUID] = (),
        only: Collection[UUID] | None = None,
        meaning: TextEmbedding | None = None,
        present: Collection[str] = (),
        personas: Collection[str] = (),
    ) -> Weighing | None:
        """All the evidence behind a search; nothing where there is nothing to find."""
        view = await self._views.open(owners)
        if len(view.shelf) == 0:
            return None
        meaning = meaning or await self.understand(text, present)
        at, columns, asked = at or self._clock(), view.shelf.columns(), question(substance(text, present), present)
        allowed = columns.day <= at.toordinal()
        hidden = columns.sources.positions(without)
        if len(hidden):
            allowed &= ~np.isin(columns.source, hidden)
        if only is not None:
            allowed &= np.isin(columns.source, columns.sources.positions(only))
        if not allowed.any():
            return None
        when = moment(text, at.date())
        by_meaning = meaning is not None and view.has_vectors()
        meaning = meaning if by_meaning else None
        geometry = await self._measured() if meaning is not None else STARTER
        looker = Looker(
            self._passages, self._embedder, view, columns, allowed, asked, when, meaning, geometry, frozenset(personas)
        )
        looked = await looker.look()
        near, weight = _compared(looked, columns, asked, meaning, geometry)
        weighed = weigh(columns, looked, near, weight, when)
        return Weighing(asked, when, columns, looked.evidence, looked.compared, weighed, by_meaning)

    async def _measured(self) -> Geometry:
        """The background of the present embedder; measured once."""
        if self._geometry is None and self._ask is not None and self._embed is not None:
            embedder, geometry = self._embedder, await measured(self._ask, self._embed)
            if embedder != self._embedder:
                return geometry
            self._geometry = geometry
        return self._geometry or STARTER

    async def distances(self, text: str | TextEmbedding, origins: Collection[UUID]) -> dict[UUID, float]:
        """How far what each of these was turned into lies from a text: the least cosine distance, 0 to 2, days left out.

        Only of those that have a vector; of none without an embedder.
        """
        meaning = await self.understand(text) if isinstance(text, str) else text
        if meaning is None or self._undated is None or not origins:
            return {}
        return await vectors_distances.distances(self._passages, self._undated, self._embedder, meaning, origins)

    async def nearest(
        self, owner: str, text: str, kind: PassageKind, count: int, beside: Mapping[UUID, str] = MappingProxyType({})
    ) -> list[tuple[UUID, float]]:
        """The origins of an owner's passages of a kind that are nearest to a text, with their cosine distances, nearest first.

        Texts `beside` them, by origin, are compared too: what is not indexed yet. Days are left out. For looking for
        duplicates in the background: some texts are embedded anew. Of none without an embedder, or when it fails.
        """
        if self._undated is None:
            return []
        view = await self._views.open([owner])
        return await vectors_distances.nearest(self._passages, self._undated, view, text, (owner, kind), count, beside)

    async def prepare(self, texts: Sequence[str]) -> None:
        """Embed texts that `nearest` will be asked for, several at a time, which is far quicker than one by one."""
        for start in range(0, len(texts), PREPARED_AT_ONCE):
            if self._undated is not None:
                await self._undated.vectors(texts[start : start + PREPARED_AT_ONCE])


def _compared(
    looked: Looked, columns: Columns, asked: QueryTerms, meaning: TextEmbedding | None, geometry: Geometry
) -> tuple[Floats, Floats]:
    """Compare the tokens of the question with the passages; return their nearness and the weight of each token.

    Without an embedder words are compared: the same one is near, more so in a short text (as in BM25).
    """
    evidence = looked.evidence
    exact = evidence.shares[:, looked.compared].astype(np.float32)
    if meaning is None:
        length = columns.length[evidence.rows[looked.compared]] / columns.mean_length
        return (exact * (1 + SATURATION) / (1 + slowed(length))).astype(np.float32), evidence.rarity_in_passages
    weights: dict[str, float] = {}
    for word, rarity in zip(asked.words, evidence.rarity_in_passages.tolist(), strict=True):
        for part in spaced(word).split():  # embedders take scripts without spaces character by character
            weights[part] = max(rarity, weights.get(part, 0.0))
    tokens, weight, _words = late_interaction.asked(meaning, weights)
    numbers = columns.number[evidence.rows[looked.compared]].tolist()
    cosines = late_interaction.nearest(tokens, [looked.tokens.get(number, b"") for number in numbers])
    return late_interaction.sharpened(geometry.scaled_tokens(cosines)), weight


async def _understood(embed: Embed | None, text: str) -> TextEmbedding | None:
    if embed is None:
        return None
    try:
        return (await embed([text]))[0]
    except LetheError:
        return None


def _numbered(passages: Sequence[Passage], numbers: Sequence[int]) -> list[Passage]:
    return [replace(passage, number=number) for passage, number in zip(passages, numbers, strict=True)]
