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
from tests.services.turns import (
    DAY,
    FORCED,
    MIRA,
    NATURAL,
    add_memory,
    back_in_time,
    before_now,
    change_persona,
    load_memory,
    log,
    prompt_of,
    say,
    set_state,
    spoke,
)


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await services.preferences.set(recall_without_match=0, rotation_minutes=0)
    return await services.sessions.new(MIRA)


@pytest.fixture
def guidance(services: AppServices) -> ProactiveMemory:
    return services.proactive


async def let_half_an_hour_pass(services: AppServices, session: ChatSession, messages: int) -> None:
    value = {"messages": messages, "last_insert": before_now(minutes=31).isoformat()}
    await set_state(services, session, "pace", value)


# By its moment


async def test_of_several_the_one_whose_keyword_was_said_comes_and_no_more_than_one(
    services: AppServices, session: ChatSession
):
    await add_memory(services, "One.", name="One", insertion=NATURAL, keywords_main=["harbour"])
    await add_memory(services, "Two.", name="Two", insertion=NATURAL, keywords_main=["lighthouse"], priority=5)
    await add_memory(services, "Three.", name="Three", insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    outcome = await say(services, session, "To the lighthouse!")
    assert outcome.ways == {"Two": "natural"}
    assert sum(message.hidden for message in await log(services, session)) == 1
    assert (await say(services, session, "The lighthouse, I said.")).ways == {"Three": "natural"}


async def test_without_relevance_a_natural_memory_waits(services: AppServices, session: ChatSession):
    memory = await add_memory(services, insertion=NATURAL)
    await let_half_an_hour_pass(services, session, 50)
    assert (await say(services, session, "Good.")).note is None
    assert await load_memory(services, memory) is not None


async def test_a_forced_one_waits_for_messages_and_for_minutes(services: AppServices, session: ChatSession):
    await add_memory(services, "Bread.", name="Bread", insertion=FORCED)
    said = [(await say(services, session, text)).note for text in ("One.", "Two.", "Three.", "Four.", "Five.")]
    assert said == [None] * 5  # half an hour has not passed
    await let_half_an_hour_pass(services, session, 2)
    assert (await say(services, session, "Six.")).note is None
    outcome = await say(services, session, "Seven.")
    assert outcome.note is not None
    assert outcome.memory.recalled[0].way is RecallWay.FORCED
    await add_memory(services, "Fish.", name="Fish", insertion=FORCED)
    assert (await say(services, session, "Eight.")).note is None  # the count begins anew


async def test_asked_for_news_the_most_important_is_brought_up_at_any_time(services: AppServices, session: ChatSession):
    await add_memory(services, "Bread.", name="Bread", insertion=NATURAL)
    await add_memory(services, "Fish.", name="Fish", insertion=NATURAL, priority=4)
    outcome = await say(services, session, "Any news?")
    assert outcome.ways == {"Fish": "news"}
    assert outcome.note is not None
    assert "Fish." in outcome.note.content


@pytest.mark.parametrize("span", [timedelta(minutes=1), 3 * DAY])
async def test_a_waiting_memory_of_the_future_is_not_told(services: AppServices, session: ChatSession, span: timedelta):
    await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"], added=now() + span)
    assert (await say(services, session, "Any news of the lighthouse?")).note is None


async def test_an_old_one_is_no_longer_told_and_goes(services: AppServices, session: ChatSession):
    old = await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=16.1))
    kept = await add_memory(services, "K.", name="Kept", insertion=NATURAL, added=before_now(days=99), protected=True)
    assert (await say(services, session, "To the lighthouse!")).note is None
    assert await load_memory(services, old) is None
    assert await load_memory(services, kept) is not None


async def test_with_proactive_memories_off_nothing_is_brought_up(services: AppServices, session: ChatSession):
    await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"])
    await services.preferences.set(proactive_messages=False)
    assert (await say(services, session, "Any news of the lighthouse?")).note is None


async def test_unmarked_the_line_is_a_sentence(services: AppServices, session: ChatSession):
    await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    await services.preferences.set(tagged_events=False)
    outcome = await say(services, session, "To the lighthouse!")
    assert outcome.note is not None
    assert "SystemEvent" not in outcome.note.content
    assert "Mira" in outcome.note.content


async def test_research_of_least_urgency_stays_after_it_was_told(services: AppServices, session: ChatSession):
    memory = await add_memory(services, insertion=NATURAL, category=MemoryType.WEB_SEARCH, keywords_main=["lighthouse"])
    assert (await say(services, session, "To the lighthouse!")).note is not None
    assert (held := await load_memory(services, memory)) is not None
    assert held.insertion is MemoryInsertion.TRIGGER


# At a return


async def test_after_hours_away_the_day_and_what_waited_are_told_once(
    services: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    await change_persona(services, sense_of_time=True)
    memory = await add_memory(services, "The boat is mended.", insertion=MemoryInsertion.USER_RETURN, name="Boat")
    natural = await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"])
    await say(services, session, "Good night.")
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="Old."))
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="{{char}} read about tides."))
    assert (await say(services, session, "One more thing.")).note is None
    await back_in_time(services, session, timedelta(hours=24))
    outcome = await say(services, session, "Back. The lighthouse!")
    assert outcome.note is not None
    assert "Tomas last wrote yesterday." in outcome.note.content
    assert "The boat is mended." in outcome.note.content
    assert "Mira read about tides." in outcome.note.content
    assert "Old." not in outcome.note.content
    assert outcome.ways == {"Boat": "return"}
    assert (held := await load_memory(services, memory)) is not None
    assert held.insertion is MemoryInsertion.NONE
    assert (waiting := await load_memory(services, natural)) is not None
    assert waiting.insertion is NATURAL  # nothing else comes of its own in that turn
    assert await guidance.notes(MIRA) == []
    prompt = await prompt_of(services, session, outcome)
    assert prompt.index("The boat is mended.") < prompt.index("Back. The lighthouse!")


