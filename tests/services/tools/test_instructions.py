"""A model that is offered tools is told how to use them in the part of its prompt that stays, unless the user wants no note."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from tests.prompt.templates import CHATML, HERMES
from tests.services.turns import MIRA, Talk

Says = Callable[..., object]
BEGINNING = "Mira can use tools, and uses one only where it helps"


@pytest.fixture
async def session(services: AppServices) -> ChatSession:
    await services.preferences.set(tools_enabled=True, default_tools=["dice"], recall_without_match=0)
    return await services.sessions.new(MIRA)


async def prompt_text(talk: Talk, text: str = "Good evening.") -> str:
    return await talk.prompt_of(await talk.say(text))


async def test_the_note_stands_in_the_system_prompt_and_stays_there(talk: Talk):
    await talk.says("Hello.", "Well.", template=HERMES)
    first, second = await prompt_text(talk), await prompt_text(talk, "It is late.")

    assert first.count(BEGINNING) == 1
    assert first.index(BEGINNING) < first.index("Good evening.")
    assert "what Tomas asks for" in first
    assert second.startswith(first[: first.index("Good evening.")])


async def test_a_setting_switches_it_off_in_the_middle_of_a_conversation(talk: Talk):
    await talk.says("Hello.", "Well.", "Aye.", template=HERMES)
    before = await prompt_text(talk)
    await talk.services.preferences.set(tools_explained=False)
    without = await prompt_text(talk, "It is late.")
    await talk.services.preferences.set(tools_explained=True)

    assert BEGINNING in before
    assert BEGINNING not in without
    assert "dice_roll" in without
    assert BEGINNING in await prompt_text(talk, "Good night.")


@pytest.mark.parametrize(
    ("template", "settings"), [(CHATML, {}), (HERMES, {"tools_enabled": False}), (HERMES, {"default_tools": []})]
)
async def test_a_model_that_is_offered_none_is_told_nothing(talk: Talk, template: str, settings: dict[str, object]):
    await talk.says("Hello.", template=template)
    await talk.services.preferences.set(**settings)

    assert BEGINNING not in await prompt_text(talk)


async def test_the_users_own_words_come_before_ours(talk: Talk):
    talk.services.paths.own_prompts.mkdir(parents=True, exist_ok=True)
    (talk.services.paths.own_prompts / "tools_note.md").write_text(
        "{{char}} rolls the dice when {{user}} asks.\n", encoding="utf-8"
    )
    await talk.says("Hello.", template=HERMES)
    prompt = await prompt_text(talk)

    assert "Mira rolls the dice when Tomas asks." in prompt
    assert BEGINNING not in prompt
