"""What the model has read is there the next time the program starts, and nowhere once something was forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.model import Usage
from lethe_app.services.chat import service as chat_service
from lethe_app.services.events import MemoriesRecalled, PromptBuilt, ReplyFinished
from tests.services.turns import MIRA, Talk, change_persona, say, until

LONG = " ".join(f"word{number}" for number in range(900))


@pytest.fixture
def model(echo_model: Callable[..., Path]) -> Path:
    return echo_model(*["Yes."] * 20)


@pytest.fixture
async def session(services: AppServices, model: Path) -> ChatSession:
    """A long conversation that the model has just read."""
    await services.preferences.set(read_ahead=False)
    await services.models.load(model)
    session = await services.sessions.new(MIRA)
    await say(services, session, LONG)
    return session


@pytest.fixture
async def again(services: AppServices, model: Path) -> AsyncIterator[Callable[[], Awaitable[AppServices]]]:
    """Closes the house and opens it anew, with the same model."""
    opened: list[AppServices] = []

    async def reopen() -> AppServices:
        await services.close()
        opened.append(await build(services.paths, engine="echo"))
        await opened[-1].models.load(model)
        return opened[-1]

    yield reopen
    for one in opened:
        await one.close()


def states(services: AppServices) -> list[str]:
    return sorted(path.name for path in services.paths.states.glob("*"))


async def cost(services: AppServices, session: ChatSession, text: str = "And now?") -> Usage:
    return next(event.usage for event in (await say(services, session, text)).events if isinstance(event, ReplyFinished))


async def test_a_long_conversation_is_taken_up_without_being_read_again(
    talk: Talk, again: Callable[[], Awaitable[AppServices]]
):
    usage = await cost(await again(), talk.session)

    assert usage.prompt_tokens > 900
    assert usage.evaluated_tokens < 64


async def test_with_nothing_kept_it_is_read_again(talk: Talk, again: Callable[[], Awaitable[AppServices]]):
    await talk.services.preferences.set(kept_states=0)

    usage = await cost(await again(), talk.session)

    assert usage.evaluated_tokens == usage.prompt_tokens > 900


async def test_what_was_spoilt_is_read_again_and_nobody_complains(talk: Talk, again: Callable[[], Awaitable[AppServices]]):
    await talk.services.close()
    for path in talk.services.paths.states.iterdir():
        path.write_bytes(path.read_bytes()[:-7])

    usage = await cost(await again(), talk.session)

    assert usage.evaluated_tokens == usage.prompt_tokens > 900


async def test_two_conversations_in_turn_are_both_kept_warm(talk: Talk):
    await talk.services.preferences.set(
        session_handling="current_only", session_memory_system=False
    )  # neither tells of the other
    other = await talk.services.sessions.new(MIRA)
    await say(talk.services, other, LONG.upper())

    usages = [await cost(talk.services, each) for each in (talk.session, other, talk.session, other)][
        2:
    ]  # what came to mind at first is gone

    assert max(usage.evaluated_tokens for usage in usages) < 64


async def test_reading_ahead_takes_up_what_was_kept(talk: Talk, again: Callable[[], Awaitable[AppServices]]):
    await talk.services.preferences.set(read_ahead=True)
    opened = await again()
    opened.chat.follow_session(talk.session.guid)
    await opened.prefill.finish()

    usage = await cost(opened, talk.session)

    assert usage.evaluated_tokens < 10


async def test_a_lull_keeps_it_before_the_program_ends(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat_service, "IDLE_BEFORE_SAVING", 0.05)
    monkeypatch.setattr(chat_service, "MIN_TOKENS_TO_SAVE", 500)

    talk.services.chat.follow_session(talk.session.guid)

    await until(lambda: found(talk.services))


async def test_unloading_the_model_keeps_it(talk: Talk, model: Path):
    await talk.services.models.unload()
    kept = states(talk.services)
    await talk.services.models.load(model)

    assert kept
    assert (await cost(talk.services, talk.session)).evaluated_tokens < 64


async def found(services: AppServices) -> list[str]:
    return [name for name in states(services) if name.endswith(".kv")]


DEEDS = ["session", "message", "edit", "memory", "memory rewritten", "persona", "switched off", "cleared"]


@pytest.mark.parametrize("action", DEEDS)
async def test_what_is_forgotten_is_in_no_state(talk: Talk, again: Callable[[], Awaitable[AppServices]], action: str):
    services = talk.services
    memory = await talk.add_memory()
    await services.models.unload()
    before = states(services)
    words = (await talk.log())[1].id

    if action == "session":
        await services.sessions.delete(talk.session.guid)
    elif action == "message":
        await services.message_editing.delete(talk.session.guid, words)
    elif action == "edit":
        await services.message_editing.edit(words, "Nothing.")
    elif action == "memory":
        await services.memory.forget_memory(memory.guid)
    elif action == "memory rewritten":
        await services.memory.edit(memory.model_copy(update={"content": "It was never dark."}))
    elif action == "persona":
        await change_persona(services)
        await services.library.delete_persona(talk.session.persona_id)
    elif action == "switched off":
        await services.preferences.set(kept_states=0)
    else:
        await services.cache_state.clear()

    assert before
    assert states(services) == []


async def test_what_is_forgotten_while_the_model_knows_it_is_not_kept_at_the_end(
    talk: Talk, again: Callable[[], Awaitable[AppServices]]
):
    words = (await talk.log())[1].id

    await talk.services.message_editing.delete(talk.session.guid, words)
    await talk.services.close()

    assert states(talk.services) == []


async def test_what_is_forgotten_between_the_making_of_a_prompt_and_its_reading_is_not_kept(talk: Talk):
    """The prompt tells it still, and the model hears that it is forgotten before it reads that."""
    services = talk.services
    memory = await talk.add_memory(sticky=True)
    said = list[str]()

    async with aclosing(services.chat.send(talk.session.guid, "And now?")) as events:
        async for event in events:
            if isinstance(event, PromptBuilt):
                await services.memory.forget_memory(memory.guid)
                await services.cache_state.finish()
            if isinstance(event, MemoriesRecalled):
                said = [one.text for one in event.memory.recalled]
    await services.close()

    assert any(memory.content in text for text in said)
    assert states(services) == []


async def test_what_was_forgotten_before_a_prompt_is_made_keeps_nothing_from_being_kept(talk: Talk, model: Path):
    services = talk.services
    memory = await talk.add_memory()
    await services.memory.forget_memory(memory.guid)
    await services.models.unload()
    await services.models.load(model)  # by a process that heard nothing of it
    await talk.say("And now?")
    await services.close()

    assert len(states(services)) == 1


async def test_other_personas_keep_what_was_read_of_them(talk: Talk):
    await talk.services.models.unload()

    talk.services.cache_state.forget_persona("somebody-else")
    await talk.services.cache_state.finish()

    assert len(states(talk.services)) == 1


async def test_a_smaller_room_is_kept_to_at_once(talk: Talk):
    await talk.services.models.unload()
    path = next(talk.services.paths.states.iterdir())
    with path.open("ab") as file:
        file.truncate(2 << 20)

    await talk.services.preferences.set(kept_states=1)

    assert states(talk.services) == []
