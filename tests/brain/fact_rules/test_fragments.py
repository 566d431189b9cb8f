"""What people leave out of a statement about themselves, alone and as an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lethe_app.brain.fact_rules.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

WHEN = datetime(2026, 3, 4, 20, tzinfo=UTC)


def learnt(*texts: str) -> list[str]:
    """Return what the last message tells; the messages alternate and end with the user's."""
    roles = [Role.USER if place % 2 == 0 else Role.ASSISTANT for place in range(len(texts))][::-1]
    lines = [
        Utterance(uuid4(), role, "Ana" if role is Role.USER else "Nora", text, WHEN)
        for role, text in zip(roles, texts, strict=True)
    ]
    return [one.text for one in extract_statements(lines) if lines[-1].id in one.message_ids]


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("31 years married", ["Ana said: “31 years married”"]),
        ("nurse, 12 yrs", ["Ana said: “nurse, 12 yrs”"]),
        ("18 years with the post office", ["Ana said: “18 years with the post office”"]),
        ("three kids, tom, ines and joe", ["Ana has three kids called Tom, Ines and Joe."]),
        ("pepper, our old whippet, snores", ["Ana's dog is a whippet called Pepper.", "Ana's dog Pepper snores."]),
    ],
)
def test_a_statement_without_its_subject_is_quoted_unless_it_names_somebody(message: str, facts: list[str]) -> None:
    assert learnt("Hello there.", message) == facts


@pytest.mark.parametrize(
    "message",
    [
        "sounds good",
        "love it",
        "drive carefully",
        "work hard",
        "teach me something",
        "play me a song",
        "never mind",
        "two friends came",
    ],
)
def test_orders_and_reactions_are_no_statements(message: str) -> None:
    assert learnt("Hello there.", message) == []


@pytest.mark.parametrize(
    ("question", "answer", "fact"),
    [
        ("*sits down* And what do you do for a living?", "plumber", "Ana is a plumber."),
        ("Where are you based?", "galway", "Ana lives in Galway."),
        ("Any pets?", "tortoise", "Ana has a tortoise."),
        ("Any cats?", "nope never had one, allergic", "Asked “Any cats?”, Ana said: “nope never had one, allergic”"),
        ("Do you have kids?", "yep, 3 of them", "Ana has 3 kids."),
        ("Family?", "wife. two boys grown up", "Ana has two grown-up boys."),
        ("What are you learning these days?", "banjo", "Ana is learning banjo."),
        ("When did you retire?", "2014", "Ana retired in 2014."),
        ("Are you afraid of heights, by the way? I ought to have asked.", "yes!", "Ana is afraid of heights."),
        ("Which bakery?", "greggs", "Ana works at Greggs."),
    ],
)
def test_an_answer_is_read_with_its_question(question: str, answer: str, fact: str) -> None:
    assert fact in learnt(question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What do you play?", "nothing"), ("How is Beth?", "moved to leeds in june"), ("How old is Aoife?", "31")],
)
def test_an_evasion_or_an_answer_about_somebody_else_says_nothing_of_the_speaker(question: str, answer: str) -> None:
    assert not any(one.startswith("Ana ") for one in learnt(question, answer))


def test_he_is_the_one_spoken_of_last() -> None:
    assert learnt("Hi.", "i have a son", "What does he do?", "plumber in leeds") == ["Ana's son is a plumber in Leeds."]
