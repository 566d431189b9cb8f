"""An erased day is in no file of the home any more, and the days around it remain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.services.maintenance.erasure import erase_backups
from tests.services.maintenance.test_traces import CANARY, FILLER, files_with
from tests.services.past_sessions import archive
from tests.services.turns import MIRA, add_memory, learnt_from, say

TOLD = (
    f"My sister Ines collects {CANARY.title()} and had a baby this morning!",
    "“Oh!”",
    f"I am allergic to {CANARY}.",
    "“I see.”",
)
KEPT = ("I am a carpenter in Porto.", "“Good.”", "My brother Paulo has two dogs.", "“Aye.”")


async def tell(services: AppServices, session: ChatSession, days: float, *lines: str) -> date:
    moment = (now() - timedelta(days=days)).astimezone().replace(hour=11)
    for number, line in enumerate(lines):
        said = [Alternative(content=line, created=moment)]
        fields = {"role": Role.ASSISTANT if number % 2 else Role.USER, "speaker_name": "Mira" if number % 2 else "Tomas"}
        moment += timedelta(minutes=1)
        await services.session_store.add_message(Message(session_id=session.guid, time=moment, alternatives=said, **fields))
    return moment.date()


@pytest.fixture
async def day(services: AppServices, says: Callable[..., object]) -> date:
    """A day with the canary in one conversation of its own and in one that began before, and everything derived from it."""
    await says(*["“Aye.”"] * 40)
    store = services.session_store
    long = await store.add_session(ChatSession(persona_id=MIRA, user_id="tomas", added=now() - timedelta(days=5)))
    await tell(services, long, 4, *KEPT)
    await tell(services, long, 2, *TOLD)
    own = await store.add_session(ChatSession(persona_id=MIRA, user_id="tomas", added=now() - timedelta(days=2)))
    day = await tell(services, own, 2, *TOLD, FILLER, "“Mm.”")
    for session in (long, own):
        await archive(services, session)
    await services.key_moments.look_through_days()
    conclusions = [Conclusion(f"Ines collects {CANARY}", day), Conclusion("Tomas works in Porto", day - timedelta(days=2))]
    await services.notebooks.create(MIRA, "Family", conclusions)
    written = MemoryUnit(content=f"He told me of {CANARY} today.", made_by="journal", added=now() - timedelta(days=2))
    await services.memory_cache.save_memories(MIRA, written)
    await services.indexing.index_all_pending()
    return day


async def test_an_erased_day_leaves_nothing_and_the_days_around_it_remain(services: AppServices, day: date):
    later = await services.sessions.new(MIRA)
    await say(services, later, "What do you know of my sister and of Porto?")
    assert await files_with(services)
    assert (await services.days.count_messages(MIRA))[day] == 10

    count = await services.days.erase(day, MIRA)

    assert count == 10
    assert await files_with(services) == []
    assert day not in await services.days.count_messages(MIRA)
    (remaining,) = [one for one in await services.sessions.list(MIRA) if one.guid != later.guid]
    texts = [message.content for message in await services.sessions.page(remaining.guid, 0, 99)]
    assert texts == list(KEPT)
    assert "Porto" in (await services.sessions.open(remaining.guid)).content
    assert any("carpenter" in fact.fact for fact in await services.facts.facts_of(MIRA))
    (notebook,) = services.notebooks.read_all(MIRA)
    assert [line.text for line in notebook.lines] == ["Tomas works in Porto"]


async def test_a_message_of_another_day_that_the_user_regenerated_loses_only_that_wording(services: AppServices, day: date):
    session = await services.session_store.add_session(ChatSession(persona_id=MIRA, added=now() - timedelta(days=9)))
    await tell(services, session, 8, "Hello there, Mira.", "“Good evening.”")
    reply = (await services.sessions.page(session.guid, 0, 9))[1]
    moment = now() - timedelta(days=2)
    added = Alternative(content=f"“{CANARY}!”", created=moment.astimezone())
    await services.database.run(lambda connection: append(connection, reply, added))

    await services.days.erase(day, MIRA)

    assert await files_with(services) == []
    assert [one.content for one in (await services.sessions.message(reply.id)).alternatives] == ["“Good evening.”"]


def append(connection: object, message: Message, alternative: Alternative) -> int:
    from lethe_app.storage.chats import messages  # noqa: PLC0415

    return messages.append_alternative(connection, str(message.id), alternative)


async def test_a_day_of_everything_takes_the_others_along_and_the_backups_if_wanted(services: AppServices, day: date):
    other = await services.session_store.add_session(ChatSession(persona_id="aiko", added=now() - timedelta(days=2)))
    await tell(services, other, 2, *TOLD)
    await make_daily_backup(services.paths.home)

    assert await services.days.erase(day) == 14

    assert {name.split("/")[0] for name in await files_with(services)} == {"backups"}
    await erase_backups(services.database.path)
    assert await files_with(services) == []


async def test_what_the_user_wrote_besides_messages_remains(services: AppServices, day: date):
    memory = await add_memory(services, content="Ines keeps a garden.", added=now() - timedelta(days=2))

    await services.days.erase(day, MIRA)

    assert memory.guid in {one.guid for one in await services.memory.memories(MIRA)}


async def test_a_reminder_that_a_message_of_the_day_asked_for_goes_with_it(services: AppServices, says: Callable[..., object]):
    await says("“Aye.”")
    await say(services, await services.sessions.new(MIRA), "Remind me to call my mum on Friday.")
    assert len(await services.reminders.reminders_of(MIRA)) == 1

    await services.days.erase(now().astimezone().date(), MIRA)

    assert await services.reminders.reminders_of(MIRA) == []


@pytest.mark.parametrize(("is_same_day", "expected"), [(True, set()), (False, {"Tomas works as a head nurse in Lisbon."})])
async def test_a_reworded_fact_that_was_replaced_holds_again_only_if_its_message_remains(
    services: AppServices, is_same_day: bool, expected: set[str]
):
    session = await services.session_store.add_session(ChatSession(persona_id=MIRA, added=now() - timedelta(days=5)))
    if is_same_day:
        day = await tell(services, session, 2, "I work as a nurse in Porto.", "“Aye.”", "I work as a baker now.", "“Good.”")
    else:
        await tell(services, session, 4, "I work as a nurse in Porto.", "“Aye.”")
        day = await tell(services, session, 2, "I work as a baker now.", "“Good.”")
    said = [message for message in await services.sessions.page(session.guid, 0, 9) if message.role is Role.USER]
    old = learnt_from(said[0], "Tomas works as a nurse in Porto.", key="job")
    new = learnt_from(said[1], "Tomas works as a baker.", key="job")
    await services.facts.learn(MIRA, [old])
    reworded = await services.facts.edit(old.guid, "Tomas works as a head nurse in Lisbon.")
    late = {"first_seen": reworded.last_seen, "last_seen": reworded.last_seen}  # it is said after the rewording
    await services.facts.learn(MIRA, [new.model_copy(update=late)])
    assert {fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded} == {"Tomas works as a baker."}

    await services.days.erase(day, MIRA)

    assert {fact.fact for fact in await services.facts.facts_of(MIRA)} == expected
