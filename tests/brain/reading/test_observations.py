"""Facts from what the persona observed about the user, if the user confirmed it."""

from __future__ import annotations

import pytest

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from tests.brain.conversations import conversation


def talk(*texts: str) -> list[Utterance]:
    """Mira begins, and Tomas answers in turn."""
    return conversation(*(f"{'Tomas' if place % 2 else 'Mira'}: {text}" for place, text in enumerate(texts)))


def facts(*texts: str) -> list[str]:
    return [statement.text for statement in extract_statements(talk(*texts))]


@pytest.mark.parametrize(
    ("observed", "fact"),
    [
        ("You seem happiest near the sea.", "Tomas is happiest near the sea."),
        ("So you prefer the mornings to the evenings.", "Tomas prefers the mornings to the evenings."),
        ("I notice that you always sail alone.", "Tomas always sails alone."),
        ("*She looks up.* You always sail alone.", "Tomas always sails alone."),
        ("You are afraid of deep water, aren't you?", "Tomas is afraid of deep water."),
        ("You're allergic to nuts, then.", "Tomas is allergic to nuts."),
        ("You don't like crowds.", "Tomas doesn't like crowds."),
        ("You work as a carpenter at the old shipyard, Tomas.", "Tomas works as a carpenter at the old shipyard."),
        ("Your sister lives in Porto.", "Tomas's sister lives in Porto."),
    ],
)
@pytest.mark.parametrize("reply", ["Yes, exactly.", "Exactly!", "That's true.", "You're right. I never thought of it.", "Yes."])
def test_an_observation_that_the_user_confirms_is_a_fact(observed: str, fact: str, reply: str):
    assert facts(observed, reply) == [fact]


@pytest.mark.parametrize(
    ("observed", "reply"),
    [
        ("You always sail alone.", "No, not at all."),
        ("You always sail alone.", "Yes, but only in summer."),
        ("You always sail alone.", "Exactly. Except on Sundays."),
        ("You always sail alone.", "Not exactly."),
        ("You always sail alone.", "How would you know?"),
        ("You always sail alone. Shall we go?", "Yes, exactly."),
        ("You seem tired today.", "Yes, exactly."),
        ("You must be kidding.", "Yes, exactly."),
        ("You know what I mean.", "Yes, exactly."),
        ("You like me.", "Yes."),
        ("You would be a good captain.", "Absolutely."),
        ("If you always sail alone, you must be brave.", "Yes."),
    ],
)
def test_what_is_denied_qualified_asked_or_passing_is_none(observed: str, reply: str):
    assert facts(observed, reply) == []


def test_both_messages_are_the_sources_and_an_observation_of_long_ago_is_not_confirmed():
    lines = talk("You always sail alone.", "Yes, exactly.")
    (statement,) = extract_statements(lines)

    assert statement.message_ids == (lines[0].id, lines[1].id)
    assert statement.subject == "Tomas"
    assert facts("You always sail alone.", "Good morning.", "It rains.", "Yes, exactly.") == []
