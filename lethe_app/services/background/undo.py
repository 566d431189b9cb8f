"""Undo a run of a task: move its memories to the trash, drop its notes, and revert its edits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange, TaskRun
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError, StorageError
from lethe_app.services.background.task_api import EDIT_MEMORY, EDIT_PERSONA, FORGET_MEMORY, TaskServices
from lethe_app.storage.agents.task_runs import TaskRuns

ResultUndo = Callable[[TaskRun, ProducedRecord], Awaitable[None]]
"""Function that undoes one result of a kind that was not made through the task context."""
USAGE_FIELDS = frozenset({"last_trigger", "trigger_count"})
"""Usage fields of a memory, which change whenever it is recalled."""


class ChangeUndo:
    """Undo of runs. Whatever the user has edited or deleted since then is left as it is."""

    def __init__(self, services: TaskServices, task_runs: TaskRuns, result_undoers: dict[ProducedKind, ResultUndo]) -> None:
        """Create the service; `result_undoers` by kind of result."""
        self._services = services
        self._task_runs = task_runs
        self._result_undoers = result_undoers

    async def undo(self, run_id: UUID) -> bool:
        """Undo a run; return False if it does not exist, runs still or is undone already. Raise StorageError or FileError."""
        run = await self._task_runs.get(run_id)
        if run is None or run.undone or run.outcome is None:
            return False
        applied_changes = [
            change for change in await self._services.changes.changes_of_run(run.id) if change.state is ChangeState.APPLIED
        ]
        # Other changes, such as those of dreams, are undone by the function for their kind of result.
        context_changes = [change for change in applied_changes if change.what in {EDIT_MEMORY, FORGET_MEMORY, EDIT_PERSONA}]
        for change in reversed(context_changes):
            await self._revert_change(change)
        edited_guids = {_memory_guid(change) for change in context_changes if change.what == EDIT_MEMORY}
        for made in reversed(run.made):
            if made.kind is ProducedKind.MEMORY and made.id not in edited_guids:
                await self._forget_memory(run.persona_id, UUID(made.id))
            elif made.kind is ProducedKind.NOTE:
                await self._services.proactive.drop_note(run.persona_id, UUID(made.id))
            elif made.kind in self._result_undoers and made.id not in {str(change.id) for change in context_changes}:
                await self._result_undoers[made.kind](run, made)
        await self._task_runs.save_run(run.model_copy(update={"undone": True}))
        return True

    async def _revert_change(self, change: RecordedChange) -> None:
        if change.what == EDIT_PERSONA:
            await self._revert_persona(change)
        elif change.what == FORGET_MEMORY:
            await self._restore_memory(UUID(_memory_guid(change)))
        else:
            await self._revert_edit(change)
        await self._services.changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def _revert_edit(self, change: RecordedChange) -> None:
        old, new = (MemoryUnit.model_validate_json(text) for text in (change.before, change.after))
        memories = {memory.guid: memory for memory in await self._services.memory.memories(change.persona_id)}
        if old.guid in memories and _is_unchanged(memories[old.guid], new):
            await self._services.memory.edit(old, old.made_by)

    async def _revert_persona(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        try:
            persona = await self._services.library.persona(change.persona_id)
        except FileError:
            return  # she is gone, and her thoughts with her
        if persona.model_dump(mode="json", include=set(after)) == after:
            await self._services.library.save_persona(Persona.model_validate({**persona.model_dump(), **before}))

    async def _restore_memory(self, guid: UUID) -> None:
        try:
            await self._services.memory.restore(guid)
        except StorageError:
            return  # it is there already, or gone for good

    async def _forget_memory(self, persona_id: str, guid: UUID) -> None:
        memory = next(
            (candidate for candidate in await self._services.memory.memories(persona_id) if candidate.guid == guid), None
        )
        if memory is None or not memory.made_by:
            return  # the user was quicker, or has made it their own
        with suppress(StorageError):
            await self._services.memory.forget_memory(guid)


def _memory_guid(change: RecordedChange) -> str:
    return str(json.loads(change.before).get("guid", ""))


def _is_unchanged(present: MemoryUnit, recorded: MemoryUnit) -> bool:
    return present.model_dump(exclude=set(USAGE_FIELDS)) == recorded.model_dump(exclude=set(USAGE_FIELDS))
