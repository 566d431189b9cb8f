"""What a turn's prompt is made of: it always fits, its beginning stays put, and the settings have their say."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import ModelChoices
from lethe_app.domain.chat import Message
from lethe_app.domain.model import LoadedModel, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.prompt import Receipt
from lethe_app.domain.recall import TurnMemory
from lethe_app.errors import FileError
from lethe_app.services.events import PromptBuilt, ReplyFinished, TurnEvent
from tests.prompt.templates import CHATML
from tests.services.turns import Talk

CONTEXT, REPLY = 1024, 64


async def run_turn(turn: AsyncGenerator[TurnEvent]) -> tuple[Receipt, Usage, Message]:
    async with aclosing(turn) as stream:
        events = [event async for event in stream]
    receipt = next(event.receipt for event in events if isinstance(event, PromptBuilt))
    finished = next(event for event in events if isinstance(event, ReplyFinished))
    return receipt, finished.usage, finished.message


def loaded(services: AppServices) -> LoadedModel:
    state = services.models.state
    return state.model


async def next_prompt(talk: Talk) -> str:
    """What the model will be shown before the user's next words."""
    turn = await talk.services.turn_loader.load(talk.session.guid, loaded(talk.services))
    return await talk.services.prompt_assembler.build_prefill(turn, loaded(talk.services), TurnMemory())


async def sampler_of(talk: Talk, model: LoadedModel) -> SamplerPreset:
    """The sampler with which that model would write the next reply."""
    return (await talk.services.turn_loader.load(talk.session.guid, model)).files.sampler


async def first_number(talk: Talk) -> int:
    """Of the numbered things said, the first that is in the next prompt."""
    found = re.search(r"(?<!\")number (\d+)", await next_prompt(talk))  # not as quoted in the rolling summary
    assert found
    return int(found[1])


async def test_in_a_long_conversation_the_prompt_fits_and_its_beginning_stays_for_many_turns(talk: Talk):
    await talk.services.preferences.set(context=CONTEXT, max_reply=REPLY)
    await talk.says(*(f"reply {turn} " + "and so on " * 10 for turn in range(60)))
    firsts, usages = [], []

    for turn in range(60):
        receipt, usage, _message = await run_turn(
            talk.services.chat.send(talk.session.guid, f"number {turn} " + "tell me more " * 8)
        )
        usages.append(usage)
        assert receipt.prompt_tokens == usage.prompt_tokens <= CONTEXT - REPLY
        firsts.append(await first_number(talk))

    changes = [turn for turn in range(1, 60) if firsts[turn] != firsts[turn - 1]]
    assert firsts == sorted(firsts)
    assert 2 <= len(changes) <= 15
    assert min(later - earlier for earlier, later in pairwise(changes)) >= 3
    read_again = [usage for usage in usages[1:] if usage.evaluated_tokens > CONTEXT / 3]
    assert len(read_again) <= len(changes)


async def test_another_wording_is_made_from_what_was_said_before_it(talk: Talk):
    await talk.says("First reply.", "Second reply.")
    _receipt, _usage, first = await run_turn(talk.services.chat.send(talk.session.guid, "One, please."))
    await run_turn(talk.services.chat.send(talk.session.guid, "Two, please."))

    receipt, usage, again = await run_turn(talk.services.chat.regenerate(talk.session.guid, first.id))

    assert "One, please." in again.content  # the script is used up, so it repeats the last words it was shown
    assert "Two" not in again.content
    assert receipt.dropped_messages == 0
    assert usage.evaluated_tokens < usage.prompt_tokens


async def test_regenerating_an_old_reply_above_the_cut_works_and_moves_nothing(talk: Talk):
    await talk.services.preferences.set(context=CONTEXT, max_reply=REPLY)
    await talk.says(*("and so on " * 10 for _turn in range(40)))
    _receipt, _usage, oldest = await run_turn(talk.services.chat.send(talk.session.guid, "number 0"))
    for turn in range(1, 20):
        await run_turn(talk.services.chat.send(talk.session.guid, f"number {turn} " + "tell me more " * 8))
    before = await first_number(talk)

    receipt, _usage, _message = await run_turn(talk.services.chat.regenerate(talk.session.guid, oldest.id))

    assert receipt.dropped_messages == 0
    assert await first_number(talk) == before > 0


async def test_the_temperature_of_the_settings_replaces_the_presets(talk: Talk):
    await talk.says("Yes.")
    preset = await sampler_of(talk, loaded(talk.services))
    await talk.services.preferences.set(temperature_override=0.0)

    assert await sampler_of(talk, loaded(talk.services)) == preset.model_copy(update={"temperature": 0.0})
    assert preset.temperature > 0


