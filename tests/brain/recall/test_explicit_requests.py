"""Who asks for memory in so many words is heard; small talk, requests and topics nobody ever spoke of are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.explicit_requests import RequestedTopic, find_requested_topic
from tests.brain.memories import quick

PRESENT = ("Mira", "Tomas")
KNOWN = (
    "My sister Ines lives in Porto, and I want to visit her in May.",
    "I have been restoring an old dinghy since spring, and my cat Whiskers sleeps in it.",
    "I'm allergic to walnuts, so no cake for me.",
    "I start my new job at the shipyard on Monday.",
)
ASKED = [
    "What did I tell you about my sister?",
    "Do you remember my sister?",
    "do u still remember my sister",
    "What do you know about my sister?",
    "Have I told you about Ines?",
    "Haven’t I ever told you about my cat?",
    "Mira, do you remember where my sister lives?",
    "Hey, so... remember when I told you about Porto?",
    "What was my sister's name again?",
    "Did I ever mention my sister to you?",
    "Have I mentioned the shipyard?",
    "What do you remember about the dinghy?",
    "What have I said about the dinghy?",
    "*She turns.* “Tell me what you know about my cat.”",
    "Could you remind me what my cat is called?",
    "Can you recall what I'm allergic to?",
    "Did I tell you about walnuts? It has been a long day.",
    "What did I say about my new job?",
    "So, what do you know about my job?",
    "Who was Whiskers again?",
    "When did we talk about Porto?",
    "Do you know what my cat is called?",
    "Everything you remember about Ines, please.",
]
SILENT = [
    "What did I tell you about my brother?",
    "Do you remember my dog?",
    "What do you know about my piano lessons?",
    "Have I told you about Greta?",
    "Do you remember the concert?",
    "What did I say about Japan?",
    "Have I ever mentioned my boss?",
    "What do you know about quantum physics?",
    "Do you remember my sister-in-law Greta?",
    "Do you remember our holiday in Greece?",
    "Do you know anything about knitting?",
    "What was her husband called again?",
    "What did I tell you about my sister's wedding in Rome?",
    "Do you remember me?",
    "Do you remember?",
    "What do you know?",
    "Have I told you?",
    "Did I tell you I love you?",
    "Have I told you how tired I am?",
    "Remind me to feed the cat.",
    "Do you remember that night?",
    "Can you say that again?",
    "Do you know what I mean?",
    "What did we talk about?",
    "My sister called.",
    "I remember my sister well.",
    "Do you like my sister?",
    "The cat told me about walnuts.",
    "Mira, what do you know about Tomas?",
    "¿Te acuerdas de mi hermana Ines?",
    "Erinnerst du dich an Ines?",
]


@pytest.mark.parametrize("text", ASKED)
def test_what_was_told_is_meant_when_it_is_asked_for(text: str):
    asked = find_requested_topic(text, PRESENT)

    assert asked.is_covered_by(KNOWN)


@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_meant_that_was_not_asked_for_or_never_told(text: str):
    asked = find_requested_topic(text, PRESENT)

    assert asked is None or not asked.is_covered_by(KNOWN)


@pytest.mark.parametrize("text", ASKED)
def test_of_other_things_nothing_is_meant(text: str):
    asked = find_requested_topic(text, PRESENT)

    assert not asked.is_covered_by(["The rain kept us in.", "Mira told Tomas about tides.", "They talked of the new captain."])


def test_every_name_must_stand_there_and_more_than_half_of_the_words():
    asked = find_requested_topic("What did I tell you about my walk with Otto by the river?", PRESENT)

    assert asked == RequestedTopic(frozenset({"otto", "river"}), frozenset({"otto"}))
    assert asked.is_covered_by(["We went along the rivers.", "Otto is my neighbour."])
    assert not asked.is_covered_by(["We went along the rivers."])
    assert not asked.is_covered_by(["Otto is my neighbour."])


def test_of_several_questions_the_last_one_is_meant():
    asked = find_requested_topic("Do you remember my cat? And what do you know about my sister?", PRESENT)

    assert asked == RequestedTopic(frozenset({"sister"}), frozenset())


@quick
@given(st.text() | st.text("remember do you my know about?! \n*“”"))
def test_whatever_is_said_it_is_heard_out(text: str):
    find_requested_topic(text, PRESENT)
