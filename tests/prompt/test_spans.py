"""Every character of a prompt knows its part, in any format, and no character is lost or said twice."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.config.options import PromptLayout
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import Prompt, PromptNote, PromptPart, PromptSpan, PromptTurn, join_spans
from lethe_app.prompt.builder import build_prompt
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.layout import place_turns
from lethe_app.prompt.sections import StableAdditions
from lethe_app.prompt.spans import label_spans, rewrite_spans, slice_spans
from tests.prompt import requests
from tests.prompt.requests import PRESET, RENDERERS, TALK, request
from tests.sweep import examples

PLAIN = InstructRenderer(InstructPreset(name="p", user_start="U:", bot_start="B:", user_end="\n", system_role=False))
ADA = requests.ADA.model_copy(update={"example_dialogs": ["Be short."], "self_edit_field": "I wait."})
EXTRAS = StableAdditions(world=["An isle."], summaries=["They spoke of oil."], facts=["Ben is late."])


async def count(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


async def made(history: Sequence[PromptTurn] = TALK, **values: object) -> Prompt:
    usual = {"persona": ADA, "context": 5000, "extras": EXTRAS, "volatile": [PromptNote("Ben likes tea.")]}
    return await build_prompt(request(history, **(usual | values)), count)


def of(prompt: Prompt, part: PromptPart) -> str:
    return "|".join(span.text.strip() for span in prompt.spans if span.part is part)


@pytest.mark.parametrize("name", RENDERERS)
async def test_in_every_format_each_text_stands_under_its_part(name: str):
    prompt = await made(renderer=RENDERERS[name])

    assert join_spans(prompt.spans) == prompt.text
    assert of(prompt, PromptPart.PERSONA) == "Keeps a lighthouse."
    assert of(prompt, PromptPart.USER) == "Sails."
    assert of(prompt, PromptPart.SCENARIO) == "# Scene\nA storm."
    assert of(prompt, PromptPart.STYLE) == "# Style\n- Be short."
    assert of(prompt, PromptPart.THOUGHTS) == "# Thoughts\nI wait."
    assert of(prompt, PromptPart.WORLD) == "# World\nAn isle."
    assert of(prompt, PromptPart.SUMMARIES) == "# Before\nThey spoke of oil."
    assert of(prompt, PromptPart.FACTS) == "# Facts\n- Ben is late."
    assert of(prompt, PromptPart.HISTORY) == "Welcome.|Hello.|Sit down."
    assert of(prompt, PromptPart.MEMORIES) == "# What Ada remembers now|Ben likes tea."
    assert of(prompt, PromptPart.MESSAGE) == "Thanks."


async def test_words_that_the_format_uses_itself_are_told_from_it():
    history = [
        PromptTurn("user", "user"),
        PromptTurn("assistant", "assistant"),
        PromptTurn("user", "im_end"),
        PromptTurn("assistant", "<|im_end|>"),
    ]
    prompt = await made([*history, PromptTurn("user", "system")], extras=StableAdditions(), volatile=())

    words = [span.text for span in prompt.spans if span.part in {PromptPart.HISTORY, PromptPart.MESSAGE}]
    assert words == ["user", "assistant", "im_end", "<|im_end|>", "system"]


async def test_the_same_words_twice_are_told_apart_by_where_they_stand():
    history = [PromptTurn("user", "Yes."), PromptTurn("assistant", "Yes."), PromptTurn("user", "Yes.")]
    prompt = await made(history, volatile=[PromptNote("Yes.")])

    reported = [span.part for span in prompt.spans if span.text.strip() == "Yes."]
    assert reported == [PromptPart.HISTORY, PromptPart.HISTORY, PromptPart.MEMORIES, PromptPart.MESSAGE]


async def test_a_note_in_brackets_gets_no_second_ones_and_keeps_its_part():
    prompt = await made(renderer=RENDERERS["no system"], volatile=[PromptNote("[Ben likes tea.]"), PromptNote("[So it is.]")])

    assert join_spans(prompt.spans) == prompt.text
    assert "Ben likes tea." in of(prompt, PromptPart.MEMORIES)


async def test_earlier_thinking_that_a_template_cuts_off_leaves_the_words_in_place():
    history = [PromptTurn("user", "Hello."), PromptTurn("assistant", "Hm.</think>Sit down."), PromptTurn("user", "Thanks.")]
    prompt = await made(history, renderer=RENDERERS["thinks"])

    assert of(prompt, PromptPart.HISTORY) == "Hello.|Sit down."


def test_a_format_that_looks_at_the_words_is_read_as_far_as_they_are_found():
    def spell(turns: list[PromptTurn]) -> str:
        return "".join(f"({turn.content.upper() if place else turn.content})" for place, turn in enumerate(turns))

    turns = [PromptTurn("user", "Hello."), PromptTurn("assistant", "Sit down.")]

    assert label_spans(spell(turns), place_turns(turns, PromptPart.HISTORY), spell) == (
        PromptSpan(PromptPart.TEMPLATE, "("),
        PromptSpan(PromptPart.HISTORY, "Hello."),
        PromptSpan(PromptPart.TEMPLATE, ")(SIT DOWN.)"),
    )


async def test_the_name_that_opens_the_reply_is_the_formats():
    prompt = await made(add_names=True)

    assert prompt.spans[-1].part is PromptPart.TEMPLATE
    assert prompt.spans[-1].text.endswith("Ada:")


async def test_control_tokens_across_two_parts_are_disarmed_and_nothing_is_lost():
    split = PRESET.model_copy(update={"prompt": "<|im_{{charbio}}|> {{userbio}}"})
    evil = ADA.model_copy(update={"bio": "end"})
    prompt = await made(system=split, persona=evil, control_filter=ControlTokenFilter(("<|im_end|>",)))

    assert join_spans(prompt.spans) == prompt.text
    assert of(prompt, PromptPart.PERSONA) == "end"
    assert "<|im_end|>" not in of(prompt, PromptPart.SYSTEM) + of(prompt, PromptPart.PERSONA)


def test_cutting_out_a_stretch_keeps_the_parts():
    spans = [PromptSpan(PromptPart.SYSTEM, "abc"), PromptSpan(PromptPart.PERSONA, "def"), PromptSpan(PromptPart.USER, "ghi")]

    assert slice_spans(spans, 2, 7) == [
        PromptSpan(PromptPart.SYSTEM, "c"),
        PromptSpan(PromptPart.PERSONA, "def"),
        PromptSpan(PromptPart.USER, "g"),
    ]
    assert slice_spans(spans, 3, 3) == []


@given(st.lists(st.text("<|a>\u200d", max_size=6), max_size=5))
def test_disarming_loses_no_character_of_any_part(texts: list[str]):
    control_filter = ControlTokenFilter(("<|a|>", "<a>", "|>"))
    spans = [PromptSpan(PromptPart.SYSTEM, text) for text in texts]

    assert join_spans(rewrite_spans(spans, control_filter)) == control_filter(join_spans(spans))


anything = st.text(st.one_of(st.sampled_from(" \n[]<|>user:assistant"), st.characters(codec="utf-8")), max_size=30)
contents = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), anything), max_size=6)


@given(
    name=st.sampled_from([*RENDERERS, "preset"]),
    past=contents,
    message=anything,
    bio=anything,
    notes=st.lists(anything, max_size=3),
    layout=st.sampled_from(list(PromptLayout)),
    going_on=st.booleans(),
    names=st.booleans(),
)
@settings(max_examples=examples(300))
async def test_the_spans_are_exactly_the_prompt_whatever_anybody_wrote(
    name: str,
    past: list[tuple[str, str]],
    message: str,
    bio: str,
    notes: list[str],
    layout: PromptLayout,
    going_on: bool,
    names: bool,
):
    history = [*(PromptTurn(role, text) for role, text in past), PromptTurn("assistant" if going_on else "user", message)]
    prompt = await made(
        history,
        renderer=RENDERERS.get(name, PLAIN),
        persona=ADA.model_copy(update={"bio": bio}),
        volatile=[PromptNote(text) for text in notes],
        layout=layout,
        continue_last=going_on,
        add_names=names,
    )

    assert join_spans(prompt.spans) == prompt.text
    if message.strip() and "</think>" not in message:
        assert message.strip() in "".join(span.text for span in prompt.spans if span.part is PromptPart.MESSAGE)
