"""Index of everything a persona remembers: adds and removes passages, and answers searches over them.

A search with embeddings, words and ranking takes 14 ms over 100,000 passages and 14 to 17 ms over 200,000 on a Xeon of
2.5 GHz (docs/benchmarks.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict, Unpack
from uuid import UUID

import numpy as np

from lethe_app.domain.clock import now
from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.retrieval import late_interaction, passage_builder
from lethe_app.retrieval.assertions import split_query, strip_small_talk
from lethe_app.retrieval.candidates import CandidateFeatures, CandidateSearch
from lethe_app.retrieval.embedding_geometry import STARTER, Embed, EmbedderGeometry, measure_geometry
from lethe_app.retrieval.features import SATURATION, Floats, length_term
from lethe_app.retrieval.query_terms import QueryTerms, parse_query, strip_addressing
from lethe_app.retrieval.ranking import RankedSources, SearchEvidence
from lethe_app.retrieval.signals import compute_signals
from lethe_app.retrieval.time_expressions import parse_time
from lethe_app.retrieval.vectors.columns import ColumnSnapshot
from lethe_app.retrieval.vectors.distances import UndatedEmbedder, distances_of_origins, nearest_origins
from lethe_app.retrieval.vectors.owner_views import OwnerViews
from lethe_app.retrieval.vectors.store import EXACT_UP_TO
from lethe_app.searchable_text import index_text
from lethe_app.storage.index.passages import Passages, PassageVector

BATCH = 64
"""Texts embedded per call."""
PREPARED_AT_ONCE = 8
"""Texts embedded per call while preparing; a query that arrives meanwhile waits for one such call."""


class SearchOptions(TypedDict, total=False):
    """Options of a search.

    Passages dated after `at` (default: now) are ignored. `excluded` excludes sources that are in the prompt already,
    `allowed_sources` restricts the result, and `embedding` is that of the text if it is known. The names of `participants` are
    no query words, and statements of `personas` about the user are no evidence. With `by_words`, only words are searched.
    """

    at: datetime | None
    excluded: Collection[UUID]
    allowed_sources: Collection[UUID] | None
    embedding: TextEmbedding | None
    participants: Collection[str]
    personas: Collection[str]
    by_words: bool


class MemoryIndex:
    """Search index over the passages in storage. Data of an owner is read into memory when the owner is first searched.

    An owner is a persona, or a world shared by several personas. Without an embedder only words are searched. Vector indexes
    of owners with very many vectors are also kept in files in `folder`. Use it from one event loop.
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
        self._embed = self._embed_queries = embed
        self._undated_embedder = UndatedEmbedder(embed) if embed is not None else None
        self._embedder = embedder
        self._clock = clock
        self._views = OwnerViews(passages, embedder, folder, exact_up_to)
        self._geometry: EmbedderGeometry | None = None
        self._change_lock = asyncio.Lock()

    def set_embedder(self, embed: Embed | None, embedder: str, embed_queries: Embed | None = None) -> None:
        """Use this embedder from now on, or none. Vectors of another embedder are no longer compared.

        `embed_queries` embeds queries, for embedders that treat queries and passages differently; by default `embed` does.
        """
        self._embed, self._embedder = embed, embedder if embed is not None else ""
        self._embed_queries = embed_queries or embed
        self._undated_embedder = UndatedEmbedder(embed) if embed is not None else None
        if embed is not None:
            self._views.set_embedder(embedder)
        self._geometry = None

    @property
    def has_embedder(self) -> bool:
        return self._embed is not None

    # Changing the index

    async def replace(self, origins: Sequence[UUID], passages: Sequence[Passage], indexed: Sequence[int] = ()) -> None:
        """Replace all passages of these origins, and remove the entries `indexed` from the pending index in the same
        transaction.

        A passage that is stored already with the same content keeps its number and its vectors.
        """
        async with self._change_lock:
            removed, numbers = await self._passages.replace(origins, passages, indexed)
            stored = [replace(passage, number=number) for passage, number in zip(passages, numbers, strict=True)]
            self._views.apply_changes(removed, stored)

    async def count_pending(self) -> int:
        """Return how many passages have no vector yet; 0 without an embedder."""
        return await self._passages.count_without_vectors(self._embedder) if self._embed is not None else 0

    async def pending_sources(self, owners: Sequence[str]) -> list[UUID]:
        """Return the source of each passage of these owners that has no vector yet; none without an embedder."""
        return await self._passages.sources_without_vectors(self._embedder, owners) if self._embed is not None else []

    async def embed_pending(self, limit: int = BATCH) -> int:
        """Embed up to `limit` passages without vectors, newest first, and return how many; 0 if none is left or there is no
        embedder.

        Errors of the embedder propagate.
        """
        embed, embedder = self._embed, self._embedder
        await self._get_geometry()  # here, in the background, so that no turn waits for it
        pending = await self._passages.passages_without_vectors(embedder, limit) if embed is not None else []
        if embed is None or not pending:
            return 0
        embeddings = await embed([passage_builder.embedding_text(passage) for passage in pending])
        vectors = {
            passage.number: PassageVector(passage.number, embedding.vector, late_interaction.pack_tokens(embedding), passage)
            for passage, embedding in zip(pending, embeddings, strict=True)
        }
        async with self._change_lock:
            # The embedder may have been replaced while it was computing; its vectors are then of no use.
            if embedder == self._embedder:
                stored = set(await self._passages.set_vectors(embedder, list(vectors.values())))
                stored_passages = [passage for passage in pending if passage.number in stored]
                await self._views.add_vectors(stored_passages, [vectors[passage.number].vector for passage in stored_passages])
        return len(pending)

    def reload(self) -> None:
        """Drop all cached data; it is read from storage again when needed."""
        self._views.clear()

    async def wait_until_idle(self) -> None:
        """Wait until background reading and writing of vector indexes is done."""
        await self._views.wait_until_idle()

    async def close(self) -> None:
        """Write unsaved vector indexes, so that the next start is quick. Call it before the database is closed."""
        async with self._change_lock:
            await self._views.close()

    # Searching

    async def has_passages(self, owners: Sequence[str]) -> bool:
        """Return whether there is anything to search in the memory of these owners."""
        return len((await self._views.open_view(owners)).passage_columns) > 0

    async def embed_query(self, text: str, participants: Collection[str] = ()) -> TextEmbedding | None:
        """Embed a query, for use in several searches; None without an embedder or if it fails.

        The names of participants in `participants` are removed where they address somebody, because they are not part of the
        meaning.
        """
        query = strip_small_talk(strip_addressing(text, participants), participants)
        with suppress(LetheError):
            return (await self._embed_queries([query]))[0] if self._embed_queries is not None else None
        return None

    async def search(
        self, owners: Sequence[str], text: str, *, limit: int = 10, **options: Unpack[SearchOptions]
    ) -> RankedSources:
        """Return what `text` recalls from the memory of these owners. Nothing is changed.

        A long text is searched in parts (`split_query`). If the embedder fails, only words are searched.
        """
        results = list[RankedSources]()
        for part in split_query(text, options.get("participants", ())):
            # The given embedding is that of the whole text.
            own_options = options if part == text else SearchOptions({**options, "embedding": None})
            evidence = await self.collect_evidence(owners, part, **own_options)
            results.append(evidence.rank_sources(limit) if evidence is not None else RankedSources())
        return results[0].merge_parts(results[1:], limit)

    async def collect_evidence(
        self, owners: Sequence[str], text: str, **options: Unpack[SearchOptions]
    ) -> SearchEvidence | None:
        """Return all evidence of a search; None if there is nothing to search."""
        view = await self._views.open_view(owners)
        if len(view.passage_columns) == 0:
            return None
        participants = options.get("participants", ())
        embedding = options.get("embedding")
        if not options.get("by_words"):
            embedding = embedding or await self.embed_query(text, participants)
        at, columns = options.get("at") or self._clock(), view.passage_columns.columns()
        query = parse_query(strip_small_talk(text, participants), participants)
        # With an earlier `at`, passages of later days do not exist yet.
        allowed = columns.day <= at.toordinal()
        hidden = columns.sources.positions(options.get("excluded", ()))
        if len(hidden):
            allowed &= ~np.isin(columns.source, hidden)
        if (allowed_sources := options.get("allowed_sources")) is not None:
            allowed &= np.isin(columns.source, columns.sources.positions(allowed_sources))
        if not allowed.any():
            return None
        time_reference = parse_time(text, at.date())
        embedding = embedding if view.vectors.is_ready(view.owners) and not options.get("by_words") else None
        geometry = await self._get_geometry() if embedding is not None else STARTER
        search = CandidateSearch(
            self._passages,
            self._embedder,
            view,
            columns,
            allowed,
            query,
            time_reference,
            embedding,
            geometry,
            frozenset(options.get("personas", ())),
        )
        candidates = await search.collect()
        similarities, weight = _compare_tokens(candidates, columns, query, embedding, geometry)
        scores = compute_signals(columns, candidates, similarities, weight, time_reference)
        by_meaning = embedding is not None
        return SearchEvidence(query, time_reference, columns, candidates.features, candidates.compared, scores, by_meaning)

    async def _get_geometry(self) -> EmbedderGeometry:
        """Return the background of the present embedder, measured once."""
        if self._geometry is None and self._embed_queries is not None and self._embed is not None:
            embedder, geometry = self._embedder, await measure_geometry(self._embed_queries, self._embed)
            # Replaced during the measurement: the result belongs to the former embedder and must not be stored.
            if embedder != self._embedder:
                return geometry
            self._geometry = geometry
        return self._geometry or STARTER

    async def distances(self, text: str | TextEmbedding, origins: Collection[UUID]) -> dict[UUID, float]:
        """Return the smallest cosine distance (0 to 2) of each origin's passages to a text, computed on texts without date.

        Origins without a vector are missing; without an embedder the result is empty.
        """
        embedding = await self.embed_query(text) if isinstance(text, str) else text
        if embedding is None or self._undated_embedder is None or not origins:
            return {}
        return await distances_of_origins(self._passages, self._undated_embedder, self._embedder, embedding, origins)

    async def nearest_origins(
        self, owner: str, text: str, kind: PassageKind, count: int, unindexed: Mapping[UUID, str] = MappingProxyType({})
    ) -> list[tuple[UUID, float]]:
        """Return the origins of an owner's passages of a kind that are nearest to a text, nearest first, with their cosine
        distances.

        The texts in `unindexed`, by origin, are compared as well; they are those not indexed yet. Distances are computed on
        texts without date. Some texts are embedded again, so use this in the background only (it looks for duplicates).
        Empty without an embedder, or if it fails.
        """
        if self._undated_embedder is None:
            return []
        view = await self._views.open_view([owner])
        return await nearest_origins(self._passages, self._undated_embedder, view, text, (owner, kind), count, unindexed)

    async def prepare_texts(self, texts: Sequence[str]) -> None:
        """Embed texts that `nearest_origins` will be called with, several at a time, which is far quicker than one by one."""
        for start in range(0, len(texts), PREPARED_AT_ONCE):
            if self._undated_embedder is not None:
                await self._undated_embedder.embed_texts(texts[start : start + PREPARED_AT_ONCE])


