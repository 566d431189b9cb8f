"""How near a message lies to the lines of something that is written down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lethe_app.domain.passage import TextEmbedding


def distances(meaning: TextEmbedding, vectors: Sequence[bytes]) -> list[float]:
    """Cosine distances, 0 to 2, nearest first; `vectors` as they stand in meanings of the same embedder."""
    if not vectors:
        return []
    asked = np.frombuffer(meaning.vector, np.float32)
    known = np.stack([np.frombuffer(vector, np.float32) for vector in vectors if len(vector) == len(meaning.vector)])
    return [float(value) for value in np.sort(np.maximum(0.0, 1.0 - known @ asked))]


def likeness(vectors: Sequence[bytes]) -> list[list[float]]:
    """How near each is to each, 0 to 1."""
    known = np.stack([np.frombuffer(vector, np.float32) for vector in vectors])
    return [[float(value) for value in row] for row in np.clip(known @ known.T, 0.0, 1.0)]
