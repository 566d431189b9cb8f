"""An objection keeps a memory back where much the same is said, lets it come elsewhere, and fades."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from lethe_app.brain.recall.objections import apply_objections, create_objection, dice_similarity
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import BlockReason, RecalledMemory, RecallWay

MEMORY, MOMENT = uuid4(), now()
SAID = "Is the lighthouse open to visitors in winter?"


def memory(way: RecallWay = RecallWay.KEYWORD, likelihood: float = 1.0) -> RecalledMemory:
    return RecalledMemory(
        memory=MEMORY, category=MemoryType.GENERAL, title="The lamp", text="It is dark.", way=way, likelihood=likelihood
    )


def coming(said: str, *, way: RecallWay = RecallWay.KEYWORD, days: float = 0, likelihood: float = 1.0) -> list[RecalledMemory]:
    objected = create_objection(MEMORY, uuid4(), SAID, MOMENT - timedelta(days=days))
    return apply_objections([memory(way, likelihood)], [objected], said, MOMENT)[0]


def test_the_same_words_do_not_bring_it_again_and_the_trace_says_why():
    objected = create_objection(MEMORY, uuid4(), SAID, MOMENT)

    kept, back = apply_objections([memory()], [objected], SAID, MOMENT)

    assert kept == []
    assert [(one.memory, one.title, one.why) for one in back] == [(MEMORY, "The lamp", BlockReason.UNWANTED)]


def test_words_about_something_else_still_bring_it():
    assert coming("Who lit the lamp when my grandfather was away?")[0].likelihood == 1.0


def test_words_that_share_a_little_make_it_only_less_likely():
    (one,) = coming("Does the lighthouse need a new coat of paint?")
    assert 0.5 < one.likelihood < 1.0


def test_what_was_hardly_likely_does_not_bear_an_objection():
    assert coming("Does the lighthouse need a new coat of paint?", way=RecallWay.MEANING, likelihood=0.12) == []


def test_an_objection_fades():
    assert coming(SAID, days=0) == []
    assert coming(SAID, days=120) != []


@pytest.mark.parametrize("way", [RecallWay.CONSTANT, RecallWay.NATURAL, RecallWay.RETURN])
def test_what_did_not_come_because_of_the_words_is_not_touched(way):
    assert coming(SAID, way=way) == [memory(way)]


def test_two_messages_without_telling_words_are_alike():
    assert dice_similarity([], []) == 1.0
    assert dice_similarity(["lamp"], []) == 0.0
