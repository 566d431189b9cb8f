"""Keeping what was read, from the program's side of the pipe: nobody waits for it, and forgetting waits for nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.domain.model import StopReason
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import StateLocation
from tests.llm.engines.test_background_jobs import TITLE, begun, hear, load

LONG = "word " * 900


@pytest.fixture
def place(tmp_path: Path) -> StateLocation:
    return StateLocation(tmp_path / "states", "anna-1", 1 << 30)


def kept(place: StateLocation) -> list[str]:
    return [path.name for path in place.folder.glob("*")]


async def test_with_nothing_loaded_there_is_nothing_to_keep_or_forget(client: ModelClient, place: StateLocation):
    await client.save_state(time_limit=1)
    await client.delete_states(place.folder, "")

    assert not client.is_running


async def test_what_was_read_is_on_the_disk_when_parting_is_done(
    client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]
):
    await load(client, echo_model())
    await client.prefill(LONG, state_location=place)

    await client.save_state(time_limit=10)

    assert len(kept(place)) == 1


async def test_what_has_no_place_is_kept_nowhere(client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]):
    await load(client, echo_model())
    await client.prefill(LONG, state_location=place)
    await client.save_state(time_limit=10)
    await client.delete_states(place.folder, "")
    await client.prefill(LONG + "and more")

    await client.save_state(time_limit=10)

    assert kept(place) == []


async def test_parting_does_not_wait_for_quiet_work(client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]):
    await load(client, echo_model(answers=["word " * 500], delay=0.05))
    await client.prefill(LONG, state_location=place)
    quiet = await begun(client, "work", schema=TITLE)

    await client.save_state(time_limit=10)
    _text, ended = await quiet

    assert ended.reason is StopReason.PREEMPTED
    assert len(kept(place)) == 1


async def test_parting_is_given_up_when_it_takes_too_long(
    client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]
):
    await load(client, echo_model("word " * 100, delay=0.02))
    await client.prefill(LONG, state_location=place)
    speaking = asyncio.create_task(hear(client, LONG, state_location=place))
    await asyncio.sleep(0.1)

    await client.save_state(time_limit=0.1)
    is_speaking = not speaking.done()
    _text, usage = await speaking

    assert is_speaking
    assert usage.reply_tokens == 100
    assert kept(place) == []


async def test_forgetting_does_not_wait_for_a_reply(client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 100, delay=0.02))
    await client.prefill(LONG, state_location=place)
    await client.save_state(time_limit=10)
    speaking = asyncio.create_task(hear(client, LONG, state_location=place))
    await asyncio.sleep(0.1)

    await client.delete_states(place.folder, "anna-")
    is_speaking, there = not speaking.done(), kept(place)
    await speaking
    await client.save_state(time_limit=10)

    assert is_speaking
    assert there == kept(place) == []


async def test_another_conversation_has_the_one_before_put_away(
    client: ModelClient, place: StateLocation, echo_model: Callable[..., Path]
):
    other = StateLocation(place.folder, "bela-2", place.limit)
    await load(client, echo_model())
    await client.prefill(LONG, state_location=place)
    await client.prefill(LONG.upper(), state_location=other)

    usage = await client.prefill(LONG, state_location=place)

    assert usage.evaluated_tokens == 0
