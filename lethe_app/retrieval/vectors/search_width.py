"""Measures how widely a graph must be searched so that what it finds is what is there."""

from __future__ import annotations

import numpy as np

from lethe_app.retrieval.vectors.index import Graph, Numbers, Vectors
from lethe_app.retrieval.vectors.inverted_file import Cells

SAMPLE, COUNT = 100, 10
"""Questions asked, and neighbours wanted of each."""
WANTED = 0.985
"""Share of the neighbours that must be found."""


def tune(graph: Graph | Cells) -> None:
    """Search it from now on as widely as it needs."""
    graph.width, graph.tuned_for = width_for(graph), len(graph)


def width_for(graph: Graph | Cells) -> int:
    """The least of its `widths` that finds nearly all; the last if none does.

    Its `widest` counts as exact; comparing with every vector would keep the window waiting. Asked is what is not stored but
    could be, for what is stored finds itself and its neighbours too easily.
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


def _like(graph: Graph | Cells, numbers: Numbers) -> Vectors:
    """Each vector, moved by the difference between two of its neighbours: so it stays among its kind, whatever that is."""
    stored = graph.stored(numbers)
    near = np.array([graph.nearest(vector, 31)[0][[10, -1]] for vector in stored])
    moved = stored + graph.stored(near[:, 0]) - graph.stored(near[:, 1])
    unit: Vectors = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return unit


def _found(graph: Graph | Cells, questions: Vectors, width: int) -> Numbers:
    return np.stack([graph.nearest(question, COUNT, width)[0] for question in questions])
