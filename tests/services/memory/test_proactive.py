"""What she brings up of her own accord: by its moment, by time, when asked, at a return, and what fades."""

from __future__ import annotations

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
    Talk,
    add_memory,
    before_now,
    change_persona,
    say,
)

SETTINGS = {"recall_without_match": 0, "rotation_minutes": 0}


@pytest.fixture
def guidance(services: AppServices) -> ProactiveMemory:
    return services.proactive


async def let_half_an_hour_pass(talk: Talk, messages: int) -> None:
    value = {"messages": messages, "last_insert": before_now(minutes=31).isoformat()}
    await talk.set_state("pace", value)


# By its moment


async def test_of_several_the_one_whose_keyword_was_said_comes_and_no_more_than_one(talk: Talk):
    await talk.add_memory("One.", name="One", insertion=NATURAL, keywords_main=["harbour"])
    await talk.add_memory("Two.", name="Two", insertion=NATURAL, keywords_main=["lighthouse"], priority=5)
    await talk.add_memory("Three.", name="Three", insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    outcome = await talk.say("To the lighthouse!")
    assert outcome.ways == {"Two": "natural"}
    assert sum(message.hidden for message in await talk.log()) == 1
    assert (await talk.say("The lighthouse, I said.")).ways == {"Three": "natural"}


async def test_without_relevance_a_natural_memory_waits(talk: Talk):
    memory = await talk.add_memory(insertion=NATURAL)
    await let_half_an_hour_pass(talk, 50)
    assert (await talk.say("Good.")).note is None
    assert await talk.load_memory(memory) is not None


async def test_a_forced_one_waits_for_messages_and_for_minutes(talk: Talk):
    await talk.add_memory("Bread.", name="Bread", insertion=FORCED)
    said = [(await talk.say(text)).note for text in ("One.", "Two.", "Three.", "Four.", "Five.")]
    assert said == [None] * 5  # half an hour has not passed
    await let_half_an_hour_pass(talk, 2)
    assert (await talk.say("Six.")).note is None
    outcome = await talk.say("Seven.")
    assert outcome.note is not None
    assert outcome.memory.recalled[0].way is RecallWay.FORCED
    await talk.add_memory("Fish.", name="Fish", insertion=FORCED)
    assert (await talk.say("Eight.")).note is None  # the count begins anew


async def test_asked_for_news_the_most_important_is_brought_up_at_any_time(talk: Talk):
    await talk.add_memory("Bread.", name="Bread", insertion=NATURAL)
    await talk.add_memory("Fish.", name="Fish", insertion=NATURAL, priority=4)
    outcome = await talk.say("Any news?")
    assert outcome.ways == {"Fish": "news"}
    assert "Fish." in outcome.note.content


@pytest.mark.parametrize("span", [timedelta(minutes=1), 3 * DAY])
async def test_a_waiting_memory_of_the_future_is_not_told(talk: Talk, span: timedelta):
    await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"], added=now() + span)
    assert (await talk.say("Any news of the lighthouse?")).note is None


async def test_an_old_one_is_no_longer_told_and_goes(talk: Talk):
    old = await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=16.1))
    kept = await talk.add_memory("K.", name="Kept", insertion=NATURAL, added=before_now(days=99), protected=True)
    assert (await talk.say("To the lighthouse!")).note is None
    assert await talk.load_memory(old) is None
    assert await talk.load_memory(kept) is not None


async def test_with_proactive_memories_off_nothing_is_brought_up(talk: Talk):
    await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"])
    await talk.services.preferences.set(proactive_messages=False)
    assert (await talk.say("Any news of the lighthouse?")).note is None


async def test_unmarked_the_line_is_a_sentence(talk: Talk):
    await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"], priority=2)
    await talk.services.preferences.set(tagged_events=False)
    outcome = await talk.say("To the lighthouse!")
    assert "SystemEvent" not in outcome.note.content
    assert "Mira" in outcome.note.content


async def test_research_of_least_urgency_stays_after_it_was_told(talk: Talk):
    memory = await talk.add_memory(insertion=NATURAL, category=MemoryType.WEB_SEARCH, keywords_main=["lighthouse"])
    assert (await talk.say("To the lighthouse!")).note is not None
    assert (held := await talk.load_memory(memory)) is not None
    assert held.insertion is MemoryInsertion.TRIGGER


# At a return


