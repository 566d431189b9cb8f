"""Hearing that the user would like to be told something."""

from __future__ import annotations

import pytest

from lethe_app.brain.proactive.selection import find_news_request
from lethe_app.language_tables import load_table


def test_there_are_enough_ways_to_ask_and_each_is_heard():
    phrases = load_table("news_phrases")["phrases"]

    assert len(set(phrases)) >= 29
    assert all(find_news_request(f"So, {phrase}?") for phrase in phrases)


@pytest.mark.parametrize(
    "message",
    [
        "What's new?",
        "What’s new with you?",
        "whats new",
        "ANY NEWS",
        "_Any news?_",
        "Haven't you any news?",
        "I don't know what to say. Pick a topic!",
        "Why don't you tell me something new?",
        "I can't sleep, but what's on your mind?",
        "I had a long day... surprise\nme.",
    ],
)
def test_whoever_asks_is_heard(message: str):
    assert find_news_request(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "The newspaper has many news pages.",
        "I bought a new lamp.",
        "There isn't any news from home.",
        "I don't have any news, sorry.",
        "I will pick a topic.",
        "Let me pick something to talk about.",
        "She never said what's on your mind.",
        "Company newsletter: what's newsworthy",
    ],
)
def test_whoever_does_not_ask_is_left_alone(message: str):
    assert find_news_request(message) == ""