def _compare_tokens(
    candidates: CandidateFeatures,
    columns: ColumnSnapshot,
    query: QueryTerms,
    embedding: TextEmbedding | None,
    geometry: EmbedderGeometry,
) -> tuple[Floats, Floats]:
    """Compare the query tokens with the passages and return similarities, shape (tokens, passages), and the weight of each
    token.

    Without an embedder query words are compared instead: an identical word counts, and more so in a short text (as in BM25).
    """
    features = candidates.features
    exact = features.shares[:, candidates.compared].astype(np.float32)
    if embedding is None:
        length = columns.length[features.rows[candidates.compared]] / columns.mean_length
        return (exact * (1 + SATURATION) / (1 + length_term(length))).astype(np.float32), features.rarity_in_passages
    weights: dict[str, float] = {}
    for word, rarity in zip(query.words, features.rarity_in_passages.tolist(), strict=True):
        for part in index_text(word).split():  # embedders take scripts without spaces character by character
            weights[part] = max(rarity, weights.get(part, 0.0))
    tokens, weight = late_interaction.query_tokens(embedding, weights)
    numbers = columns.number[features.rows[candidates.compared]].tolist()
    cosines = late_interaction.nearest_cosines(tokens, [candidates.tokens.get(number, b"") for number in numbers])
    return late_interaction.sharpen(geometry.scale_tokens(cosines)), weight
