"""What a model repeats of the memories in its prompt is neither shown nor stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.presets import SystemPreset
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.services.events import ReplyStarted, ReplyText
from tests.services.turns import MIRA, Talk, TurnOutcome, before_now, spoke

STORM = "Do you remember the squall?"


@pytest.fixture
async def session(services: AppServices) -> ChatSession:
    """A conversation that is brought up by a word, and a new one in which the word is said."""
    fields = {"name": "The storm", "content": "The mast broke in the night.", "keywords_main": ["squall"]}
    old = ChatSession(persona_id=MIRA, added=before_now(days=3), enabled=True, archived=True, **fields)
    await services.session_store.add_session(old)
    await spoke(services, old, "The mast broke in the night.", old.added)
    await services.preferences.set(recall_without_match=0, session_memory_system=False, session_handling="current_only")
    return await services.sessions.new(MIRA)


def heading() -> str:
    """The heading of the memory block, as the default preset has it."""
    scene = MacroContext(user="Tomas", char="Mira", moment=now())
    title = SystemPreset(name="x", prompt="x").memories_title
    return expand(f"# {title}", scene).strip()


def copied(services: AppServices, outcome: TurnOutcome) -> str:
    """The block as this turn's prompt had it."""
    return "\n".join([heading(), *(one.text for one in outcome.memory.recalled)])


def shown(outcome: TurnOutcome) -> str:
    return "".join(event.text for event in outcome.events if isinstance(event, ReplyText))


async def block_of(talk: Talk, says: Callable[..., object]) -> str:
    """The block that the question brings into the prompt."""
    await talk.says("“Aye.”")
    return copied(talk.services, await talk.say(STORM))


async def test_a_copy_of_the_block_is_neither_shown_nor_stored(talk: Talk):
    block = await block_of(talk, talk.says)
    await talk.says(f"{block}\n “It was a bad night.”")

    outcome = await talk.say(STORM)

    assert shown(outcome) == "“It was a bad night.”"
    assert outcome.reply.content == "“It was a bad night.”"
    assert block.splitlines()[1] in await talk.prompt_of(outcome)


async def test_a_reply_that_is_nothing_but_a_copy_is_generated_again_without_the_block(talk: Talk):
    block = await block_of(talk, talk.says)
    await talk.says(block, "“It was a bad night.”")

    outcome = await talk.say(STORM)

    assert outcome.reply.content == "“It was a bad night.”"
    assert sum(isinstance(event, ReplyStarted) for event in outcome.events) == 1
    assert [message.content for message in await talk.log()][-1] == "“It was a bad night.”"


async def test_a_reply_that_speaks_of_a_memory_in_its_own_words_stays(talk: Talk):
    reply = "“The mast broke in the night.”\n\n- a rope\n- a saw\n\n*She counts on her fingers.*"
    await talk.says(reply)

    assert (await talk.say(STORM)).reply.content == reply
