"""Who asks for memory in so many words is heard; small talk, requests and topics nobody ever spoke of are not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.explicit_requests import RequestedTopic, find_requested_topic
from tests.brain.memories import quick

PRESENT = ("Mira", "Tomas")
REQUESTS = tomllib.loads(Path(__file__).with_name("explicit_requests.toml").read_text(encoding="utf-8"))
KNOWN, ASKED, SILENT = REQUESTS["known"], REQUESTS["asked"], REQUESTS["silent"]


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
