"""Whether a model may write facts and summaries, on scripted models that are good, bad or interrupted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lethe_app.brain.fact_guard.checks import check_claim
from lethe_app.brain.fact_guard.claims import Claim, SupportLevel
from lethe_app.brain.llm_schemas.qualification import QualificationSnippet, parse_utterances
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.errors import FileError
from lethe_app.services.extraction.qualification import SCOPE, Qualification, QualificationResult, key_of
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import AppState
from tests.brain.llm_schemas.test_qualification import DIALOGUES, GOOD, SNIPPETS, supported
from tests.services.extraction_setup import SELF_TEST, TASK_PROMPTS, ExtractionSetup, open_extraction, spelled


@dataclass
class Trial:
    """A scripted model, and what is known of it."""

    extraction: ExtractionSetup
    state: AppState
    folder: Path
    qualification: Qualification

    async def load(self, *answers: object, name: str = "script", **script: object) -> None:
        await self.extraction.load(self.folder, *answers, name=name, **script)

    async def check(self) -> QualificationResult:
        verdict = await self.qualification.check()
        assert verdict is not None
        return verdict

    def restarted(self, questions: Path = SELF_TEST) -> Qualification:
        """As the next start of the program finds it, perhaps with other questions."""
        return Qualification(self.extraction.tasks_model, TASK_PROMPTS, self.state, questions)


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[Trial]:
    database = await Database.open(tmp_path / "home" / "lethe.sqlite3")
    async with open_extraction() as extraction:
        state = AppState(database)
        yield Trial(extraction, state, tmp_path, Qualification(extraction.tasks_model, TASK_PROMPTS, state, SELF_TEST))
    await database.close()


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


async def test_a_good_model_may_write_everything(trial: Trial):
    await trial.load(*ALL_RIGHT)
    reported: list[QualificationResult] = []
    trial.qualification.changed.add(reported.append)

    verdict = await trial.check()

    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (1.0, True, True)
    assert verdict.model == "script"
    assert trial.qualification.verdict == verdict
    assert reported == [verdict]


async def test_a_model_that_writes_nothing_is_of_no_use_for_facts(trial: Trial):
    await trial.load(*([{"facts": []}] * len(SNIPPETS)), *SUMMARIES_RIGHT)

    verdict = await trial.check()

    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (0.0, False, True)


async def test_a_model_that_makes_too_much_of_small_talk_may_write_no_facts(trial: Trial):
    answers = [answer for each in SNIPPETS for answer in answers_of_a_chatterer(each)]
    await trial.load(*answers, *SUMMARIES_RIGHT)

    verdict = await trial.check()

    assert verdict.facts < 0.8
    assert not verdict.may_write_facts


async def test_one_invented_name_costs_the_right_to_write_summaries(trial: Trial):
    await trial.load(*ALL_RIGHT[:-1], spelled([GOOD["cat"] + " Then Percival arrived."]))

    verdict = await trial.check()

    assert (verdict.may_write_facts, verdict.may_write_summaries) == (True, False)
    assert "Percival" in verdict.detail


async def test_a_model_is_tried_only_once(trial: Trial):
    await trial.load(*ALL_RIGHT)
    first = await trial.check()
    await trial.load()  # the same file again, which would now fail

    again = await trial.check()
    after_restart = await trial.restarted().check()

    assert again == first == after_restart


async def test_an_interrupted_trial_goes_on_where_it_was(trial: Trial):
    await trial.load(*ALL_RIGHT, delay=0.01)
    assert trial.extraction.model is not None
    task = asyncio.create_task(trial.qualification.check())
    kept: object = None
    while not isinstance(kept, dict) or len(kept["sittings"][0]) < 5:
        await asyncio.sleep(0.05)
        kept = await trial.state.get(SCOPE, key_of(trial.extraction.model))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = await trial.state.get(SCOPE, key_of(trial.extraction.model))
    assert isinstance(kept, dict)
    left = [each for each in SNIPPETS if each.name not in kept["sittings"][0]]
    await trial.load(*(answer for each in left for answer in answers_about(each)), *SUMMARIES_RIGHT)

    verdict = await trial.check()

    assert verdict.may_write_facts
    assert verdict.may_write_summaries


async def test_the_verdict_is_that_of_the_model_loaded_now(trial: Trial):
    assert await trial.qualification.check() is None
    await trial.load(*ALL_RIGHT)
    await trial.check()

    await trial.load(name="another")

    assert trial.qualification.verdict is None


async def test_a_model_that_fails_is_tried_again_with_other_seeds_before_it_has_failed(trial: Trial):
    poor = spelled(["They had a talk about something or other that day."])
    await trial.load(*FACTS_RIGHT, poor, *SUMMARIES_RIGHT)

    verdict = await trial.check()

    assert verdict.is_passed
    assert verdict.detail.endswith("summaries: faithful.")


async def test_a_model_that_noted_too_few_facts_is_tried_again_and_one_that_noted_none_is_not(trial: Trial):
    first = [answer for each in SNIPPETS[:1] for answer in answers_about(each)]
    none: dict[str, object] = {"facts": []}
    await trial.load(*first, *[none] * (len(SNIPPETS) - 1), *SUMMARIES_RIGHT, *FACTS_RIGHT)
    some = await trial.check()
    await trial.load(*[none] * len(SNIPPETS), *SUMMARIES_RIGHT, *FACTS_RIGHT, name="silent")

    nothing = await trial.check()

    assert (some.may_write_facts, nothing.may_write_facts) == (True, False)


async def test_a_model_that_failed_is_trusted_if_the_user_says_so_until_they_take_it_back(trial: Trial):
    await trial.load()
    failed = await trial.check()
    reported: list[QualificationResult] = []
    trial.qualification.changed.add(reported.append)

    await trial.qualification.trust_anyway(trusted=True)
    after_restart = await trial.restarted().check()
    trusted = trial.qualification.verdict
    await trial.qualification.trust_anyway(trusted=False)

    assert not failed.is_passed
    assert trusted == after_restart
    assert (trusted.trusted_anyway, trusted.may_write_facts, trusted.may_write_summaries) == (True, True, True)
    assert trial.qualification.verdict == failed
    assert await trial.restarted().check() == failed
    assert reported == [trusted, failed]


async def test_other_questions_are_another_trial(trial: Trial):
    await trial.load(*ALL_RIGHT)
    await trial.check()
    (trial.folder / "facts.json").write_text(json.dumps([SNIPPETS[0].model_dump()]), encoding="utf-8")
    (trial.folder / "dialogues.json").write_text("[]", encoding="utf-8")
    await trial.load(*answers_about(SNIPPETS[0]))

    verdict = await trial.restarted(trial.folder).check()

    assert "(1 of 1 texts)" in verdict.detail


async def test_questions_that_cannot_be_read_are_named(trial: Trial):
    await trial.load()

    with pytest.raises(FileError, match=r"facts\.json"):
        await trial.restarted(trial.folder).check()
