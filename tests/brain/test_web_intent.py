"""Whether a message wants something looked up, by its words alone."""

from __future__ import annotations

import pytest

from lethe_app.brain.web_intent import MAX_QUERY_LENGTH, WebIntent, detect_web_intent, extract_query


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Could you look up when linden trees bloom?", "when linden trees bloom"),
        ("search for the best ferry to Porto", "the best ferry to Porto"),
        ("Please google the price of olive oil for me.", "the price of olive oil"),
        ("Can you look the ferry timetable up online?", "the ferry timetable"),
        ("Hey Mira, search the web for lighthouses!", "lighthouses"),
        ("I am home. Can you find out online who won the race? Thanks.", "who won the race"),
        ("Search online for “Ada Holm”, please", "Ada Holm"),
    ],
)
def test_who_asks_plainly_is_understood_and_only_the_subject_is_searched(text: str, topic: str):
    assert detect_web_intent(text) is WebIntent.EXPLICIT
    assert extract_query(text) == topic


@pytest.mark.parametrize("text", ["What is the latest on the rover?", "Do you know who she is?", "How tall is the tower?"])
def test_a_question_may_want_it(text: str):
    assert detect_web_intent(text) is WebIntent.POSSIBLE


@pytest.mark.parametrize("text", ["I looked for you everywhere.", "I look up to you.", "We searched all night.", "Hello!", ""])
def test_talk_does_not(text: str):
    assert detect_web_intent(text) is WebIntent.NONE


def test_a_topic_is_never_longer_than_a_query_may_be():
    assert len(extract_query("search for " + "a long story " * 90)) <= MAX_QUERY_LENGTH
