"""The short exchanges of `tests/bench/sentences.jsonl` are read as well as they were."""

from __future__ import annotations

from tests.bench.facts import by_rules, read, score

MIN_FOUND, MAX_WRONG = 116, 38
"""Of 142 facts; what says the same in other words, or more than the label of a message, counts as wrong."""


def test_the_labelled_sentences_are_read_as_well_as_they_were():
    talks, labels = read("sentences")

    result = score(by_rules(talks), labels)

    assert result.found >= MIN_FOUND
    assert len(result.wrong) <= MAX_WRONG, [fact.text for fact in result.wrong]
