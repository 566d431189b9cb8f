"""The stream of a turn's events: in step with its reader, and stopped when it is closed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from uuid import uuid4

import pytest

from lethe_app.errors import LetheError
from lethe_app.services.events import Emit, NotesDeleted, stream_events

EVENTS = [NotesDeleted((uuid4(),)) for _number in range(3)]


async def test_the_work_waits_at_each_event_until_the_next_is_asked_for():
    done: list[int] = []

    async def work(emit: Emit) -> None:
        for number, event in enumerate(EVENTS):
            await emit(event)
            done.append(number)

    async with aclosing(stream_events(work)) as stream:
        seen = []
        async for event in stream:
            assert done == list(range(len(seen)))
            seen.append(event)
    assert seen == EVENTS
    assert done == [0, 1, 2]


async def test_closing_stops_the_work_and_waits_for_what_it_still_has_to_do():
    stored: list[str] = []

    async def work(emit: Emit) -> None:
        try:
            await emit(EVENTS[0])
            await emit(EVENTS[1])
        finally:
            await asyncio.sleep(0.01)
            stored.append("partial reply")

    async with aclosing(stream_events(work)) as stream:
        assert await anext(stream) == EVENTS[0]
    assert stored == ["partial reply"]


async def test_a_reader_that_is_cancelled_stops_what_the_work_waits_for():
    stored: list[str] = []

    async def work(_emit: Emit) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stored.append("partial reply")

    async def read() -> None:
        async with aclosing(stream_events(work)) as stream:
            await anext(stream)

    reader = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert stored == ["partial reply"]


async def test_an_error_of_the_work_reaches_the_reader_after_its_events():
    async def work(emit: Emit) -> None:
        await emit(EVENTS[0])
        raise LetheError("The model is gone.")

    seen = []

    async def read() -> None:
        async with aclosing(stream_events(work)) as stream:
            async for event in stream:
                seen.append(event)

    with pytest.raises(LetheError, match="gone"):
        await read()
    assert seen == EVENTS[:1]
