"""Distances between a message and the lines of a notebook, and similarities among lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lethe_app.domain.passage import TextEmbedding


def distances(embedding: TextEmbedding, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosine distances (0 to 2) of `vectors` to `embedding`, nearest first. Those of another length are left out."""
    if not vectors:
        return []
    query = np.frombuffer(embedding.vector, np.float32)
    known = np.stack([np.frombuffer(vector, np.float32) for vector in vectors if len(vector) == len(embedding.vector)])
    return [float(value) for value in np.sort(np.maximum(0.0, 1.0 - known @ query))]


def similarity_matrix(vectors: Sequence[bytes]) -> list[list[float]]:
    """Return the matrix of cosine similarities, clipped to 0 to 1."""
    known = np.stack([np.frombuffer(vector, np.float32) for vector in vectors])
    return [[float(value) for value in row] for row in np.clip(known @ known.T, 0.0, 1.0)]
