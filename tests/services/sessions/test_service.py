"""Conversations: the newest goes on, a new one begins with a greeting, and none is lost by mistake."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from tests.services.turns import log, say, where

Says = Callable[..., object]


def rewrite(services: AppServices, stem: str, **fields: object) -> None:
    (services.paths.personas / f"{stem}.json").write_text(json.dumps(fields), encoding="utf-8")


async def test_the_newest_conversation_goes_on(services: AppServices, says: Says):
    await says("Yes.")
    first = await services.sessions.resume("mira-test")
    await say(services, first, "One.")
    second = await services.sessions.new("mira-test")
    await say(services, second, "Two.")
    newest = await services.sessions.resume("mira-test")
    await say(services, first, "One again.")

    assert newest.guid == second.guid != first.guid
    assert (await services.sessions.resume("mira-test")).guid == first.guid
    assert [summary.guid for summary in await services.sessions.list("mira-test")] == [first.guid, second.guid]


async def test_a_conversation_in_which_nobody_answered_is_used_again(services: AppServices, says: Says):
    first = await services.sessions.new("mira-test")
    again = await services.sessions.new("mira-test")
    await says("Yes.")
    await say(services, again, "Hello.")

    third = await services.sessions.new("mira-test")

    assert first.guid == again.guid != third.guid


async def test_a_greeting_left_alone_is_begun_again_instead_of_piling_up(services: AppServices, says: Says):
    await says("Yes.")
    first = await services.sessions.new("mira-test")
    await say(services, first, "I grow tomatoes.")
    alone = await services.sessions.new("mira-test")
    await say(services, first, "And quinces.")

    again = await services.sessions.new("mira-test")

    assert again.guid == alone.guid
    assert again.added > alone.added
    (greeting,) = await log(services, again)
    assert greeting.time == again.added
    assert [summary.guid for summary in await services.sessions.list("mira-test")] == [again.guid, first.guid]
    await services.sessions.wait_until_archived("mira-test")
    assert (await services.sessions.open(first.guid)).archived


async def test_a_conversation_can_be_ended_now_and_is_learnt_from(services: AppServices, says: Says):
    await says("Yes.")
    greeted = await services.sessions.new("mira-test")
    assert not await services.sessions.end(greeted.guid)
    await say(services, greeted, "I am allergic to peanuts.")

    assert await services.sessions.end(greeted.guid)
    assert (await services.sessions.open(greeted.guid)).archived
    assert any("peanuts" in fact.fact for fact in await services.facts.facts_of("mira-test"))
    assert not await services.sessions.end(greeted.guid)


async def test_a_conversation_of_one_word_is_ended_if_the_user_wants_it(services: AppServices, says: Says):
    await says("Yes.")
    session = await services.sessions.new("mira-test")
    await services.session_store.add_message(
        Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content="Hello")])
    )
    await services.sessions.new("mira-test")
    await services.sessions.wait_until_archived("mira-test")
    assert not (await services.sessions.open(session.guid)).archived, "nobody asked for it"

    assert await services.sessions.end(session.guid)

    ended = await services.sessions.open(session.guid)
    assert (ended.archived, ended.content) == (True, "")


async def test_a_conversation_with_a_title_is_not_used_again(services: AppServices):
    first = await services.sessions.new("mira-test")
    await services.sessions.rename(first.guid, "Keep this")

    assert (await services.sessions.new("mira-test")).guid != first.guid


async def test_another_self_of_the_user_begins_a_conversation_of_its_own(services: AppServices):
    first = await services.sessions.new("mira-test")
    rewrite(services, "vera", name="Vera", is_user=True)
    await services.preferences.set(user_persona="vera")

    second = await services.sessions.new("mira-test")

    assert (first.user_id, second.user_id) == ("tomas", "vera")
    assert first.guid != second.guid


async def test_macros_in_a_greeting_are_filled_in_once_and_stay(services: AppServices):
    rewrite(services, "mira-test", name="Mira", first_messages=["{{char}} sees {{user}}. {{random:heads,tails}} {{unknown}}"])
    session = await services.sessions.new("mira-test")
    (before,) = await log(services, session)
    rewrite(services, "tomas", name="Tom", is_user=True)

    (after,) = await log(services, session)

    assert before.content in {f"Mira sees Tomas. {side} " for side in ("heads", "tails")}
    assert after == before


async def test_without_a_name_of_their_own_the_user_is_a_guest(services: AppServices):
    await services.preferences.set(user_persona="")
    rewrite(services, "mira-test", name="Mira", first_messages=["Welcome, {{user}}."])

    (greeting,) = await log(services, await services.sessions.new("mira-test"))

    assert greeting.content == "Welcome, Guest."


@pytest.mark.parametrize("greetings", [[], [""], ["  \n "]], ids=["none", "empty", "blank"])
async def test_a_persona_without_a_greeting_waits_for_the_user(services: AppServices, greetings: list[str]):
    rewrite(services, "mira-test", name="Mira", first_messages=greetings)

    session = await services.sessions.new("mira-test")

    assert await log(services, session) == []
    assert (await services.sessions.new("mira-test")).guid == session.guid


async def test_old_conversations_of_a_deleted_persona_can_still_be_read(services: AppServices):
    session = await services.sessions.new("mira-test")
    await services.library.delete_persona("mira-test")

    assert (await services.sessions.open(session.guid)).guid == session.guid
    assert (await services.sessions.resume("mira-test")).guid == session.guid
    assert [message.speaker_name for message in await log(services, session)] == ["Mira"]


async def test_a_title_is_trimmed_and_shown_in_the_list(services: AppServices):
    session = await services.sessions.new("mira-test")

    await services.sessions.rename(session.guid, "  Night watch\n")

    (summary,) = await services.sessions.list("mira-test")
    assert summary.title == "Night watch"
    assert (await services.sessions.open(session.guid)).name == "Night watch"


async def test_whoever_shows_the_list_is_told_of_every_change_after_it_happened(services: AppServices, says: Says):
    reported: list[tuple[str, str]] = []
    action = ""
    services.sessions.changed.add(lambda persona: reported.append((action, persona)))

    action = "new"
    session = await services.sessions.new("mira-test")
    action = "new once more"
    await services.sessions.new("mira-test")
    action = "rename"
    await services.sessions.rename(session.guid, "Watch")
    action = "talk"
    await says("Yes.")
    await say(services, session, "Hello.")
    action = "delete"
    await services.sessions.delete(session.guid)
    action = "restore"
    await services.sessions.restore(session.guid)

    assert list(dict.fromkeys(reported)) == [(action, "mira-test") for action in ("new", "rename", "talk", "delete", "restore")]


async def test_a_conversation_that_is_not_there_is_told(services: AppServices):
    for attempt in (services.sessions.open, services.sessions.delete, services.sessions.restore, services.sessions.message):
        with pytest.raises(StorageError):
            await attempt(uuid4())
    with pytest.raises(StorageError):
        await services.sessions.rename(uuid4(), "x")


async def silent_for(services: AppServices, session: ChatSession, minutes: float) -> None:
    """As if the conversation had been left so long ago."""
    database, moment = services.database, (now() - timedelta(minutes=minutes)).astimezone(UTC)
    await database.run(
        lambda connection: connection.execute(
            "UPDATE sessions SET last_activity = ? WHERE guid = ?",
            (moment.isoformat(timespec="microseconds"), str(session.guid)),
        )
    )


async def test_a_clock_that_was_put_back_ends_nothing(services: AppServices, says: Says):
    await says("Yes.", "Yes.")
    session = await services.sessions.new("mira-test")
    await say(services, session, "Hello.")
    await silent_for(services, session, -100_000)

    assert (await where(services, session, "Hello again.")).guid == session.guid


async def test_with_nothing_to_say_no_conversation_begins(services: AppServices, says: Says):
    await says("Yes.", "More.")
    session = await services.sessions.new("mira-test")
    await say(services, session, "Hello.")
    await silent_for(services, session, 100_000)

    assert (await where(services, session, "")).guid == session.guid
    assert not (await services.sessions.open(session.guid)).archived


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
async def test_a_journey_to_another_zone_is_no_silence(
    services: AppServices, says: Says, zone: str, monkeypatch: pytest.MonkeyPatch
):
    await says("Yes.", "Yes.")
    session = await services.sessions.new("mira-test")
    await say(services, session, "Hello.")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert (await where(services, session, "Hello again.")).guid == session.guid
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_a_new_conversation_is_there_before_the_one_before_is_archived_and_its_first_reply_waits_for_that(
    services: AppServices, says: Says
):
    await says(*["Yes."] * 4)
    first = await services.sessions.new("mira-test")
    await say(services, first, "My sister Ines lives in Porto.")
    await say(services, first, "I am allergic to walnuts.")

    second = await services.sessions.start_session("mira-test")
    was_open = not (await services.sessions.open(first.guid)).archived
    await say(services, second, "Hello again.")

    assert was_open
    assert (await services.sessions.open(first.guid)).archived
    assert "Hello again." in [message.content for message in await log(services, second)]
    assert any("Porto" in fact.fact for fact in await services.facts.facts_of("mira-test"))


async def test_two_conversations_in_a_row_begin_differently(services: AppServices, says: Callable[..., object]):
    await says(*["“Aye.”"] * 20)
    openings = []
    for _ in range(8):
        session = await services.sessions.start_session("mira-test")
        await say(services, session, "Good evening.")
        openings.append((await services.sessions.page(session.guid, 0, 1))[0].content)

    assert len(set(openings)) == 2
    assert all(one != following for one, following in pairwise(openings))
