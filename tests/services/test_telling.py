"""What she told stands in the conversation: it is not brought up once more while it does. Who is there is not asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.recall import RecallWay
from lethe_app.services.memory.announced import TOLD
from tests.services.stage import (
    MIRA,
    NATURAL,
    heard,
    keep,
    now_held,
    prompt_of,
    say,
    set_state,
)

LAMP = {"insertion": NATURAL, "keywords_main": ["lighthouse"], "priority": 2}
DARK = "It is dark since May."


@pytest.fixture
async def session(house: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await house.preferences.set(recall_without_match=0, rotation_minutes=0)
    return await house.sessions.new(MIRA)


async def test_what_was_told_is_not_brought_up_again_while_it_stands_there(house: AppServices, session: ChatSession):
    await keep(house, **LAMP)
    assert (await say(house, session, "To the lighthouse!")).note is not None
    for text in ("The lighthouse, I said.", "Is it dark since May?"):
        played = await say(house, session, text)
        assert played.memory.recalled == []
        assert (await prompt_of(house, session, played)).count(DARK) == 1


async def test_it_is_seen_there_however_long_ago_it_was(house: AppServices, session: ChatSession):
    await keep(house, **LAMP)
    assert (await say(house, session, "To the lighthouse!")).note is not None
    for _time in range(14):
        await say(house, session, "Good.")
    played = await say(house, session, "The lighthouse, I said.")
    assert played.memory.recalled == []
    assert (await prompt_of(house, session, played)).count(DARK) == 1


async def test_in_another_conversation_it_is_brought_up(house: AppServices, session: ChatSession):
    await house.preferences.set(session_handling="current_only")
    await keep(house, **LAMP)
    await say(house, session, "To the lighthouse!")
    other = await house.sessions.new(MIRA)
    assert (await say(house, other, "The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_in_another_conversation_before_which_the_first_one_stands_it_is_not(house: AppServices, session: ChatSession):
    await house.preferences.set(session_handling="fit_all")
    await keep(house, **LAMP)
    await say(house, session, "To the lighthouse!")
    other = await house.sessions.new(MIRA)
    played = await say(house, other, "The lighthouse, I said.")
    assert (await prompt_of(house, other, played)).count(DARK) == 1


async def test_once_the_line_is_deleted_it_is_brought_up_again(house: AppServices, session: ChatSession):
    memory = await keep(house, **LAMP)
    played = await say(house, session, "To the lighthouse!")
    await house.chat.delete(session.guid, played.asked.id)
    assert await now_held(house, memory) is not None
    assert (await say(house, session, "The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_once_its_line_has_left_the_prompt_it_is_brought_up_again(house: AppServices, session: ChatSession):
    await keep(house, **LAMP)
    await say(house, session, "To the lighthouse!")
    await house.preferences.set(turn_cap=2)
    for _time in range(6):
        await say(house, session, "Good.")
    played = await say(house, session, "The lighthouse, I said.")
    assert played.ways["The lamp"] == "keyword"
    assert (await prompt_of(house, session, played)).count(DARK) == 1


async def test_a_reply_written_anew_sees_it_once(house: AppServices, session: ChatSession):
    await keep(house, **LAMP)
    played = await say(house, session, "To the lighthouse!")
    again = await heard(house.chat.regenerate(session.guid, played.reply.id))
    assert (await prompt_of(house, session, again)).count(DARK) == 1


async def test_what_cannot_be_understood_was_not_told(house: AppServices, session: ChatSession):
    await keep(house, keywords_main=["lighthouse"])
    await set_state(house, session, TOLD, {"no": ["guid"]})
    assert (await say(house, session, "To the lighthouse!")).ways["The lamp"] == "keyword"


async def test_calling_her_by_her_name_brings_nothing_up(house: AppServices, session: ChatSession):
    await keep(house, "Mira keeps the brass lantern of Tomas polished.", name="")
    for text in ("Mira, are you there?", "mira?", "It is Tomas, Mira."):
        assert (await say(house, session, text)).memory.recalled == []
    played = await say(house, session, "Mira, is the brass lantern polished?")
    assert [one.way for one in played.memory.recalled] == [RecallWay.MEANING]
