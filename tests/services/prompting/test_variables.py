"""Variables of macros: kept by conversation and for all of them, and changed once however often a prompt is built."""

from __future__ import annotations

import random

import pytest

from lethe_app.app import build
from lethe_app.services.prompting.turn_context import MAX_DISTANCE
from lethe_app.storage.chats.sessions import SHARED_VARIABLES, VARIABLES
from tests.services.turns import MIRA, Talk, before_now, change_persona, log, prompt_of, say

SETTINGS = {"recall_without_match": 0, "session_memory_system": False, "session_handling": "current_only"}
COUNTER = "Turn {{incvar::turn}} of {{incglobalvar::all}}."


async def test_a_counter_goes_on_with_every_turn_and_no_swipe(talk: Talk):
    await change_persona(talk.services, bio=COUNTER)
    first = await talk.say("Good evening.")
    second = await talk.say("And then?")

    again = await talk.regenerate(second.reply)

    assert "Turn 1 of 1." in await talk.prompt_of(first)
    assert "Turn 2 of 2." in await talk.prompt_of(again)
    third = await talk.say("Go on.")
    assert "Turn 3 of 3." in await talk.prompt_of(third)
    await talk.regenerate(first.reply)
    assert "Turn 1 of 1." in await talk.prompt_of(first)
    assert "Turn 4 of 4." in await talk.prompt_of(await talk.say("And now?"))


async def test_variables_survive_a_restart(talk: Talk):
    await change_persona(talk.services, bio=COUNTER)
    await talk.say("{{setvar::mood::calm}}Good evening.")
    await talk.services.close()
    services = await build(talk.services.paths, engine="echo")

    states = await services.session_state.values_of(talk.session.guid)

    assert [*states[VARIABLES].values()][-1]["local"] == {"mood": "calm", "turn": "1"}
    assert await services.app_state.get(*SHARED_VARIABLES) == {"all": "1"}
    await services.close()


async def test_another_conversation_has_its_own_and_shares_the_global_ones(talk: Talk):
    services = talk.services
    await change_persona(services, bio=COUNTER)
    first = await talk.say("Good evening.")
    other = await services.sessions.new(MIRA)

    outcome = await say(services, other, "Hello again.")
    await talk.regenerate(first.reply)  # after the other one has counted on

    assert "Turn 1 of 2." in await prompt_of(services, other, outcome)
    assert "Turn 1 of 1." in await talk.prompt_of(first)
    assert await services.app_state.get(*SHARED_VARIABLES) == {"all": "2"}


async def test_what_the_user_sets_counts_in_the_prompt_and_what_the_prompt_sets_in_the_next_message(talk: Talk):
    await change_persona(talk.services, bio="HP {{.hp}}.{{setvar::seen::yes}}", post_history_instructions="Seen: {{.seen}}.")

    outcome = await talk.say("{{.hp = 5}}I have {{.hp--}}{{getvar::seen}}.")
    await talk.say("Seen? {{getvar::seen}} {{lastCharMessage}} {{lastMessageId}}")

    prompt = await talk.prompt_of(outcome)
    assert "HP 4." in prompt
    assert "Seen: yes." in prompt
    assert [one.content for one in await talk.log() if one.role == "user"] == ["I have 4.", "Seen? yes “Aye.” 2"]


async def test_a_world_sets_and_reads_variables_and_its_keys_name_them(talk: Talk):
    entry = {"name": "Gate", "content": "The gate was opened {{incvar::gate}} times.", "keywords_main": ["{{getvar::word}}"]}
    talk.write_world("isles", {**entry, "category": "world_info"})
    await change_persona(talk.services, worlds=["isles"])

    before = await talk.say("Sesame?")
    await talk.say("{{setvar::word::sesame}}Now.")
    outcome = await talk.say("Sesame!")

    assert "The gate was opened" not in await talk.prompt_of(before)
    assert "The gate was opened 1 times." in await talk.prompt_of(outcome)


