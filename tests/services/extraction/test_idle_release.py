"""When no errand comes for a while, the model gives back the memory it holds for them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from lethe_app.brain.llm_schemas.archive import TitleAnswer
from lethe_app.llm.client import ModelClient
from lethe_app.prompt.task_prompts import TaskKind
from tests.services.desk import Desk

TITLE = {"title": "The green boat"}


class Watched(ModelClient):
    """Notes when it is sent to rest, and rests."""

    def __init__(self) -> None:
        super().__init__("echo")
        self.rested = asyncio.Event()
        self.times = 0

    async def free_background_context(self) -> None:
        self.times += 1
        await super().free_background_context()
        self.rested.set()


async def test_after_the_last_errand_the_model_rests_once_and_works_again(tmp_path: Path):
    client = Watched()
    desk = Desk(client, rest_after=0.05)
    await desk.load(tmp_path, TITLE, TITLE, TITLE)
    await asyncio.gather(*(desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="") for _errand in range(2)))
    assert client.times == 0

    await asyncio.wait_for(client.rested.wait(), 120)
    answer = await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")

    assert (answer.title, client.times) == ("The green boat", 1)
    await client.close()


async def test_who_is_asked_again_does_not_rest(tmp_path: Path):
    client = Watched()
    desk = Desk(client, rest_after=0.2)
    await desk.load(tmp_path, TITLE, TITLE, delay=0.2)
    await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    asked = time.monotonic()
    await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")

    assert time.monotonic() - asked > desk.rest_after
    assert client.times == 0
    await client.close()


async def test_a_model_that_ended_meanwhile_needs_no_rest(tmp_path: Path):
    client = Watched()
    desk = Desk(client, rest_after=0.05)
    await desk.load(tmp_path, TITLE)
    await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    await client.close()

    await asyncio.wait_for(client.rested.wait(), 120)
