"""A session is recognised by several signs, and each of them says what it added."""

from __future__ import annotations

import numpy as np
import pytest

from lethe_app.retrieval.candidates import CandidateFeatures
from lethe_app.retrieval.features import PassageFeatures, gather_features, max_by_owner, standardise, to_word_occurrences
from lethe_app.retrieval.relevance_gate import BY_MEANING, BY_WORDS, RelevanceGate, compute_likelihoods, find_distinctive
from lethe_app.retrieval.signals import (
    BASELINE_INTERACTION,
    SIGNALS,
    compute_contributions,
    compute_margin,
    compute_signals,
)
from lethe_app.retrieval.term_statistics import count_spread
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import FACTS, LINES, STANDALONE, ColumnSnapshot, SourceTable
from lethe_app.storage.index.term_positions import Occurrences

NONE_SAID = Occurrences([], [], [])
GATED = (*SIGNALS, "words", "nearest", "topic", "lead")
NOWHERE = (np.zeros(0, np.int64), np.zeros(0, np.float32))


def columns(*sources: int, group: int = LINES) -> ColumnSnapshot:
    """One passage per entry, of the source named."""
    ones = np.ones(len(sources), np.int32)
    halves = np.array([[0, source] for source in range(max(sources) + 1)], np.uint64)
    return ColumnSnapshot(
        number=10 * np.arange(1, len(sources) + 1), kind=ones.astype(np.int8), group=(group * ones).astype(np.int8),
        owner=ones.astype(np.int16), source=np.array(sources, np.int32), day=ones, length=40 * ones,
        sources=SourceTable(halves), source_count=len(halves), mean_length=40.0,
    )  # fmt: skip


def gathered(columns: ColumnSnapshot, occurrences: Occurrences, words: int, *, hidden: int = -1) -> PassageFeatures:
    allowed = np.arange(len(columns.number)) != hidden
    spread = count_spread(columns, allowed, occurrences, [f"word{number}" for number in range(words)])
    return gather_features(columns, np.flatnonzero(allowed), to_word_occurrences(occurrences), spread, NOWHERE)


def looked(evidence: PassageFeatures, compared: list[int]) -> CandidateFeatures:
    return CandidateFeatures(evidence, np.array(compared, np.int64), {})


def test_the_best_passage_speaks_for_its_source():
    found = max_by_owner(np.array([[1, 5, 3], [2, 0, 4]], np.float32), np.array([2, 0, 2]), 4)

    assert found.tolist() == [[5, 0, 3, 0], [0, 0, 4, 0]]


def test_values_that_are_all_alike_say_nothing():
    assert standardise(np.array([3, 3, 3], np.float32)).tolist() == [0, 0, 0]
    assert standardise(np.zeros(0, np.float32)).tolist() == []


def test_a_rare_word_weighs_more_than_a_common_one():
    occurrences = Occurrences(word=[0, 0, 0, 1], passage=[10, 20, 30, 30], offset=[0, 0, 0, 1])

    known = gathered(columns(0, 1, 2), occurrences, 2)

    assert known.rarity_in_passages[1] > known.rarity_in_passages[0]
    assert known.bm25.argmax() == 2


def test_in_a_young_memory_a_word_is_as_rare_as_it_would_be_in_an_old_one():
    said_once = Occurrences(word=[0], passage=[10], offset=[6])
    young, old = columns(0), columns(*range(25))

    first, later = (gathered(some, said_once, 1) for some in (young, old))

    assert first.bm25[0] == pytest.approx(later.bm25[0])


def test_in_a_young_memory_everyday_words_and_names_of_speakers_are_common():
    young, every = columns(0, 0, 0), [10, 20, 30]
    occurrences = Occurrences(word=[0, 1, *[2] * 3], passage=[10, 20, *every], offset=[6, 6, *[3] * 3])
    spread = count_spread(young, np.ones(3, bool), occurrences, ["dinghy", "morning", "mira"])

    dinghy, morning, mira = spread.rarity.tolist()

    assert dinghy > 2 * morning
    assert dinghy > 10 * mira


def test_words_in_passages_of_others_and_hidden_ones_do_not_count():
    occurrences = Occurrences(word=[0, 0, 0], passage=[10, 15, 999], offset=[0, 0, 0])

    known = gathered(columns(0, 1), occurrences, 1, hidden=0)

    assert known.rows.tolist() == [1]
    assert not known.shares.any()


def test_what_stands_alone_speaks_where_others_have_facts_and_summaries():
    alone = columns(0, 1, group=STANDALONE)
    near = (alone.number, np.array([0.7, 0.2], np.float32))
    spread = count_spread(alone, np.ones(2, bool), NONE_SAID, ["word"])
    known = gather_features(alone, np.arange(2), to_word_occurrences(NONE_SAID), spread, near)

    values = compute_signals(
        alone, looked(known, [0, 1]), np.ones((2, 2), np.float32), np.ones(2, np.float32), TimeReference()
    ).values

    assert values["about"] == pytest.approx([0.7, 0.2])
    assert values["summary"] == pytest.approx([0.7, 0.2])
    assert values["topic"] == pytest.approx([0.7, 0.2])


