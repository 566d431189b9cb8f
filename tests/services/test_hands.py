"""The hands of a task: what they make is noted and can be taken back, and what is the user's they leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import Thoughts
from lethe_app.agents.task import ChangeRefused, Result, TaskContext
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import MadeKind, RunOutcome
from lethe_app.domain.clock import told_by
from lethe_app.domain.memory import MemoryUnit
from tests.services.past import NUTS, chats_of, hold, trusted
from tests.services.stage import MIRA, change_persona, keep
from tests.services.tasks import Clock, Deed, Scripted, employ, leave, newest


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with told_by(clock):
        yield clock


async def do(house: AppServices, clock: Clock, deed: Deed) -> None:
    """Have it done while the user is away."""
    await employ(house, Scripted(deed))
    leave(house, clock)
    await house.away.look()


async def contents(house: AppServices) -> list[str]:
    return [one.content for one in await house.brain.memories(MIRA)]


async def test_what_is_memorized_bears_the_name_of_the_task_and_can_be_undone(house: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> Result:
        await scene.memorize(MemoryUnit(name="The tide", content="The tide turns at six."))
        return Result("Looked at the tide.")

    await do(house, clock, remember)
    run, (memory,) = await newest(house), await house.brain.memories(MIRA)

    await house.away.undo(run.id)

    assert memory.made_by == "something"
    assert [(one.kind, one.id, one.title) for one in run.made] == [(MadeKind.MEMORY, str(memory.guid), "The tide")]
    assert await contents(house) == []
    assert (await newest(house)).undone
    assert [one.title for one in await house.trash.all()] == ["The tide"]


async def test_a_note_is_told_at_the_return_unless_it_was_undone(house: AppServices, clock: Clock):
    async def leave_word(scene: TaskContext) -> Result:
        await scene.leave_note("The lamp was lit.")
        return Result("Lit the lamp.")

    await do(house, clock, leave_word)
    guidance = house.away._tools.guidance
    waiting = [note.info for note in await guidance.notes(MIRA)]

    await house.away.undo((await newest(house)).id)

    assert waiting == ["The lamp was lit."]
    assert await guidance.notes(MIRA) == []


@pytest.mark.parametrize("hand", ["edit", "forget", "memorize"])
async def test_the_users_own_memories_are_refused(house: AppServices, clock: Clock, hand: str):
    own = await keep(house, "The lamp is dark since May.")

    async def meddle(scene: TaskContext) -> Result:
        changed = own.model_copy(update={"content": "The lamp burns."})
        if hand == "forget":
            await scene.forget_memory(own.guid)
        else:
            await (scene.edit(changed) if hand == "edit" else scene.memorize(changed))
        return Result("Meddled.")

    await do(house, clock, meddle)

    run = await newest(house)
    assert run.outcome is RunOutcome.FAILED
    assert "the user's" in run.trouble
    assert await contents(house) == ["The lamp is dark since May."]


async def test_what_a_task_wrote_becomes_the_users_when_the_user_edits_it(house: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> Result:
        await scene.memorize(MemoryUnit(content="The tide turns at six."))
        return Result("Looked.")

    await do(house, clock, remember)
    (memory,) = await house.brain.memories(MIRA)
    await house.brain.edit(memory.model_copy(update={"content": "The tide turns at seven."}))
    refused: list[str] = []

    async def correct(scene: TaskContext) -> Result:
        try:
            await scene.forget_memory(memory.guid)
        except ChangeRefused as error:
            refused.append(error.message)
        return Result("Tried.")

    await do(house, Clock(clock.shown), correct)
    clock.go_on(days=1)
    await house.away.look()

    assert refused
    assert await contents(house) == ["The tide turns at seven."]


async def test_the_same_words_of_the_user_are_not_replaced_by_a_tasks(house: AppServices, clock: Clock):
    own = await keep(house, "The lamp is dark since May.")

    async def remember(scene: TaskContext) -> Result:
        await scene.memorize(MemoryUnit(name="Seen", content=own.content))
        return Result("Saw it, too.")

    await do(house, clock, remember)

    held = {one.guid: one for one in await house.brain.memories(MIRA)}
    assert len(held) == 2
    assert held[own.guid] == own


async def test_edits_and_deletions_are_taken_back_to_what_was_there(house: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> Result:
        await scene.memorize(MemoryUnit(name="One", content="The tide turns at six."))
        await scene.memorize(MemoryUnit(name="Two", content="The gulls are loud in spring."))
        return Result("Looked.")

    async def change(scene: TaskContext) -> Result:
        one, two = sorted(await scene.memories(), key=lambda memory: memory.name)
        await scene.edit(one.model_copy(update={"content": "The tide turns at seven."}))
        await scene.forget_memory(two.guid)
        return Result("Tidied up.")

    await do(house, clock, remember)
    before = sorted(await contents(house))
    clock.go_on(days=1)
    await do(house, clock, change)
    between = await contents(house)

    await house.away.undo((await newest(house)).id)

    assert between == ["The tide turns at seven."]
    assert sorted(await contents(house)) == before


async def test_what_the_user_changed_since_is_not_taken_back(house: AppServices, clock: Clock):
    async def remember(scene: TaskContext) -> Result:
        known = await scene.memories()
        if not known:
            await scene.memorize(MemoryUnit(content="The tide turns at six."))
        else:
            await scene.edit(known[0].model_copy(update={"content": "The tide turns at seven."}))
        return Result("Looked.")

    await do(house, clock, remember)
    clock.go_on(days=1)
    await do(house, clock, remember)
    (memory,) = await house.brain.memories(MIRA)
    await house.brain.edit(memory.model_copy(update={"content": "It turns when it likes."}))

    await house.away.undo((await newest(house)).id)

    assert await contents(house) == ["It turns when it likes."]


async def test_what_was_made_before_a_failure_is_noted_and_can_be_undone(house: AppServices, clock: Clock):
    async def half(scene: TaskContext) -> Result:
        await scene.memorize(MemoryUnit(content="The tide turns at six."))
        raise ChangeRefused("The sea said no.")

    await do(house, clock, half)
    run = await newest(house)
    await house.away.undo(run.id)

    assert (run.outcome, len(run.made)) == (RunOutcome.FAILED, 1)
    assert await contents(house) == []


async def test_a_task_may_write_thoughts_and_plans_of_a_persona_and_nothing_else(house: AppServices, clock: Clock):
    async def write(scene: TaskContext) -> Result:
        await scene.edit_persona(self_edit_field="I miss the sea.")
        await scene.edit_persona(bio="I am somebody else.")
        return Result("Wrote.")

    await do(house, clock, write)
    persona = await house.library.persona(MIRA)
    run = await newest(house)
    await house.away.undo(run.id)

    assert persona.self_edit_field == "I miss the sea."
    assert "somebody else" not in persona.bio
    assert run.outcome is RunOutcome.FAILED
    assert (await house.library.persona(MIRA)).self_edit_field == ""


async def test_each_task_keeps_a_state_of_its_own_for_each_persona(house: AppServices, clock: Clock):
    seen: list[object] = []

    async def count(scene: TaskContext) -> Result:
        seen.append((await scene.state()).get("times", 0))
        await scene.set_state({"times": len(seen)})
        return Result("Counted.")

    await do(house, clock, count)
    clock.go_on(days=1)
    await house.away.look()

    assert seen == [0, 1]


# the first task of ours


async def archived(house: AppServices) -> None:
    session = await hold(house, *NUTS)
    await chats_of(house).change_session(
        session.guid, archived=True, name="Peanuts and Porto", content="Tomas told Mira of Ines in Porto."
    )


THOUGHTS = {"paragraphs": ["Tomas misses his sister. I would like to meet her. He trusts me with such things now."]}


async def test_after_a_conversation_thoughts_are_written_anew_once(house: AppServices, clock: Clock, tmp_path: Path):
    await archived(house)
    await employ(house, Thoughts())
    await change_persona(house, self_edit_tokens=200, self_edit_field="I know little of {{user}}.")
    await trusted(house, tmp_path / "echo.json", answers=[THOUGHTS] * 4)
    leave(house, clock)
    clock.go_on(hours=1)

    await house.away.look()
    clock.go_on(hours=4)
    await house.away.look()

    run = await newest(house)
    assert (await house.library.persona(MIRA)).self_edit_field == THOUGHTS["paragraphs"][0]
    assert run.summary == "Mira has thought about “Peanuts and Porto”."
    assert len(await house.away.runs()) == 1


async def test_thoughts_stay_within_their_tokens_sentence_by_sentence(house: AppServices, clock: Clock, tmp_path: Path):
    await archived(house)
    await employ(house, Thoughts())
    await change_persona(house, self_edit_tokens=13)
    await trusted(house, tmp_path / "echo.json", answers=[THOUGHTS])
    leave(house, clock)

    await house.away.look()

    assert (await house.library.persona(MIRA)).self_edit_field == "Tomas misses his sister. I would like to meet her."


async def test_without_tokens_for_it_nobody_writes_thoughts(house: AppServices, clock: Clock, tmp_path: Path):
    await archived(house)
    await employ(house, Thoughts())
    await trusted(house, tmp_path / "echo.json", answers=[THOUGHTS])
    leave(house, clock)

    await house.away.look()

    assert not await house.away.runs()
