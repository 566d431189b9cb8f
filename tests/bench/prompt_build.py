"""Putting a prompt of 200 messages together through the starter model's own template, counting excluded, best of ten."""

from __future__ import annotations

from datetime import UTC, datetime

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PromptNote, PromptTurn
from lethe_app.llm.models.gguf_header import read_header
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.macros import MacroContext
from tests.bench._setup import starter_model
from tests.bench.report import best_ms, run

MOMENT = datetime(2026, 11, 21, 21, 4, tzinfo=UTC)


def request() -> PromptRequest:
    """A hundred exchanges of eighty words each, three notes, three hundred control tokens to look out for."""
    template = ChatTemplate(read_header(starter_model(), tensors=False).text("tokenizer.chat_template"), moment=MOMENT)
    roles = ("user", "assistant")
    return PromptRequest(
        renderer=template,
        template_source="model",
        persona=Persona(name="Mira", bio="{{char}} is a navigator. " * 40),
        user=None,
        system=SystemPreset(name="bench", prompt="You are {{char}}. {{charbio}}"),
        macro_context=MacroContext(user="Tomas", char="Mira", moment=MOMENT),
        history=[PromptTurn(roles[number % 2], f"{number} words " * 40) for number in range(201)],
        context=32_000,
        reply_reserve=512,
        volatile=[PromptNote("A note.")] * 3,
        control_filter=ControlTokenFilter([f"<|reserved_{number}|>" for number in range(300)]),
    )


async def measure() -> dict[str, float]:
    made = request()
    known: dict[str, int] = {}

    async def count(texts: list[str]) -> list[int]:
        return [known.setdefault(text, len(text) // 4) for text in texts]

    return {"build_ms": await best_ms(lambda: build_prompt(made, count), rounds=10)}


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