async def test_after_hours_away_the_day_and_what_waited_are_told_once(talk: Talk, guidance: ProactiveMemory):
    services = talk.services
    await change_persona(services, sense_of_time=True)
    memory = await talk.add_memory("The boat is mended.", insertion=MemoryInsertion.USER_RETURN, name="Boat")
    natural = await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"])
    await talk.say("Good night.")
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="Old."))
    await guidance.add_note(MIRA, UserReturnInsert(uid="research", info="{{char}} read about tides."))
    assert (await talk.say("One more thing.")).note is None
    await talk.back_in_time(timedelta(hours=24))
    outcome = await talk.say("Back. The lighthouse!")
    assert "Tomas last wrote yesterday." in outcome.note.content
    assert "The boat is mended." in outcome.note.content
    assert "Mira read about tides." in outcome.note.content
    assert "Old." not in outcome.note.content
    assert outcome.ways == {"Boat": "return"}
    assert (held := await talk.load_memory(memory)) is not None
    assert held.insertion is MemoryInsertion.NONE
    assert (waiting := await talk.load_memory(natural)) is not None
    assert waiting.insertion is NATURAL  # nothing else comes of its own in that turn
    assert await guidance.notes(MIRA) == []
    prompt = await talk.prompt_of(outcome)
    assert prompt.index("The boat is mended.") < prompt.index("Back. The lighthouse!")


async def test_an_absence_alone_is_told_only_to_a_persona_with_a_sense_of_time(talk: Talk):
    await talk.say("Good night.")
    await talk.back_in_time(timedelta(hours=5))
    assert (await talk.say("Back.")).note is None
    await change_persona(talk.services, sense_of_time=True)
    await talk.back_in_time(timedelta(hours=5))
    outcome = await talk.say("Again.")
    assert "about 5 hours ago" in outcome.note.content
    assert outcome.memory.recalled[0].way is RecallWay.RETURN


async def test_the_absence_counts_across_conversations(talk: Talk):
    await change_persona(talk.services, sense_of_time=True)
    await talk.spoke("Good night.", before_now(days=3))
    fresh = await talk.services.session_store.add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    outcome = await say(talk.services, fresh, "Back.")
    assert "3 days ago" in outcome.note.content


@pytest.mark.parametrize("who", [MIRA, "tomas"])
async def test_without_guidance_nothing_is_told_and_nothing_lost(talk: Talk, guidance: ProactiveMemory, who: str):
    await change_persona(talk.services, who, disable_bot_guidance=True)
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    natural = await talk.add_memory(insertion=NATURAL, keywords_main=["lighthouse"], added=before_now(days=40))
    await talk.spoke("Good night.", before_now(days=1))
    assert (await talk.say("To the lighthouse!")).note is None
    assert len(await guidance.notes(MIRA)) == 1
    assert await talk.load_memory(natural) is not None


async def test_an_older_conversation_is_left_without_notes_unless_the_user_asks(talk: Talk, guidance: ProactiveMemory):
    await guidance.add_note(MIRA, UserReturnInsert(info="The boat is mended."))
    await talk.spoke("Good night.", before_now(days=1))
    later = now() + timedelta(seconds=1)
    await talk.services.session_store.add_session(ChatSession(persona_id=MIRA, added=later))
    assert (await talk.say("Back.")).note is None
    await talk.back_in_time(DAY)
    await talk.services.preferences.set(guidance_latest_only=False)
    outcome = await talk.say("Back again.")
    assert outcome.note.content == "The boat is mended."


# What fades


@pytest.mark.parametrize("category", [MemoryType.GOAL, MemoryType.WEB_SEARCH, MemoryType.REMINDER])
async def test_what_was_not_used_for_long_fades_and_does_not_come_in_that_very_turn(talk: Talk, category: MemoryType):
    def old(**fields: object) -> object:
        return talk.add_memory(category=category, added=before_now(days=21), keywords_main=["lighthouse"], **fields)

    gone = await old(name="Gone")
    stays = [await old(name="Sticky", sticky=True), await old(name="Protected", protected=True)]
    stays.append(await old(name="Important", priority=2))
    stays.append(await old(name="Used", trigger_count=1, last_trigger=before_now(days=1)))
    stays.append(await talk.add_memory(name="General", added=before_now(days=900)))
    outcome = await talk.say("To the lighthouse!")
    assert "Gone" not in outcome.ways
    assert await talk.load_memory(gone) is None
    assert all([await talk.load_memory(memory) for memory in stays])


async def test_what_kinds_fade_is_the_users_to_say(talk: Talk):
    services = talk.services
    await services.preferences.set(decaying_types=["person"])
    goal = await talk.add_memory(name="Goal", category=MemoryType.GOAL, added=before_now(days=900))
    person = await talk.add_memory(name="Person", category=MemoryType.PERSON, added=before_now(days=900))

    await talk.say("Good morning.")

    assert await talk.load_memory(goal) is not None
    assert await talk.load_memory(person) is None


async def test_what_merely_stays_does_not_live_longer_for_it(talk: Talk):
    memory = await add_memory(
        talk.services, "The cormorant nests beneath the broken winch.", name="Cormorant", category=MemoryType.GOAL, duration=5
    )
    await talk.say("Where does the cormorant nest, near the broken winch?")
    before = await talk.load_memory(memory)
    assert (await talk.say("Good.")).ways == {"Cormorant": "active"}
    assert await talk.load_memory(memory) == before
    assert before.trigger_count == 1
