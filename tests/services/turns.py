"""Quick ways to play turns in a house and to look at what memory did in them."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.recall import RecalledMemory, TurnMemory
from lethe_app.domain.worldinfo import World
from lethe_app.services.events import (
    MemoriesRecalled,
    MessageStored,
    NoteAdded,
    ReplyFinished,
    SessionReplaced,
    TurnEvent,
)

MIRA = "mira-test"
NATURAL, FORCED = MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED
DAY = timedelta(days=1)


def learnt_from(message: Message, text: str, **fields: object) -> ExtractedFact:
    """A fact about Tomas that a message states."""
    times = {"first_seen": message.time, "last_seen": message.time}
    sources = {"source_memories": [message.session_id], "source_messages": [message.id]}
    return ExtractedFact(fact=text, subject="Tomas", **times, **sources, **fields)


@dataclass(frozen=True)
class TurnOutcome:
    """One turn, as it was heard."""

    events: list[TurnEvent]

    @property
    def memory(self) -> TurnMemory:
        return next(event.memory for event in self.events if isinstance(event, MemoriesRecalled))

    @property
    def note(self) -> Message | None:
        return next((event.message for event in self.events if isinstance(event, NoteAdded)), None)

    @property
    def asked(self) -> Message:
        return next(event.message for event in self.events if isinstance(event, MessageStored))

    @property
    def reply(self) -> Message:
        return next(event.message for event in self.events if isinstance(event, ReplyFinished))

    @property
    def ways(self) -> dict[str, str]:
        """How each came, by title."""
        return {one.title: one.way.value for one in self.memory.recalled}


async def collect_turn(turn: AsyncGenerator[TurnEvent]) -> TurnOutcome:
    async with aclosing(turn) as events:
        return TurnOutcome([event async for event in events])


async def say(services: AppServices, session: ChatSession, text: str) -> TurnOutcome:
    return await collect_turn(services.chat.send(session.guid, text))


async def prompt_of(services: AppServices, session: ChatSession, outcome: TurnOutcome) -> str:
    """What the model was shown in that turn."""
    state = services.models.state
    turn = await services.turn_loader.load(session.guid, state.model, outcome.reply)
    tools = await services.tool_turns.build_tool_prompt(turn.participants.persona, state.model)
    prompt = await services.prompt_assembler.build(turn, state.model, outcome.memory, tools=tools)
    return prompt.text


@dataclass(frozen=True)
class Talk:
    """A conversation with Mira that goes on, and the services of its home."""

    services: AppServices
    session: ChatSession
    says: Callable[..., Awaitable[None]]
    """Loads a model that will say these lines."""

    async def say(self, text: str) -> TurnOutcome:
        return await say(self.services, self.session, text)

    async def prompt_of(self, outcome: TurnOutcome) -> str:
        return await prompt_of(self.services, self.session, outcome)

    async def log(self) -> list[Message]:
        return await log(self.services, self.session)

    async def state_of(self, key: str) -> object:
        return await state_of(self.services, self.session, key)

    async def set_state(self, key: str, value: object) -> None:
        await set_state(self.services, self.session, key, value)

    async def back_in_time(self, span: timedelta) -> None:
        await back_in_time(self.services, self.session, span)

    async def spoke(self, text: str, moment: datetime, role: Role = Role.USER) -> Message:
        return await spoke(self.services, self.session, text, moment, role)

    async def add_memory(self, content: str = "It is dark since May.", **fields: object) -> MemoryUnit:
        return await add_memory(self.services, content, **fields)

    async def load_memory(self, memory: MemoryUnit) -> MemoryUnit | None:
        return await load_memory(self.services, memory)

    def write_world(self, stem: str, *entries: dict[str, object], **fields: object) -> World:
        return write_world(self.services, stem, *entries, **fields)

    async def regenerate(self, reply: Message) -> TurnOutcome:
        return await collect_turn(self.services.chat.regenerate(self.session.guid, reply.id))


async def add_memory(services: AppServices, content: str = "It is dark since May.", **fields: object) -> MemoryUnit:
    """A memory of Mira's, put beside what is there."""
    return await services.memory.memorize(MIRA, unit(content, **fields), check=False)