async def test_small_models_get_presets_that_suit_them_unless_one_is_chosen(talk: Talk):
    await talk.says("Yes.")
    model = loaded(talk.services)
    small = replace(model, file=replace(model.file, parameters=135_000_000))

    by_size = [(await sampler_of(talk, one)).name for one in (model, small)]
    await talk.services.preferences.set(sampler="default")
    chosen = (await sampler_of(talk, small)).name

    assert by_size[0] != by_size[1]
    assert chosen == by_size[0]


@pytest.mark.parametrize("setting", ["sampler", "system_preset"])
async def test_a_preset_that_is_gone_is_named_and_the_message_kept(talk: Talk, setting: str):
    await talk.says("Yes.")
    await talk.services.preferences.set(**{setting: "long-gone"})

    with pytest.raises(FileError, match="long-gone"):
        await run_turn(talk.services.chat.send(talk.session.guid, "Hello?"))

    assert (await talk.services.sessions.page(talk.session.guid, 0, 10))[-1].content == "Hello?"


async def test_an_instruct_format_that_is_gone_gives_way_to_the_models_own(talk: Talk):
    await talk.says("Yes.")
    await talk.services.preferences.set(instruct="long-gone")

    receipt, _usage, reply = await run_turn(talk.services.chat.send(talk.session.guid, "Hello?"))

    assert (receipt.template_source, reply.content) == ("recognised: ChatML", "Yes.")


async def test_a_chosen_format_replaces_the_models_own_at_once(talk: Talk):
    await talk.says("One.", "Two.")
    before, _usage, _message = await run_turn(talk.services.chat.send(talk.session.guid, "Hello."))
    await talk.services.preferences.set(instruct="Alpaca")

    after, _usage, _message = await run_turn(talk.services.chat.send(talk.session.guid, "Hello again."))

    assert (before.template_source, after.template_source) == ("recognised: ChatML", "chosen: Alpaca")


async def test_thoughts_are_told_by_the_marks_chosen_for_this_model(talk: Talk):
    await talk.says("<hm>She is late.</hm>You are late.", "<hm>Again.</hm>Again?", template=CHATML)
    before, _usage, plain = await run_turn(talk.services.chat.send(talk.session.guid, "Hello."))
    own = ModelChoices(thinking_start="<hm>", thinking_end="</hm>")
    await talk.services.preferences.set(model_choices={loaded(talk.services).file.path.name: own})

    after, _usage, folded = await run_turn(talk.services.chat.send(talk.session.guid, "Hello again."))

    assert (before.template_source, after.template_source) == ("model", "model")
    assert plain.content == "<hm>She is late.</hm>You are late."
    assert (folded.thinking, folded.content) == ("Again.", "Again?")


async def test_one_paragraph_only_ends_the_reply_at_the_first_gap(talk: Talk):
    await talk.says("One.\n\nTwo.")
    await talk.services.preferences.set(first_paragraph_only=True)

    _receipt, _usage, reply = await run_turn(talk.services.chat.send(talk.session.guid, "Hello."))

    assert reply.content == "One."


async def test_names_are_put_before_messages_when_asked_for(talk: Talk):
    await talk.says("Yes.")
    await talk.services.preferences.set(add_names=True)
    await run_turn(talk.services.chat.send(talk.session.guid, "Hello."))

    assert "Tomas: Hello." in await next_prompt(talk)


async def test_an_edited_persona_speaks_in_the_next_prompt(talk: Talk):
    await talk.says("Yes.", "No.")
    await run_turn(talk.services.chat.send(talk.session.guid, "Hello."))
    mira = await talk.services.library.persona("mira-test")
    await talk.services.library.save_persona(mira.model_copy(update={"bio": "{{char}} has become a baker."}))

    prompt = await next_prompt(talk)

    assert "Mira has become a baker." in prompt
    assert "navigator" not in prompt


async def test_what_is_read_ahead_is_the_beginning_of_the_prompt_that_follows(talk: Talk):
    services = talk.services
    await talk.says("Yes.", "No.")
    await run_turn(services.chat.send(talk.session.guid, "Hello."))
    ahead = await next_prompt(talk)
    await run_turn(services.chat.send(talk.session.guid, "Well?"))
    reply = (await services.sessions.page(talk.session.guid, 4, 1))[0]

    turn = await services.turn_loader.load(talk.session.guid, loaded(services), reply)
    prompt = await services.prompt_assembler.build(turn, loaded(services))

    assert prompt.text.startswith(ahead)
    assert prompt.text.removeprefix(ahead).startswith("Well?")
