"""Whatever was done behind the user can be taken back, also after a kill, and never takes anything of theirs along."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lethe_app.agents.task import TaskContext, TaskResult
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ProducedKind, RunOutcome
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.writer import remove_added_lines
from tests.conftest import Silence
from tests.services.background.test_activity_log import BREAD, CONCLUDED, baked
from tests.services.past_sessions import copy_home, opened
from tests.services.tasks import Clock, Scripted, employ, kept_runs, leave_and_run, newest
from tests.services.turns import MIRA

# memories


async def remember(scene: TaskContext) -> TaskResult:
    await scene.memorize(MemoryUnit(name="The lamp", content="Tomas fears for the lamp."))
    return TaskResult("Remembered something.")


async def test_a_memory_that_the_user_has_made_their_own_stays(services: AppServices, clock: Clock):
    await employ(services, Scripted(remember))
    await leave_and_run(services, clock)
    (memory,) = await services.memory.memories(MIRA)
    await services.memory.edit(memory.model_copy(update={"content": "I fear for the lamp, and for the glass."}))

    await services.background_runner.undo((await newest(services)).id)

    assert [one.content for one in await services.memory.memories(MIRA)] == ["I fear for the lamp, and for the glass."]
    assert (await newest(services)).undone


async def test_a_memory_nobody_has_touched_goes_to_the_trash(services: AppServices, clock: Clock):
    await employ(services, Scripted(remember))
    await leave_and_run(services, clock)

    await services.background_runner.undo((await newest(services)).id)

    assert list(await services.memory.memories(MIRA)) == []


async def test_what_a_memory_said_before_comes_back_even_if_the_end_came_right_after_it_was_written_over(
    services: AppServices, clock: Clock, quiet_log: Silence, monkeypatch: pytest.MonkeyPatch
):
    async def shout(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(name="The lamp", content="TOMAS FEARS FOR THE LAMP."))
        return TaskResult("Remembered something.")

    await employ(services, Scripted(remember, "quiet"))
    await leave_and_run(services, clock)
    put = services.memory_cache.save_memories

    async def put_and_end(persona_id: str, *memories: MemoryUnit) -> None:
        await put(persona_id, *memories)
        raise SystemExit

    await employ(services, Scripted(shout, "loud"))
    with monkeypatch.context() as patched:
        patched.setattr(services.memory_cache, "save_memories", put_and_end)
        await services.background_runner.run_next_task()
    (memory,) = await services.memory.memories(MIRA)
    assert memory.content == "TOMAS FEARS FOR THE LAMP."

    await services.background_runner.undo((await newest(services)).id)

    assert [one.content for one in await services.memory.memories(MIRA)] == ["Tomas fears for the lamp."]
    quiet_log.records.clear()


# notebooks


async def test_killed_between_a_notebook_and_its_record_it_stands_in_the_list_and_can_be_taken_back(
    services: AppServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await baked(services, tmp_path, BREAD)
    known = {one.guid for one in await services.facts.facts_of(MIRA)}
    written = asyncio.Event()

    async def wait(_filer: NotebookFiler, _persona: str, _name: str) -> list[str]:
        written.set()
        return await asyncio.Event().wait()  # type: ignore[return-value] - never

    with monkeypatch.context() as patched:
        patched.setattr(NotebookFiler, "split_if_long", wait)
        reading = asyncio.create_task(services.notebook_writer.write_pending(MIRA))
        await written.wait()
        copy = await copy_home(services, tmp_path / "as it was")
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    async with opened(copy) as again:
        await again.preferences.set(notebooks=False)
        await again.notebook_writer.write_all_pending()
        (run,) = await kept_runs(again)
        assert run.outcome is RunOutcome.LOST
        assert [one.title for one in run.made if one.kind is ProducedKind.NOTEBOOK] == ["Baking bread"]
        assert not {one.guid for one in await again.facts.facts_of(MIRA)} <= known

        await again.background_runner.undo(run.id)

        assert await again.notebooks.notebooks_of(MIRA) == []
        assert {one.guid for one in await again.facts.facts_of(MIRA)} <= known


async def test_ended_in_the_middle_of_writing_it_is_recorded_all_the_same(
    services: AppServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await baked(services, tmp_path, BREAD)
    written = asyncio.Event()

    async def wait(_filer: NotebookFiler, _persona: str, _name: str) -> list[str]:
        written.set()
        return await asyncio.Event().wait()  # type: ignore[return-value] - never

    monkeypatch.setattr(NotebookFiler, "split_if_long", wait)
    reading = asyncio.create_task(services.notebook_writer.write_pending(MIRA))
    await written.wait()
    (run,) = await kept_runs(services)
    services.activity_log.stop(run.id)
    await reading

    (run,) = await kept_runs(services)
    assert run.outcome is RunOutcome.STOPPED
    assert [one.title for one in run.made if one.kind is ProducedKind.NOTEBOOK] == ["Baking bread"]
    await services.background_runner.undo(run.id)
    assert await services.notebooks.notebooks_of(MIRA) == []


async def test_an_older_run_is_taken_back_out_of_a_notebook_in_which_others_have_written_since(
    services: AppServices, tmp_path: Path
):
    name = await services.notebooks.create(MIRA, "Baking bread")
    await services.notebooks.save_edit(MIRA, name, "# Baking bread\n\nThe dough, the cellar, loaves and Sundays.\n", "")
    await baked(services, tmp_path, BREAD)
    await services.notebook_writer.write_pending(MIRA)
    (run,) = await kept_runs(services)
    text = await services.notebooks.load_text(MIRA, name)
    mine = text.replace("Tomas bakes on Sundays.", "Tomas bakes on Sundays and feast days.")
    await services.notebooks.save_edit(MIRA, name, f"{mine}- By hand.\n", text)

    await services.background_runner.undo(run.id)

    left = (await services.notebooks.load_text(MIRA, name)).splitlines()
    assert [one.partition(" (")[0] for one in left if one.startswith("-")] == [
        "- Tomas bakes on Sundays and feast days.",
        "- By hand.",
    ]
    assert "The dough, the cellar, loaves and Sundays." in left


@pytest.mark.parametrize(
    ("text", "before", "after", "left"),
    [
        ("# A\n\n- one\n- two\n", "# A\n\n- one\n", "# A\n\n- one\n- two\n", "# A\n\n- one\n"),
        ("# A\n\n- one\n- two\n- three\n", "# A\n\n- one\n", "# A\n\n- one\n- two\n", "# A\n\n- one\n- three\n"),
        ("# A\n\n- one\n- two, of mine\n", "# A\n\n- one\n", "# A\n\n- one\n- two\n", "# A\n\n- one\n- two, of mine\n"),
        ("# A\n\n- two\n", "# A\n\n- one\n", "# A\n\n- one\n- two\n", "# A\n"),
        ("# A\n\n- one\n", None, "# A\n\n- one\n", None),
        ("# A\n\n- one\n- mine\n", None, "# A\n\n- one\n", "# A\n\n- mine\n"),
        ("# A\n\n", None, "# A\n\n- one\n", None),
        ("# Mine\n\n- one\n", None, "# A\n\n- one\n", "# Mine\n"),
    ],
)
def test_lines_are_taken_out_and_nothing_else(text: str, before: str | None, after: str, left: str | None):
    assert remove_added_lines(text, before, after) == left


# facts


async def test_what_a_fact_took_the_place_of_holds_again(services: AppServices, tmp_path: Path):
    await baked(services, tmp_path, BREAD)
    await services.notebook_writer.write_pending(MIRA)
    (run,) = await kept_runs(services)
    learnt = next(one for one in await services.facts.facts_of(MIRA) if one.fact == CONCLUDED["conclusions"][0]["conclusion"])
    old = ExtractedFact(fact="Tomas bakes on Mondays.", superseded=True, superseded_by=learnt.guid)
    await services.fact_store.save_facts(MIRA, old)

    await services.background_runner.undo(run.id)

    held = {one.fact: one.superseded for one in await services.facts.facts_of(MIRA)}
    assert held["Tomas bakes on Mondays."] is False
    assert learnt.fact not in held
