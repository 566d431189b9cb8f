"""A few plain values are learnt as the conversation goes on, and told to the model in one line."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.session_notes import MAX_VALUES, build_notes_block, update_notes
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role


def said(text: str, role: Role = Role.USER) -> Utterance:
    return Utterance(uuid4(), role, "Tomas" if role is Role.USER else "Mira", text, datetime(2025, 3, 11, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("hey, my name is Tomas", {"user_name": "Tomas"}),
        ("i live in Porto and work as a nurse", {"home": "Porto", "job": "nurse"}),
        ("I'm a line cook at a hotel", {"job": "line cook"}),
        ("I'm 34", {"age": "34"}),
        ("my favourite colour is dark green", {"favourite colour": "dark green"}),
        ("I have a dog called Rex", {"dog": "Rex"}),
        ("ugh I'm so tired today", {"mood": "tired"}),
        ("I am badly allergic to peanuts, so no satay for me.", {"allergy": "peanuts"}),
        ("I play the cello in an orchestra.", {"instrument": "cello"}),
        ("My sister is called Anna.", {"sister": "Anna"}),
        ("My sister Anna is getting married in June.", {"sister's wedding": "June"}),
        ("I have a job interview on Friday.", {"job interview": "Friday"}),
        ("My flight is tomorrow morning.", {"flight": "tomorrow morning"}),
        ("We must find the lost lighthouse.", {"current_quest": "find the lost lighthouse"}),
        ("I'm looking for the lost lighthouse", {"current_quest": "find the lost lighthouse"}),
    ],
)
def test_plain_statements_become_values(text: str, values: dict[str, str]):
    assert update_notes([said(text)], {}) == values


@pytest.mark.parametrize(
    "text",
    [
        "Do I look 34?",
        "If I live in Porto one day, I'll be happy",
        "*I'm tired and sad*",
        "“I live in Rome”, she said",
        "maybe I'm a cook",
        "My exam is hard.",
        "I play the fool.",
        "I'm looking for you",
        "I must confess that I must go",
        "Ich bin müde und wohne in Berlin.",
    ],
)
def test_talk_that_states_nothing_teaches_nothing(text: str):
    assert update_notes([said(text)], {}) == {}


def test_the_persona_teaches_nothing():
    lines = [said("I live in the tower. Our quest is to find the drowned bell.", Role.ASSISTANT)]

    assert update_notes(lines, {}) == {}


def test_in_a_scene_only_the_quest_is_learnt():
    lines = [said("*raises his shield* I live in the castle, my lord. We must find the drowned bell.")]

    assert update_notes(lines, {}) == {"current_quest": "find the drowned bell"}


def test_a_newer_value_takes_the_place_of_an_older_one():
    known = {"home": "Porto", "job": "nurse"}

    received = update_notes([said("I live in Lisbon now")], known)

    assert received == {"job": "nurse", "home": "Lisbon"}
    assert known == {"home": "Porto", "job": "nurse"}


def test_the_oldest_value_gives_way():
    known = {f"favourite {number}": "x" for number in range(MAX_VALUES)}

    received = update_notes([said("I'm 34")], known)

    assert len(received) == MAX_VALUES
    assert "favourite 0" not in received
    assert received["age"] == "34"


def test_the_block_is_one_sentence_or_nothing():
    assert build_notes_block({"home": "Porto", "mood": "tired"}) == "Known facts about this session: home=Porto, mood=tired."
    assert build_notes_block({}) == ""
    assert build_notes_block({"home": ""}) == ""


@given(st.lists(st.text(), max_size=3))
def test_any_text_can_be_listened_to(texts: list[str]):
    received = update_notes([said(text) for text in texts], {})

    assert "\n" not in build_notes_block(received)
