"""Late interaction: each query token is compared with its nearest token of a passage, instead of comparing two averages.

Khattab and Zaharia, ColBERT (2020), applied to the token vectors of an ordinary sentence embedder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import fold, split_words

Matrix = NDArray[np.float32]

QUANTISATION_STEPS = 127
"""Quantisation of a unit vector's component to a signed byte; the loss is not measurable."""
ROWS_PER_PRODUCT = 128
"""Token rows compared per matrix product: as floats they fit into a core's cache, which is four times as fast."""
SHARPNESS = 3
"""Exponent applied to cosines, so that one exact match outweighs several vague ones."""
WORD_START = "\u2581"


def pack_tokens(embedding: TextEmbedding) -> bytes:
    """Return the token vectors of a passage as stored: unit length, one byte per component, word tokens only."""
    rows = _unit_rows(embedding)[[bool(split_words(piece)) and not _is_control(piece) for piece in embedding.pieces]]
    return bytes(np.round(rows * QUANTISATION_STEPS).astype(np.int8).tobytes())


def query_tokens(embedding: TextEmbedding, weights: Mapping[str, float]) -> tuple[Matrix, Matrix]:
    """Return the token vectors of a query that have a weight, and their weights.

    `weights` is by folded word; words it does not contain have weight 0.
    """
    weight = np.array([weights.get(word, 0.0) for word in words_of(embedding.pieces)], np.float32)
    return _unit_rows(embedding)[weight > 0], weight[weight > 0]


def sharpen(cosines: Matrix) -> Matrix:
    """Return cosines as similarities, 0 to 1."""
    similarities: Matrix = np.clip(cosines, 0.0, 1.0) ** SHARPNESS
    return similarities


def nearest_cosines(query: Matrix, blobs: Sequence[bytes]) -> Matrix:
    """Return the cosine of each query token (rows) with its nearest token in each passage (columns); 0 for a passage without
    tokens.
    """
    size = query.shape[1]
    blobs = [blob if len(blob) % max(1, size) == 0 else b"" for blob in blobs]  # of another embedder, or damaged
    counts = np.array([len(blob) // max(1, size) for blob in blobs], np.int64)
    result = np.zeros((len(query), len(blobs)), np.float32)
    filled = np.flatnonzero(counts)
    if query.size == 0 or len(filled) == 0:
        return result
    rows = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, size)
    cosines = np.empty((len(query), len(rows)), np.float32)
    for start in range(0, len(rows), ROWS_PER_PRODUCT):
        chunk = slice(start, start + ROWS_PER_PRODUCT)
        np.matmul(query, rows[chunk].astype(np.float32).T, out=cosines[:, chunk])
    starts = (np.cumsum(counts) - counts)[filled]
    # Passages without tokens are left out above, because reduceat returns the next segment's value for an empty one.
    result[:, filled] = np.maximum.reduceat(cosines, starts, axis=1) / QUANTISATION_STEPS
    return result


def _unit_rows(embedding: TextEmbedding) -> Matrix:
    if not embedding.pieces:  # numpy cannot tell from nothing how long its rows would be
        return np.zeros((0, len(embedding.vector) // np.float32().nbytes), np.float32)
    rows = np.frombuffer(embedding.tokens, np.float32).reshape(len(embedding.pieces), -1)
    unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def words_of(pieces: Sequence[str]) -> list[str]:
    """Return the folded word that each token piece belongs to; empty for control tokens, punctuation and stop words."""
    groups: list[list[int]] = []
    for number, piece in enumerate(pieces):
        is_word_start = piece.startswith(WORD_START) or _is_control(piece) or number == 0
        groups.append([number]) if is_word_start else groups[-1].append(number)
    words = [""] * len(pieces)
    for group in groups:
        spelled = "".join(pieces[number] for number in group)
        word = fold(spelled.replace(WORD_START, ""))
        if split_words(word) and not _is_control(spelled) and word not in STOP_WORDS:
            for number in group:
                words[number] = word
    return words


def _is_control(piece: str) -> bool:
    return piece.startswith(("[", "<")) and piece.endswith(("]", ">"))
