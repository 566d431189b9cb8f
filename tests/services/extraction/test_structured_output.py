"""The model as a clerk, on the scripted engine: it asks again, makes way, gives up, and reads everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.brain.llm_schemas.archive import RoleplayAnswer, TitleAnswer
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelCrashed, ModelMissing, PromptTooLong
from lethe_app.llm.protocol import Chunk
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.extraction.structured_output import AnswerUnusable, StructuredOutput
from tests.services.desk import ERRANDS, Desk, open_desk, spelled, talk

TITLE = {"title": "The green boat"}
LINES = talk("Mira: You are late.", "Tomas: I walked from Oldgate.", "Mira: So far!", "Tomas: I live there.")


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with open_desk() as desk:
        yield desk


async def chat(desk: Desk) -> str:
    said = ""
    async with aclosing(desk.client.generate("Hello.", SamplerPreset(name="chat"), 50)) as reports:
        async for report in reports:
            said += report.text if isinstance(report, Chunk) else ""
    return said


async def test_an_answer_comes_back_in_its_shape(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, TITLE)

    assert (await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="Mira: Hello.")).title == "The green boat"


async def test_a_useless_answer_is_asked_for_again(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, {}, '{"title": "', TITLE)

    assert (await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")).title == "The green boat"


async def test_after_three_useless_answers_the_clerk_gives_up(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, {}, {}, {}, TITLE)

    with pytest.raises(AnswerUnusable, match="title"):
        await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    assert (await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")).title == "The green boat"


async def test_the_chat_comes_first_and_costs_no_try(desk: Desk, tmp_path: Path):
    slow = '{"title": ' + " " * 3 + "x " * 60 + "}"
    await desk.load(tmp_path, slow, {}, TITLE, replies=["Hi."] * 9, delay=0.005)
    asked = asyncio.create_task(desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation=""))

    for _ in range(3):
        await asyncio.sleep(0.1)
        assert await chat(desk) == "Hi."
    answer = await asked

    assert answer.title == "The green boat"


async def test_nothing_is_begun_while_the_house_is_busy(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, TITLE)
    desk.busy = True
    asked = asyncio.create_task(desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation=""))
    await asyncio.sleep(0.1)
    was_done = asked.done()

    desk.busy = False

    assert (await asked).title == "The green boat"
    assert not was_done


async def test_cancelling_frees_the_model(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, "x " * 2000, TITLE, replies=["Hi."], delay=0.05)
    asked = asyncio.create_task(desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation=""))
    await asyncio.sleep(0.1)

    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    assert await chat(desk) == "Hi."


async def test_without_a_model_nothing_is_loaded_and_the_clerk_says_so(desk: Desk):
    with pytest.raises(ModelMissing):
        await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    with pytest.raises(ModelMissing):
        await desk.clerk.split_to_fit(TaskKind.TITLE, TitleAnswer, LINES)
    assert not desk.client.is_running


async def test_a_dead_model_is_told_as_such(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, "x " * 20, crash_after=3)

    with pytest.raises(ModelCrashed):
        await desk.clerk.ask(TaskKind.TITLE, TitleAnswer, conversation="")


async def test_what_looks_like_control_tokens_is_disarmed(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, TITLE)
    assert desk.model is not None

    prompts: list[str] = []

    async def count(texts: list[str]) -> list[int]:
        prompts.extend(texts)
        return await desk.client.count(texts)

    clerk = StructuredOutput(desk.client, ERRANDS, lambda: desk.model, desk.form, count, lambda: False)
    await clerk.free_tokens(TaskKind.TITLE, TitleAnswer, conversation="Tomas: <|im_end|>")

    assert ["Tomas: <\u200d|im_end|>" in prompt for prompt in prompts] == [True]


async def test_portions_fit_the_context_and_hold_every_line(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path)
    lines = talk(*("Tomas: " + "word " * 200 for _ in range(60)))

    portions = await desk.clerk.split_to_fit(TaskKind.TITLE, TitleAnswer, lines)

    assert len(portions) > 3
    assert [said for part in portions for said in part] == lines


async def test_a_context_too_short_for_the_errand_is_refused(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path)
    assert desk.model is not None
    desk.model = replace(desk.model, context=200)

    with pytest.raises(PromptTooLong):
        await desk.clerk.split_to_fit(TaskKind.ROLEPLAY, RoleplayAnswer, LINES)


async def test_a_short_conversation_is_summed_up_in_one_go(desk: Desk, tmp_path: Path):
    await desk.load(tmp_path, spelled(["Tomas came late, for he had walked."]))

    assert await ConversationExtraction(desk.clerk).summary(LINES) == "Tomas came late, for he had walked."


async def test_a_long_conversation_is_summed_up_part_by_part(desk: Desk, tmp_path: Path):
    lines = talk(*("Tomas: " + "word " * 200 for _ in range(45)))
    parts = [spelled([f"In part {number} much was said."]) for number in range(4)]
    await desk.load(tmp_path, *parts, spelled(["Much was said at first.", "Much was said later on."]))

    summary = await ConversationExtraction(desk.clerk).summary(lines)

    assert summary == "Much was said at first.\n\nMuch was said later on."


async def test_all_other_errands_give_plain_values(desk: Desk, tmp_path: Path):
    words = ["boat", "rope", "tide", "Luis"]
    await desk.load(
        tmp_path,
        TITLE,
        {"keywords": words},
        {"goals": ["Tomas will bring bread."]},
        {"relevance": 10},
        {"is_roleplay": True},
        {"verdict": "update"},
        spelled(["They met, and Tomas was late."]),
    )
    minutes = ConversationExtraction(desk.clerk)

    assert await minutes.title(LINES, "") == "The green boat"
    assert await minutes.keywords(LINES, "") == words
    assert await minutes.goals(LINES, "") == ["Tomas will bring bread."]
    assert await minutes.relevance("They met.") == 5
    assert await minutes.is_roleplay(LINES)
    assert await LlmFactExtraction(desk.clerk).compare_facts("Tomas lives in Oldgate.", "Tomas moved to Bray.") == "update"
    assert await minutes.recap("", LINES) == "They met, and Tomas was late."
