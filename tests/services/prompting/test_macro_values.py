"""Macros that are looked up: a memory by its title, and how long the user was silent."""

from __future__ import annotations

from datetime import timedelta

from lethe_app.domain.chat import ChatSession
from tests.services.turns import (
    MIRA,
    Talk,
    before_now,
    change_persona,
    prompt_of,
    say,
)

SETTINGS = {"recall_without_match": 0, "session_memory_system": False, "session_handling": "current_only"}


async def test_a_memory_stands_where_a_part_of_its_title_is_named(talk: Talk):
    await talk.add_memory("It is dark since May.", name="The lamp of Velm")
    await change_persona(talk.services, bio="{{char}} knows this: {{memory:lamp}}")

    prompt = await talk.prompt_of(await talk.say("Good evening."))

    assert "Mira knows this: It is dark since May." in prompt


async def test_an_earlier_conversation_and_an_entry_of_a_world_are_named_in_the_same_way(talk: Talk):
    fields = {"name": "The storm", "content": "The mast broke.", "archived": True}
    await talk.services.session_store.add_session(ChatSession(persona_id=MIRA, added=before_now(days=3), **fields))
    talk.write_world("isles", {"name": "Harbour law", "content": "No whistling.", "category": "world_info"})
    await change_persona(talk.services, bio="{{memory:the storm}} {{memory:Harbour}} {{memory:nothing}}", worlds=["isles"])

    prompt = await talk.prompt_of(await talk.say("Good evening."))

    assert "The mast broke. No whistling. {{memory:nothing}}" in prompt


async def test_the_oldest_of_several_stands_there_so_that_a_new_one_changes_no_prompt(talk: Talk):
    await talk.add_memory("It is dark.", name="The lamp", added=before_now(days=2))
    await change_persona(talk.services, bio="{{memory:lamp}}")
    before = await talk.prompt_of(await talk.say("Good evening."))

    await talk.add_memory("It is lit.", name="The other lamp")

    assert "It is dark." in before
    assert "It is dark." in await talk.prompt_of(await talk.say("Good night."))


async def test_the_silence_in_a_memory_is_that_before_the_message_which_is_answered(talk: Talk):
    await talk.add_memory("Silent for {{idle_duration}}.", keywords_main=["there"])
    await talk.say("Good evening.")
    await talk.back_in_time(timedelta(hours=3))

    outcome = await talk.say("Are you still there?")

    assert "Silent for 3 hours." in await talk.prompt_of(outcome)


async def test_the_silence_reaches_back_into_earlier_conversations(talk: Talk):
    services = talk.services
    await talk.say("Good evening.")
    await talk.back_in_time(timedelta(days=2))
    later = await services.sessions.new(MIRA)
    await change_persona(services, bio="Silent for {{idle_duration}}.")

    first, second = await say(services, later, "Good evening."), await say(services, later, "I am back.")

    assert "Silent for 2 days." in await prompt_of(services, later, first)
    assert "Silent for 2 days." in await prompt_of(services, later, second)  # the system prompt stays as it began


async def test_what_the_user_writes_is_filled_in_when_it_is_said(talk: Talk):
    await talk.add_memory("It is dark since May.", name="The lamp")
    await talk.spoke("Good evening.", before_now(hours=5))

    await talk.say("I was away for {{idle_duration}}. {{memory:lamp}}")

    assert "I was away for 5 hours. It is dark since May." in [one.content for one in await talk.log()]
