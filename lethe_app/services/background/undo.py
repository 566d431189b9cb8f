"""Undo a run of a task: move its memories to the trash, drop its notes, and revert its edits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from lethe_app.domain.agent_runs import ChangeState, Made, MadeKind, RecordedChange, TaskRun
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError, StorageError
from lethe_app.services.background.task_api import EDIT, FORGET, REWRITE, Tools
from lethe_app.storage.agents.task_runs import TaskRuns

Taker = Callable[[TaskRun, Made], Awaitable[None]]
"""Function that undoes one result of a kind that was not made through the task context."""
LIVES_ON = frozenset({"last_trigger", "trigger_count"})
"""Usage fields of a memory, which change whenever it is recalled."""


class ChangeUndo:
    """Undo of runs. Whatever the user has edited or deleted since then is left as it is."""

    def __init__(self, tools: Tools, runs: TaskRuns, takers: dict[MadeKind, Taker]) -> None:
        """Create the service; `takers` by kind of result."""
        self._tools = tools
        self._runs = runs
        self._takers = takers

    async def undo(self, run: TaskRun) -> TaskRun:
        """Undo a run and return its new record. A repeated call has no further effect."""
        edited = [change for change in await self._tools.changes.of_run(run.id) if change.state is ChangeState.APPLIED]
        # Other changes, such as those of dreams, are undone by the function for their kind of result.
        ours = [change for change in edited if change.what in {EDIT, FORGET, REWRITE}]
        for change in reversed(ours):
            await self._put_back(change)
        before = {_guid(change) for change in ours if change.what == EDIT}
        for made in reversed(run.made):
            if made.kind is MadeKind.MEMORY and made.id not in before:
                await self._forget(run.persona_id, UUID(made.id))
            elif made.kind is MadeKind.NOTE:
                await self._tools.guidance.drop_note(run.persona_id, UUID(made.id))
            elif made.kind in self._takers and made.id not in {str(change.id) for change in ours}:
                await self._takers[made.kind](run, made)
        undone = run.model_copy(update={"undone": True})
        await self._runs.save_run(undone)
        return undone

    async def _put_back(self, change: RecordedChange) -> None:
        if change.what == REWRITE:
            await self._unwrite(change)
        elif change.what == FORGET:
            await self._bring_back(UUID(_guid(change)))
        else:
            await self._unedit(change)
        await self._tools.changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def _unedit(self, change: RecordedChange) -> None:
        old, new = (MemoryUnit.model_validate_json(text) for text in (change.before, change.after))
        held = {one.guid: one for one in await self._tools.brain.memories(change.persona_id)}
        if old.guid in held and _same(held[old.guid], new):
            await self._tools.brain.edit(old, old.made_by)

    async def _unwrite(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        try:
            persona = await self._tools.library.persona(change.persona_id)
        except FileError:
            return  # she is gone, and her thoughts with her
        if persona.model_dump(mode="json", include=set(after)) == after:
            await self._tools.library.save_persona(Persona.model_validate({**persona.model_dump(), **before}))

    async def _bring_back(self, guid: UUID) -> None:
        try:
            await self._tools.brain.restore(guid)
        except StorageError:
            return  # it is there already, or gone for good

    async def _forget(self, persona_id: str, guid: UUID) -> None:
        held = next((one for one in await self._tools.brain.memories(persona_id) if one.guid == guid), None)
        if held is None or not held.made_by:
            return  # the user was quicker, or has made it their own
        with suppress(StorageError):
            await self._tools.brain.forget_memory(guid)


def _guid(change: RecordedChange) -> str:
    return str(json.loads(change.before).get("guid", ""))


def _same(one: MemoryUnit, other: MemoryUnit) -> bool:
    return one.model_dump(exclude=set(LIVES_ON)) == other.model_dump(exclude=set(LIVES_ON))
