"""When no errand comes for a while, the model gives back the memory it holds for them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from lethe_app.brain.llm_schemas.archive import TitleAnswer
from lethe_app.domain.model import LoadOptions
from lethe_app.llm.client import ModelClient
from lethe_app.prompt.task_prompts import TaskKind
from tests.services.extraction_setup import ExtractionSetup

TITLE = {"title": "The green boat"}


class Watched(ModelClient):
    """Notes when it is sent to rest, and rests."""

    def __init__(self) -> None:
        super().__init__()
        self.rested = asyncio.Event()
        self.times = 0

    async def free_background_context(self) -> None:
        self.times += 1
        await super().free_background_context()
        self.rested.set()


async def test_after_the_last_task_the_model_is_released_once_and_works_again(tmp_path: Path):
    client = Watched()
    extraction = ExtractionSetup(client, rest_after=0.05)
    await extraction.load(tmp_path, TITLE, TITLE, TITLE)
    await asyncio.gather(*(extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="") for _errand in range(2)))
    assert client.times == 0

    await asyncio.wait_for(client.rested.wait(), 120)
    answer = await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")

    assert (answer.title, client.times) == ("The green boat", 1)
    await client.close()


async def test_on_a_small_computer_the_model_is_released_at_once(tmp_path: Path):
    client = Watched()
    extraction = ExtractionSetup(client, rest_after=600.0)
    await extraction.load(tmp_path, TITLE)
    assert extraction.model is not None
    extraction.model = replace(extraction.model, options=LoadOptions(saves_memory=True))

    await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")

    await asyncio.wait_for(client.rested.wait(), 120)
    await client.close()


async def test_who_is_asked_again_does_not_rest(tmp_path: Path):
    client = Watched()
    extraction = ExtractionSetup(client, rest_after=0.2)
    await extraction.load(tmp_path, TITLE, TITLE, delay=0.2)
    await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    asked = time.monotonic()
    await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")

    assert time.monotonic() - asked > extraction.rest_after
    assert client.times == 0
    await client.close()
