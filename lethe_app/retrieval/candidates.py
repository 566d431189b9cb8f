"""Candidate passages of a search with their features: all passages of a small memory, a selection of a large one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.assertions import is_evidence
from lethe_app.retrieval.embedding_geometry import EmbedderGeometry
from lethe_app.retrieval.features import (
    Flags,
    Floats,
    PassageFeatures,
    WordOccurrences,
    gather_features,
    lookup_cosines,
    select_compared,
    to_word_occurrences,
)
from lethe_app.retrieval.query_terms import QueryTerms
from lethe_app.retrieval.term_statistics import MAX_NEAREST, TermSpread, count_spread, estimate_spread, select_promising
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import ColumnSnapshot, Rows
from lethe_app.retrieval.vectors.owner_views import OwnerView, vector_of
from lethe_app.retrieval.vectors.stored import usable_vectors
from lethe_app.retrieval.vectors.top_k import is_member
from lethe_app.storage.index.passages import Passages

MAX_COMPLETE, MAX_OCCURRENCES = 5_000, 12_000
"""Memories with at most this many passages are ranked completely, unless the query words occur in more than `MAX_OCCURRENCES`
places.
"""


@dataclass(frozen=True)
class CandidateFeatures:
    """Features of the candidates, and the passages to compare token by token."""

    features: PassageFeatures
    compared: Rows
    """Indices into `features`."""
    tokens: Mapping[int, bytes]
    """Packed token vectors by passage number, for passages that have them."""


@dataclass(frozen=True)
class CandidateSearch:
    """One search: the query and the view it searches."""

    passages: Passages
    embedder: str
    view: OwnerView
    columns: ColumnSnapshot
    allowed: Flags
    query: QueryTerms
    time_reference: TimeReference
    embedding: TextEmbedding | None
    """Query embedding; None if there are no vectors to compare it with."""
    geometry: EmbedderGeometry
    personas: Collection[str]
    """Names of the speakers whose statements about the user are no evidence."""

    async def collect(self) -> CandidateFeatures:
        """Collect the features of all passages if there are few, else of the promising ones."""
        if len(self.columns.number) <= MAX_COMPLETE:
            occurrences = await self.passages.occurrences_up_to(self.query.lookups, MAX_OCCURRENCES)
            if occurrences is not None:
                nearest = self._find_nearest()
                spread = count_spread(self.columns, self.allowed, occurrences, self.query.words)
                rows = np.flatnonzero(self.allowed)
                features = gather_features(self.columns, rows, to_word_occurrences(occurrences), spread, nearest)
                compared = select_compared(features.group, features.cosine, features.bm25)
                numbers = self.columns.number[rows[compared]]
                tokens = await self.passages.token_vectors(self.embedder, numbers.tolist()) if self.embedder else {}
                return await self._suppress_non_evidence(features, compared, tokens)
        return await self._collect_promising()

    async def _collect_promising(self) -> CandidateFeatures:
        """Collect features in a large memory: most passages are scored from the word index alone, and only those to be
        compared are read.
        """
        listing = asyncio.ensure_future(self.passages.passages_of_terms(self.query.lookups))
        await asyncio.sleep(0)  # starts the query in the storage thread, which runs while the vectors are searched here
        nearest = self._find_nearest()
        spread = estimate_spread(self.columns, self.allowed, await listing, self.query.words)
        rows, word_scores = select_promising(self.columns, self.allowed, spread, nearest[0], self.time_reference)
        numbers = self.columns.number[rows]
        farthest = float(nearest[1][:MAX_NEAREST].min()) if len(nearest[1]) else 0.0
        compared = select_compared(self.columns.group[rows], lookup_cosines(numbers, *nearest, default=farthest), word_scores)
        details = await self.passages.details_of(self.embedder, self.query.lookups, np.sort(numbers[compared]).tolist())
        read = to_word_occurrences(details.occurrences)
        occurrences = _add_index_occurrences(read, self.columns, spread, rows, compared)
        all_cosines = self._add_cosines(nearest, details.vectors)
        features = gather_features(self.columns, rows, occurrences, spread, all_cosines)
        return await self._suppress_non_evidence(features, compared, details.tokens)

    async def _suppress_non_evidence(
        self, features: PassageFeatures, compared: Rows, tokens: Mapping[int, bytes]
    ) -> CandidateFeatures:
        """Read the compared messages and suppress those that are no evidence."""
        numbers = self.columns.number[features.rows]
        lines = await self.passages.message_passages(numbers[compared].tolist(), self.personas)
        suppressed = [line.number for line in lines if not is_evidence(line.text, line.speaker, self.personas, line.before)]
        is_suppressed = is_member(numbers, np.array(suppressed, np.int64))
        return CandidateFeatures(features.suppress(is_suppressed), compared[~is_suppressed[compared]], tokens)

    def _find_nearest(self) -> tuple[Rows, Floats]:
        """Return numbers and scaled cosines of the nearest passages."""
        numbers, cosines = self.view.nearest(self.embedding, MAX_NEAREST)
        return numbers, self.geometry.scale_texts(cosines)

    def _add_cosines(self, nearest: tuple[Rows, Floats], vectors: Mapping[int, bytes]) -> tuple[Rows, Floats]:
        """Add the cosines of passages that were found by words and that the vector index did not return."""
        vectors = usable_vectors(vectors, len(self.embedding.vector)) if self.embedding is not None else {}
        if self.embedding is None or not vectors:
            return nearest
        matrix = np.frombuffer(b"".join(vectors.values()), np.float32).reshape(len(vectors), -1)
        cosines = self.geometry.scale_texts(matrix @ vector_of(self.embedding))
        return np.concatenate([nearest[0], np.array(list(vectors), np.int64)]), np.concatenate([nearest[1], cosines])


def _add_index_occurrences(
    occurrences: WordOccurrences, columns: ColumnSnapshot, spread: TermSpread, rows: Rows, read_indices: Rows
) -> WordOccurrences:
    """Return all occurrences in the rows that were `read_indices`, and one occurrence per word for the other rows."""
    is_unread = np.zeros(len(columns.number), bool)
    is_unread[rows] = True
    is_unread[rows[read_indices]] = False
    is_listed = is_unread[spread.row]
    word = spread.word[is_listed]
    return WordOccurrences(
        np.concatenate([occurrences.word, word]),
        np.concatenate([occurrences.passage, columns.number[spread.row[is_listed]]]),
    )