async def test_a_greeting_sets_its_variables_once_and_each_alternative_its_own(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(random, "choice", lambda options: next(iter(options)))
    services = talk.services
    greetings = ["{{foo}}Hello{{incvar::n}}.{{incglobalvar::met}}", "{{setvar::n::7}}Seven."]
    await change_persona(services, first_messages=greetings, bio="N is {{getvar::n}}.")
    await talk.say("Good evening.")
    session = await services.sessions.new(MIRA)
    (greeting,) = await log(services, session)

    outcome = await say(services, session, "Good evening.")
    assert greeting.content == "Hello1.1"
    assert "N is 1." in await prompt_of(services, session, outcome)
    await services.session_store.set_shown(greeting.id, 1)

    assert "N is 7." in await prompt_of(services, session, await say(services, session, "And now?"))
    assert await services.app_state.get(*SHARED_VARIABLES) == {"met": "1"}


async def test_variables_are_kept_over_a_long_conversation(talk: Talk):
    await talk.say("{{setvar::name::Ahab}}Good evening.")
    for number in range(4 * MAX_DISTANCE):
        await talk.spoke(f"Line {number}.", before_now())
        if number % MAX_DISTANCE == 0:
            await talk.say("And?")
    await change_persona(talk.services, bio="Name: {{getvar::name}}.")

    assert "Name: Ahab." in await talk.prompt_of(await talk.say("Who?"))


async def test_an_incognito_conversation_changes_no_shared_variable(talk: Talk):
    session = await talk.services.sessions.start_incognito(MIRA)

    await say(talk.services, session, "{{setglobalvar::a::1}}Hush.")

    assert await talk.services.app_state.get(*SHARED_VARIABLES) is None


async def test_a_value_with_macros_in_a_note_is_not_expanded_again(talk: Talk):
    user = await talk.services.library.persona("tomas")
    await talk.services.library.save_persona(user.model_copy(update={"name": "{{char}}"}))
    await talk.add_memory("Silent for {{idle_duration}}, {{user}}.", keywords_main=["there"])
    await change_persona(talk.services, post_history_instructions="Mind {{user}}.", depth_prompt="Note {{user}}.")

    prompt = await talk.prompt_of(await talk.say("Are you there?"))

    assert "Silent for a moment, {{char}}." in prompt
    assert "Mind {{char}}." in prompt
    assert "Note {{char}}." in prompt


async def test_a_condition_around_a_text_of_the_card_is_one_section(talk: Talk):
    text = "{{if scenario}}The scene: {{scenario}}{{else}}nowhere{{/if}}\n"
    text += "{{if personality}}{{personality}}{{/if}}\n{{description}}"
    await change_persona(talk.services, system_prompt=text, personality="Dry.", bio="A navigator.")

    prompt = await talk.prompt_of(await talk.say("Good evening."))

    assert "The scene: A harbour at night.\nDry.\nA navigator." in prompt
    assert prompt.count("Dry.") == 1
    assert prompt.count("A harbour at night.") == 1


async def test_entries_with_an_outlet_stand_where_a_macro_inserts_them_and_nowhere_else(talk: Talk):
    fields = {"category": "world_info", "outlet": "news"}
    entries = [
        {"name": "B", "content": "{{char}} heard B.", "keywords_main": ["news"], "order": 200, **fields},
        {"name": "A", "content": "A came.", "keywords_main": ["news"], "order": 100, "position_index": -1, **fields},
    ]
    talk.write_world("isles", *entries)
    text = "News: [{{outlet::news}}] {{outlet::none}}"
    await change_persona(talk.services, worlds=["isles"], post_history_instructions=text)

    prompt = await talk.prompt_of(await talk.say("Any news?"))

    assert "News: [A came.\nMira heard B.]" in prompt
    assert prompt.count("A came.") == 1
    assert prompt.count("heard B.") == 1
