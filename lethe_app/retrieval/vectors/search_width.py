"""Measurement of the search width that an approximate index needs to reach the wanted recall.

With the width measured here, 98.9 to 99.4 % of the exact ten nearest are found among 100,000 passages (docs/benchmarks.md).
"""

from __future__ import annotations

import numpy as np

from lethe_app.retrieval.vectors.index import HnswGraph, Numbers, Vectors

SAMPLE, NEIGHBOUR_COUNT = 100, 10
"""Queries of a measurement, and nearest neighbours wanted for each."""
TARGET_RECALL = 0.985
"""Recall target: share of the exact neighbours that must be found."""


def tune_width(graph: HnswGraph) -> None:
    """Measure the search width of an index and set it."""
    graph.width, graph.tuned_for = measure_width(graph), len(graph)


def measure_width(graph: HnswGraph) -> int:
    """Return the smallest of the index's `widths` that reaches the recall target; the last one if none does.

    The result at `widest` counts as exact, because an exhaustive comparison would stall the window. The queries are
    synthetic vectors that are not stored: stored vectors find themselves and their neighbours too easily.
    """
    numbers = graph.numbers()
    if len(numbers) <= graph.widths[0]:
        return int(graph.widths[0])
    sample = np.random.default_rng(1).choice(numbers, min(SAMPLE, len(numbers)), replace=False)
    queries = _make_queries(graph, sample)
    exact = _search_all(graph, queries, graph.widest)
    for width in graph.widths:
        found = _search_all(graph, queries, width)
        if (
            sum(
                len(np.intersect1d(found_numbers, exact_numbers))
                for found_numbers, exact_numbers in zip(found, exact, strict=True)
            )
            >= TARGET_RECALL * exact.size
        ):
            break
    return int(width)


def _make_queries(graph: HnswGraph, numbers: Numbers) -> Vectors:
    """Return synthetic queries: each vector plus the difference of two of its neighbours, which keeps it within its cluster."""
    stored = graph.get_vectors(numbers)
    neighbours = np.array([graph.nearest(vector, 31)[0][[10, -1]] for vector in stored])
    shifted = stored + graph.get_vectors(neighbours[:, 0]) - graph.get_vectors(neighbours[:, 1])
    unit: Vectors = shifted / np.maximum(np.linalg.norm(shifted, axis=1, keepdims=True), 1e-9)
    return unit


def _search_all(graph: HnswGraph, queries: Vectors, width: int) -> Numbers:
    return np.stack([graph.nearest(question, NEIGHBOUR_COUNT, width)[0] for question in queries])
