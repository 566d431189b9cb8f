"""What was said at a time is brought up when that time is asked for, and nothing of another day with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import use_clock
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import RecallWay, TurnMemory
from tests.services.past_sessions import chats_of, hold
from tests.services.turns import MIRA, TurnOutcome, prompt_of, say

NOW = datetime(2026, 11, 20, 19, 30).astimezone()  # a Friday
TALKS = {
    "2026-05-02 21:00": ("The bicycle", "My bike was stolen.", "The green one?", "Yes, the green one."),
    "2026-05-29 23:30": ("A late film", "That film was long.", "It is past midnight.", "So it is."),
    "2026-11-10 18:00": ("Porto", "I want to see Porto.", "In spring?", "My sister lives there."),
    "2026-11-19 20:00": ("The offer", "They offered me the post.", "Will you take it?", "I think so."),
}


@pytest.fixture
async def talks(services: AppServices, says: Callable[..., object]) -> AsyncIterator[dict[str, ChatSession]]:
    """Four conversations of half a year, a minute from line to line, and nothing that comes to mind by itself."""
    await says(*["“Aye.”"] * 20)
    await services.preferences.set(recall_without_match=0, session_memory_system=False, session_handling="current_only")
    with use_clock(lambda: NOW):
        held = {}
        for began, (title, *lines) in TALKS.items():
            session = await hold(services, *lines, at=datetime.fromisoformat(began).astimezone())
            held[title] = await chats_of(services).change_session(session.guid, name=title, archived=True)
        await services.indexing.index_changes()
        yield held


async def asked(services: AppServices, text: str) -> TurnOutcome:
    return await say(services, await services.sessions.new(MIRA), text)


async def shown(services: AppServices, outcome: TurnOutcome) -> str:
    """The prompt of that turn."""
    return await prompt_of(services, await services.sessions.open(outcome.reply.session_id), outcome)


def titles(memory: TurnMemory) -> list[str]:
    return [one.title for one in memory.recalled if one.category is MemoryType.CHAT_SESSION]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What did we talk about on May 2nd?", "The bicycle"),
        ("What did I say yesterday?", "The offer"),
        ("what did we talk about last week", "Porto"),
        ("Do you remember our first conversation?", "The bicycle"),
        ("Do you recall when we first met?", "The bicycle"),
        ("What did we talk about last time?", "The offer"),
        ("What did I tell you the time before last?", "Porto"),
        ("How was I on May 29th?", "A late film"),
        ("When did we last talk about Porto?", "Porto"),
    ],
)
async def test_the_conversation_of_that_time_comes_with_its_date(
    services: AppServices, talks: dict[str, ChatSession], text: str, title: str
):
    outcome = await asked(services, text)

    assert titles(outcome.memory) == [title]
    assert outcome.memory.recalled[0].way is RecallWay.TIME
    assert f"**{title}** ({talks[title].added:%A, %B}" in await shown(services, outcome)


async def test_what_goes_on_past_midnight_belongs_to_the_evening(services: AppServices, talks: dict[str, ChatSession]):
    late = await hold(services, "One more thing.", session=talks["A late film"], at=datetime(2026, 5, 30, 0, 20).astimezone())

    evening = await asked(services, "What did we talk about on May 29th?")
    morning = await asked(services, "What did we talk about on May 30th?")

    assert titles(evening.memory) == [late.name]
    assert titles(morning.memory) == []
    assert morning.memory.remark == "There was no conversation on Saturday, May 30th, 2026."


async def test_the_prompt_says_that_nothing_was_said_on_a_day(services: AppServices, talks: dict[str, ChatSession]):
    outcome = await asked(services, "What did we talk about on May 3rd?")

    assert titles(outcome.memory) == []
    assert "There was no conversation on Sunday, May 3rd, 2026." in await shown(services, outcome)


async def test_of_a_conversation_that_went_on_for_days_only_the_day_is_told(
    services: AppServices, talks: dict[str, ChatSession]
):
    await hold(services, "I found mushrooms.", session=talks["Porto"], at=datetime(2026, 11, 17, 12, 0).astimezone())

    outcome = await asked(services, "What did I tell you on November 17th?")

    assert titles(outcome.memory) == ["Porto"]
    assert "mushrooms" in outcome.memory.recalled[0].text
    assert "sister" not in outcome.memory.recalled[0].text


async def test_the_present_conversation_is_no_day_without_one(services: AppServices, talks: dict[str, ChatSession]):
    session = await services.sessions.new(MIRA)
    await say(services, session, "I overslept.")

    outcome = await say(services, session, "What did I tell you this morning?")

    assert (titles(outcome.memory), outcome.memory.remark) == ([], "")


async def test_with_more_conversations_than_there_is_room_for_the_others_are_named(
    services: AppServices, talks: dict[str, ChatSession]
):
    await services.preferences.set(rag_entries=1)

    outcome = await asked(services, "What did we talk about in May?")

    assert titles(outcome.memory) == ["A late film"]
    assert outcome.memory.remark == "Other conversations of that time: “The bicycle” (May 2nd, 2026)."


async def test_a_search_leads_to_that_time_as_well(services: AppServices, talks: dict[str, ChatSession]):
    found = await services.memory_lookup.search(MIRA, "What did we talk about on May 2nd?")

    assert found[0].memory == talks["The bicycle"].guid
