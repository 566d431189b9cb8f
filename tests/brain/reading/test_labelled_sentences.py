"""The short exchanges of `tests/bench/sentences.jsonl` are read as well as they were."""

from __future__ import annotations

from tests.bench.facts import by_rules, read, score

MIN_FOUND, MAX_WRONG = 130, 38
"""Of 155 facts; what says the same in other words, or more than the label of a message, counts as wrong."""


def test_the_labelled_sentences_are_read_as_well_as_they_were():
    talks, labels = read("sentences")

    result = score(by_rules(talks), labels)

    assert result.found >= MIN_FOUND
    assert len(result.wrong) <= MAX_WRONG, [fact.text for fact in result.wrong]


def test_small_talk_jokes_and_evasions_state_nothing():
    talks, labels = read("sentences")
    labelled = {label.line for label in labels}
    unlabelled = [talk for talk in talks if labelled.isdisjoint(line.id for line in talk)]

    assert len(unlabelled) >= 90
    assert not [fact.text for fact in by_rules(unlabelled) if not fact.in_story]
