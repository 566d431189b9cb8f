"""Of words that stand nearly everywhere the newest passages tell how rare they are."""

from __future__ import annotations

import numpy as np
import pytest

from lethe_app.retrieval import term_statistics as module
from lethe_app.retrieval.term_statistics import compute_rarity, estimate_spread, select_promising
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import ColumnSnapshot, SourceTable
from lethe_app.storage.index.term_positions import TermPassages

COUNT, TO_A_SOURCE = 1000, 10


@pytest.fixture
def columns() -> ColumnSnapshot:
    """A hundred sources of ten passages, with even numbers."""
    ones, sources = np.ones(COUNT, np.int32), COUNT // TO_A_SOURCE
    halves = np.stack([np.zeros(sources, np.uint64), np.arange(sources, dtype=np.uint64)], axis=1)
    return ColumnSnapshot(
        number=2 * np.arange(1, COUNT + 1), kind=ones.astype(np.int8), group=(0 * ones).astype(np.int8),
        owner=ones.astype(np.int16), source=(np.arange(COUNT) // TO_A_SOURCE).astype(np.int32), day=ones, length=40 * ones,
        sources=SourceTable(halves), source_count=sources, mean_length=40.0,
    )  # fmt: skip


def downwards(*numbers: int) -> str:
    return ",".join(map(str, sorted(numbers, reverse=True)))


def test_a_rare_word_is_counted_and_passages_of_others_do_not_count(columns: ColumnSnapshot):
    listed = TermPassages([downwards(4, 6, 40, 7, 99999)], [True])

    spread = estimate_spread(columns, np.ones(COUNT, bool), listed, ["dinghy"])

    assert spread.rarity_in_passages == pytest.approx(compute_rarity(np.array([3]), COUNT))
    assert spread.rarity == pytest.approx(compute_rarity(np.array([2]), COUNT // TO_A_SOURCE))
    assert columns.number[spread.row].tolist() == [4, 6, 40]


def test_a_common_word_is_estimated_by_the_newest_passages(columns: ColumnSnapshot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SAMPLE", 500)
    newest = [int(number) for number in columns.number if number % 4 == 0 and number > 1200]

    spread = estimate_spread(columns, np.ones(COUNT, bool), TermPassages([downwards(*newest)], [False]), ["dinghy"])

    assert spread.rarity_in_passages == pytest.approx(compute_rarity(np.array([500]), COUNT), abs=0.02)
    assert spread.rarity == pytest.approx(compute_rarity(np.array([100]), COUNT // TO_A_SOURCE), abs=0.02)


def test_what_may_not_be_brought_up_still_tells_how_rare_a_word_is(columns: ColumnSnapshot):
    allowed = columns.number > 5

    spread = estimate_spread(columns, allowed, TermPassages([downwards(4, 6)], [True]), ["dinghy"])

    assert columns.number[spread.row].tolist() == [6]
    assert spread.rarity_in_passages == pytest.approx(compute_rarity(np.array([2]), COUNT))


def test_the_nearest_and_those_with_the_rarest_words_are_promising(columns: ColumnSnapshot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_NEAREST", 2)
    monkeypatch.setattr(module, "MAX_WORDIEST", 2)
    every, allowed = [int(number) for number in columns.number], columns.number != 800
    listed = TermPassages([downwards(*every), downwards(100, 900)], [True, True])
    spread = estimate_spread(columns, allowed, listed, ["boat", "dinghy"])

    rows, worth = select_promising(columns, allowed, spread, np.array([500, 800, 502]), TimeReference())

    assert columns.number[rows].tolist() == [100, 500, 900]
    assert worth[0] == worth[2] > worth[1] > 0


def test_without_words_and_vectors_nothing_is_promising(columns: ColumnSnapshot):
    allowed = np.ones(COUNT, bool)
    spread = estimate_spread(columns, allowed, TermPassages([], []), [])

    rows, worth = select_promising(columns, allowed, spread, np.zeros(0, np.int64), TimeReference())

    assert len(rows) == len(worth) == 0
