"""A clerk at work on the scripted engine, without the rest of the house."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.model import LoadedModel, LoadOptions, ModelFile
from lethe_app.domain.presets import InstructPreset
from lethe_app.llm.client import ModelClient
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.instruct import InstructRenderer, RendererChoice
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.services.extraction.structured_output import RELEASE_AFTER, StructuredOutput
from lethe_app.services.prompting.assembler import ChatFormat

ROOT = Path(__file__).parent.parent.parent
TASK_PROMPTS = TaskPrompts(ROOT / "resources" / "prompts")
SELF_TEST = ROOT / "resources" / "selftest"
CHATML = InstructPreset.model_validate_json((ROOT / "resources/presets/instruct/chatml.json").read_bytes())
LONG_AGO = datetime(2026, 5, 2, tzinfo=UTC)


@dataclass
class ExtractionSetup:
    """The clerk, the model's process, and what the house around them would say."""

    client: ModelClient
    model: LoadedModel | None = None
    busy: bool = False
    rest_after: float = RELEASE_AFTER
    rendered: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tasks_model = StructuredOutput(
            self.client, TASK_PROMPTS, lambda: self.model, self.form, self.client.count, lambda: self.busy, self.rest_after
        )

    async def load(self, folder: Path, *answers: object, name: str = "script", **script: object) -> None:
        """A model that gives these answers; what is no text is spelled as JSON."""
        path = folder / f"{name}.json"
        texts = [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]
        path.write_text(json.dumps({"answers": texts, **script}), encoding="utf-8")
        file = ModelFile(path=path, name=name, size=7, architecture="echo")
        self.model = await self.client.load(file, LoadOptions(), lambda _fraction: None)

    async def form(self, model: LoadedModel) -> ChatFormat:
        choice = RendererChoice(InstructRenderer(CHATML, adds_bos=model.adds_bos), "chosen: ChatML")
        return ChatFormat(model, "ChatML", None, choice, ControlTokenFilter(model.control_tokens))


@asynccontextmanager
async def open_extraction() -> AsyncIterator[ExtractionSetup]:
    extraction = ExtractionSetup(ModelClient())
    yield extraction
    await extraction.client.close()


def conversation(*lines: str) -> list[Utterance]:
    """“Tomas: Hello.” as something said, a minute apart; Tomas is the user."""
    found = []
    for number, line in enumerate(lines):
        name, text = line.split(": ", 1)
        role = Role.USER if name == "Tomas" else Role.ASSISTANT
        found.append(Utterance(uuid4(), role, name, text, LONG_AGO + timedelta(minutes=number)))
    return found


def spelled(texts: Sequence[str]) -> dict[str, list[str]]:
    """An answer of paragraphs."""
    return {"paragraphs": list(texts)}
