"""Conversations end after the set silence: archived in the background, reopened on wish, and never under the user's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import Thoughts
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, PartState
from lethe_app.domain.clock import told_by
from lethe_app.services.events import Moved, ReplyText
from tests.services.past import NUTS, answers, chats_of, hold, opened, trusted
from tests.services.stage import MIRA, change_persona, say, until
from tests.services.tasks import Clock, Scripted, employ, kept_runs, leave, newest, nothing

Says = Callable[..., object]
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with told_by(clock):
        yield clock


@pytest.fixture
async def evening(house: AppServices, clock: Clock) -> ChatSession:
    """A conversation that was held just now."""
    session = await hold(house, *NUTS)
    clock.go_on(minutes=len(NUTS))
    return session


async def is_archived(house: AppServices, session: ChatSession) -> bool:
    await house.timeout.archive_timed_out()
    return (await house.sessions.open(session.guid)).archived


async def where(house: AppServices, session: ChatSession, text: str) -> ChatSession:
    """The conversation in which these words were stored."""
    found = session
    async with aclosing(house.chat.send(session.guid, text)) as events:
        async for event in events:
            found = event.session if isinstance(event, Moved) else found
    return found


async def test_a_conversation_is_archived_after_the_set_silence_without_any_model(
    house: AppServices, clock: Clock, evening: ChatSession
):
    clock.go_on(minutes=58)
    before = await is_archived(house, evening)
    clock.go_on(minutes=2)

    assert not before
    assert await is_archived(house, evening)
    old = await house.sessions.open(evening.guid)
    assert "peanuts" in old.content
    assert any("allergic" in fact.fact for fact in await house.knowing.all(MIRA))


async def test_the_silence_is_as_long_as_the_user_sets_it(house: AppServices, clock: Clock, evening: ChatSession):
    await house.preferences.set(rotation_minutes=10)
    clock.go_on(minutes=12)

    assert await is_archived(house, evening)


async def test_no_silence_ends_a_conversation_where_the_user_does_not_want_it(
    house: AppServices, clock: Clock, evening: ChatSession
):
    await house.preferences.set(rotation_minutes=0)
    clock.go_on(days=30)

    assert not await is_archived(house, evening)
    assert not await house.sessions.has_ended(evening.guid)


async def test_what_fell_silent_while_the_program_was_closed_is_archived_soon_after_the_start(
    house: AppServices, clock: Clock, evening: ChatSession
):
    home = house.paths.home
    await house.close()
    clock.go_on(days=2)

    async with opened(home) as again:
        again.timeout.start()

        async def is_over() -> bool:
            return (await again.sessions.open(evening.guid)).archived

        await until(is_over)
        assert await again.sessions.has_ended(evening.guid)


async def test_every_persona_and_every_open_conversation_is_looked_after(house: AppServices, clock: Clock, says: Says):
    await says(*["Yes."] * 3)
    first = await house.sessions.resume(MIRA)
    await say(house, first, "I am allergic to peanuts.")
    other = await house.sessions.resume("mira")
    await say(house, other, "I keep bees on my roof.")
    clock.go_on(hours=1)

    assert await is_archived(house, first)
    assert await is_archived(house, other)


async def test_a_group_conversation_ends_too_and_the_next_one_has_the_same_guests(house: AppServices, clock: Clock, says: Says):
    await says(*["Yes."] * 4)
    session = await house.sessions.resume(MIRA)
    await house.group.ask_in(session.guid, ["mira"])
    await say(house, session, "I am allergic to peanuts.")
    clock.go_on(hours=2)

    assert await is_archived(house, session)
    fresh = await where(house, session, "Good morning.")

    assert fresh.guid != session.guid
    assert fresh.guests == ["mira"]


async def test_what_hardly_began_stays_open(house: AppServices, clock: Clock):
    session = await hold(house, *NUTS[:2])
    clock.go_on(days=2)

    assert not await is_archived(house, session)


async def test_a_conversation_without_a_word_of_the_user_is_left_open_until_they_speak(house: AppServices, clock: Clock):
    session = await chats_of(house).add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    await hold(house, *[word for line in NUTS[1::2] for word in ("", line)], session=session)
    clock.go_on(days=2)
    first = await is_archived(house, session)
    await hold(house, "I am allergic to peanuts.", session=session, at=clock())
    clock.go_on(days=2)

    assert (first, await is_archived(house, session)) == (False, True)


async def test_the_next_message_begins_the_next_conversation_and_knows_what_the_last_one_came_to(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Good morning.")
    clock.go_on(hours=10)
    await is_archived(house, evening)
    ended = await house.sessions.has_ended(evening.guid)

    fresh = await where(house, evening, "Good morning.")

    assert ended
    assert fresh.guid != evening.guid
    assert not (await house.sessions.open(fresh.guid)).archived
    assert not await house.sessions.has_ended(fresh.guid)
    frame = await house.chat._frames.kept(fresh.guid)
    assert frame is not None
    assert evening.guid in {*frame.earlier, *(one.guid for one in frame.summaries)}


async def test_an_older_conversation_goes_on_when_the_user_opens_it_and_writes(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says(*["Yes."] * 3)
    clock.go_on(hours=2)
    await is_archived(house, evening)
    await where(house, evening, "Good morning.")

    ended = await house.sessions.has_ended(evening.guid)
    again = await where(house, evening, "What did we say about Porto?")

    assert not ended
    assert again.guid == evening.guid
    assert not await is_archived(house, evening)


# what counts as silence


async def test_who_types_is_not_interrupted_however_long_the_message_takes(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Yes.")
    for _minute in range(90):
        clock.go_on(minutes=1)
        house.timeout.note_input(evening.guid)
        assert not await is_archived(house, evening)

    assert (await where(house, evening, "A long message.")).guid == evening.guid


async def test_silence_counts_from_the_last_key(house: AppServices, clock: Clock, evening: ChatSession):
    clock.go_on(minutes=50)
    house.timeout.note_input(evening.guid)
    clock.go_on(minutes=59)
    before = await is_archived(house, evening)
    clock.go_on(minutes=1)

    assert (before, await is_archived(house, evening)) == (False, True)


async def test_silence_counts_from_the_last_message_where_that_came_after_the_last_key(
    house: AppServices, clock: Clock, evening: ChatSession
):
    house.timeout.note_input(evening.guid)
    clock.go_on(minutes=50)
    await hold(house, "", "A late reply.", session=evening, at=clock())
    clock.go_on(minutes=50)
    house.timeout.note_input(evening.guid)
    clock.go_on(minutes=50)
    before = await is_archived(house, evening)
    clock.go_on(minutes=11)

    assert (before, await is_archived(house, evening)) == (False, True)


@pytest.mark.parametrize("had_typed", [False, True])
async def test_the_first_key_after_a_night_does_not_undo_the_silence(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says, had_typed: bool
):
    await says("Yes.")
    if had_typed:
        clock.go_on(minutes=5)
        house.timeout.note_input(evening.guid)
    clock.go_on(hours=10)  # a computer asleep: nothing looked at the time meanwhile
    for _key in range(5):
        house.timeout.note_input(evening.guid)

    assert await house.sessions.has_ended(evening.guid)
    assert (await where(house, evening, "Good morning.")).guid != evening.guid


async def test_an_open_editor_keeps_its_conversation_open(house: AppServices, clock: Clock, evening: ChatSession):
    house.timeout.is_edited = lambda session: session == evening.guid
    clock.go_on(hours=3)
    while_editing = await is_archived(house, evening)
    house.timeout.note_input(evening.guid)
    house.timeout.is_edited = lambda _session: False

    assert not while_editing
    assert not await is_archived(house, evening)
    clock.go_on(hours=1)
    assert await is_archived(house, evening)


async def test_nothing_is_archived_while_a_reply_is_written(house: AppServices, clock: Clock, evening: ChatSession, says: Says):
    await says("word " * 40, delay=0.02)
    other = await house.sessions.resume("mira")
    clock.go_on(hours=2)
    looking: list[asyncio.Task[None]] = []
    async with aclosing(house.chat.send(other.guid, "Hello.")) as events:
        async for event in events:
            if isinstance(event, ReplyText) and not looking:
                looking.append(asyncio.create_task(house.timeout.archive_timed_out()))
            if looking:
                assert not (await house.sessions.open(evening.guid)).archived
    await looking[0]

    assert (await house.sessions.open(evening.guid)).archived


# a conversation that is continued


async def test_a_continued_conversation_is_open_and_takes_the_next_message(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Welcome back.")
    clock.go_on(hours=10)
    await is_archived(house, evening)

    await house.sessions.reopen(evening.guid)

    assert not await house.sessions.has_ended(evening.guid)
    assert not await is_archived(house, evening)
    assert (await where(house, evening, "I keep bees on the roof of my house.")).guid == evening.guid


async def test_a_continued_conversation_ends_again_with_what_was_added_and_its_facts_count_once(
    house: AppServices, clock: Clock, evening: ChatSession, says: Says
):
    await says("Bees!")
    clock.go_on(hours=10)
    await is_archived(house, evening)
    await house.sessions.reopen(evening.guid)
    await where(house, evening, "I keep bees on the roof of my house.")
    clock.go_on(hours=1)

    assert await is_archived(house, evening)
    assert "bees" in (await house.sessions.open(evening.guid)).content
    facts = await house.knowing.all(MIRA)
    assert [fact.reference_count for fact in facts if "allergic" in fact.fact] == [1]
    assert any("bees" in fact.fact for fact in facts)


async def test_one_that_is_continued_and_left_again_ends_after_the_silence(
    house: AppServices, clock: Clock, evening: ChatSession
):
    clock.go_on(hours=10)
    await is_archived(house, evening)
    await house.sessions.reopen(evening.guid)
    clock.go_on(minutes=59)
    before = await is_archived(house, evening)
    clock.go_on(minutes=1)

    assert (before, await is_archived(house, evening)) == (False, True)


async def test_another_wording_of_the_last_reply_continues_it_too(house: AppServices, clock: Clock, says: Says):
    await says("Yes.", "No.", "Perhaps.")
    session = await house.sessions.resume(MIRA)
    played = await say(house, session, "I am allergic to peanuts.")
    clock.go_on(hours=2)
    await is_archived(house, session)

    async with aclosing(house.chat.regenerate(session.guid, played.reply.id)) as events:
        async for _event in events:
            pass

    assert not (await house.sessions.open(session.guid)).archived
    assert not await house.sessions.has_ended(session.guid)


async def test_a_conversation_is_not_archived_twice_at_once(house: AppServices, clock: Clock, evening: ChatSession):
    told: list[str] = []
    clock.go_on(hours=2)
    house.sessions.changed.add(told.append)

    await asyncio.gather(*(house.timeout.archive_timed_out() for _time in range(4)))
    once = len(told)
    await house.timeout.archive(evening.guid, at_once=True)

    assert (await house.sessions.open(evening.guid)).archived
    assert len(told) == once


async def test_a_deleted_conversation_is_left_alone(house: AppServices, clock: Clock, evening: ChatSession):
    await house.sessions.delete(evening.guid)
    clock.go_on(hours=2)

    await house.timeout.archive_timed_out()
    await house.sessions.restore(evening.guid)

    assert not (await house.sessions.open(evening.guid)).archived


# before what is done while the user is away


async def test_tasks_done_while_the_user_is_away_see_the_evening(
    house: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path
):
    await employ(house, Thoughts())
    await change_persona(house, MIRA, self_edit_tokens=200)
    await trusted(house, tmp_path / "model.json", answers=[{"paragraphs": ["Tomas misses his sister Ines."]}] * 9)
    leave(house, clock, HOUR)

    await house.away.look()

    assert (await house.sessions.open(evening.guid)).archived
    assert (await newest(house)).summary.startswith("Mira has thought about")


async def test_tasks_wait_until_the_model_has_archived_the_evening(
    house: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path
):
    task = Scripted(nothing)
    await employ(house, task)
    await trusted(house, tmp_path / "model.json", answers=answers(), delay=0.0)
    await house.archiving.pause()
    leave(house, clock, HOUR)
    await house.timeout.archive_timed_out()
    house.archiving.start(0.2)
    await house.away.look()
    while_archiving = task.began

    async def is_settled() -> bool:
        return await house.timeout.is_settled(MIRA)

    await until(is_settled)
    await house.away.look()
    parts = await house.archiving.parts(evening.guid)

    assert (while_archiving, task.began) == (0, 1)
    assert {record.state for record in parts.values()} == {PartState.DONE}
    assert (await house.sessions.open(evening.guid)).name == "Peanuts and Porto"


async def test_a_paused_archive_holds_no_task_up(house: AppServices, clock: Clock, evening: ChatSession, tmp_path: Path):
    task = Scripted(nothing)
    await employ(house, task)
    await trusted(house, tmp_path / "model.json", answers=answers())
    house.archiving.start(600.0)
    leave(house, clock, HOUR)
    await house.away.look()
    before = task.began
    await house.archiving.pause()
    await house.away.look()

    assert (before, task.began) == (0, 1)
    assert len(await kept_runs(house)) == 1