def unit(content: str = "It is dark since May.", **fields: object) -> MemoryUnit:
    return MemoryUnit.model_validate({"name": "The lamp", "content": content, **fields})


async def load_memory(services: AppServices, memory: MemoryUnit) -> MemoryUnit | None:
    """The memory as it is now; None if it was forgotten."""
    found = {one.guid: one for one in await services.memory_store.memories_of(MIRA)}
    return found.get(memory.guid)


async def log(services: AppServices, session: ChatSession) -> list[Message]:
    return list(await services.sessions.page(session.guid, 0, 1000))


async def change_persona(services: AppServices, name: str = MIRA, **fields: object) -> None:
    persona = await services.library.persona(name)
    await services.library.save_persona(persona.model_copy(update=fields))


async def spoke(services: AppServices, session: ChatSession, text: str, moment: datetime, role: Role = Role.USER) -> Message:
    """Something that was said at another time."""
    said = [Alternative(content=text, created=moment)]
    message = Message(session_id=session.guid, role=role, speaker_name="Tomas", time=moment, alternatives=said)
    return await services.session_store.add_message(message)


async def back_in_time(services: AppServices, session: ChatSession, span: timedelta) -> None:
    """Everything in this conversation was said so much earlier."""
    for message in await log(services, session):
        earlier = (message.time - span).isoformat()
        await services.database.run(
            lambda c, row=(earlier, str(message.id)): c.execute("UPDATE messages SET time = ? WHERE id = ?", row).rowcount
        )


async def state_of(services: AppServices, session: ChatSession, key: str) -> object:
    return await services.session_state.get(session.guid, key)


async def set_state(services: AppServices, session: ChatSession, key: str, value: object) -> None:
    await services.session_state.set(session.guid, key, value)


def write_world(services: AppServices, stem: str, *entries: dict[str, object], **fields: object) -> World:
    """As if edited by hand."""
    world = World.model_validate({"name": stem.title(), "entries": list(entries), **fields})
    services.paths.worlds.mkdir(parents=True, exist_ok=True)
    path = services.paths.worlds / f"{stem}.json"
    path.write_text(json.dumps(world.model_dump(mode="json", exclude={"unique_name"})), encoding="utf-8")
    return world


async def dump(services: AppServices) -> list[str]:
    """Everything in the database, row by row."""
    tables = ("memories", "sessions", "messages", "alternatives", "session_state", "app_state", "turn_memories", "facts")
    derived = ("passages", "passage_vectors", "passage_debts")
    return await services.database.run(
        lambda c: [repr(row) for table in (*tables, *derived) for row in c.execute(f"SELECT * FROM {table}")]
    )


def recalled(memory: TurnMemory, title: str) -> RecalledMemory:
    return next(one for one in memory.recalled if one.title == title)


async def where(services: AppServices, session: ChatSession, text: str) -> ChatSession:
    """The conversation in which these words were stored."""
    found = session
    async with aclosing(services.chat.send(session.guid, text)) as events:
        async for event in events:
            found = event.session if isinstance(event, SessionReplaced) else found
    return found


def guids(memory: TurnMemory) -> set[UUID]:
    return {one.memory for one in memory.recalled}


def before_now(**span: float) -> datetime:
    return now() - timedelta(**span)


async def until(holds: Callable[[], object], seconds: float = 120.0, interval: float = 0.01) -> None:
    """Wait until `holds` returns something true, or something awaitable whose result is true; but not for ever."""
    end = time.monotonic() + seconds
    while True:
        found = holds()
        if await found if inspect.isawaitable(found) else found:
            return
        assert time.monotonic() < end, "It never came to that."
        await asyncio.sleep(interval)
