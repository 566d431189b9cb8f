"""Conversations: the newest goes on, a new one begins with a greeting, and none is lost by mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from uuid import uuid4

import pytest

from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.errors import FileError, StorageError
from lethe_app.house import House

Says = Callable[..., object]


async def talk(house: House, session: ChatSession, text: str) -> None:
    async with aclosing(house.chat.send(session.guid, text)) as events:
        async for _event in events:
            pass


async def log(house: House, session: ChatSession) -> list[Message]:
    return list(await house.sessions.page(session.guid, 0, 100))


def rewrite(house: House, stem: str, **fields: object) -> None:
    (house.paths.personas / f"{stem}.json").write_text(json.dumps(fields), encoding="utf-8")


async def test_the_newest_conversation_goes_on(house: House, says: Says):
    await says("Yes.")
    first = await house.sessions.resume("mira-test")
    await talk(house, first, "One.")
    second = await house.sessions.new("mira-test")
    await talk(house, second, "Two.")
    newest = await house.sessions.resume("mira-test")
    await talk(house, first, "One again.")

    assert newest.guid == second.guid != first.guid
    assert (await house.sessions.resume("mira-test")).guid == first.guid
    assert [summary.guid for summary in await house.sessions.list("mira-test")] == [first.guid, second.guid]


async def test_every_persona_has_conversations_of_her_own(house: House):
    mine = await house.sessions.resume("mira-test")
    other = await house.sessions.resume("mira")

    assert mine.guid != other.guid
    assert [summary.guid for summary in await house.sessions.list("mira-test")] == [mine.guid]


async def test_a_conversation_in_which_nobody_answered_is_used_again(house: House, says: Says):
    first = await house.sessions.new("mira-test")
    again = await house.sessions.new("mira-test")
    await says("Yes.")
    await talk(house, again, "Hello.")

    third = await house.sessions.new("mira-test")

    assert first.guid == again.guid != third.guid


async def test_a_conversation_with_a_title_is_not_used_again(house: House):
    first = await house.sessions.new("mira-test")
    await house.sessions.rename(first.guid, "Keep this")

    assert (await house.sessions.new("mira-test")).guid != first.guid


async def test_another_self_of_the_user_begins_a_conversation_of_its_own(house: House):
    first = await house.sessions.new("mira-test")
    rewrite(house, "vera", name="Vera", is_user=True)
    await house.preferences.set(user_persona="vera")

    second = await house.sessions.new("mira-test")

    assert (first.user_id, second.user_id) == ("tomas", "vera")
    assert first.guid != second.guid


async def test_macros_in_a_greeting_are_filled_in_once_and_stay(house: House):
    rewrite(house, "mira-test", name="Mira", first_messages=["{{char}} sees {{user}}. {{random:heads,tails}} {{unknown}}"])
    session = await house.sessions.new("mira-test")
    (before,) = await log(house, session)
    rewrite(house, "tomas", name="Tom", is_user=True)

    (after,) = await log(house, session)

    assert before.content in {f"Mira sees Tomas. {side} {{{{unknown}}}}" for side in ("heads", "tails")}
    assert after == before


async def test_without_a_name_of_their_own_the_user_is_a_guest(house: House):
    await house.preferences.set(user_persona="")
    rewrite(house, "mira-test", name="Mira", first_messages=["Welcome, {{user}}."])

    (greeting,) = await log(house, await house.sessions.new("mira-test"))

    assert greeting.content == "Welcome, Guest."


@pytest.mark.parametrize("greetings", [[], [""], ["  \n "]], ids=["none", "empty", "blank"])
async def test_a_persona_without_a_greeting_waits_for_the_user(house: House, greetings: list[str]):
    rewrite(house, "mira-test", name="Mira", first_messages=greetings)

    session = await house.sessions.new("mira-test")

    assert await log(house, session) == []
    assert (await house.sessions.new("mira-test")).guid == session.guid


async def test_a_greeting_is_the_personas_and_the_first_of_the_branch(house: House):
    session = await house.sessions.new("mira-test")

    (greeting,) = await log(house, session)
    (entry,) = await house.sessions.outline(session.guid)

    assert (greeting.role, greeting.speaker, greeting.speaker_name) == (Role.ASSISTANT, "mira-test", "Mira")
    assert session.leaf_id == greeting.id == entry.id
    assert entry.length == len(greeting.content)
    assert await house.sessions.message(greeting.id) == greeting


async def test_a_persona_who_is_not_there_is_told_and_no_conversation_begun(house: House):
    with pytest.raises(FileError, match="nobody"):
        await house.sessions.new("nobody")

    assert await house.sessions.list("nobody") == []


async def test_old_conversations_of_a_deleted_persona_can_still_be_read(house: House):
    session = await house.sessions.new("mira-test")
    await house.library.delete_persona("mira-test")

    assert (await house.sessions.open(session.guid)).guid == session.guid
    assert (await house.sessions.resume("mira-test")).guid == session.guid
    assert [message.speaker_name for message in await log(house, session)] == ["Mira"]


async def test_a_title_is_trimmed_and_shown_in_the_list(house: House):
    session = await house.sessions.new("mira-test")

    await house.sessions.rename(session.guid, "  Night watch\n")

    (summary,) = await house.sessions.list("mira-test")
    assert summary.title == "Night watch"
    assert (await house.sessions.open(session.guid)).name == "Night watch"


async def test_a_deleted_conversation_is_gone_until_it_is_restored_with_every_word(house: House, says: Says):
    await says("Yes.")
    session = await house.sessions.new("mira-test")
    await talk(house, session, "Remember this.")
    before = await log(house, session)

    await house.sessions.delete(session.guid)
    gone = await house.sessions.list("mira-test")
    with pytest.raises(StorageError):
        await house.sessions.open(session.guid)
    await house.sessions.restore(session.guid)

    assert gone == []
    assert await log(house, session) == before
    assert (await house.sessions.resume("mira-test")).guid == session.guid


async def test_after_deleting_the_newest_the_one_before_goes_on(house: House, says: Says):
    await says("Yes.")
    first = await house.sessions.new("mira-test")
    await talk(house, first, "One.")
    second = await house.sessions.new("mira-test")

    await house.sessions.delete(second.guid)

    assert (await house.sessions.resume("mira-test")).guid == first.guid


async def test_whoever_shows_the_list_is_told_of_every_change_after_it_happened(house: House, says: Says):
    told: list[tuple[str, str]] = []
    deed = ""
    house.sessions.changed.add(lambda persona: told.append((deed, persona)))

    deed = "new"
    session = await house.sessions.new("mira-test")
    deed = "new once more"
    await house.sessions.new("mira-test")
    deed = "rename"
    await house.sessions.rename(session.guid, "Watch")
    deed = "talk"
    await says("Yes.")
    await talk(house, session, "Hello.")
    deed = "delete"
    await house.sessions.delete(session.guid)
    deed = "restore"
    await house.sessions.restore(session.guid)

    assert list(dict.fromkeys(told)) == [(deed, "mira-test") for deed in ("new", "rename", "talk", "delete", "restore")]


async def test_a_conversation_that_is_not_there_is_told(house: House):
    for attempt in (house.sessions.open, house.sessions.delete, house.sessions.restore, house.sessions.message):
        with pytest.raises(StorageError):
            await attempt(uuid4())
    with pytest.raises(StorageError):
        await house.sessions.rename(uuid4(), "x")


async def test_pages_beyond_the_end_are_empty(house: House):
    session = await house.sessions.new("mira-test")

    assert await house.sessions.page(session.guid, 5, 10) == []
    assert len(await house.sessions.page(session.guid, 0, 10)) == 1
