"""The hands of a task: what they make is noted and can be taken back, and what is the user's they leave alone."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import SelfReflection
from lethe_app.agents.task import ChangeRefused, TaskContext, TaskResult
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ProducedKind, RunOutcome
from lethe_app.domain.memory import MemoryUnit
from lethe_app.storage.agents.change_log import ChangeLog
from tests.services.past_sessions import NUTS, chats_of, hold, trusted
from tests.services.tasks import Clock, Scripted, TaskAction, employ, leave, leave_and_run, newest
from tests.services.turns import MIRA, add_memory, change_persona


async def do(services: AppServices, clock: Clock, action: TaskAction) -> None:
    """Have it done while the user is away."""
    await employ(services, Scripted(action))
    await leave_and_run(services, clock)


async def contents(services: AppServices) -> list[str]:
    return [one.content for one in await services.memory.memories(MIRA)]


async def test_what_is_memorized_bears_the_name_of_the_task_and_can_be_undone(services: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(name="The tide", content="The tide turns at six."))
        return TaskResult("Looked at the tide.")

    await do(services, clock, remember)
    run, (memory,) = await newest(services), await services.memory.memories(MIRA)

    await services.background_runner.undo(run.id)

    assert memory.made_by == "something"
    assert [(one.kind, one.id, one.title) for one in run.made] == [(ProducedKind.MEMORY, str(memory.guid), "The tide")]
    assert await contents(services) == []
    assert (await newest(services)).undone
    assert [one.title for one in await services.trash.list_items()] == ["The tide"]


async def test_a_note_is_told_at_the_return_unless_it_was_undone(services: AppServices, clock: Clock):
    async def leave_word(scene: TaskContext) -> TaskResult:
        await scene.leave_note("The lamp was lit.")
        return TaskResult("Lit the lamp.")

    await do(services, clock, leave_word)
    guidance = services.proactive
    waiting = [note.info for note in await guidance.notes(MIRA)]

    await services.background_runner.undo((await newest(services)).id)

    assert waiting == ["The lamp was lit."]
    assert await guidance.notes(MIRA) == []


@pytest.mark.parametrize("hand", ["edit", "forget", "memorize"])
async def test_the_users_own_memories_are_refused(services: AppServices, clock: Clock, hand: str):
    own = await add_memory(services, "The lamp is dark since May.")

    async def meddle(scene: TaskContext) -> TaskResult:
        changed = own.model_copy(update={"content": "The lamp burns."})
        if hand == "forget":
            await scene.forget_memory(own.guid)
        else:
            await (scene.edit_memory(changed) if hand == "edit" else scene.memorize(changed))
        return TaskResult("Meddled.")

    await do(services, clock, meddle)

    run = await newest(services)
    assert run.outcome is RunOutcome.FAILED
    assert "belongs to the user" in run.trouble
    assert await contents(services) == ["The lamp is dark since May."]


async def test_what_a_task_wrote_becomes_the_users_when_the_user_edits_it(services: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(content="The tide turns at six."))
        return TaskResult("Looked.")

    await do(services, clock, remember)
    (memory,) = await services.memory.memories(MIRA)
    await services.memory.edit(memory.model_copy(update={"content": "The tide turns at seven."}))
    refused: list[str] = []

    async def correct(scene: TaskContext) -> TaskResult:
        try:
            await scene.forget_memory(memory.guid)
        except ChangeRefused as error:
            refused.append(error.message)
        return TaskResult("Tried.")

    await do(services, Clock(clock.shown), correct)
    clock.go_on(days=1)
    await services.background_runner.run_next_task()

    assert refused
    assert await contents(services) == ["The tide turns at seven."]


async def test_the_same_words_of_the_user_are_not_replaced_by_a_tasks(services: AppServices, clock: Clock):
    own = await add_memory(services, "The lamp is dark since May.")

    async def remember(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(name="Seen", content=own.content))
        return TaskResult("Saw it, too.")

    await do(services, clock, remember)

    held = {one.guid: one for one in await services.memory.memories(MIRA)}
    assert len(held) == 2
    assert held[own.guid] == own


async def remember_tide(scene: TaskContext) -> TaskResult:
    await scene.memorize(MemoryUnit(content="The tide turns at six."))
    return TaskResult("Looked.")


async def test_edits_and_deletions_are_taken_back_to_what_was_there(services: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(name="One", content="The tide turns at six."))
        await scene.memorize(MemoryUnit(name="Two", content="The gulls are loud in spring."))
        return TaskResult("Looked.")

    async def change(scene: TaskContext) -> TaskResult:
        one, two = sorted(await scene.list_memories(), key=lambda memory: memory.name)
        await scene.edit_memory(one.model_copy(update={"content": "The tide turns at seven."}))
        await scene.forget_memory(two.guid)
        return TaskResult("Tidied up.")

    await do(services, clock, remember)
    before = sorted(await contents(services))
    clock.go_on(days=1)
    await do(services, clock, change)
    between = await contents(services)

    await services.background_runner.undo((await newest(services)).id)

    assert between == ["The tide turns at seven."]
    assert sorted(await contents(services)) == before


async def test_edits_stored_by_an_older_version_are_taken_back(services: AppServices, clock: Clock):
    async def change(scene: TaskContext) -> TaskResult:
        (memory,) = await scene.list_memories()
        await scene.edit_memory(memory.model_copy(update={"content": "The tide turns at seven."}))
        await scene.forget_memory(memory.guid)
        return TaskResult("Tidied up.")

    await do(services, clock, remember_tide)
    clock.go_on(days=1)
    await do(services, clock, change)
    run, log = await newest(services), ChangeLog(services.database)
    for stored in await log.changes_of_run(run.id):
        sides = {side: json.loads(getattr(stored, side))["memories"] for side in ("before", "after")}
        old = {side: json.dumps(memories[0]) if memories else "" for side, memories in sides.items()}
        await log.save_changes(stored.model_copy(update=old))

    await services.background_runner.undo(run.id)

    assert await contents(services) == ["The tide turns at six."]


async def test_what_the_user_changed_since_is_not_taken_back(services: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> TaskResult:
        known = await scene.list_memories()
        if not known:
            await scene.memorize(MemoryUnit(content="The tide turns at six."))
        else:
            await scene.edit_memory(known[0].model_copy(update={"content": "The tide turns at seven."}))
        return TaskResult("Looked.")

    await do(services, clock, remember)
    clock.go_on(days=1)
    await do(services, clock, remember)
    (memory,) = await services.memory.memories(MIRA)
    await services.memory.edit(memory.model_copy(update={"content": "It turns when it likes."}))

    await services.background_runner.undo((await newest(services)).id)

    assert await contents(services) == ["It turns when it likes."]


async def test_what_was_made_before_a_failure_is_noted_and_can_be_undone(services: AppServices, clock: Clock):
    async def half(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(content="The tide turns at six."))
        raise ChangeRefused("The sea said no.")

    await do(services, clock, half)
    run = await newest(services)
    await services.background_runner.undo(run.id)

    assert (run.outcome, len(run.made)) == (RunOutcome.FAILED, 1)
    assert await contents(services) == []


async def test_a_task_may_write_thoughts_and_plans_of_a_persona_and_nothing_else(services: AppServices, clock: Clock):
    async def write(scene: TaskContext) -> TaskResult:
        await scene.edit_persona(self_edit_field="I miss the sea.")
        await scene.edit_persona(bio="I am somebody else.")
        return TaskResult("Wrote.")

    await do(services, clock, write)
    persona = await services.library.persona(MIRA)
    run = await newest(services)
    await services.background_runner.undo(run.id)

    assert persona.self_edit_field == "I miss the sea."
    assert "somebody else" not in persona.bio
    assert run.outcome is RunOutcome.FAILED
    assert (await services.library.persona(MIRA)).self_edit_field == ""


async def test_each_task_keeps_a_state_of_its_own_for_each_persona(services: AppServices, clock: Clock):
    seen: list[object] = []

    async def count(scene: TaskContext) -> TaskResult:
        seen.append((await scene.load_state()).get("times", 0))
        await scene.save_state({"times": len(seen)})
        return TaskResult("Counted.")

    await do(services, clock, count)
    clock.go_on(days=1)
    await services.background_runner.run_next_task()

    assert seen == [0, 1]


# the first task of ours


async def archived(services: AppServices) -> None:
    session = await hold(services, *NUTS)
    await chats_of(services).change_session(
        session.guid, archived=True, name="Peanuts and Porto", content="Tomas told Mira of Ines in Porto."
    )


THOUGHTS = {"paragraphs": ["Tomas misses his sister. I would like to meet her. He trusts me with such things now."]}


async def test_after_a_conversation_thoughts_are_written_anew_once(services: AppServices, clock: Clock, tmp_path: Path):
    await archived(services)
    await employ(services, SelfReflection())
    await change_persona(services, self_edit_tokens=200, self_edit_field="I know little of {{user}}.")
    await trusted(services, tmp_path / "echo.json", answers=[THOUGHTS] * 4)
    leave(services, clock)
    clock.go_on(hours=1)

    await services.background_runner.run_next_task()
    clock.go_on(hours=4)
    await services.background_runner.run_next_task()

    run = await newest(services)
    assert (await services.library.persona(MIRA)).self_edit_field == THOUGHTS["paragraphs"][0]
    assert run.summary == "Mira has thought about “Peanuts and Porto”."
    assert len(await services.activity_log.list_runs()) == 1


async def test_thoughts_stay_within_their_tokens_sentence_by_sentence(services: AppServices, clock: Clock, tmp_path: Path):
    await archived(services)
    await employ(services, SelfReflection())
    await change_persona(services, self_edit_tokens=13)
    await trusted(services, tmp_path / "echo.json", answers=[THOUGHTS])
    leave(services, clock)

    await services.background_runner.run_next_task()

    assert (await services.library.persona(MIRA)).self_edit_field == "Tomas misses his sister. I would like to meet her."


async def test_without_tokens_for_it_nobody_writes_thoughts(services: AppServices, clock: Clock, tmp_path: Path):
    await archived(services)
    await employ(services, SelfReflection())
    await trusted(services, tmp_path / "echo.json", answers=[THOUGHTS])
    leave(services, clock)

    await services.background_runner.run_next_task()

    assert not await services.activity_log.list_runs()


async def test_what_a_task_found_lies_in_its_own_namespace_for_a_day_and_goes_with_its_run(services: AppServices, clock: Clock):
    async def find(scene: TaskContext) -> TaskResult:
        await scene.save_finding("tides", "The tide turns at six.")
        await scene.save_finding("moss", "Moss has no roots.", ["https://moss.example"])
        return TaskResult("Looked at the tide.")

    await services.working_memory.save_entry(MIRA, "task/something", "older", "Of another run.", lifetime=timedelta(days=1))
    clock.go_on(minutes=1)
    await do(services, clock, find)
    run, memory = await newest(services), services.working_memory
    entries = {entry.path: entry for entry in await memory.entries_below(MIRA, "task")}
    clock.go_on(hours=2)

    await services.background_runner.undo(run.id)

    assert sorted(entries) == ["task/something/moss", "task/something/older", "task/something/tides"]
    moss, tides = entries["task/something/moss"], entries["task/something/tides"]
    assert (moss.category, moss.tags) == ("web", ["https://moss.example"])
    assert (tides.category, tides.value) == ("finding", "The tide turns at six.")
    assert tides.expires - tides.stored == timedelta(days=1)
    assert [entry.key for entry in await memory.entries_below(MIRA, "task")] == ["older"]
