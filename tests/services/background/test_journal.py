"""An entry is written when enough has happened, in her own words, found again later, and never in the place of another."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from lethe_app.agents.journal import Journal, JournalEntryAnswer
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from tests.services.past_sessions import NUTS, chats_of, hold, trusted
from tests.services.tasks import Clock, employ, leave, leave_and_run, newest
from tests.services.turns import MIRA

WANTS = {"write": True, "topic": "What Tomas told me of his sister."}
WANTS_NOT = {"write": False, "topic": ""}
ENTRY = {"title": "His sister", "paragraphs": ["Tomas spoke of Ines today. I listened longer than I meant to."]}
OTHER = {"title": "His sister", "paragraphs": ["Tomas spoke of Ines today. I listened longer than I meant to, again."]}


async def past(services: AppServices, clock: Clock, sessions: int = 2) -> None:
    """Some conversations that are over."""
    for _number in range(sessions):
        session = await hold(services, *NUTS, at=clock.shown)
        reported = {"name": "Peanuts and Porto", "content": "They spoke of Ines."}
        await chats_of(services).change_session(session.guid, archived=True, **reported)
        clock.go_on(hours=1)


async def ready(services: AppServices, script: Path, answers: list[object], context: int = 8192) -> None:
    await employ(services, Journal(lambda: context))
    await trusted(services, script, answers=answers, context=context)


async def entries(services: AppServices) -> list[tuple[str, str]]:
    return [(one.name, one.content) for one in await services.memory.memories(MIRA) if one.category is MemoryType.JOURNAL]


async def test_after_two_conversations_an_entry_is_written(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)
    await ready(services, tmp_path / "model.json", [WANTS, ENTRY])
    leave(services, clock)

    await services.background_runner.run_next_task()

    run = await newest(services)
    (entry,) = await services.memory.memories(MIRA)
    assert (run.outcome, run.trouble) == (RunOutcome.MADE, "")
    assert (entry.category, entry.insertion, entry.made_by) == (MemoryType.JOURNAL, MemoryInsertion.TRIGGER, "journal")
    assert (entry.name, entry.content) == ("His sister", ENTRY["paragraphs"][0])
    assert "written in the journal" in run.made[-1].title


async def test_one_conversation_is_not_enough_and_neither_is_a_short_context(
    services: AppServices, tmp_path: Path, clock: Clock
):
    await past(services, clock, sessions=1)
    await ready(services, tmp_path / "model.json", [WANTS, ENTRY])
    await leave_and_run(services, clock)
    assert await services.activity_log.list_runs() == []

    await past(services, clock)
    await ready(services, tmp_path / "model.json", [WANTS, ENTRY], context=4096)
    clock.go_on(hours=25)
    await services.background_runner.run_next_task()
    assert await services.activity_log.list_runs() == []


async def test_what_is_not_worth_an_entry_is_not_thought_of_again(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)
    await ready(services, tmp_path / "model.json", [WANTS_NOT, WANTS, ENTRY])
    leave(services, clock)
    for _day in range(5):
        await services.background_runner.run_next_task()
        clock.go_on(days=1, hours=1)

    assert [run.outcome for run in await services.activity_log.list_runs()] == [RunOutcome.NOTHING]
    assert await entries(services) == []


async def test_the_next_entry_does_not_take_the_place_of_the_last_though_it_says_nearly_the_same(
    services: AppServices, tmp_path: Path, clock: Clock
):
    await past(services, clock)
    await ready(services, tmp_path / "model.json", [WANTS, ENTRY, WANTS, OTHER])
    await leave_and_run(services, clock)
    clock.go_on(hours=25)
    await past(services, clock)
    await leave_and_run(services, clock)

    assert sorted(await entries(services)) == sorted([("His sister", one["paragraphs"][0]) for one in (ENTRY, OTHER)])


async def test_an_entry_can_be_taken_back(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)
    await ready(services, tmp_path / "model.json", [WANTS, ENTRY])
    await leave_and_run(services, clock)

    await services.background_runner.undo((await newest(services)).id)

    assert await entries(services) == []


def test_no_macro_comes_into_an_entry():
    entry = JournalEntryAnswer.parse(json.dumps({"title": "A", "paragraphs": ["I met {{user}} at the old harbour today."]}))

    assert "{{" not in entry.text


def test_a_day_lies_between_two_entries():
    assert Journal(lambda: 0).every == timedelta(hours=24)
