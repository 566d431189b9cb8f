"""Candidate passages of a search with their features: all passages of a small memory, a selection of a large one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.assertions import is_evidence
from lethe_app.retrieval.embedding_geometry import Geometry
from lethe_app.retrieval.features import Flags, Floats, PassageFeatures, Places, cosines_of, gather, places_of, to_compare
from lethe_app.retrieval.query_terms import QueryTerms
from lethe_app.retrieval.term_statistics import NEAREST, Spread, promising, spread_of_all, spread_of_some
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import Columns, Rows
from lethe_app.retrieval.vectors.owner_views import OwnerView, vector_of
from lethe_app.retrieval.vectors.top_k import among
from lethe_app.storage.index.passages import Passages

ALL_UP_TO, PLACES_UP_TO = 5_000, 12_000
"""Memories with at most this many passages are ranked completely, unless the query words occur in more than `PLACES_UP_TO`
places.
"""


@dataclass(frozen=True)
class Looked:
    """Features of the candidates, and the passages to compare token by token."""

    evidence: PassageFeatures
    compared: Rows
    """Indices into `evidence`."""
    tokens: Mapping[int, bytes]
    """Packed token vectors by passage number, for passages that have them."""


@dataclass(frozen=True)
class Looker:
    """One search: the query and the view it searches."""

    passages: Passages
    embedder: str
    view: OwnerView
    columns: Columns
    allowed: Flags
    asked: QueryTerms
    moment: TimeReference
    meaning: TextEmbedding | None
    """Query embedding; None if there are no vectors to compare it with."""
    geometry: Geometry
    personas: Collection[str]
    """Names of the speakers whose statements about the user are no evidence."""

    async def look(self) -> Looked:
        """Collect the features of all passages if there are few, else of the promising ones."""
        if len(self.columns.number) <= ALL_UP_TO:
            occurrences = await self.passages.occurrences_if_few(self.asked.lookups, PLACES_UP_TO)
            if occurrences is not None:
                near = self._near()
                spread = spread_of_all(self.columns, self.allowed, occurrences, self.asked.words)
                rows = np.flatnonzero(self.allowed)
                known = gather(self.columns, rows, places_of(occurrences), spread, near)
                compared = to_compare(known.group, known.cosine, known.bm25)
                numbers = self.columns.number[rows[compared]]
                return await self._heard(known, compared, await self._tokens(numbers))
        return await self._look_at_some()

    async def _look_at_some(self) -> Looked:
        """Collect features in a large memory: most passages are scored from the word index alone, and only those to be
        compared are read.
        """
        listing = asyncio.ensure_future(self.passages.listed(self.asked.lookups))
        await asyncio.sleep(0)  # storage looks for the words while the graph is searched here
        near = self._near()
        spread = spread_of_some(self.columns, self.allowed, await listing, self.asked.words)
        rows, worth = promising(self.columns, self.allowed, spread, near[0], self.moment)
        numbers = self.columns.number[rows]
        farthest = float(near[1][:NEAREST].min()) if len(near[1]) else 0.0
        compared = to_compare(self.columns.group[rows], cosines_of(numbers, *near, otherwise=farthest), worth)
        closer = await self.passages.closer(self.embedder, self.asked.lookups, np.sort(numbers[compared]).tolist())
        places = _with_listed(places_of(closer.occurrences), self.columns, spread, rows, compared)
        nearer = self._with_cosines(near, closer.vectors)
        known = gather(self.columns, rows, places, spread, nearer)
        return await self._heard(known, compared, closer.tokens)

    async def _heard(self, known: PassageFeatures, compared: Rows, tokens: Mapping[int, bytes]) -> Looked:
        """Read the compared messages and silence those that are no evidence."""
        numbers = self.columns.number[known.rows]
        lines = await self.passages.spoken_lines(numbers[compared].tolist(), self.personas)
        mute = [line.number for line in lines if not is_evidence(line.text, line.speaker, self.personas, line.before)]
        silent = among(numbers, np.array(mute, np.int64))
        return Looked(known.without(silent), compared[~silent[compared]], tokens)

    def _near(self) -> tuple[Rows, Floats]:
        """Return numbers and scaled cosines of the nearest passages."""
        numbers, cosines = self.view.nearest(self.meaning, NEAREST)
        return numbers, self.geometry.scaled(cosines)

    def _with_cosines(self, near: tuple[Rows, Floats], vectors: Mapping[int, bytes]) -> tuple[Rows, Floats]:
        """Add the cosines of passages that were found by words and that the vector index did not return."""
        if self.meaning is None or not vectors:
            return near
        matrix = np.frombuffer(b"".join(vectors.values()), np.float32).reshape(len(vectors), -1)
        cosines = self.geometry.scaled(matrix @ vector_of(self.meaning))
        return np.concatenate([near[0], np.array(list(vectors), np.int64)]), np.concatenate([near[1], cosines])

    async def _tokens(self, numbers: Rows) -> Mapping[int, bytes]:
        return await self.passages.token_vectors(self.embedder, numbers.tolist()) if self.embedder else {}


def _with_listed(places: Places, columns: Columns, spread: Spread, rows: Rows, read: Rows) -> Places:
    """Return all occurrences in the rows that were `read`, and one occurrence per word for the other rows."""
    wanted = np.zeros(len(columns.number), bool)
    wanted[rows] = True
    wanted[rows[read]] = False
    others = wanted[spread.row]
    word = spread.word[others]
    return Places(
        np.concatenate([places.word, word]),
        np.concatenate([places.passage, columns.number[spread.row[others]]]),
    )
