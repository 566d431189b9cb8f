"""What a message lists or pastes is removed; what its sender says beside it stays."""

from __future__ import annotations

import pytest

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.pasted_text import extract_own_text
from tests.brain.conversations import conversation


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


PASSED_ON = [
    "Anna told me: I'm pregnant.",
    "From the book: My name is Ishmael.",
    "From Moby Dick: I went to sea in my youth",
    "My boss emailed me: I am on holiday until June.",
    "Anna wrote - I live in Rome now.",
    "My friend Ole texted — I got fired from my job",
    "My sister said, I am allergic to cats.",
    "(Lena: I hate my job)",
    "I'm pregnant, she said.",
    "I've been a lawyer for years, my aunt told me.",
    "'I work as a pilot', he told me.",
    "[12:30] Tom: I live in Rome",
    "Lena 21:04: my dog died",
    "Anna (texting): I'm in Paris",
    "The letter begins: I have cancer.",
    "Lyrics of the day: I was born in the USA.",
    "Voicemail from Dad: I'm in the hospital.",
    "my mom was like: I'm too old for this",
    "ok so anna just told me... i'm pregnant!! can you believe her",
]
OWN = [
    "Note to self: I live in Rome now.",
    "Update: I live in Rome now.",
    "About me: I live in Rome now.",
    "Big news - I live in Rome now!",
    "To be honest: I live in Rome now.",
    "Important: I live in Rome now.",
    "In other words: I live in Rome now.",
    "Tomas: I live in Rome now.",
    "I said: I live in Rome now.",
    "I live in Rome now, as I said.",
    "I live in Rome now, she said yes to that!",
    "My new job starts - I live in Rome now.",
]
NO_FACTS = [
    "Current time is 3:25 PM.",
    "My battery is at 5%.",
    "Today is Monday the 3rd.",
    "It's raining outside.",
    "My password is hunter2.",
    "The code for the front door is 8842#",
    "Write a joke about my mother in law.",
    "Tell me a story about a boy called Nicolas.",
]


@pytest.mark.parametrize("text", PASSED_ON)
def test_what_others_say_of_themselves_is_no_statement_of_the_user(text: str):
    assert extract_statements(conversation(f"Tomas: {text}")) == []


@pytest.mark.parametrize("text", OWN)
def test_the_head_before_a_colon_may_announce_the_users_own_words(text: str):
    assert "lives in Rome" in " ".join(one.text for one in extract_statements(conversation(f"Tomas: {text}")))


@pytest.mark.parametrize("text", NO_FACTS)
def test_momentary_things_secrets_and_requests_are_no_facts(text: str):
    assert extract_statements(conversation(f"Tomas: {text}")) == []
