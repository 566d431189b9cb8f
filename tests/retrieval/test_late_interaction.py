"""Word meets word: the tokens of a question look for their nearest in a text."""

from __future__ import annotations

import numpy as np
import pytest

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.late_interaction import ROWS_PER_PRODUCT, nearest_cosines, pack_tokens, query_tokens, sharpen


def meaning(pieces: dict[str, list[float]]) -> TextEmbedding:
    rows = np.array(list(pieces.values()), np.float32)
    return TextEmbedding(rows.mean(0).tobytes(), rows.tobytes(), tuple(pieces))


TEXT = meaning({"[CLS]": [9, 9, 9], "▁light": [2, 0, 0], "house": [0, 3, 0], "▁.": [0, 0, 1], "[SEP]": [9, 9, 9]})


def test_only_words_are_kept_as_bytes():
    assert np.frombuffer(pack_tokens(TEXT), np.int8).tolist() == [127, 0, 0, 0, 127, 0]


def test_every_piece_of_a_word_has_the_weight_of_the_word():
    question = meaning({"[CLS]": [1, 1, 1], "▁the": [1, 0, 0], "▁light": [2, 0, 0], "house": [0, 3, 0], "▁sea": [0, 0, 4]})

    tokens, weight = query_tokens(question, {"lighthouse": 2.0, "sea": 0.5, "the": 9.0})

    assert weight.tolist() == [2.0, 2.0, 0.5]
    assert np.linalg.norm(tokens, axis=1) == pytest.approx([1, 1, 1])


def test_an_exact_word_is_near_one_and_a_strange_one_zero():
    question = np.array([[1, 0, 0], [0, 0, 1]], np.float32)

    near = sharpen(nearest_cosines(question, [pack_tokens(TEXT), b"", pack_tokens(meaning({"▁odd": [0, 0, -1]}))]))

    assert near == pytest.approx(np.array([[1, 0, 0], [0, 0, 0]]), abs=0.01)


def test_of_very_many_tokens_each_text_has_its_nearest():
    drawn = np.random.default_rng(1)
    question = drawn.normal(size=(3, 4)).astype(np.float32)
    question /= np.linalg.norm(question, axis=1, keepdims=True)
    texts = [drawn.integers(-90, 90, (count, 4)).astype(np.int8) for count in drawn.integers(1, 20, ROWS_PER_PRODUCT // 4)]

    near = sharpen(nearest_cosines(question, [text.tobytes() for text in texts]))

    right = [np.clip((question @ text.T.astype(np.float32)).max(axis=1) / 127, 0, 1) ** 3 for text in texts]
    assert pytest.approx(np.array(right), abs=1e-5) == near.T


def test_nothing_asked_or_nothing_known_is_nothing_near():
    assert nearest_cosines(np.zeros((0, 3), np.float32), [b"abc"]).shape == (0, 1)
    assert nearest_cosines(np.ones((2, 3), np.float32), []).shape == (2, 0)
    assert nearest_cosines(np.ones((2, 3), np.float32), [b"", b""]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("pieces", [(), ("\u2581light",)])
def test_a_text_without_tokens_has_no_rows_and_asks_nothing(pieces: tuple[str, ...]):
    empty = TextEmbedding(np.ones(3, np.float32).tobytes(), b"", pieces)

    tokens, weight = query_tokens(empty, {"light": 1.0})

    assert pack_tokens(empty) == b""
    assert len(tokens) == len(weight) == len(pieces)
    assert nearest_cosines(tokens, [pack_tokens(TEXT), b""]).tolist() == [[0, 0]] * len(pieces)
