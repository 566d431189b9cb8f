"""What a message lists or pastes is removed; what its sender says beside it stays."""

from __future__ import annotations

import pytest

from lethe_app.brain.reading.pasted_text import extract_own_text


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("Shopping list: milk, eggs. And I got promoted today!", "And I got promoted today!"),
        ("packing list - socks, a warm hat and 1.5 l water\nI leave at six", "I leave at six"),
        ("To buy: flour\nI bake on Sunday", "I bake on Sunday"),
        ("My to-do list:\nI move to Berlin", "I move to Berlin"),
    ],
)
def test_a_list_is_removed_up_to_the_end_of_its_sentence(message: str, own: str):
    assert extract_own_text(message, 10).strip() == own


@pytest.mark.parametrize(
    "message",
    [
        "I always forget my shopping list",
        "I keep losing my to-do list",
        "My to-do list - I'm moving to Berlin on Friday",
        "My to-do list: I'm moving to Berlin on Friday",
        "to-do list-making is my hobby",
        "what I want to get: a degree in law. I start in October",
    ],
)
def test_a_sentence_that_mentions_a_list_stays(message: str):
    assert extract_own_text(message, 10) == message
