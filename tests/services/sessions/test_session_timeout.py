"""Conversations end after the set silence: archived in the background, reopened on wish, and never under the user's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import SelfReflection
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, PartState
from lethe_app.services.events import ReplyText
from tests.services.past_sessions import NUTS, answers, chats_of, hold, opened, trusted
from tests.services.tasks import Clock, Scripted, employ, kept_runs, leave, newest, nothing
from tests.services.turns import MIRA, change_persona, say, until, where

Says = Callable[..., object]
HOUR = timedelta(hours=1)


@pytest.fixture
async def evening(services: AppServices, clock: Clock) -> ChatSession:
    """A conversation that was held just now."""
    session = await hold(services, *NUTS)
    clock.go_on(minutes=len(NUTS))
    return session


async def is_archived(services: AppServices, session: ChatSession) -> bool:
    await services.session_timeout.archive_timed_out()
    return (await services.sessions.open(session.guid)).archived


async def test_a_conversation_is_archived_after_the_set_silence_without_any_model(
    services: AppServices, clock: Clock, evening: ChatSession
):
    clock.go_on(minutes=58)
    before = await is_archived(services, evening)
    clock.go_on(minutes=2)

    assert not before
    assert await is_archived(services, evening)
    old = await services.sessions.open(evening.guid)
    assert "peanuts" in old.content
    assert any("allergic" in fact.fact for fact in await services.facts.facts_of(MIRA))


async def test_the_silence_is_as_long_as_the_user_sets_it(services: AppServices, clock: Clock, evening: ChatSession):
    await services.preferences.set(rotation_minutes=10)
    clock.go_on(minutes=12)

    assert await is_archived(services, evening)


async def test_no_silence_ends_a_conversation_where_the_user_does_not_want_it(
    services: AppServices, clock: Clock, evening: ChatSession
):
    await services.preferences.set(rotation_minutes=0)
    clock.go_on(days=30)

    assert not await is_archived(services, evening)
    assert not await services.sessions.has_ended(evening.guid)


async def test_what_fell_silent_while_the_program_was_closed_is_archived_soon_after_the_start(
    services: AppServices, clock: Clock, evening: ChatSession
):
    home = services.paths.home
    await services.close()
    clock.go_on(days=2)

    async with opened(home) as again:
        again.session_timeout.background.start()

        async def is_over() -> bool:
            return (await again.sessions.open(evening.guid)).archived

        await until(is_over)
        assert await again.sessions.has_ended(evening.guid)


async def test_every_persona_and_every_open_conversation_is_looked_after(services: AppServices, clock: Clock, says: Says):
    await says(*["Yes."] * 3)
    first = await services.sessions.resume(MIRA)
    await say(services, first, "I am allergic to peanuts.")
    other = await services.sessions.resume("mira")
    await say(services, other, "I keep bees on my roof.")
    clock.go_on(hours=1)

    assert await is_archived(services, first)
    assert await is_archived(services, other)


async def test_a_group_conversation_ends_too_and_the_next_one_has_the_same_guests(
    services: AppServices, clock: Clock, says: Says
):
    await says(*["Yes."] * 4)
    session = await services.sessions.resume(MIRA)
    await services.sessions.set_guests(session.guid, ["mira"])
    await say(services, session, "I am allergic to peanuts.")
    clock.go_on(hours=2)

    assert await is_archived(services, session)
    fresh = await where(services, session, "Good morning.")

    assert fresh.guid != session.guid
    assert fresh.guests == ["mira"]


async def test_what_hardly_began_stays_open(services: AppServices, clock: Clock):
    session = await hold(services, "Hello.", "Hello, Tomas.")
    clock.go_on(days=2)

    assert not await is_archived(services, session)


@pytest.mark.parametrize("by", ["silence", "next conversation"])
async def test_one_sentence_of_the_user_is_learnt_from_even_if_nobody_answered(services: AppServices, clock: Clock, by: str):
    unanswered = await services.sessions.start_session("aiko")
    session = await hold(services, "I hate peanuts.")
    clock.go_on(days=2)
    if by == "next conversation":
        await services.preferences.set(rotation_minutes=0)
        await services.sessions.new(MIRA)

    assert await is_archived(services, session)
    assert any("peanuts" in fact.fact for fact in await services.facts.facts_of(MIRA))
    assert not await is_archived(services, unanswered)


async def test_a_conversation_without_a_word_of_the_user_is_left_open_until_they_speak(services: AppServices, clock: Clock):
    session = await chats_of(services).add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    await hold(services, *[word for line in NUTS[1::2] for word in ("", line)], session=session)
    clock.go_on(days=2)
    first = await is_archived(services, session)
    await hold(services, "I am allergic to peanuts.", session=session, at=clock())
    clock.go_on(days=2)

    assert (first, await is_archived(services, session)) == (False, True)


async def test_the_next_message_begins_the_next_conversation_and_knows_what_the_last_one_came_to(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Good morning.")
    clock.go_on(hours=10)
    await is_archived(services, evening)
    ended = await services.sessions.has_ended(evening.guid)

    fresh = await where(services, evening, "Good morning.")

    assert ended
    assert fresh.guid != evening.guid
    assert not (await services.sessions.open(fresh.guid)).archived
    assert not await services.sessions.has_ended(fresh.guid)
    frame = await services.stable_prefixes.load(fresh.guid)
    assert evening.guid in {*frame.earlier, *(one.guid for one in frame.summaries)}


async def test_an_older_conversation_goes_on_when_the_user_opens_it_and_writes(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says(*["Yes."] * 3)
    clock.go_on(hours=2)
    await is_archived(services, evening)
    await where(services, evening, "Good morning.")

    ended = await services.sessions.has_ended(evening.guid)
    again = await where(services, evening, "What did we say about Porto?")

    assert not ended
    assert again.guid == evening.guid
    assert not await is_archived(services, evening)


# what counts as silence


async def test_who_types_is_not_interrupted_however_long_the_message_takes(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Yes.")
    for _minute in range(90):
        clock.go_on(minutes=1)
        services.session_timeout.note_input(evening.guid)
        assert not await is_archived(services, evening)

    assert (await where(services, evening, "A long message.")).guid == evening.guid


async def test_silence_counts_from_the_last_key(services: AppServices, clock: Clock, evening: ChatSession):
    clock.go_on(minutes=50)
    services.session_timeout.note_input(evening.guid)
    clock.go_on(minutes=59)
    before = await is_archived(services, evening)
    clock.go_on(minutes=1)

    assert (before, await is_archived(services, evening)) == (False, True)


async def test_silence_counts_from_the_last_message_where_that_came_after_the_last_key(
    services: AppServices, clock: Clock, evening: ChatSession
):
    services.session_timeout.note_input(evening.guid)
    clock.go_on(minutes=50)
    await hold(services, "", "A late reply.", session=evening, at=clock())
    clock.go_on(minutes=50)
    services.session_timeout.note_input(evening.guid)
    clock.go_on(minutes=50)
    before = await is_archived(services, evening)
    clock.go_on(minutes=11)

    assert (before, await is_archived(services, evening)) == (False, True)


@pytest.mark.parametrize("had_typed", [False, True])
async def test_the_first_key_after_a_night_does_not_undo_the_silence(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says, had_typed: bool
):
    await says("Yes.")
    if had_typed:
        clock.go_on(minutes=5)
        services.session_timeout.note_input(evening.guid)
    clock.go_on(hours=10)  # a computer asleep: nothing looked at the time meanwhile
    for _key in range(5):
        services.session_timeout.note_input(evening.guid)

    assert await services.sessions.has_ended(evening.guid)
    assert (await where(services, evening, "Good morning.")).guid != evening.guid


async def test_an_open_editor_keeps_its_conversation_open(services: AppServices, clock: Clock, evening: ChatSession):
    services.session_timeout.set_edited_session(evening.guid)
    clock.go_on(hours=3)
    while_editing = await is_archived(services, evening)
    services.session_timeout.note_input(evening.guid)
    services.session_timeout.set_edited_session(None)

    assert not while_editing
    assert not await is_archived(services, evening)
    clock.go_on(hours=1)
    assert await is_archived(services, evening)


async def test_nothing_is_archived_while_a_reply_is_written(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("word " * 40, delay=0.02)
    other = await services.sessions.resume("mira")
    clock.go_on(hours=2)
    looking: list[asyncio.Task[None]] = []
    async with aclosing(services.chat.send(other.guid, "Hello.")) as events:
        async for event in events:
            if isinstance(event, ReplyText) and not looking:
                looking.append(asyncio.create_task(services.session_timeout.archive_timed_out()))
            if looking:
                assert not (await services.sessions.open(evening.guid)).archived
    await looking[0]

    assert (await services.sessions.open(evening.guid)).archived


# a conversation that is continued


async def test_a_continued_conversation_is_open_and_takes_the_next_message(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Welcome back.")
    clock.go_on(hours=10)
    await is_archived(services, evening)

    await services.sessions.reopen(evening.guid)

    assert not await services.sessions.has_ended(evening.guid)
    assert not await is_archived(services, evening)
    assert (await where(services, evening, "I keep bees on the roof of my house.")).guid == evening.guid


async def test_a_continued_conversation_ends_again_with_what_was_added_and_its_facts_count_once(
    services: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Bees!")
    clock.go_on(hours=10)
    await is_archived(services, evening)
    await services.sessions.reopen(evening.guid)
    await where(services, evening, "I keep bees on the roof of my house.")
    clock.go_on(hours=1)

    assert await is_archived(services, evening)
    assert "bees" in (await services.sessions.open(evening.guid)).content
    facts = await services.facts.facts_of(MIRA)
    assert [fact.reference_count for fact in facts if "allergic" in fact.fact] == [1]
    assert any("bees" in fact.fact for fact in facts)


async def test_another_wording_of_the_last_reply_continues_it_too(services: AppServices, clock: Clock, says: Says):
    await says("Yes.", "No.", "Perhaps.")
    session = await services.sessions.resume(MIRA)
    outcome = await say(services, session, "I am allergic to peanuts.")
    clock.go_on(hours=2)
    await is_archived(services, session)

    async with aclosing(services.chat.regenerate(session.guid, outcome.reply.id)) as events:
        async for _event in events:
            pass

    assert not (await services.sessions.open(session.guid)).archived
    assert not await services.sessions.has_ended(session.guid)


async def test_a_conversation_is_not_archived_twice_at_once(services: AppServices, clock: Clock, evening: ChatSession):
    reported: list[str] = []
    clock.go_on(hours=2)
    services.sessions.changed.add(reported.append)

    await asyncio.gather(*(services.session_timeout.archive_timed_out() for _time in range(4)))
    once = len(reported)
    await services.session_timeout.archive(evening.guid, at_once=True)

    assert (await services.sessions.open(evening.guid)).archived
    assert len(reported) == once


# before what is done while the user is away


async def test_tasks_done_while_the_user_is_away_see_the_evening(
    services: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path
):
    await employ(services, SelfReflection())
    await change_persona(services, MIRA, self_edit_tokens=200)
    await trusted(services, tmp_path / "model.json", answers=[{"paragraphs": ["Tomas misses his sister Ines."]}] * 9)
    leave(services, clock, HOUR)

    await services.background_runner.run_next_task()

    assert (await services.sessions.open(evening.guid)).archived
    assert (await newest(services)).summary.startswith("Mira has thought about")


async def test_tasks_wait_until_the_model_has_archived_the_evening(
    services: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path
):
    task = await employ(services, Scripted(nothing))
    await trusted(services, tmp_path / "model.json", answers=answers(), delay=0.0)
    await services.archive_queue.background.pause()
    leave(services, clock, HOUR)
    await services.session_timeout.archive_timed_out()
    services.archive_queue.background.start(0.2)
    await services.background_runner.run_next_task()
    while_archiving = task.began
    await until(lambda: services.session_timeout.is_settled(MIRA))
    await services.background_runner.run_next_task()
    parts = await services.archive_queue.parts(evening.guid)

    assert (while_archiving, task.began) == (0, 1)
    assert {record.state for record in parts.values()} == {PartState.DONE}
    assert (await services.sessions.open(evening.guid)).name == "Peanuts and Porto"


async def test_a_paused_archive_holds_no_task_up(services: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path):
    task = await employ(services, Scripted(nothing))
    await trusted(services, tmp_path / "model.json", answers=answers())
    services.archive_queue.background.start(600.0)
    leave(services, clock, HOUR)
    await services.background_runner.run_next_task()
    before = task.began
    await services.archive_queue.background.pause()
    await services.background_runner.run_next_task()

    assert (before, task.began) == (0, 1)
    assert len(await kept_runs(services)) == 1
