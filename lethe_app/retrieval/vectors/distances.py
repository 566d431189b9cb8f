"""Cosine distances between texts without the date prefix that the stored vectors of messages and facts include."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import numpy as np

from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.passage_builder import is_dated
from lethe_app.retrieval.vectors.owner_views import OwnerView, vector_of
from lethe_app.retrieval.vectors.stored import usable_vectors
from lethe_app.storage.index.passages import KINDS, Passages

OVERSAMPLING = 4
"""Oversampling factor of candidates: the date before a stored text moves its vector a little, so the stored order is only
approximate.
"""
MAX_CACHED_VECTORS = 4000
"""Vectors cached for texts (about 6 MB at 384 dimensions): comparing a thousand records with their neighbours asks for most
of them often.
"""


class UndatedEmbedder:
    """Embed texts that are stored with a date prefix, without that prefix, and cache the vectors."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors_by_digest: OrderedDict[bytes, bytes] = OrderedDict()
        """Vectors by text digest, least recently used first. The key is a digest so that no forgotten text stays in memory."""

    async def embed_passages(self, passages: Iterable[Passage]) -> dict[int, bytes]:
        """Return the vectors of the passages' texts without date, by passage number; empty if the embedder fails."""
        texts = {passage.number: passage.text for passage in passages}
        vectors = await self.embed_texts(texts.values())
        return {number: vectors[text] for number, text in texts.items()} if vectors else {}

    async def embed_texts(self, texts: Iterable[str]) -> dict[str, bytes]:
        """Return the vector of each text; empty if the embedder fails. Cached texts are not embedded again."""
        keys = {text: _digest(text) for text in texts}
        found = {key: self._vectors_by_digest[key] for key in keys.values() if key in self._vectors_by_digest}
        new = {key: text for text, key in keys.items() if key not in found}
        try:
            embeddings = await self._embed(list(new.values())) if new else []
        except LetheError:
            return {}
        found |= {key: embedding.vector for key, embedding in zip(new, embeddings, strict=True)}
        for key, vector in found.items():
            self._vectors_by_digest[key] = vector
            self._vectors_by_digest.move_to_end(key)
        while len(self._vectors_by_digest) > MAX_CACHED_VECTORS:
            self._vectors_by_digest.popitem(last=False)
        return {text: found[key] for text, key in keys.items()}


async def distances_of_origins(
    passages: Passages, undated: UndatedEmbedder, embedder: str, embedding: TextEmbedding, origins: Collection[UUID]
) -> dict[UUID, float]:
    """Return for each origin the smallest cosine distance of its passages to `embedding`.

    Passages of dated kinds are embedded again without their date; the others are compared by their stored vector.
    """
    stored = await passages.vectors_of_origins(embedder, list(origins))
    undated_vectors = {item.number: item.vector for item in stored if not is_dated(item.kind)}
    vectors = usable_vectors(undated_vectors, len(embedding.vector))
    dated = await passages.read([item.number for item in stored if is_dated(item.kind)])
    vectors |= await undated.embed_passages(dated.values())
    return dict(
        _smallest_distances(embedding, ((item.origin, vectors[item.number]) for item in stored if item.number in vectors))
    )


async def nearest_origins(
    passages: Passages,
    undated: UndatedEmbedder,
    view: OwnerView,
    text: str,
    owner_and_kind: tuple[str, PassageKind],
    count: int,
    unindexed: Mapping[UUID, str],
) -> list[tuple[UUID, float]]:
    """Return the origins of an owner's passages of one kind that are nearest to a text, nearest first, with their cosine
    distances.

    Candidates come from the stored vectors; their distances are computed on texts without date. The texts in `unindexed`, by
    origin, are compared as well. Empty if the embedder fails.
    """
    query_vectors = await undated.embed_texts([text])
    if not query_vectors:
        return []
    embedding = TextEmbedding(query_vectors[text], b"", ())
    # Stored vectors include the date, which shifts their distances, so more candidates are read than are returned.
    numbers = _find_candidates(view, embedding, owner_and_kind, count * OVERSAMPLING + OVERSAMPLING)
    candidates = list((await passages.read(numbers)).values())
    vectors = await undated.embed_passages(candidates)
    unindexed_vectors = await undated.embed_texts(unindexed.values())
    stored = [(passage.origin, vectors[passage.number]) for passage in candidates if passage.number in vectors]
    return _smallest_distances(
        embedding, [*stored, *((origin, unindexed_vectors[other]) for origin, other in unindexed.items() if unindexed_vectors)]
    )[:count]


def _find_candidates(
    view: OwnerView, embedding: TextEmbedding, owner_and_kind: tuple[str, PassageKind], count: int
) -> list[int]:
    """Return the numbers of the nearest passages of that owner and kind.

    The index cannot filter by kind, so the search is widened fourfold until enough passages of the kind are found.
    """
    columns = view.passage_columns.columns()
    owner, kind = view.passage_columns.owners[owner_and_kind[0]], KINDS.index(owner_and_kind[1])
    requested = 4 * count
    while True:
        neighbours = view.nearest(embedding, requested)[0]
        rows, known = columns.rows_of(neighbours)
        fits = known & (columns.kind[rows] == kind) & (columns.owner[rows] == owner) if len(neighbours) else known
        if np.count_nonzero(fits) >= count or len(neighbours) < requested or requested >= len(columns.number):
            return [int(number) for number in neighbours[fits][:count]]
        requested *= 4


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _smallest_distances(embedding: TextEmbedding, vectors: Iterable[tuple[UUID, bytes]]) -> list[tuple[UUID, float]]:
    """Return each origin with the distance of its nearest vector, nearest first."""
    distance_by_origin: dict[UUID, float] = {}
    for origin, vector in vectors:
        distance = max(0.0, 1.0 - float(np.frombuffer(vector, np.float32) @ vector_of(embedding)))
        distance_by_origin[origin] = min(distance, distance_by_origin.get(origin, distance))
    return sorted(distance_by_origin.items(), key=lambda item: item[1])


def sorted_distances(embedding: TextEmbedding, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosine distances (0 to 2) of `vectors` to `embedding`, nearest first. Those of another length are left out."""
    if not vectors:
        return []
    usable = usable_vectors(dict(enumerate(vectors)), len(embedding.vector))
    if not usable:
        return []
    known = np.stack([np.frombuffer(vector, np.float32) for vector in usable.values()])
    return [float(value) for value in np.sort(np.maximum(0.0, 1.0 - known @ vector_of(embedding)))]
