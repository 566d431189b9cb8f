"""Whether a model may write facts and summaries, on scripted models that are good, bad or interrupted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lethe_app.brain.fact_guard.claims import Claim, SupportLevel
from lethe_app.brain.fact_guard.guard import check_claim
from lethe_app.brain.llm_schemas.qualification import QualificationSnippet, parse_utterances
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.errors import FileError
from lethe_app.services.extraction.qualification import SCOPE, Qualification, QualificationResult, key_of
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import AppState
from tests.brain.llm_schemas.test_qualification import DIALOGUES, GOOD, SNIPPETS, supported
from tests.services.extraction_setup import SELF_TEST, TASK_PROMPTS, ExtractionSetup, open_extraction, spelled


@pytest.fixture
async def extraction() -> AsyncIterator[ExtractionSetup]:
    async with open_extraction() as extraction:
        yield extraction


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[AppState]:
    database = await Database.open(tmp_path / "home" / "lethe.sqlite3")
    yield AppState(database)
    await database.close()


@pytest.fixture
def qualification(extraction: ExtractionSetup, state: AppState) -> Qualification:
    return Qualification(extraction.tasks_model, TASK_PROMPTS, state, SELF_TEST)


def right(snippet: QualificationSnippet) -> dict[str, object]:
    """Every fact there is, with the line that says it."""
    return {"facts": [stated(snippet, supported(snippet, each.fact), each.fact) for each in snippet.facts]}


def stated(snippet: QualificationSnippet, place: int, fact: str) -> dict[str, object]:
    quote = snippet.lines[place].partition(": ")[2]
    return {"line": place + 1, "quote": quote, "about": snippet.about, "kind": "other", "fact": fact, "changes": 0}


def answers_about(snippet: QualificationSnippet) -> list[dict[str, object]]:
    """The facts, and a yes for each about which the model is asked."""
    lines = parse_utterances(snippet.lines, snippet.about)
    parts = read_parts(lines)
    asked = 0
    for each in snippet.facts:
        place = supported(snippet, each.fact)
        claim = Claim(place, lines[place].text, each.fact, snippet.about)
        asked += check_claim(claim, lines, parts).support is SupportLevel.DOUBTFUL
    return [right(snippet), *[{"is_said": True}] * asked]


FACTS_RIGHT = [answer for snippet in SNIPPETS for answer in answers_about(snippet)]
SUMMARIES_RIGHT = [spelled([GOOD[name]]) for name in DIALOGUES]
ALL_RIGHT = [*FACTS_RIGHT, *SUMMARIES_RIGHT]


WRONG = {
    "small talk": (1, "Nadia can hardly feel her fingers."),
    "plan for today": (1, "Joel is going to finish this letter."),
    "mood": (1, "Anton is a bit tired and grumpy this morning."),
    "weather": (0, "Felix listened to thunder."),
    "question": (2, "Greta wants the salt passed."),
}
"""What is said, but is no lasting fact."""


def answers_of_a_chatterer(snippet: QualificationSnippet) -> list[dict[str, object]]:
    if snippet.name not in WRONG:
        return answers_about(snippet)
    return [{"facts": [stated(snippet, *WRONG[snippet.name])]}]


async def test_a_good_model_may_write_everything(extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path):
    await extraction.load(tmp_path, *ALL_RIGHT)
    reported: list[QualificationResult] = []
    qualification.changed.add(reported.append)

    verdict = await qualification.check()

    assert verdict is not None
    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (1.0, True, True)
    assert verdict.model == "script"
    assert qualification.verdict == verdict
    assert reported == [verdict]


async def test_a_model_that_writes_nothing_is_of_no_use_for_facts(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    await extraction.load(tmp_path, *([{"facts": []}] * len(SNIPPETS)), *SUMMARIES_RIGHT)

    verdict = await qualification.check()

    assert verdict is not None
    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (0.0, False, True)


async def test_a_model_that_answers_nonsense_may_write_nothing(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    await extraction.load(tmp_path)

    verdict = await qualification.check()

    assert verdict is not None
    assert not verdict.may_write_facts
    assert not verdict.may_write_summaries
    assert "boat: The model gave no usable summary" in verdict.detail


async def test_a_model_that_makes_too_much_of_small_talk_may_write_no_facts(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    answers = [answer for each in SNIPPETS for answer in answers_of_a_chatterer(each)]
    await extraction.load(tmp_path, *answers, *SUMMARIES_RIGHT)

    verdict = await qualification.check()

    assert verdict is not None
    assert verdict.facts < 0.8
    assert not verdict.may_write_facts


async def test_one_invented_name_costs_the_right_to_write_summaries(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    await extraction.load(tmp_path, *ALL_RIGHT[:-1], spelled([GOOD["cat"] + " Then Percival arrived."]))

    verdict = await qualification.check()

    assert verdict is not None
    assert (verdict.may_write_facts, verdict.may_write_summaries) == (True, False)
    assert "Percival" in verdict.detail


async def test_a_model_is_tried_only_once(
    extraction: ExtractionSetup, qualification: Qualification, state: AppState, tmp_path: Path
):
    await extraction.load(tmp_path, *ALL_RIGHT)
    first = await qualification.check()
    await extraction.load(tmp_path)  # the same file again, which would now fail

    again = await qualification.check()
    after_restart = await Qualification(extraction.tasks_model, TASK_PROMPTS, state, SELF_TEST).check()

    assert again == first == after_restart


async def test_two_who_ask_at_once_get_the_verdict_of_one_trial(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    await extraction.load(tmp_path, *ALL_RIGHT)

    one, other = await asyncio.gather(qualification.check(), qualification.check())

    assert one == other
    assert one is not None
    assert one.may_write_facts


async def test_an_interrupted_trial_goes_on_where_it_was(
    extraction: ExtractionSetup, qualification: Qualification, state: AppState, tmp_path: Path
):
    await extraction.load(tmp_path, *ALL_RIGHT, delay=0.01)
    assert extraction.model is not None
    trial = asyncio.create_task(qualification.check())
    kept: object = None
    while not isinstance(kept, dict) or len(kept["sittings"][0]) < 5:
        await asyncio.sleep(0.05)
        kept = await state.get(SCOPE, key_of(extraction.model))
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    kept = await state.get(SCOPE, key_of(extraction.model))
    assert isinstance(kept, dict)
    left = [each for each in SNIPPETS if each.name not in kept["sittings"][0]]
    await extraction.load(tmp_path, *(answer for each in left for answer in answers_about(each)), *SUMMARIES_RIGHT)

    verdict = await qualification.check()

    assert verdict is not None
    assert verdict.may_write_facts
    assert verdict.may_write_summaries


async def test_the_verdict_is_that_of_the_model_loaded_now(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    assert await qualification.check() is None
    await extraction.load(tmp_path, *ALL_RIGHT)
    await qualification.check()

    await extraction.load(tmp_path, name="another")

    assert qualification.verdict is None


async def test_a_model_that_fails_is_tried_again_with_other_seeds_before_it_has_failed(
    extraction: ExtractionSetup, qualification: Qualification, tmp_path: Path
):
    poor = spelled(["They had a talk about something or other that day."])
    await extraction.load(tmp_path, *FACTS_RIGHT, poor, *SUMMARIES_RIGHT)

    verdict = await qualification.check()

    assert verdict is not None
    assert verdict.is_passed
    assert verdict.detail.endswith("summaries: faithful.")


async def test_a_model_that_noted_too_few_facts_is_tried_again_and_one_that_noted_none_is_not(
    extraction: ExtractionSetup, qualification: Qualification, state: AppState, tmp_path: Path
):
    first = [answer for each in SNIPPETS[:1] for answer in answers_about(each)]
    none: dict[str, object] = {"facts": []}
    await extraction.load(tmp_path, *first, *[none] * (len(SNIPPETS) - 1), *SUMMARIES_RIGHT, *FACTS_RIGHT)
    some = await qualification.check()
    await extraction.load(tmp_path, *[none] * len(SNIPPETS), *SUMMARIES_RIGHT, *FACTS_RIGHT, name="silent")

    nothing = await qualification.check()

    assert some is not None
    assert nothing is not None
    assert (some.may_write_facts, nothing.may_write_facts) == (True, False)


async def test_a_model_that_failed_is_trusted_if_the_user_says_so_until_they_take_it_back(
    extraction: ExtractionSetup, qualification: Qualification, state: AppState, tmp_path: Path
):
    await extraction.load(tmp_path)
    failed = await qualification.check()
    reported: list[QualificationResult] = []
    qualification.changed.add(reported.append)

    await qualification.trust_anyway(trusted=True)
    after_restart = await Qualification(extraction.tasks_model, TASK_PROMPTS, state, SELF_TEST).check()
    trusted = qualification.verdict
    await qualification.trust_anyway(trusted=False)

    assert failed is not None
    assert not failed.is_passed
    assert trusted is not None
    assert trusted == after_restart
    assert (trusted.trusted_anyway, trusted.may_write_facts, trusted.may_write_summaries) == (True, True, True)
    assert qualification.verdict == failed
    assert await Qualification(extraction.tasks_model, TASK_PROMPTS, state, SELF_TEST).check() == failed
    assert reported == [trusted, failed]


async def test_other_questions_are_another_trial(
    extraction: ExtractionSetup, state: AppState, qualification: Qualification, tmp_path: Path
):
    await extraction.load(tmp_path, *ALL_RIGHT)
    await qualification.check()
    (tmp_path / "facts.json").write_text(json.dumps([SNIPPETS[0].model_dump()]), encoding="utf-8")
    (tmp_path / "dialogues.json").write_text("[]", encoding="utf-8")
    await extraction.load(tmp_path, *answers_about(SNIPPETS[0]))

    verdict = await Qualification(extraction.tasks_model, TASK_PROMPTS, state, tmp_path).check()

    assert verdict is not None
    assert "(1 of 1 texts)" in verdict.detail


async def test_questions_that_cannot_be_read_are_named(extraction: ExtractionSetup, state: AppState, tmp_path: Path):
    await extraction.load(tmp_path)

    with pytest.raises(FileError, match=r"facts\.json"):
        await Qualification(extraction.tasks_model, TASK_PROMPTS, state, tmp_path).check()
