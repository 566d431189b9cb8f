"""What she brings up of her own accord: by its moment, by time, when asked, at a return, and what fades."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.domain.recall import RecallWay
from lethe_app.services.memory.proactive import ProactiveMemory
from lethe_app.storage.chats.sessions import Chats
from tests.services.stage import (
    DAY,
    FORCED,
    MIRA,
    NATURAL,
    back_in_time,
    before_now,
    change_persona,
    keep,
    log,
    now_held,
    prompt_of,
    say,
    set_state,
    spoke,
)


@pytest.fixture
async def session(house: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await house.preferences.set(recall_without_match=0, rotation_minutes=0)
    return await house.sessions.new(MIRA)


@pytest.fixture
def guidance(house: AppServices) -> ProactiveMemory:
    return house.chat._remembering._recollecting._guidance


async def let_half_an_hour_pass(house: AppServices, session: ChatSession, messages: int) -> None:
    value = {"messages": messages, "last_insert": before_now(minutes=31).isoformat()}
    await set_state(house, session, "pace", value)


# By its moment


async def test_of_several_the_one_whose_keyword_was_said_comes_and_no_more_than_one(house: AppServices, session: ChatSession):
    await keep(house, "One.", name="One", insertion=NATURAL, keywords_main=["harbour"])
    await keep(house, "Two.", name="Two", insertion=NATURAL, keywords_main=["lighthouse"], priority=5)
    await keep(house, "Three.", name="Three", insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    played = await say(house, session, "To the lighthouse!")
    assert played.ways == {"Two": "natural"}
    assert sum(message.hidden for message in await log(house, session)) == 1
    assert (await say(house, session, "The lighthouse, I said.")).ways == {"Three": "natural"}


async def test_without_relevance_a_natural_memory_waits(house: AppServices, session: ChatSession):
    memory = await keep(house, insertion=NATURAL)
    await let_half_an_hour_pass(house, session, 50)
    assert (await say(house, session, "Good.")).note is None
    assert await now_held(house, memory) is not None


async def test_a_forced_one_waits_for_messages_and_for_minutes(house: AppServices, session: ChatSession):
    await keep(house, "Bread.", name="Bread", insertion=FORCED)
    said = [(await say(house, session, text)).note for text in ("One.", "Two.", "Three.", "Four.", "Five.")]
    assert said == [None] * 5  # half an hour has not passed
    await let_half_an_hour_pass(house, session, 2)
    assert (await say(house, session, "Six.")).note is None
    played = await say(house, session, "Seven.")
    assert played.note is not None
    assert played.memory.recalled[0].way is RecallWay.FORCED
    await keep(house, "Fish.", name="Fish", insertion=FORCED)
    assert (await say(house, session, "Eight.")).note is None  # the count begins anew


async def test_asked_for_news_she_tells_the_most_important_whatever_the_time(house: AppServices, session: ChatSession):
    await keep(house, "Bread.", name="Bread", insertion=NATURAL)
    await keep(house, "Fish.", name="Fish", insertion=NATURAL, priority=4)
    played = await say(house, session, "Any news?")
    assert played.ways == {"Fish": "news"}
    assert played.note is not None
    assert "Fish." in played.note.content


@pytest.mark.parametrize("span", [timedelta(minutes=1), 3 * DAY])
async def test_a_waiting_memory_of_the_future_is_not_told(house: AppServices, session: ChatSession, span: timedelta):
    await keep(house, insertion=NATURAL, keywords_main=["lighthouse"], added=now() + span)
    assert (await say(house, session, "Any news of the lighthouse?")).note is None


async def test_an_old_one_is_no_longer_told_and_goes(house: AppServices, session: ChatSession):
    old = await keep(house, insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=16.1))
    kept = await keep(house, "K.", name="Kept", insertion=NATURAL, added=before_now(days=99), protected=True)
    assert (await say(house, session, "To the lighthouse!")).note is None
    assert await now_held(house, old) is None
    assert await now_held(house, kept) is not None


async def test_kept_quiet_she_tells_nothing(house: AppServices, session: ChatSession):
    await keep(house, insertion=NATURAL, keywords_main=["lighthouse"])
    await house.preferences.set(disable_eurekas=True)
    assert (await say(house, session, "Any news of the lighthouse?")).note is None


async def test_unmarked_the_line_is_a_sentence(house: AppServices, session: ChatSession):
    await keep(house, insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    await house.preferences.set(tagged_events=False)
    played = await say(house, session, "To the lighthouse!")
    assert played.note is not None
    assert "SystemEvent" not in played.note.content
    assert "Mira" in played.note.content


async def test_research_of_least_urgency_stays_after_it_was_told(house: AppServices, session: ChatSession):
    memory = await keep(house, insertion=NATURAL, category=MemoryType.WEB_SEARCH, keywords_main=["lighthouse"])
    assert (await say(house, session, "To the lighthouse!")).note is not None
    assert (held := await now_held(house, memory)) is not None
    assert held.insertion is MemoryInsertion.TRIGGER


# At a return


async def test_after_hours_away_the_day_and_what_waited_are_told_once(
    house: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    await change_persona(house, sense_of_time=True)
    memory = await keep(house, "The boat is mended.", insertion=MemoryInsertion.USER_RETURN, name="Boat")
    natural = await keep(house, insertion=NATURAL, keywords_main=["lighthouse"])
    await say(house, session, "Good night.")
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="Old."))
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="{{char}} read about tides."))
    assert (await say(house, session, "One more thing.")).note is None
    await back_in_time(house, session, timedelta(hours=24))
    played = await say(house, session, "Back. The lighthouse!")
    assert played.note is not None
    assert "Tomas last wrote yesterday." in played.note.content
    assert "The boat is mended." in played.note.content
    assert "Mira read about tides." in played.note.content
    assert "Old." not in played.note.content
    assert played.ways == {"Boat": "return"}
    assert (held := await now_held(house, memory)) is not None
    assert held.insertion is MemoryInsertion.NONE
    assert (waiting := await now_held(house, natural)) is not None
    assert waiting.insertion is NATURAL  # nothing else comes of its own in that turn
    assert await guidance.notes(MIRA) == []
    prompt = await prompt_of(house, session, played)
    assert prompt.index("The boat is mended.") < prompt.index("Back. The lighthouse!")


async def test_an_absence_alone_is_told_only_to_a_persona_with_a_sense_of_time(house: AppServices, session: ChatSession):
    await say(house, session, "Good night.")
    await back_in_time(house, session, timedelta(hours=5))
    assert (await say(house, session, "Back.")).note is None
    await change_persona(house, sense_of_time=True)
    await back_in_time(house, session, timedelta(hours=5))
    played = await say(house, session, "Again.")
    assert played.note is not None
    assert "about 5 hours ago" in played.note.content
    assert played.memory.recalled[0].way is RecallWay.RETURN


async def test_the_absence_counts_across_conversations(house: AppServices, session: ChatSession):
    await change_persona(house, sense_of_time=True)
    await spoke(house, session, "Good night.", before_now(days=3))
    fresh = await Chats(house._database).add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    played = await say(house, fresh, "Back.")
    assert played.note is not None
    assert "3 days ago" in played.note.content


@pytest.mark.parametrize("who", [MIRA, "tomas"])
async def test_without_guidance_nothing_is_told_and_nothing_lost(
    house: AppServices, session: ChatSession, guidance: ProactiveMemory, who: str
):
    await change_persona(house, who, disable_bot_guidance=True)
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    natural = await keep(house, insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=40))
    await spoke(house, session, "Good night.", before_now(days=1))
    assert (await say(house, session, "To the lighthouse!")).note is None
    assert len(await guidance.notes(MIRA)) == 1
    assert await now_held(house, natural) is not None


async def test_an_older_conversation_is_left_without_notes_unless_the_user_wishes(
    house: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    await spoke(house, session, "Good night.", before_now(days=1))
    later = now() + timedelta(seconds=1)
    await Chats(house._database).add_session(ChatSession(persona_id=MIRA, added=later))
    assert (await say(house, session, "Back.")).note is None
    await back_in_time(house, session, DAY)
    await house.preferences.set(guidance_latest_only=False)
    played = await say(house, session, "Back again.")
    assert played.note is not None
    assert played.note.content == "The boat is mended."


async def test_a_note_that_came_while_another_was_told_still_waits(
    house: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    first = UserReturnInsert(info="First.")
    await guidance.add_note(MIRA, first)
    await spoke(house, session, "Good night.", before_now(days=1))
    played = await say(house, session, "Back.")
    assert played.note is not None
    await guidance.add_note(MIRA, UserReturnInsert(info="Second."))
    assert [note.info for note in await guidance.notes(MIRA)] == ["Second."]


async def test_an_endless_note_is_told_in_short_and_its_memory_is_kept_whole(house: AppServices, session: ChatSession):
    book = "The keeper climbs the stairs. " * 20_000
    memory = await keep(house, book, insertion=MemoryInsertion.USER_RETURN)
    await spoke(house, session, "Good night.", before_now(days=1))
    played = await say(house, session, "Back.")
    assert played.note is not None
    assert len(played.note.content) < 7_000
    assert (held := await now_held(house, memory)) is not None
    assert held.content == book


async def test_notes_that_cannot_be_understood_count_as_none(house: AppServices, guidance: ProactiveMemory):
    await guidance._house.set("return notes", MIRA, {"no": "sense"})
    assert await guidance.notes(MIRA) == []


# What fades


@pytest.mark.parametrize("category", [MemoryType.GOAL, MemoryType.WEB_SEARCH, MemoryType.REMINDER])
async def test_what_was_not_used_for_long_fades_and_does_not_come_in_that_very_turn(
    house: AppServices, session: ChatSession, category: MemoryType
):
    def old(**fields: object) -> object:
        return keep(house, category=category, added=before_now(days=21), keywords_main=["lighthouse"], **fields)

    gone = await old(name="Gone")
    stays = [await old(name="Sticky", sticky=True), await old(name="Protected", protected=True)]
    stays.append(await old(name="Important", priority=2))
    stays.append(await old(name="Used", trigger_count=1, last_trigger=before_now(days=1)))
    stays.append(await keep(house, name="General", added=before_now(days=900)))
    played = await say(house, session, "To the lighthouse!")
    assert "Gone" not in played.ways
    assert await now_held(house, gone) is None
    assert all([await now_held(house, memory) for memory in stays])


async def test_what_kinds_fade_is_the_users_to_say(house: AppServices, session: ChatSession):
    await house.preferences.set(decaying_types=["person"])
    goal = await keep(house, name="Goal", category=MemoryType.GOAL, added=before_now(days=900))
    person = await keep(house, name="Person", category=MemoryType.PERSON, added=before_now(days=900))

    await say(house, session, "Good morning.")

    assert await now_held(house, goal) is not None
    assert await now_held(house, person) is None


async def test_what_merely_stays_does_not_live_longer_for_it(house: AppServices, session: ChatSession):
    memory = await keep(
        house, "The cormorant nests beneath the broken winch.", name="Cormorant", category=MemoryType.GOAL, duration=5
    )
    await say(house, session, "Where does the cormorant nest, near the broken winch?")
    before = await now_held(house, memory)
    assert before is not None
    assert (await say(house, session, "Good.")).ways == {"Cormorant": "active"}
    assert await now_held(house, memory) == before
    assert before.trigger_count == 1
