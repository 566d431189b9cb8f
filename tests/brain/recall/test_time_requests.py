"""Who asks for the conversations of a time is heard; who only mentions one is not."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.time_requests import TimelineEnd, find_time_request
from tests.brain.memories import quick

TODAY = date(2026, 11, 20)
PRESENT = ("Mira", "Tomas")
REQUESTS = tomllib.loads(Path(__file__).with_name("time_requests.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", REQUESTS["asked"])
def test_a_question_for_what_was_said_at_a_time_is_a_request(text: str):
    request = find_time_request(text, TODAY, PRESENT)

    assert request.times


@pytest.mark.parametrize("text", REQUESTS["silent"])
def test_a_message_that_only_mentions_a_time_is_none(text: str):
    assert find_time_request(text, TODAY, PRESENT) is None


@pytest.mark.parametrize(("texts", "edge"), [(REQUESTS["first"], TimelineEnd.FIRST), (REQUESTS["last"], TimelineEnd.LAST)])
def test_the_first_and_the_last_conversation_are_times_too(texts: list[str], edge: TimelineEnd):
    for text in texts:
        request = find_time_request(text, TODAY, PRESENT)

        assert request is not None, text
        assert (request.edge, request.times) == (edge, ()), text


def test_what_the_conversation_was_about_is_part_of_the_request():
    request = find_time_request("Mira, when did we last talk about Porto?", TODAY, PRESENT)

    assert request.topic.names == {"porto"}


@quick
@given(st.text() | st.text("what did we talk about yesterday on the 2nd of may? \n.*"), st.dates())
def test_whatever_is_said_it_is_heard_out(text: str, today: date):
    find_time_request(text, today, PRESENT)
