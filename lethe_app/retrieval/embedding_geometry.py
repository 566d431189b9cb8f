"""Scaling of cosines to one scale for all embedders, so that limits and weights hold for each of them.

Embedders differ in how near they put unrelated texts: all-MiniLM-L6-v2 near 0.1, e5 and bge between 0.4 and 0.8. A few
queries are compared with a few unrelated passages; the mean of these cosines is the embedder's background. A cosine is read
as the share of the way from the background to 1, and expressed in the units of the starter embedder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.language_tables import load_table
from lethe_app.retrieval import late_interaction

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]]
"""Function that embeds texts, in order."""


@dataclass(frozen=True)
class EmbedderGeometry:
    """Background of an embedder: mean cosines of unrelated texts and tokens."""

    texts: float
    """Mean cosine of a query and an unrelated passage."""
    tokens: float
    """Mean cosine of a query token and the nearest token of an unrelated passage."""

    def scale_texts(self, cosines: Floats) -> Floats:
        """Return text cosines in the scale of the starter embedder."""
        return _rescale(cosines, self.texts, STARTER.texts)

    def scale_tokens(self, cosines: Floats) -> Floats:
        """Return token cosines in the scale of the starter embedder."""
        return _rescale(cosines, self.tokens, STARTER.tokens)


def _rescale(cosines: Floats, background: float, target: float) -> Floats:
    """Map the background linearly to `target`; the cosine of a text and itself stays 1."""
    scaled: Floats = 1 - (1 - cosines) * np.float32((1 - target) / (1 - background))
    return scaled


STARTER = EmbedderGeometry(texts=0.067, tokens=0.139)
"""Background of all-MiniLM-L6-v2, the bundled embedder, as `measure_geometry` returns it."""
MAX_BACKGROUND = 0.98
"""Maximum background. An embedder above it is uninformative, and its cosines must not be stretched without limit."""


async def measure_geometry(embed_queries: Embed, embed_passages: Embed) -> EmbedderGeometry:
    """Measure the background of an embedder by embedding twenty short texts; that of the starter embedder if it fails.

    `embed_queries` embeds queries and `embed_passages` passages.
    """
    texts = load_table("unrelated_texts")
    try:
        queries, passages = await embed_queries(texts["queries"]), await embed_passages(texts["passages"])
    except LetheError:
        return STARTER
    cosines = _stack_vectors(queries) @ _stack_vectors(passages).T
    blobs = [late_interaction.pack_tokens(embedding) for embedding in passages]
    weights = (dict.fromkeys(late_interaction.words_of(embedding.pieces), 1.0) for embedding in queries)
    query_rows = [late_interaction.query_tokens(*query)[0] for query in zip(queries, weights, strict=True)]
    nearest = np.concatenate([late_interaction.nearest_cosines(rows, blobs).ravel() for rows in query_rows])
    tokens = float(nearest.mean()) if len(nearest) else STARTER.tokens
    return EmbedderGeometry(min(float(cosines.mean()), MAX_BACKGROUND), min(tokens, MAX_BACKGROUND))


def _stack_vectors(meanings: Sequence[TextEmbedding]) -> Floats:
    return np.stack([np.frombuffer(embedding.vector, np.float32) for embedding in meanings])
