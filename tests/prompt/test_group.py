"""In a group everybody shares one beginning of the prompt; who speaks is named at its end."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix

import pytest

from lethe_app.config.options import PromptLayout
from lethe_app.domain.persona import Persona
from lethe_app.domain.prompt import Prompt, PromptNote, PromptPart, PromptTurn
from lethe_app.prompt.builder import build_prompt
from lethe_app.prompt.group import join_names
from lethe_app.prompt.macros import MacroContext
from lethe_app.prompt.sections import StableAdditions
from tests.prompt.requests import BEN, MOMENT, PRESET, RENDERERS, request
from tests.prompt.test_spans import count

ADA = Persona(name="Ada", bio="{{char}} keeps the lighthouse, {{user}} knows.", scenario="A storm.", example_dialogs=["Short."])
BO = Persona(name="Bo", bio="{{char}} bakes.", mini_bio="{{char}} is the baker.", example_dialogs=["Loud!"], scenario="A mill.")
TALK = [
    PromptTurn("assistant", "Welcome.", "Ada"),
    PromptTurn("user", "Hello.", "Ben"),
    PromptTurn("assistant", "Bread?", "Bo"),
]
ASKED = PromptTurn("user", "Who lit the lamp?", "Ben")


async def turn(speaker: Persona, history: Sequence[PromptTurn], renderer: str = "chatml", **values: object) -> Prompt:
    usual = {
        "renderer": RENDERERS[renderer],
        "persona": speaker,
        "macro_context": MacroContext("Ben", speaker.name, MOMENT, texts={"charbio": speaker.bio, "userbio": BEN.bio}),
        "context": 5000,
        "extras": StableAdditions(summaries=["They met."]),
        "volatile": [PromptNote(f"{speaker.name} thinks of rain.")],
        "group": (ADA, BO),
    }
    return await build_prompt(request(history, **(usual | values)), count)


def before_the_notes(prompt: Prompt) -> str:
    """Everything up to what is true for this turn only."""
    place = next(place for place, span in enumerate(prompt.spans) if span.part in {PromptPart.MEMORIES, PromptPart.SPEAKER})
    return "".join(span.text for span in prompt.spans[:place])


@pytest.mark.parametrize("renderer", ["chatml", "invents system", "no system", "switches", "parts"])
async def test_two_who_speak_in_turn_share_everything_before_the_notes(renderer: str):
    first = await turn(ADA, [*TALK, ASKED], renderer)
    second = await turn(BO, [*TALK, ASKED, PromptTurn("assistant", "I did.", "Ada")], renderer)

    assert before_the_notes(first) == before_the_notes(second)
    assert all(text in before_the_notes(first) for text in ("Ada keeps", "Bo is the baker.", "Welcome.", "Bread?"))


async def test_whoever_answers_the_same_message_shares_all_but_the_end():
    prompts = [await turn(speaker, [*TALK, ASKED]) for speaker in (ADA, BO)]
    shared = commonprefix([prompt.text for prompt in prompts])  # noqa: RUF071 - these are no paths

    assert shared.startswith(before_the_notes(prompts[0]))
    assert shared.endswith("# What Ada remembers now\n")  # it is her memory, whoever speaks


async def test_the_speaker_is_named_at_the_end_and_opens_the_reply():
    prompt = await turn(BO, [*TALK, ASKED])

    assert "<|im_start|>system\nBo speaks now, and nobody else.<|im_end|>\n<|im_start|>user\nBen: Who lit" in prompt.text
    assert prompt.text.endswith("<|im_start|>assistant\nBo:")
    assert prompt.text.count("speaks now") == 1
    assert [span.text for span in prompt.spans if span.part is PromptPart.SPEAKER] == ["Bo speaks now, and nobody else."]


@pytest.mark.parametrize("layout", PromptLayout)
async def test_no_layout_names_the_speaker_in_front(layout: PromptLayout):
    prompts = [await turn(speaker, [*TALK, ASKED], layout=layout, volatile=()) for speaker in (ADA, BO)]

    assert before_the_notes(prompts[0]) == before_the_notes(prompts[1])


async def test_everybody_is_introduced_under_their_name_and_what_is_said_stands_under_the_speakers():
    prompt = await turn(BO, [*TALK, ASKED])

    assert prompt.text.startswith("<|im_start|>system\nYou are Ada and Bo. ## Ada\nAda keeps the lighthouse, Ben knows.\n\n")
    assert "## Bo\nBo is the baker. Sails.\n\n" in prompt.text
    assert "# Scene\nA storm." in prompt.text
    assert "- Ada: Short.\n- Bo: Loud!" in prompt.text
    assert "<|im_start|>assistant\nAda: Welcome." in prompt.text
    assert "<|im_start|>assistant\nBo: Bread?" in prompt.text


async def test_nobody_speaks_for_the_others():
    prompt = await turn(BO, [*TALK, ASKED])

    assert {"\nBen:", "\nAda:"} <= set(prompt.stop_strings)
    assert "\nBo:" not in prompt.stop_strings


async def test_a_reply_of_a_group_can_be_continued():
    prompt = await turn(ADA, [*TALK, ASKED, PromptTurn("assistant", "I did, at", "Ada")], continue_last=True)

    assert prompt.text.endswith("Ada: I did, at")


async def test_a_format_without_a_system_role_is_told_who_speaks_too():
    prompt = await turn(ADA, [*TALK, ASKED], renderer="strict")

    assert "[Ada speaks now, and nobody else.]" in prompt.text


def test_names_in_a_row():
    assert join_names(["Ada"]) == "Ada"
    assert join_names(["Ada", "Bo"]) == "Ada and Bo"
    assert join_names(["Ada", "Bo", "Cleo"]) == "Ada, Bo and Cleo"


async def test_the_verb_after_several_names_is_plural():
    system = PRESET.model_copy(update={"prompt": "{{char}} is talking with {{user}}. {{char}} isolates nobody."})
    scene = ADA.model_copy(update={"scenario": "{{char}} has a cellar."})

    prompt = await turn(ADA, [*TALK, ASKED], system=system, group=(scene, BO))

    assert "Ada and Bo are talking with Ben. Ada and Bo isolates nobody." in prompt.text
    assert "Ada and Bo have a cellar." in prompt.text
