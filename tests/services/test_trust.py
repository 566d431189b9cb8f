"""Whether a model may write facts and summaries, on scripted models that are good, bad or interrupted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lethe_app.brain.exam import Snippet, as_said, mark_facts
from lethe_app.errors import FileError
from lethe_app.services.trust import SCOPE, Trust, Verdict, key_of
from lethe_app.storage.database import Database
from lethe_app.storage.state import HouseState
from tests.brain.test_exam import DIALOGUES, GOOD, SNIPPETS
from tests.services.desk import ERRANDS, SELF_TEST, Desk, open_desk, spelled


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with open_desk() as desk:
        yield desk


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[HouseState]:
    database = await Database.open(tmp_path / "home" / "lethe.sqlite3")
    yield HouseState(database)
    await database.close()


@pytest.fixture
def trust(desk: Desk, state: HouseState) -> Trust:
    return Trust(desk.clerk, ERRANDS, state, SELF_TEST)


def right(snippet: Snippet) -> dict[str, list[dict[str, object]]]:
    """Every fact there is, with a line that says it."""
    lines = as_said(snippet.lines, snippet.about)
    found: list[dict[str, object]] = []
    for each in snippet.facts:
        place = next(number for number, line in enumerate(lines) if mark_facts(snippet, lines, [(each.fact, line)]).right)
        found.append({"line": place + 1, "fact": each.fact})
    return {"facts": found}


ALL_RIGHT = [*map(right, SNIPPETS), *(spelled([GOOD[name]]) for name in DIALOGUES)]


def wrong(snippet: Snippet) -> dict[str, list[dict[str, object]]]:
    """What is said, but is no fact: the words of a line, put into somebody's mouth."""
    return {"facts": [{"line": 1, "fact": f"{snippet.about} and {snippet.lines[0].replace(':', '')}."}]}


async def test_a_good_model_may_write_everything(desk: Desk, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT)
    told: list[Verdict] = []
    trust.changed.add(told.append)

    verdict = await trust.check()

    assert verdict is not None
    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (1.0, True, True)
    assert verdict.model == "script"
    assert trust.verdict == verdict
    assert told == [verdict]


async def test_a_model_that_writes_nothing_is_of_no_use_for_facts(desk: Desk, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path, *([{"facts": []}] * len(SNIPPETS)), *ALL_RIGHT[len(SNIPPETS) :])

    verdict = await trust.check()

    assert verdict is not None
    assert (verdict.facts, verdict.may_write_facts, verdict.may_write_summaries) == (0.0, False, True)


async def test_a_model_that_answers_nonsense_may_write_nothing(desk: Desk, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path)

    verdict = await trust.check()

    assert verdict is not None
    assert not verdict.may_write_facts
    assert not verdict.may_write_summaries
    assert "boat: The model gave no usable summary" in verdict.detail


async def test_a_model_that_makes_too_much_of_small_talk_may_write_no_facts(desk: Desk, trust: Trust, tmp_path: Path):
    answers = [right(each) if number % 2 == 0 else wrong(each) for number, each in enumerate(SNIPPETS)]
    await desk.load(tmp_path, *answers, *ALL_RIGHT[len(SNIPPETS) :])

    verdict = await trust.check()

    assert verdict is not None
    assert verdict.facts < 0.8
    assert not verdict.may_write_facts


async def test_one_invented_name_costs_the_right_to_write_summaries(desk: Desk, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT[:-1], spelled([GOOD["cat"] + " Then Percival arrived."]))

    verdict = await trust.check()

    assert verdict is not None
    assert (verdict.may_write_facts, verdict.may_write_summaries) == (True, False)
    assert "Percival" in verdict.detail


async def test_a_model_is_tried_only_once(desk: Desk, trust: Trust, state: HouseState, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT)
    first = await trust.check()
    await desk.load(tmp_path)  # the same file again, which would now fail

    again = await trust.check()
    after_restart = await Trust(desk.clerk, ERRANDS, state, SELF_TEST).check()

    assert again == first == after_restart


async def test_two_who_ask_at_once_get_the_verdict_of_one_trial(desk: Desk, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT)

    one, other = await asyncio.gather(trust.check(), trust.check())

    assert one == other
    assert one is not None
    assert one.may_write_facts


async def test_an_interrupted_trial_goes_on_where_it_was(desk: Desk, trust: Trust, state: HouseState, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT, delay=0.01)
    assert desk.model is not None
    trial = asyncio.create_task(trust.check())
    kept: object = None
    while not isinstance(kept, dict) or len(kept["marks"]) < 5:
        await asyncio.sleep(0.05)
        kept = await state.get(SCOPE, key_of(desk.model))
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    kept = await state.get(SCOPE, key_of(desk.model))
    assert isinstance(kept, dict)
    await desk.load(tmp_path, *ALL_RIGHT[len(kept["marks"]) :])

    verdict = await trust.check()

    assert verdict is not None
    assert verdict.may_write_facts
    assert verdict.may_write_summaries


async def test_the_verdict_is_that_of_the_model_loaded_now(desk: Desk, trust: Trust, tmp_path: Path):
    assert await trust.check() is None
    await desk.load(tmp_path, *ALL_RIGHT)
    await trust.check()

    await desk.load(tmp_path, name="another")

    assert trust.verdict is None


async def test_other_questions_are_another_trial(desk: Desk, state: HouseState, trust: Trust, tmp_path: Path):
    await desk.load(tmp_path, *ALL_RIGHT)
    await trust.check()
    (tmp_path / "facts.json").write_text(json.dumps([SNIPPETS[0].model_dump()]), encoding="utf-8")
    (tmp_path / "dialogues.json").write_text("[]", encoding="utf-8")
    await desk.load(tmp_path, right(SNIPPETS[0]))

    verdict = await Trust(desk.clerk, ERRANDS, state, tmp_path).check()

    assert verdict is not None
    assert "(1 of 1 texts)" in verdict.detail


async def test_questions_that_cannot_be_read_are_named(desk: Desk, state: HouseState, tmp_path: Path):
    await desk.load(tmp_path)

    with pytest.raises(FileError, match=r"facts\.json"):
        await Trust(desk.clerk, ERRANDS, state, tmp_path).check()
