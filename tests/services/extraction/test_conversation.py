"""Facts from a scripted model: what the conversation supports is kept, with its line, kind and date, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, SupportedFact
from lethe_app.services.extraction.structured_output import StructuredOutput
from tests.services.extraction_setup import ROOT, ExtractionSetup, conversation, open_extraction
from tests.services.past_sessions import stated

LINES = conversation("Mira: You are late.", "Tomas: I walked from Oldgate.", "Mira: So far!", "Tomas: I live there.")
NOTHING: dict[str, object] = {"facts": []}


@pytest.fixture
async def extraction() -> AsyncIterator[ExtractionSetup]:
    async with open_extraction() as extraction:
        yield extraction


async def extracted(
    extraction: ExtractionSetup, lines: list[Utterance], known: tuple[ExtractedFact, ...] = (), about: str = "Tomas"
) -> list[SupportedFact]:
    return await LlmFactExtraction(extraction.tasks_model).facts(lines, [about], known)


async def test_a_fact_comes_with_its_message_and_kind_and_is_told_once(extraction: ExtractionSetup, tmp_path: Path):
    walked = stated(2, "I walked from Oldgate", "Tomas walked from Oldgate.", kind="event")
    await extraction.load(tmp_path, {"facts": [walked, walked | {"fact": "Tomas walked from Oldgate on foot."}]})

    (noted,) = await extracted(extraction, LINES)

    assert (noted.fact, noted.source, noted.kind) == ("Tomas walked from Oldgate.", LINES[1], FactKind.EVENT)


@pytest.mark.parametrize(
    "answer",
    [
        stated(4, "I live there", "I live there."),
        stated(2, "I walked from Oldgate", "Tomas walked from Newgate."),
        stated(2, "I flew from Oldgate", "Tomas flew from Oldgate."),
        stated(1, "You are late", "Tomas is late."),
        stated(3, "So far!", "Tomas is far."),
    ],
)
async def test_what_nobody_said_or_somebody_else_said_is_not_kept(
    extraction: ExtractionSetup, tmp_path: Path, answer: dict[str, object]
):
    await extraction.load(tmp_path, {"facts": [answer]})

    assert await extracted(extraction, LINES) == []


async def test_a_fact_with_a_wrong_number_is_given_to_the_message_that_says_it(extraction: ExtractionSetup, tmp_path: Path):
    await extraction.load(tmp_path, {"facts": [stated(4, "I walked from Oldgate", "Tomas walked from Oldgate.")]})

    assert [each.source for each in await extracted(extraction, LINES)] == [LINES[1]]


@pytest.mark.parametrize("is_said", [True, False])
async def test_where_rules_cannot_tell_the_model_is_asked(extraction: ExtractionSetup, tmp_path: Path, is_said: bool):
    lines = conversation("Mira: So you are a vegetarian?", "Tomas: For ages now.")
    answer = stated(2, "For ages now", "Tomas has been a vegetarian for a long time.", kind="taste")
    await extraction.load(tmp_path, {"facts": [answer]}, {"is_said": is_said})

    assert len(await extracted(extraction, lines)) == is_said


async def test_a_question_that_gets_no_usable_answer_keeps_the_fact_out(extraction: ExtractionSetup, tmp_path: Path):
    lines = conversation("Mira: So you are a vegetarian?", "Tomas: For ages now.")
    await extraction.load(
        tmp_path, {"facts": [stated(2, "For ages now", "Tomas has been a vegetarian for a long time.")]}, {}, {}, {}
    )

    assert await extracted(extraction, lines) == []


async def test_relative_dates_are_spelled_out_as_seen_from_the_day_of_the_message(extraction: ExtractionSetup, tmp_path: Path):
    lines = conversation("Tomas: My father died two years ago, and yesterday we sold his boat.")
    father = stated(1, "My father died two years ago", "Tomas's father died two years ago.", about="Tomas's father")
    boat = stated(1, "yesterday we sold his boat", "Tomas sold his father's boat yesterday.", kind="event")
    await extraction.load(tmp_path, {"facts": [father, boat]})

    assert [each.fact for each in await extracted(extraction, lines)] == [
        "Tomas's father died in 2024.",
        "Tomas sold his father's boat on 1 May 2026.",
    ]


async def test_portions_share_two_messages_and_what_was_noted_of_them_is_not_noted_twice(
    extraction: ExtractionSetup, tmp_path: Path
):
    lines = conversation(*(f"Tomas: I own boat number {number}." for number in range(22)))
    eleventh = "I own boat number 10", "Tomas owns boat number 10."
    again = stated(1, eleventh[0], "Tomas is the owner of boat number 10.")
    await extraction.load(
        tmp_path,
        {"facts": [stated(11, *eleventh)]},
        {"facts": [again, stated(12, "boat number 21", "Tomas owns boat number 21.")]},
    )

    noted = await extracted(extraction, lines)

    assert [(each.fact, each.source) for each in noted] == [
        ("Tomas owns boat number 10.", lines[10]),
        ("Tomas owns boat number 21.", lines[21]),
    ]


async def test_words_for_this_that_the_user_wrote_for_an_older_version_still_serve(extraction: ExtractionSetup, tmp_path: Path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "facts.md").write_text(
        "You note facts.\n\n# Material\n{conversation}\n\nWhat about {about}?\n\n# Example\n1. Anna: I repair clocks.\n\n"
        'What about Anna?\n\n# Answer\n{"facts": [{"line": 1, "fact": "Anna repairs clocks."}]}',
        encoding="utf-8",
    )
    tasks = TaskPrompts(ROOT / "resources" / "prompts", own)
    tasks_model = StructuredOutput(
        extraction.client, tasks, lambda: extraction.model, extraction.form, extraction.client.count, lambda: False
    )
    await extraction.load(tmp_path, {"facts": [stated(2, "I walked from Oldgate", "Tomas walked from Oldgate.")]})

    noted = await LlmFactExtraction(tasks_model).facts(LINES, ["Tomas"], [])

    assert [each.fact for each in noted] == ["Tomas walked from Oldgate."]
    assert tasks.load_prompt("facts").instructions == "You note facts."
    assert tasks.errors == {}


async def test_known_facts_that_are_too_long_to_be_shown_leave_room_for_the_lines(extraction: ExtractionSetup, tmp_path: Path):
    known = tuple(ExtractedFact(fact=f"Tomas walked {number} " + "miles " * 190) for number in range(9))
    lines = conversation(*("Tomas: I walked miles. " + "And then it went on. " * 520 for _ in range(3)))
    await extraction.load(tmp_path, *[{"facts": [stated(1, "I walked miles", "Tomas walked miles.")]}] * 3)

    assert len(await extracted(extraction, lines, known)) == 3