def test_a_few_facts_say_less_of_what_a_source_was_about():
    values = {name: np.array([0, 1], np.float32) for name in SIGNALS}

    few, many = (compute_contributions(values | {"fact coverage": np.full(2, known, np.float32)}) for known in (0.2, 1.0))

    assert few["about"] == pytest.approx(0.2 * many["about"])
    assert few["summary"] == pytest.approx(many["summary"])


@pytest.mark.parametrize(("group", "known"), [(FACTS, 0.4), (STANDALONE, 1.0), (LINES, 0.0)])
def test_what_stands_alone_is_all_there_is_to_know(group: int, known: float):
    two_of_each = columns(0, 0, 1, 1, group=group)
    found = gathered(two_of_each, Occurrences([], [], []), 1)

    values = compute_signals(
        two_of_each, looked(found, []), np.zeros((0, 0), np.float32), np.zeros(0, np.float32), TimeReference()
    ).values

    assert values["fact coverage"] == pytest.approx(known)


def test_of_one_source_alone_a_pair_of_words_that_stands_together_there_still_counts():
    one = columns(0, 0)
    known = gathered(one, Occurrences(word=[0, 1], passage=[10, 10], offset=[4, 5]), 2)
    near = np.array([[1, 0], [1, 0], [0.1, 0.1]], np.float32)

    values = compute_signals(one, looked(known, [0, 1]), near, np.ones(3, np.float32), TimeReference()).values

    assert values["together"][0] > 0.3


def test_the_score_is_the_sum_of_what_the_signals_add():
    two = columns(0, 0, 1)
    known = gathered(two, Occurrences(word=[0, 1], passage=[10, 10], offset=[4, 5]), 2)
    near = np.array([[1, 0, 0.4], [1, 0, 0.2], [0.1, 0.1, 0.9]], np.float32)

    scored = compute_signals(two, looked(known, [0, 1, 2]), near, np.ones(3, np.float32), TimeReference())

    assert len(set(scored.score.tolist())) == 2
    assert scored.score == pytest.approx(sum(scored.contributions.values()), abs=1e-5)


@pytest.mark.parametrize("gate", [BY_MEANING, BY_WORDS])
def test_where_no_word_tells_anything_more_evidence_is_needed(gate: RelevanceGate):
    values = {name: np.full(1, 0.6, np.float32) for name in GATED}
    there = np.ones((2, 1), bool)

    assert (
        compute_likelihoods(values, 2, [False, False], there, gate)[0]
        < compute_likelihoods(values, 2, [True, False], there, gate)[0]
    )


def test_without_an_embedder_a_telling_word_must_stand_in_what_is_brought_up():
    values = {name: np.full(2, 0.6, np.float32) for name in GATED}
    there = np.array([[True, False], [True, True]])

    by_words, by_meaning = (compute_likelihoods(values, 2, [True, False], there, gate) for gate in (BY_WORDS, BY_MEANING))

    assert by_words[0] > by_words[1]
    assert by_meaning[0] == by_meaning[1]


def test_everyday_words_and_names_of_those_who_are_there_tell_nothing():
    assert find_distinctive(["take", "care", "mira", "dinghy"], np.array([4, 4, 0.7, 6], np.float32)) == [
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("gate", [BY_MEANING, BY_WORDS])
def test_more_evidence_is_likelier_and_no_word_means_nothing(gate: RelevanceGate):
    nothing, much = ({name: np.array([value], np.float32) for name in GATED} for value in (0.0, 1.0))
    much["words"] = np.array([12], np.float32)

    tells, there = [True] * 3, np.ones((3, 1), bool)
    assert (
        compute_likelihoods(nothing, 3, tells, there, gate)[0] < gate.sure < compute_likelihoods(much, 3, tells, there, gate)[0]
    )
    assert compute_likelihoods(much, 0, [], there[:0], gate)[0] == 0


def test_what_all_sources_say_alike_sets_none_of_them_ahead():
    alike = compute_margin(np.full(6, 0.6, np.float32))
    one = compute_margin(np.array([0.6, *[0.1] * 5], np.float32))

    assert alike == pytest.approx(np.zeros(6), abs=1e-6)
    assert one[0] == pytest.approx(0.5)
    assert compute_margin(np.array([0.6], np.float32))[0] == pytest.approx(0.6 - BASELINE_INTERACTION)


def test_a_further_memory_needs_more_where_nothing_is_asked_and_less_where_something_is():
    likely = np.array([0.6, 0.3, 0.1], np.float32)

    assert BY_MEANING.select_passed(likely, is_question=False).tolist() == [True, False, False]
    assert BY_MEANING.select_passed(likely, is_question=True).tolist() == [True, True, False]
    assert not BY_MEANING.select_passed(likely / 3, is_question=True).any()
