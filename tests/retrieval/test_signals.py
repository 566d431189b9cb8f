"""A session is recognised by several signs, and each of them says what it added."""

from __future__ import annotations

import numpy as np
import pytest

from lethe_app.retrieval.evidence import gather, highest, standard
from lethe_app.retrieval.gate import BY_MEANING, BY_WORDS, Gate, likelihood
from lethe_app.retrieval.shelf import Columns
from lethe_app.retrieval.signals import SIGNALS, fused, shares
from lethe_app.storage.passages import Occurrences

NOWHERE = (np.zeros(0, np.int64), np.zeros(0, np.float32))


def columns(*sources: int) -> Columns:
    """One line per entry, of the source named."""
    ones = np.ones(len(sources), np.int64)
    return Columns(
        number=10 * np.arange(1, len(sources) + 1), group=0 * ones, source=np.array(sources), day=ones, length=40 * ones,
        sources=tuple(f"session {source}" for source in range(max(sources) + 1)),
    )  # fmt: skip


def test_the_best_passage_speaks_for_its_source():
    found = highest(np.array([[1, 5, 3], [2, 0, 4]], np.float32), np.array([2, 0, 2]), 4)

    assert found.tolist() == [[5, 0, 3, 0], [0, 0, 4, 0]]


def test_values_that_are_all_alike_say_nothing():
    assert standard(np.array([3, 3, 3], np.float32)).tolist() == [0, 0, 0]
    assert standard(np.zeros(0, np.float32)).tolist() == []


def test_neighbouring_words_count_where_they_stand_together_in_their_order():
    occurrences = Occurrences(word=[0, 1, 0, 1, 0, 1], passage=[10, 10, 20, 20, 30, 30], offset=[4, 5, 5, 4, 0, 9])

    known = gather(columns(0, 1, 2), np.ones(3, bool), 2, ((0, 1),), occurrences, NOWHERE)

    assert (known.beside > 0).tolist() == [True, False, False]
    assert known.covered == pytest.approx([1, 1, 1])


def test_a_rare_word_weighs_more_than_a_common_one():
    occurrences = Occurrences(word=[0, 0, 0, 1], passage=[10, 20, 30, 30], offset=[0, 0, 0, 1])

    known = gather(columns(0, 1, 2), np.ones(3, bool), 2, (), occurrences, NOWHERE)

    assert known.rarity[1] > known.rarity[0]
    assert known.bm25.argmax() == 2


def test_words_in_passages_of_others_and_hidden_ones_do_not_count():
    occurrences = Occurrences(word=[0, 0, 0], passage=[10, 15, 999], offset=[0, 0, 0])

    known = gather(columns(0, 1), np.array([False, True]), 1, (), occurrences, NOWHERE)

    assert known.rows.tolist() == [1]
    assert not known.shares.any()


def test_the_score_is_the_sum_of_what_the_signals_add():
    values = {name: np.random.default_rng(number).random(5).astype(np.float32) for number, name in enumerate(SIGNALS)}

    assert fused(values) == pytest.approx(sum(shares(values).values()), abs=1e-5)
    assert fused(values, without="date") == pytest.approx(fused(values) - shares(values)["date"], abs=1e-5)


@pytest.mark.parametrize("gate", [BY_MEANING, BY_WORDS])
def test_more_evidence_is_likelier_and_no_word_means_nothing(gate: Gate):
    nothing, much = ({name: np.array([value], np.float32) for name in SIGNALS} for value in (0.0, 1.0))
    much["words"] = np.array([12], np.float32)

    assert likelihood(nothing, 3, gate)[0] < gate.sure < likelihood(much, 3, gate)[0]
    assert likelihood(much, 0, gate)[0] == 0
