"""The model as a clerk, on the scripted engine: it asks again, makes way, gives up, and reads everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.brain.llm_schemas.archive import RoleplayAnswer, TitleAnswer
from lethe_app.domain.chat import SessionPart
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelCrashed, ModelMissing, PromptTooLong
from lethe_app.llm.protocol import Chunk
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.extraction.structured_output import AnswerUnusable, StructuredOutput
from tests.services.extraction_setup import TASK_PROMPTS, ExtractionSetup, conversation, open_extraction, spelled

TITLE = {"title": "The green boat"}
LINES = conversation("Mira: You are late.", "Tomas: I walked from Oldgate.", "Mira: So far!", "Tomas: I live there.")


@pytest.fixture
async def extraction() -> AsyncIterator[ExtractionSetup]:
    async with open_extraction() as extraction:
        yield extraction


async def chat(extraction: ExtractionSetup) -> str:
    said = ""
    async with aclosing(extraction.client.generate("Hello.", SamplerPreset(name="chat"), 50)) as reports:
        async for report in reports:
            said += report.text if isinstance(report, Chunk) else ""
    return said


async def test_an_answer_comes_back_in_its_shape(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, TITLE)

    assert (
        await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="Mira: Hello.")
    ).title == "The green boat"


async def test_a_useless_answer_is_asked_for_again(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, {}, '{"title": "', TITLE)

    assert (await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")).title == "The green boat"


async def test_after_three_useless_answers_the_task_fails(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, {}, {}, {}, TITLE)

    with pytest.raises(AnswerUnusable, match="title"):
        await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    assert (await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")).title == "The green boat"


async def test_the_chat_comes_first_and_costs_no_try(extraction: ExtractionSetup, tmp_path: Path):
    slow = '{"title": ' + " " * 3 + "x " * 60 + "}"
    await extraction.load(tmp_path, slow, {}, TITLE, replies=["Hi."] * 9, delay=0.005)
    asked = asyncio.create_task(extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation=""))

    for _ in range(3):
        await asyncio.sleep(0.1)
        assert await chat(extraction) == "Hi."
    answer = await asked

    assert answer.title == "The green boat"


async def test_nothing_is_started_while_a_reply_is_written(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, TITLE)
    extraction.busy = True
    asked = asyncio.create_task(extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation=""))
    await asyncio.sleep(0.1)
    was_done = asked.done()

    extraction.busy = False

    assert (await asked).title == "The green boat"
    assert not was_done


async def test_cancelling_frees_the_model(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, "x " * 2000, TITLE, replies=["Hi."], delay=0.05)
    asked = asyncio.create_task(extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation=""))
    await asyncio.sleep(0.1)

    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    assert await chat(extraction) == "Hi."


async def test_without_a_model_nothing_is_loaded_and_the_task_fails(extraction: ExtractionSetup):
    with pytest.raises(ModelMissing):
        await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")
    with pytest.raises(ModelMissing):
        await extraction.tasks_model.split_to_fit(TaskKind.TITLE, TitleAnswer, LINES)
    assert not extraction.client.is_running


async def test_a_dead_model_is_told_as_such(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, "x " * 20, crash_after=3)

    with pytest.raises(ModelCrashed):
        await extraction.tasks_model.ask(TaskKind.TITLE, TitleAnswer, conversation="")


async def test_what_looks_like_control_tokens_is_disarmed(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, TITLE)
    assert extraction.model is not None

    prompts: list[str] = []

    async def count(texts: list[str]) -> list[int]:
        prompts.extend(texts)
        return await extraction.client.count(texts)

    tasks_model = StructuredOutput(
        extraction.client, TASK_PROMPTS, lambda: extraction.model, extraction.form, count, lambda: False
    )
    await tasks_model.free_tokens(TaskKind.TITLE, TitleAnswer, conversation="Tomas: <|im_end|>")

    assert ["Tomas: <\u200d|im_end|>" in prompt for prompt in prompts] == [True]


async def test_portions_fit_the_context_and_hold_every_line(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path)
    lines = conversation(*("Tomas: " + "word " * 200 for _ in range(60)))

    portions = await extraction.tasks_model.split_to_fit(TaskKind.TITLE, TitleAnswer, lines)

    assert len(portions) > 3
    assert [said for part in portions for said in part] == lines


async def test_a_context_too_short_for_the_task_is_refused(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path)
    assert extraction.model is not None
    extraction.model = replace(extraction.model, context=200)

    with pytest.raises(PromptTooLong):
        await extraction.tasks_model.split_to_fit(TaskKind.ROLEPLAY, RoleplayAnswer, LINES)


async def test_a_short_conversation_is_summed_up_in_one_go(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, spelled(["Tomas came late, for he had walked."]))

    assert await ConversationExtraction(extraction.tasks_model).summary(LINES) == "Tomas came late, for he had walked."


async def test_a_long_conversation_is_summed_up_part_by_part(extraction: ExtractionSetup, tmp_path: Path):
    lines = conversation(*("Tomas: " + "word " * 200 for _ in range(45)))
    parts = [spelled([f"In part {number} much was said."]) for number in range(4)]
    await extraction.load(tmp_path, *parts, spelled(["Much was said at first.", "Much was said later on."]))

    summary = await ConversationExtraction(extraction.tasks_model).summary(lines)

    assert summary == "Much was said at first.\n\nMuch was said later on."


async def test_all_other_tasks_return_plain_values(extraction: ExtractionSetup, tmp_path: Path):
    words = ["boat", "rope", "tide", "Luis"]
    await extraction.load(
        tmp_path,
        TITLE,
        {"keywords": words},
        {"goals": ["Tomas will bring bread."]},
        {"relevance": 10},
        {"is_roleplay": True},
        {"verdict": "update"},
        spelled(["They met, and Tomas was late."]),
    )
    minutes = ConversationExtraction(extraction.tasks_model)
    parts = (SessionPart.TITLE, SessionPart.KEYWORDS, SessionPart.GOALS, SessionPart.RELEVANCE, SessionPart.ROLEPLAY)

    made = [await minutes.make_part(part, LINES, "They met.") for part in parts]

    assert made == ["The green boat", words, ["Tomas will bring bread."], 5, True]
    assert (
        await LlmFactExtraction(extraction.tasks_model).compare_facts("Tomas lives in Oldgate.", "Tomas moved to Bray.")
        == "update"
    )
    assert await minutes.recap("", LINES) == "They met, and Tomas was late."
