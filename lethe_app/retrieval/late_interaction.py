"""Late interaction: each word of a question looks for its nearest word in a text, instead of comparing two averages.

Khattab and Zaharia, ColBERT (2020), with the token vectors of an ordinary sentence embedder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.query_terms import STOP_WORDS, cut, fold

Matrix = NDArray[np.float32]

STEPS = 127
"""A component of a unit vector is kept as a signed byte; that costs nothing measurable."""
AT_ONCE = 128
"""Token rows compared at once: as floats they still fit into the cache of a core, which makes it four times as fast."""
SHARPNESS = 3
"""Cosines are raised to this power, so that one exact match outweighs several vague ones."""
WORD_START = "\u2581"


def packed(meaning: TextEmbedding) -> bytes:
    """The token vectors of a passage as they are stored: length one, one byte per component, only those of words."""
    rows = _unit_rows(meaning)[[bool(cut(piece)) and not _is_control(piece) for piece in meaning.pieces]]
    return bytes(np.round(rows * STEPS).astype(np.int8).tobytes())


def asked(meaning: TextEmbedding, weights: Mapping[str, float]) -> tuple[Matrix, Matrix, list[str]]:
    """The token vectors of a question that count, the weight of each, and the word each belongs to.

    `weights` is by folded word; words it does not name count nothing.
    """
    words = words_of(meaning.pieces)
    weight = np.array([weights.get(word, 0.0) for word in words], np.float32)
    kept = weight > 0
    return _unit_rows(meaning)[kept], weight[kept], [word for word, keep in zip(words, kept, strict=True) if keep]


def sharpened(cosines: Matrix) -> Matrix:
    """Return cosines as nearness, 0 to 1."""
    near: Matrix = np.clip(cosines, 0.0, 1.0) ** SHARPNESS
    return near


def nearest(question: Matrix, blobs: Sequence[bytes]) -> Matrix:
    """For every token of the question (rows) and every text (columns) the cosine of the nearest token; 0 without tokens."""
    size = question.shape[1]
    counts = np.array([len(blob) // max(1, size) for blob in blobs], np.int64)
    found = np.zeros((len(question), len(blobs)), np.float32)
    filled = np.flatnonzero(counts)
    if question.size == 0 or len(filled) == 0:
        return found
    rows = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, size)
    cosines = np.empty((len(question), len(rows)), np.float32)
    for start in range(0, len(rows), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        np.matmul(question, rows[some].astype(np.float32).T, out=cosines[:, some])
    starts = (np.cumsum(counts) - counts)[filled]
    found[:, filled] = np.maximum.reduceat(cosines, starts, axis=1) / STEPS
    return found


def _unit_rows(meaning: TextEmbedding) -> Matrix:
    if not meaning.pieces:  # numpy cannot tell from nothing how long its rows would be
        return np.zeros((0, len(meaning.vector) // np.float32().nbytes), np.float32)
    rows = np.frombuffer(meaning.tokens, np.float32).reshape(len(meaning.pieces), -1)
    unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def words_of(pieces: Sequence[str]) -> list[str]:
    """The folded word each piece belongs to; empty for control tokens, marks and stop words."""
    groups: list[list[int]] = []
    for number, piece in enumerate(pieces):
        begins = piece.startswith(WORD_START) or _is_control(piece) or number == 0
        groups.append([number]) if begins else groups[-1].append(number)
    words = [""] * len(pieces)
    for group in groups:
        spelled = "".join(pieces[number] for number in group)
        word = fold(spelled.replace(WORD_START, ""))
        if cut(word) and not _is_control(spelled) and word not in STOP_WORDS:
            for number in group:
                words[number] = word
    return words


def _is_control(piece: str) -> bool:
    return piece.startswith(("[", "<")) and piece.endswith(("]", ">"))