async def test_an_absence_alone_is_told_only_to_a_persona_with_a_sense_of_time(services: AppServices, session: ChatSession):
    await say(services, session, "Good night.")
    await back_in_time(services, session, timedelta(hours=5))
    assert (await say(services, session, "Back.")).note is None
    await change_persona(services, sense_of_time=True)
    await back_in_time(services, session, timedelta(hours=5))
    outcome = await say(services, session, "Again.")
    assert outcome.note is not None
    assert "about 5 hours ago" in outcome.note.content
    assert outcome.memory.recalled[0].way is RecallWay.RETURN


async def test_the_absence_counts_across_conversations(services: AppServices, session: ChatSession):
    await change_persona(services, sense_of_time=True)
    await spoke(services, session, "Good night.", before_now(days=3))
    fresh = await services.session_store.add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    outcome = await say(services, fresh, "Back.")
    assert outcome.note is not None
    assert "3 days ago" in outcome.note.content


@pytest.mark.parametrize("who", [MIRA, "tomas"])
async def test_without_guidance_nothing_is_told_and_nothing_lost(
    services: AppServices, session: ChatSession, guidance: ProactiveMemory, who: str
):
    await change_persona(services, who, disable_bot_guidance=True)
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    natural = await add_memory(services, insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=40))
    await spoke(services, session, "Good night.", before_now(days=1))
    assert (await say(services, session, "To the lighthouse!")).note is None
    assert len(await guidance.notes(MIRA)) == 1
    assert await load_memory(services, natural) is not None


async def test_an_older_conversation_is_left_without_notes_unless_the_user_asks(
    services: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    await spoke(services, session, "Good night.", before_now(days=1))
    later = now() + timedelta(seconds=1)
    await services.session_store.add_session(ChatSession(persona_id=MIRA, added=later))
    assert (await say(services, session, "Back.")).note is None
    await back_in_time(services, session, DAY)
    await services.preferences.set(guidance_latest_only=False)
    outcome = await say(services, session, "Back again.")
    assert outcome.note is not None
    assert outcome.note.content == "The boat is mended."


async def test_a_note_that_came_while_another_was_told_still_waits(
    services: AppServices, session: ChatSession, guidance: ProactiveMemory
):
    first = UserReturnInsert(info="First.")
    await guidance.add_note(MIRA, first)
    await spoke(services, session, "Good night.", before_now(days=1))
    outcome = await say(services, session, "Back.")
    assert outcome.note is not None
    await guidance.add_note(MIRA, UserReturnInsert(info="Second."))
    assert [note.info for note in await guidance.notes(MIRA)] == ["Second."]


async def test_an_endless_note_is_told_in_short_and_its_memory_is_kept_whole(services: AppServices, session: ChatSession):
    book = "The keeper climbs the stairs. " * 20_000
    memory = await add_memory(services, book, insertion=MemoryInsertion.USER_RETURN)
    await spoke(services, session, "Good night.", before_now(days=1))
    outcome = await say(services, session, "Back.")
    assert outcome.note is not None
    assert len(outcome.note.content) < 7_000
    assert (held := await load_memory(services, memory)) is not None
    assert held.content == book


async def test_notes_that_cannot_be_understood_count_as_none(services: AppServices, guidance: ProactiveMemory):
    await services.app_state.set("return notes", MIRA, {"no": "sense"})
    assert await guidance.notes(MIRA) == []


# What fades


@pytest.mark.parametrize("category", [MemoryType.GOAL, MemoryType.WEB_SEARCH, MemoryType.REMINDER])
async def test_what_was_not_used_for_long_fades_and_does_not_come_in_that_very_turn(
    services: AppServices, session: ChatSession, category: MemoryType
):
    def old(**fields: object) -> object:
        return add_memory(services, category=category, added=before_now(days=21), keywords_main=["lighthouse"], **fields)

    gone = await old(name="Gone")
    stays = [await old(name="Sticky", sticky=True), await old(name="Protected", protected=True)]
    stays.append(await old(name="Important", priority=2))
    stays.append(await old(name="Used", trigger_count=1, last_trigger=before_now(days=1)))
    stays.append(await add_memory(services, name="General", added=before_now(days=900)))
    outcome = await say(services, session, "To the lighthouse!")
    assert "Gone" not in outcome.ways
    assert await load_memory(services, gone) is None
    assert all([await load_memory(services, memory) for memory in stays])


async def test_what_kinds_fade_is_the_users_to_say(services: AppServices, session: ChatSession):
    await services.preferences.set(decaying_types=["person"])
    goal = await add_memory(services, name="Goal", category=MemoryType.GOAL, added=before_now(days=900))
    person = await add_memory(services, name="Person", category=MemoryType.PERSON, added=before_now(days=900))

    await say(services, session, "Good morning.")

    assert await load_memory(services, goal) is not None
    assert await load_memory(services, person) is None


async def test_what_merely_stays_does_not_live_longer_for_it(services: AppServices, session: ChatSession):
    memory = await add_memory(
        services, "The cormorant nests beneath the broken winch.", name="Cormorant", category=MemoryType.GOAL, duration=5
    )
    await say(services, session, "Where does the cormorant nest, near the broken winch?")
    before = await load_memory(services, memory)
    assert before is not None
    assert (await say(services, session, "Good.")).ways == {"Cormorant": "active"}
    assert await load_memory(services, memory) == before
    assert before.trigger_count == 1
