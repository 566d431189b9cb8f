"""Spoken style: the instruction stands last, is counted as style, costs little to switch, and leaves thinking out."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from lethe_app.domain.prompt import PromptPart
from lethe_app.services.events import PromptBuilt
from lethe_app.services.prompting.assembler import INSTRUCTION
from lethe_app.services.speech.session_speech import SPEECH_KEY, SpeechMode
from tests.prompt.templates import CHATML
from tests.services.turns import Talk

THINKING_SWITCH = "{%- if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{%- endif %}"


async def prompt_of(services, message_id) -> str:
    inspection = await services.prompt_inspector.prompt_of(message_id)
    return "".join(span.text for span in inspection.spans)


async def switch_style(talk: Talk, *, is_on: bool) -> None:
    await talk.services.session_speech.set_style(talk.session.guid, is_on=is_on)


async def test_the_instruction_stands_between_the_message_and_the_reply(talk: Talk):
    await talk.says("Aye.")
    await switch_style(talk, is_on=True)

    outcome = await talk.say("Where are we?")

    prompt = await prompt_of(talk.services, outcome.reply.id)
    assert prompt.count(INSTRUCTION) == 1
    assert prompt.index("Where are we?") < prompt.index(INSTRUCTION)
    assert "Where are we?" not in prompt[prompt.index(INSTRUCTION) :]


async def test_the_instruction_is_shown_and_counted_as_style(talk: Talk):
    await talk.says("Aye.")
    plain = await talk.say("Where are we?")
    await switch_style(talk, is_on=True)

    spoken = await talk.say("And now?")

    inspection = await talk.services.prompt_inspector.prompt_of(spoken.reply.id)
    assert [span.part for span in inspection.spans if INSTRUCTION in span.text] == [PromptPart.STYLE]
    before, after = (
        {
            share.part: share.tokens
            for event in outcome.events
            if isinstance(event, PromptBuilt)
            for share in event.receipt.shares
        }
        for outcome in (plain, spoken)
    )
    assert after[PromptPart.STYLE] - before.get(PromptPart.STYLE, 0) > 20
    assert after.get(PromptPart.MEMORIES, 0) <= before.get(PromptPart.MEMORIES, 0) + 2


async def test_a_switch_changes_nothing_before_the_newest_message(talk: Talk):
    await talk.says("Aye.", "No.", "Well.")
    plain = await prompt_of(talk.services, (await talk.say("Where are we?")).reply.id)
    await switch_style(talk, is_on=True)
    spoken = await prompt_of(talk.services, (await talk.say("And now?")).reply.id)
    await switch_style(talk, is_on=False)
    plain_again = await prompt_of(talk.services, (await talk.say("At last?")).reply.id)

    assert spoken.startswith(plain[: plain.index("Where are we?") + 13])
    assert plain_again.startswith(spoken[: spoken.index("And now?") + 8])
    assert INSTRUCTION not in plain + plain_again


async def test_the_reply_is_written_without_thinking(talk: Talk):
    template = CHATML + THINKING_SWITCH
    await talk.says("Aye.", "No.", template=template)
    thinking = await prompt_of(talk.services, (await talk.say("Where are we?")).reply.id)
    await switch_style(talk, is_on=True)

    spoken = await prompt_of(talk.services, (await talk.say("And now?")).reply.id)

    assert not thinking.rstrip().endswith("</think>")
    assert spoken.rstrip().endswith("</think>")


async def test_a_small_model_is_not_instructed(talk: Talk, monkeypatch):
    monkeypatch.setattr("lethe_app.services.prompting.assembler.is_small", lambda _model: True)
    await talk.says("Aye.", template=CHATML + THINKING_SWITCH)
    await switch_style(talk, is_on=True)

    spoken = await prompt_of(talk.services, (await talk.say("Where are we?")).reply.id)

    assert INSTRUCTION not in spoken
    assert spoken.rstrip().endswith("</think>")


async def test_the_style_follows_speech_unless_it_was_chosen(talk: Talk):
    speech, guid = talk.services.session_speech, talk.session.guid
    assert await speech.mode_of(guid) == SpeechMode(is_spoken=False, has_spoken_style=False)
    assert await speech.set_spoken(guid, is_on=True) == SpeechMode(is_spoken=True, has_spoken_style=True)
    await talk.services.preferences.set(spoken_style=False)
    assert await speech.mode_of(guid) == SpeechMode(is_spoken=True, has_spoken_style=False)
    assert await speech.set_style(guid, is_on=True) == SpeechMode(is_spoken=True, has_spoken_style=True)
    assert await speech.set_spoken(guid, is_on=False) == SpeechMode(is_spoken=False, has_spoken_style=True)


async def test_a_session_takes_over_what_was_chosen_for_another(talk: Talk):
    services = talk.services
    other = await services.sessions.new("mira-test")
    await services.session_speech.set_spoken(talk.session.guid, is_on=True)

    copied = await services.session_speech.copy_mode(talk.session.guid, other.guid)

    assert copied == await services.session_speech.mode_of(other.guid)
    assert copied.is_spoken
    assert not (await services.session_speech.copy_mode(uuid4(), uuid4())).is_spoken


@pytest.mark.parametrize("stored", ["broken", [1], {"spoken": None, "other": 1}, 3])
async def test_an_unreadable_mode_is_as_if_nothing_was_chosen(talk: Talk, stored):
    await talk.services.session_state.set(talk.session.guid, SPEECH_KEY, json.loads(json.dumps(stored)))

    assert await talk.services.session_speech.mode_of(talk.session.guid) == SpeechMode(is_spoken=False, has_spoken_style=False)
