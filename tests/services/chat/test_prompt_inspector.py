"""Every reply can be asked what its prompt was, what it cost and why; what was forgotten is in none of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import PromptLayout
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SystemPreset
from lethe_app.domain.prompt import CacheMiss, CutReason, PromptPart, PromptSpan
from lethe_app.errors import PromptTooLong
from lethe_app.services.chat.prompt_inspector import MissingText, PromptInspection
from lethe_app.services.events import PromptBuilt, ReplyFinished, ReplyText
from tests.services.turns import MIRA, Talk, change_persona, prompt_of, say, write_world

Says = Callable[..., object]


@pytest.fixture
async def session(services: AppServices) -> ChatSession:
    await services.preferences.set(read_ahead=False)
    return await services.sessions.new(MIRA)


async def inspected(services: AppServices, session: ChatSession, text: str) -> PromptInspection:
    outcome = await say(services, session, text)
    found = await services.prompt_inspector.prompt_of(outcome.reply.id)
    assert found is not None
    return found


def text_of(spans: tuple[PromptSpan, ...], *parts: PromptPart) -> str:
    return "".join(span.text for span in spans if not parts or span.part in parts)


async def test_the_prompt_of_a_reply_is_there_word_for_word_with_its_receipt(talk: Talk):
    await talk.says("Aye.")
    outcome = await talk.say("Is the lamp lit?")

    found = await talk.services.prompt_inspector.prompt_of(outcome.reply.id)

    finished = next(event for event in outcome.events if isinstance(event, ReplyFinished))
    assert text_of(found.spans) == await talk.prompt_of(outcome)
    assert text_of(found.spans, PromptPart.MESSAGE) == "Is the lamp lit?"
    assert "navigator of the Petrel" in text_of(found.spans, PromptPart.PERSONA)
    assert found.receipt == next(event.receipt for event in outcome.events if isinstance(event, PromptBuilt))
    assert (found.cost.evaluated, found.cost.reused) == (finished.usage.evaluated_tokens, finished.usage.reused_tokens)
    assert not found.cost.compared
    assert found.previous == ()


async def test_greetings_and_what_people_say_have_no_prompt(talk: Talk):
    await talk.says("Aye.")
    await talk.say("Is the lamp lit?")
    greeting, asked, _reply = await talk.log()

    assert await talk.services.prompt_inspector.prompt_of(greeting.id) is None
    assert await talk.services.prompt_inspector.prompt_of(asked.id) is None
    assert await talk.services.prompt_inspector.prompt_of(talk.session.guid) is None


async def test_a_plain_turn_costs_nothing_twice(talk: Talk):
    await talk.says("Aye.", "No.")
    await inspected(talk.services, talk.session, "Is the lamp lit?")

    found = await inspected(talk.services, talk.session, "Are you sure?")

    assert found.cost.again == 0
    assert found.cost.reason is None


async def test_an_entry_in_the_system_prompt_has_its_price_in_the_receipt(talk: Talk):
    tide = {"name": "Tide", "content": "The sea breathes once in nineteen days.", "keywords_main": ["tide"]}
    talk.write_world("sea", {**tide, "position_index": -1})
    await talk.services.preferences.set(global_worlds=["sea"], cache_surgery=False)
    await talk.says("Aye, since four, and it will burn until the oil is gone. " * 3, "It is high.")
    await inspected(talk.services, talk.session, "Is the lamp lit?")

    found = await inspected(talk.services, talk.session, "How is the tide?")

    assert "nineteen days" in text_of(found.spans, PromptPart.WORLD)
    assert found.cost.again > 16
    assert found.cost.reason is CacheMiss.WORLD


@pytest.mark.parametrize("layout", PromptLayout)
async def test_what_the_layout_costs_is_told_and_the_late_one_costs_least(talk: Talk, layout: PromptLayout):
    lamp = {"content": "The lamp burns whale oil, and it smokes.", "keywords_main": ["lamp"], "position_index": 0}
    write_world(
        talk.services, "isle", {"name": "Lamp", **lamp}, {"name": "Boat", "content": "Green.", "keywords_main": ["boat"]}
    )
    await talk.services.preferences.set(global_worlds=["isle"], layout=layout, cache_surgery=False, session_notes=False)
    await talk.says("I have been waiting for you since the bells rang, and it is cold. " * 4, *["Aye."] * 3)
    for text in ("Hello.", "Is the lamp lit?"):
        await inspected(talk.services, talk.session, text)

    found = await inspected(talk.services, talk.session, "Where is the boat?")

    assert found.cost is not None
    assert "lamp burns" in text_of(found.previous, PromptPart.MEMORIES)
    assert found.receipt.layout is layout
    if layout is PromptLayout.SYSTEM:
        assert found.cost.reason is CacheMiss.MEMORIES_IN_SYSTEM
        assert found.cost.again > 40
    else:
        assert found.cost.again < 40


async def test_another_conversation_in_between_is_named(talk: Talk):
    services = talk.services
    await talk.says(*["And so on and so forth, until the morning came and the lamp went out."] * 3)
    await change_persona(services, name="mira-test", bio="{{char}} tells stories. " * 20)
    await inspected(services, talk.session, "Tell me of the lamp.")
    edda = await services.library.save_persona(Persona(name="Edda", bio="Quite another one."))
    await inspected(services, await services.sessions.new(edda.unique_name), "Who are you?")

    found = await inspected(services, talk.session, "And then?")

    assert found.cost.again > 40
    assert found.cost.reason is CacheMiss.ELSEWHERE


async def test_every_wording_has_its_own_prompt(talk: Talk):
    services = talk.services
    await talk.says("Aye.", "No.")
    outcome = await talk.say("Is the lamp lit?")
    first = await services.prompt_inspector.prompt_of(outcome.reply.id)
    await change_persona(services, bio="{{char}} has become a baker.")
    async with aclosing(services.chat.regenerate(talk.session.guid, outcome.reply.id)) as events:
        _all = [event async for event in events]

    second = await services.prompt_inspector.prompt_of(outcome.reply.id)
    await services.message_editing.show_alternative(outcome.reply.id, 0)

    assert first is not None
    assert "baker" in text_of(second.spans)
    assert (second.cost.reason, second.cost.part) == (CacheMiss.PART, "persona")
    assert await services.prompt_inspector.prompt_of(outcome.reply.id) == first


async def test_a_reply_that_was_stopped_has_a_prompt_and_no_cost(talk: Talk):
    await talk.says("word " * 200, delay=0.01)
    async with aclosing(talk.services.chat.send(talk.session.guid, "Go on.")) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                break
    reply = (await talk.log())[-1]

    found = await talk.services.prompt_inspector.prompt_of(reply.id)

    assert found.cost is None
    assert text_of(found.spans, PromptPart.MESSAGE) == "Go on."


async def test_a_forgotten_memory_is_in_no_kept_prompt(talk: Talk):
    services = talk.services
    secret = await talk.add_memory("Tomas hid the key under the stone.", keywords_main=["key"])
    await talk.says("Under the stone.", "I do not know.")
    reported = await talk.say("Where is the key?")
    before = await services.prompt_inspector.prompt_of(reported.reply.id)
    await services.memory.forget_memory(secret.guid)

    after = await services.prompt_inspector.prompt_of(reported.reply.id)

    assert "hid the key" in text_of(before.spans)
    assert (after.spans, after.receipt) == ((), before.receipt)
    assert "hid the key" not in text_of((await inspected(services, talk.session, "Where is it?")).spans)


async def test_what_is_forgotten_while_a_reply_streams_is_not_kept_with_it(talk: Talk):
    secret = await talk.add_memory("Tomas hid the key under the stone.", keywords_main=["key"])
    await talk.says("word " * 30, delay=0.005)
    forgotten = False
    async with aclosing(talk.services.chat.send(talk.session.guid, "Where is the key?")) as events:
        async for event in events:
            if isinstance(event, ReplyText) and not forgotten:
                forgotten = True
                await talk.services.memory.forget_memory(secret.guid)

    found = await talk.services.prompt_inspector.prompt_of((await talk.log())[-1].id)

    assert found.spans == ()
    assert found.cost is not None


async def test_an_edited_message_is_kept_in_no_prompt_as_it_was(talk: Talk):
    await talk.says("Aye.", "No.")
    outcome = await talk.say("My number is 4711.")
    await talk.services.message_editing.edit(outcome.asked.id, "My number is mine.")

    found = await talk.services.prompt_inspector.prompt_of(outcome.reply.id)
    later = await inspected(talk.services, talk.session, "Well?")

    assert found.spans == ()
    assert "4711" not in text_of(later.spans) + text_of(later.previous)


async def test_a_missing_prompt_text_has_one_reason(talk: Talk):
    services = talk.services

    async def reason_of(outcome) -> MissingText | None:
        found = await services.prompt_inspector.prompt_of(outcome.reply.id)
        assert (found.missing_text is None) == bool(found.spans)
        return found.missing_text

    await talk.says(*["Aye."] * 4)
    first = await talk.say("My number is 4711.")
    assert await reason_of(first) is None
    await services.message_editing.edit(first.asked.id, "My number is mine.")
    assert await reason_of(first) is MissingText.OUTDATED

    await services.preferences.set(keep_retrieved_context=False)
    second = await talk.say("Is the lamp lit?")
    assert await reason_of(second) is await reason_of(first) is MissingText.SETTING_OFF
    await services.preferences.set(keep_retrieved_context=True)
    assert await reason_of(second) is MissingText.SETTING_WAS_OFF
    assert await reason_of(first) is MissingText.OUTDATED

    incognito = await services.sessions.start_incognito(MIRA)
    assert await reason_of(await say(services, incognito, "Nobody hears this.")) is MissingText.INCOGNITO


async def test_earlier_conversations_are_sections_with_their_titles(talk: Talk):
    await talk.says("Since four.", "Aye.")
    await inspected(talk.services, talk.session, "Is the lamp lit?")
    await talk.services.sessions.rename(talk.session.guid, "The lamp")
    later = await talk.services.sessions.new(MIRA)

    found = await inspected(talk.services, later, "And the bell?")

    (earlier,) = [share for share in found.receipt.shares if share.part is PromptPart.EARLIER]
    assert earlier.session == str(talk.session.guid)
    assert found.session_titles == {earlier.session: "The lamp"}
    assert "Is the lamp lit?" in text_of(found.spans, PromptPart.EARLIER)
    assert "Is the lamp lit?" not in text_of(found.spans, PromptPart.HISTORY)
    assert {span.session for span in found.spans if span.part is PromptPart.EARLIER} == {earlier.session}


async def test_messages_told_in_a_summary_are_told_of_in_the_receipt(talk: Talk):
    await talk.services.preferences.set(context=1024, max_reply=64)
    await talk.says(*("and so on " * 10 for _turn in range(30)))
    found = [await inspected(talk.services, talk.session, f"number {turn} " + "tell me more " * 8) for turn in range(20)]

    (history,) = [share for share in found[-1].receipt.shares if share.part is PromptPart.HISTORY]
    assert CutReason.SUMMARISED in {cut.kind for cut in history.cuts}
    assert not any(share.cuts for share in found[0].receipt.shares)
    told_before = [text_of(one.spans, PromptPart.SUMMARIES) for one in found]
    cuts = [one for one, (before, reported) in zip(found[1:], pairwise(told_before), strict=True) if before != reported]
    assert len(cuts) == 2
    assert {cut.cost.reason for cut in cuts if cut.cost is not None} == {CacheMiss.MESSAGES_LEFT}


async def test_parts_that_cannot_fit_are_named_with_their_sizes(talk: Talk):
    await talk.services.preferences.set(context=1024, max_reply=64)
    await talk.says("Aye.")
    await change_persona(talk.services, bio="{{char}} tells stories. " * 400)

    with pytest.raises(PromptTooLong, match=r"needs \d+ tokens .* 1024 are free beside the 64 .*\(persona \d{4}, ") as caught:
        await talk.say("Hello?")

    assert caught.value.remedy.startswith("Shorten the persona")
    assert (await talk.log())[-1].content == "Hello?"


async def test_a_draft_shows_its_prompt_its_sizes_and_what_nobody_knows(services: AppServices):
    draft = Persona(
        name="Ines",
        bio="{{char}} mends nets for {{user}}. {{favourite_dish}}",
        scenario="A quay.",
        first_messages=["Hello, {{user}}.", "", "{{weather}} again, and {{weather}} tomorrow."],
        example_dialogs=["Never more than four words."],
    )

    shown = await services.prompt_inspector.preview(draft)

    assert "Ines mends nets for Tomas. {{favourite_dish}}" in text_of(shown.spans, PromptPart.PERSONA)
    assert "Tomas is the captain." in text_of(shown.spans, PromptPart.USER)
    assert "A quay." in text_of(shown.spans, PromptPart.SCENARIO)
    assert "Never more than" in text_of(shown.spans, PromptPart.STYLE)
    assert shown.text == text_of(shown.spans)
    assert list(shown.fields) == ["name", "bio", "scenario", "first_messages", "example_dialogs"]
    assert shown.fields["bio"].unknown == ("favourite_dish",)
    assert shown.fields["first_messages"].unknown == ("weather",)
    assert len(shown.fields["first_messages"].pieces) == 2
    assert shown.tokens > shown.fields["bio"].tokens > shown.fields["name"].tokens > 0
    assert [persona.name for persona in await services.library.personas()].count("Ines") <= 1


async def test_a_draft_is_shown_in_the_format_and_with_the_instructions_of_the_loaded_model(services: AppServices, says: Says):
    await says("Aye.")
    await services.preferences.set(recall_without_match=0)
    draft = (await services.library.persona(MIRA)).model_copy(update={"first_messages": ["“You are late, {{user}}.”"]})
    await services.library.save_persona(draft)

    shown = await services.prompt_inspector.preview(draft)
    session = await services.sessions.new(MIRA)
    outcome = await say(services, session, "…")

    assert shown.text == await prompt_of(services, session, outcome)
    receipt = next(event.receipt for event in outcome.events if isinstance(event, PromptBuilt))
    assert (shown.model, shown.template) == (outcome.reply.current.model, receipt.template_source)
    assert "“You are late, Tomas.”" in text_of(shown.spans, PromptPart.HISTORY)
    assert text_of(shown.spans, PromptPart.TEMPLATE)


async def test_a_draft_too_long_for_the_model_is_shown_whole(services: AppServices, says: Says):
    await services.preferences.set(context=1024, max_reply=64)
    await says("Aye.")

    shown = await services.prompt_inspector.preview(Persona(name="Ines", bio="{{char}} mends nets for the fleet. " * 400))

    assert shown.model
    assert text_of(shown.spans, PromptPart.PERSONA).count("Ines mends nets") == 400
    assert shown.tokens > 1024


async def test_without_a_model_a_draft_is_shown_as_plain_text(services: AppServices):
    shown = await services.prompt_inspector.preview(Persona(name="Ines", bio="{{char}} mends nets."))

    assert (shown.model, shown.template) == ("", "")
    assert not text_of(shown.spans, PromptPart.TEMPLATE)
    assert "Ines mends nets." in shown.text


async def test_a_draft_of_the_users_own_self_is_seen_from_the_other_side(services: AppServices):
    shown = await services.prompt_inspector.preview(Persona(name="Kit", is_user=True, bio="{{user}} never sleeps."))

    assert "Kit never sleeps." in text_of(shown.spans, PromptPart.USER)


async def test_a_draft_speaks_with_a_guest_where_the_user_is_nobody_in_particular(services: AppServices):
    await services.preferences.set(user_persona="")
    shown = await services.prompt_inspector.preview(Persona(name="Ada", bio="{{char}} waits for {{user}}."))

    assert "Ada waits for Guest." in shown.text


async def test_a_draft_with_its_own_system_prompt_is_shown_with_it(services: AppServices):
    shown = await services.prompt_inspector.preview(
        Persona(name="Ines", bio="Mends.", system_prompt="Be {{char}}. {{mood_of_day}}")
    )

    assert text_of(shown.spans, PromptPart.SYSTEM).startswith("Be Ines. {{mood_of_day}}")
    assert shown.fields["system_prompt"].unknown == ("mood_of_day",)


async def test_a_format_is_shown_as_it_would_be_sent(services: AppServices):
    preset = InstructPreset(
        name="x", system_start="<S>", system_end="</S>", user_start="<U>", user_end="</U>", bot_start="<B>", bot_end="</B>"
    )

    shown = await services.prompt_inspector.render(preset)

    assert shown.text.startswith("<S>")
    assert "</S><U>Is the lamp lit?</U><B>Since four. Come in.</B><S>" in shown.text
    assert shown.text.endswith("<U>You saw it first, then.</U><B>")
    assert text_of(shown.spans, PromptPart.HISTORY) == "Is the lamp lit?Since four. Come in."
    assert shown.tokens > 10


async def test_every_shipped_format_and_system_prompt_can_be_shown(services: AppServices):
    presets = [*(await services.library.instruct_presets()).values(), *(await services.library.system_presets()).values()]

    for preset in presets:
        shown = await services.prompt_inspector.render(preset)
        assert "Ada keeps the lighthouse of Velm." in shown.text


async def test_a_system_prompt_is_shown_with_every_section_it_has_a_title_for(services: AppServices):
    titles = {"core_facts_title": "Known", "scenario_title": "Here", "memories_title": "Kept by {{char}}"}
    preset = SystemPreset(name="x", prompt="Be {{char}}.", **titles)

    shown = await services.prompt_inspector.render(preset)

    assert shown.text.startswith("Be Ada.")
    assert "# Here\nA storm is coming up." in shown.text
    assert "# Known\n- Ben is afraid of heights." in shown.text
    assert "# Kept by Ada\nBen once rowed" in shown.text
    assert "forty houses" not in shown.text


async def test_looking_changes_nothing(talk: Talk):
    services = talk.services
    await talk.says("Aye.")
    outcome = await talk.say("Is the lamp lit?")
    before = await stored(services)

    await asyncio.gather(*(services.prompt_inspector.prompt_of(outcome.reply.id) for _time in range(3)))
    await services.prompt_inspector.preview(Persona(name="Ines", bio="Mends."))
    await services.prompt_inspector.render(InstructPreset(name="x"))

    assert await stored(services) == before


async def stored(services: AppServices) -> list[str]:
    """The whole database but the token counts, which are no more than a cache."""
    rows = await services.database.run(lambda connection: list(connection.iterdump()))
    return [row for row in rows if "token_counts" not in row]
