"""A lighthouse keeper and her guest, and requests for prompts of what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.prompt.builder import PromptRequest
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.macros import MacroContext
from tests.prompt import templates

MOMENT = datetime(2026, 3, 1, 20, 15, tzinfo=UTC)
RENDERERS = {name: ChatTemplate(source, moment=MOMENT, bos="<s>", eos="</s>") for name, source in templates.FRIENDLY.items()}
CHATML = RENDERERS["chatml"]
PRESET = SystemPreset(
    name="x",
    prompt="You are {{char}}. {{charbio}} {{userbio}}",
    world_info_title="World",
    scenario_title="Scene",
    dialogs_title="Style",
    session_history_title="Before",
    core_facts_title="Facts",
    inner_thoughts_title="Thoughts",
    memories_title="What {{char}} remembers now",
)
ADA = Persona(name="Ada", bio="Keeps a lighthouse.", scenario="A storm.", example_dialogs=["Be short.", "Be dry."])
BEN = Persona(name="Ben", is_user=True, bio="Sails.")
TALK = [
    PromptTurn("assistant", "Welcome."),
    PromptTurn("user", "Hello."),
    PromptTurn("assistant", "Sit down."),
    PromptTurn("user", "Thanks."),
]
TOKEN = re.compile(r"<\|\w+\|>|\w+|[^\w\s]|\n")


class Count:
    """Words, marks and line breaks; remembers how it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    async def __call__(self, texts: list[str]) -> list[int]:
        self.batches.append(texts)
        return [len(TOKEN.findall(text)) for text in texts]


def request(history: Sequence[PromptTurn], **values: object) -> PromptRequest:
    usual = PromptRequest(
        renderer=CHATML,
        template_source="model",
        persona=ADA,
        user=BEN,
        system=PRESET,
        macro_context=MacroContext("Ben", "Ada", MOMENT),
        history=history,
        context=2000,
        reply_reserve=200,
    )
    return replace(usual, **values)
