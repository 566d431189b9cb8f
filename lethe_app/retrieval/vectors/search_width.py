"""Measurement of the search width that an approximate index needs to reach the wanted recall.

With the width measured here, 98.9 to 99.4 % of the exact ten nearest are found among 100,000 passages (docs/benchmarks.md).
"""

from __future__ import annotations

import numpy as np

from lethe_app.retrieval.vectors.index import Graph, Numbers, Vectors

SAMPLE, COUNT = 100, 10
"""Queries of a measurement, and nearest neighbours wanted for each."""
WANTED = 0.985
"""Recall target: share of the exact neighbours that must be found."""


def tune(graph: Graph) -> None:
    """Measure the search width of an index and set it."""
    graph.width, graph.tuned_for = width_for(graph), len(graph)


def width_for(graph: Graph) -> int:
    """Return the smallest of the index's `widths` that reaches the recall target; the last one if none does.

    The result at `widest` counts as exact, because an exhaustive comparison would stall the window. The queries are
    synthetic vectors that are not stored: stored vectors find themselves and their neighbours too easily.
    """
    numbers = graph.numbers()
    if len(numbers) <= graph.widths[0]:
        return int(graph.widths[0])
    drawn = np.random.default_rng(1).choice(numbers, min(SAMPLE, len(numbers)), replace=False)
    questions = _like(graph, drawn)
    right = _found(graph, questions, graph.widest)
    for width in graph.widths:
        found = _found(graph, questions, width)
        if sum(len(np.intersect1d(some, ten)) for some, ten in zip(found, right, strict=True)) >= WANTED * right.size:
            break
    return int(width)


def _like(graph: Graph, numbers: Numbers) -> Vectors:
    """Return synthetic queries: each vector plus the difference of two of its neighbours, which keeps it within its cluster."""
    stored = graph.stored(numbers)
    near = np.array([graph.nearest(vector, 31)[0][[10, -1]] for vector in stored])
    moved = stored + graph.stored(near[:, 0]) - graph.stored(near[:, 1])
    unit: Vectors = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return unit


def _found(graph: Graph, questions: Vectors, width: int) -> Numbers:
    return np.stack([graph.nearest(question, COUNT, width)[0] for question in questions])
