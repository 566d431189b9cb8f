"""What she told stands in the conversation: it is not brought up once more while it does. Who is there is not asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.recall import RecallWay
from lethe_app.services.memory.recall_context import ANNOUNCED
from tests.services.turns import (
    MIRA,
    NATURAL,
    add_memory,
    collect_turn,
    load_memory,
    prompt_of,
    say,
    set_state,
)

LAMP = {"insertion": NATURAL, "keywords_main": ["lighthouse"], "priority": 2}
DARK = "It is dark since May."


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await services.preferences.set(recall_without_match=0, rotation_minutes=0)
    return await services.sessions.new(MIRA)


async def test_what_was_told_is_not_brought_up_again_while_it_stands_there(services: AppServices, session: ChatSession):
    await add_memory(services, **LAMP)
    assert (await say(services, session, "To the lighthouse!")).note is not None
    for text in ("The lighthouse, I said.", "Is it dark since May?"):
        outcome = await say(services, session, text)
        assert outcome.memory.recalled == []
        assert (await prompt_of(services, session, outcome)).count(DARK) == 1


async def test_it_is_seen_there_however_long_ago_it_was(services: AppServices, session: ChatSession):
    await add_memory(services, **LAMP)
    assert (await say(services, session, "To the lighthouse!")).note is not None
    for _time in range(14):
        await say(services, session, "Good.")
    outcome = await say(services, session, "The lighthouse, I said.")
    assert outcome.memory.recalled == []
    assert (await prompt_of(services, session, outcome)).count(DARK) == 1


async def test_in_another_conversation_it_is_brought_up(services: AppServices, session: ChatSession):
    await services.preferences.set(session_handling="current_only")
    await add_memory(services, **LAMP)
    await say(services, session, "To the lighthouse!")
    other = await services.sessions.new(MIRA)
    assert (await say(services, other, "The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_in_another_conversation_before_which_the_first_one_stands_it_is_not(services: AppServices, session: ChatSession):
    await services.preferences.set(session_handling="fit_all")
    await add_memory(services, **LAMP)
    await say(services, session, "To the lighthouse!")
    other = await services.sessions.new(MIRA)
    outcome = await say(services, other, "The lighthouse, I said.")
    assert (await prompt_of(services, other, outcome)).count(DARK) == 1


async def test_once_the_line_is_deleted_it_is_brought_up_again(services: AppServices, session: ChatSession):
    memory = await add_memory(services, **LAMP)
    outcome = await say(services, session, "To the lighthouse!")
    await services.message_editing.delete(session.guid, outcome.asked.id)
    assert await load_memory(services, memory) is not None
    assert (await say(services, session, "The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_once_its_line_has_left_the_prompt_it_is_brought_up_again(services: AppServices, session: ChatSession):
    await add_memory(services, **LAMP)
    await say(services, session, "To the lighthouse!")
    await services.preferences.set(turn_cap=2)
    for _time in range(6):
        await say(services, session, "Good.")
    outcome = await say(services, session, "The lighthouse, I said.")
    assert outcome.ways["The lamp"] == "keyword"
    assert (await prompt_of(services, session, outcome)).count(DARK) == 1


async def test_a_reply_written_anew_sees_it_once(services: AppServices, session: ChatSession):
    await add_memory(services, **LAMP)
    outcome = await say(services, session, "To the lighthouse!")
    again = await collect_turn(services.chat.regenerate(session.guid, outcome.reply.id))
    assert (await prompt_of(services, session, again)).count(DARK) == 1


async def test_what_cannot_be_understood_was_not_told(services: AppServices, session: ChatSession):
    await add_memory(services, keywords_main=["lighthouse"])
    await set_state(services, session, ANNOUNCED, {"no": ["guid"]})
    assert (await say(services, session, "To the lighthouse!")).ways["The lamp"] == "keyword"


async def test_the_name_of_the_persona_recalls_nothing(services: AppServices, session: ChatSession):
    await add_memory(services, "Mira keeps the brass lantern of Tomas polished.", name="")
    for text in ("Mira, are you there?", "mira?", "It is Tomas, Mira."):
        assert (await say(services, session, text)).memory.recalled == []
    outcome = await say(services, session, "Mira, is the brass lantern polished?")
    assert [one.way for one in outcome.memory.recalled] == [RecallWay.MEANING]
