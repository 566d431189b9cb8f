"""What she told stands in the conversation: it is not brought up once more while it does. Who is there is not asked for."""

from __future__ import annotations

from lethe_app.domain.recall import RecallWay
from tests.services.turns import (
    MIRA,
    NATURAL,
    Talk,
    prompt_of,
    say,
)

SETTINGS = {"recall_without_match": 0, "rotation_minutes": 0}

LAMP = {"insertion": NATURAL, "keywords_main": ["lighthouse"], "priority": 2}
DARK = "It is dark since May."


async def test_what_was_told_is_not_brought_up_again_while_it_stands_there(talk: Talk):
    await talk.add_memory(**LAMP)
    assert (await talk.say("To the lighthouse!")).note is not None
    for text in ("The lighthouse, I said.", "Is it dark since May?"):
        outcome = await talk.say(text)
        assert outcome.memory.recalled == []
        assert (await talk.prompt_of(outcome)).count(DARK) == 1


async def test_in_another_conversation_it_is_brought_up(talk: Talk):
    await talk.services.preferences.set(session_handling="current_only")
    await talk.add_memory(**LAMP)
    await talk.say("To the lighthouse!")
    other = await talk.services.sessions.new(MIRA)
    assert (await say(talk.services, other, "The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_in_another_conversation_before_which_the_first_one_stands_it_is_not(talk: Talk):
    services = talk.services
    await services.preferences.set(session_handling="fit_all")
    await talk.add_memory(**LAMP)
    await talk.say("To the lighthouse!")
    other = await services.sessions.new(MIRA)
    outcome = await say(services, other, "The lighthouse, I said.")
    assert (await prompt_of(services, other, outcome)).count(DARK) == 1


async def test_once_the_line_is_deleted_it_is_brought_up_again(talk: Talk):
    memory = await talk.add_memory(**LAMP)
    outcome = await talk.say("To the lighthouse!")
    await talk.services.message_editing.delete(talk.session.guid, outcome.asked.id)
    assert await talk.load_memory(memory) is not None
    assert (await talk.say("The lighthouse, I said.")).ways["The lamp"] == "keyword"


async def test_once_its_line_has_left_the_prompt_it_is_brought_up_again(talk: Talk):
    await talk.add_memory(**LAMP)
    await talk.say("To the lighthouse!")
    await talk.services.preferences.set(turn_cap=2)
    for _time in range(6):
        await talk.say("Good.")
    outcome = await talk.say("The lighthouse, I said.")
    assert outcome.ways["The lamp"] == "keyword"
    assert (await talk.prompt_of(outcome)).count(DARK) == 1


async def test_the_name_of_the_persona_recalls_nothing(talk: Talk):
    await talk.add_memory("Mira keeps the brass lantern of Tomas polished.", name="")
    for text in ("Mira, are you there?", "mira?", "It is Tomas, Mira."):
        assert (await talk.say(text)).memory.recalled == []
    outcome = await talk.say("Mira, is the brass lantern polished?")
    assert [one.way for one in outcome.memory.recalled] == [RecallWay.MEANING]
