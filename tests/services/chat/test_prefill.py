"""The model reads while the user writes, and is free the moment they send."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import Usage
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.events import ReplyFinished
from lethe_app.storage.files.json_files import write_model
from tests.services.turns import Talk


async def say(talk: Talk, text: str) -> Usage:
    usage = Usage()
    async with aclosing(talk.services.chat.send(talk.session.guid, text)) as events:
        async for event in events:
            if isinstance(event, ReplyFinished):
                usage = event.usage
    return usage


async def until_read(services: AppServices) -> None:
    await asyncio.wait_for(services.prefill.finish(), 120)


async def test_a_conversation_looked_at_is_read_before_the_first_message(talk: Talk):
    await talk.says("Yes.")
    talk.services.chat.follow_session(talk.session.guid)
    await until_read(talk.services)

    usage = await say(talk, "Hello there, Mira.")

    assert usage.prompt_tokens > 20
    assert usage.evaluated_tokens < 10


async def test_what_is_always_there_is_read_ahead_too(talk: Talk):
    services = talk.services
    tide = WorldEntry(name="Tide", content="The sea breathes once in nineteen days.", sticky=True, position_index=-1)
    write_model(services.paths.worlds / "sea.json", World(name="Sea", entries=[tide]))
    await services.preferences.set(global_worlds=["sea"])
    await talk.says("Yes.", "No.", "Well.")
    services.chat.follow_session(talk.session.guid)
    await until_read(services)

    first = await say(talk, "Hello there, Mira.")
    await until_read(services)
    second = await say(talk, "And now?")

    assert first.evaluated_tokens < 10
    assert second.evaluated_tokens < 10


async def test_the_model_that_comes_later_reads_what_is_open(talk: Talk):
    talk.services.chat.follow_session(talk.session.guid)
    await until_read(talk.services)
    await talk.says("Yes.")
    await until_read(talk.services)

    assert (await say(talk, "Hello.")).evaluated_tokens < 10


async def test_a_message_does_not_wait_for_the_reading(talk: Talk):
    await talk.says("Yes.", reading_delay=30)
    talk.services.chat.follow_session(talk.session.guid)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(talk.services.prefill.finish(), 0.4)

    sending = asyncio.ensure_future(say(talk, "Hello."))
    await asyncio.sleep(0.4)

    await asyncio.wait_for(talk.services.prefill.finish(), 1)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def test_it_can_be_switched_off(talk: Talk):
    await talk.services.preferences.set(read_ahead=False)
    await talk.says("Yes.")

    talk.services.chat.follow_session(talk.session.guid)

    usage = await say(talk, "Hello.")
    assert usage.evaluated_tokens == usage.prompt_tokens
