"""Undo a run of a task: move its memories to the trash, drop its notes, and revert its edits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange, TaskRun
from lethe_app.domain.changes import DREAM_KINDS, ChangedRecords
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError, StorageError
from lethe_app.services.background.dreams import Dreams
from lethe_app.services.background.task_api import EDIT_MEMORY, EDIT_PERSONA, FORGET_MEMORY, TaskServices
from lethe_app.storage.agents.task_runs import TaskRuns

ResultUndo = Callable[[TaskRun, ProducedRecord], Awaitable[None]]
"""Function that undoes one result of a kind that was not made through the task context."""


class ChangeUndo:
    """Undo of runs. Whatever the user has edited or deleted since then is left as it is."""

    def __init__(
        self, services: TaskServices, dreams: Dreams, task_runs: TaskRuns, result_undoers: dict[ProducedKind, ResultUndo]
    ) -> None:
        """Create the service; `result_undoers` by kind of result."""
        self._services, self._dreams = services, dreams
        self._task_runs, self._result_undoers = task_runs, result_undoers

    async def undo(self, run_id: UUID) -> bool:
        """Undo a run; return False if it does not exist, runs still or is undone already. Raise StorageError or FileError."""
        run = await self._task_runs.get(run_id)
        if run is None or run.undone or run.outcome is None:
            return False
        changes = (await self._services.changes.changes_of_run(run.id))[::-1]
        edits = [change for change in changes if change.what == EDIT_MEMORY]
        for change in changes:
            if change.state is ChangeState.APPLIED and change.what in {FORGET_MEMORY, EDIT_PERSONA}:
                await (self._restore_memories if change.what == FORGET_MEMORY else self._revert_persona)(change)
                await self._services.changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))
        # After forgotten memories were restored, because one may have been edited before it was forgotten.
        await self._dreams.undo_changes([*edits, *(change for change in changes if change.what in DREAM_KINDS)])
        edited_guids = {str(guid) for change in edits for guid in ChangedRecords.before(change).guids}
        for made in reversed(run.made):
            if made.kind is ProducedKind.MEMORY and made.id not in edited_guids:
                await self._forget_memory(run.persona_id, UUID(made.id))
            elif made.kind is ProducedKind.NOTE:
                await self._services.proactive.drop_note(run.persona_id, UUID(made.id))
            elif made.kind in self._result_undoers:
                await self._result_undoers[made.kind](run, made)
        await self._services.working_memory.delete_run(run)
        await self._task_runs.save_run(run.model_copy(update={"undone": True}))
        return True

    async def _revert_persona(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        with suppress(FileError):  # the persona was deleted
            persona = await self._services.library.persona(change.persona_id)
            if persona.model_dump(mode="json", include=set(after)) == after:
                await self._services.library.save_persona(Persona.model_validate({**persona.model_dump(), **before}))

    async def _restore_memories(self, change: RecordedChange) -> None:
        for guid in ChangedRecords.before(change).guids:
            with suppress(StorageError):  # it was restored already, or purged
                await self._services.memory.restore(guid)

    async def _forget_memory(self, persona_id: str, guid: UUID) -> None:
        memories = {memory.guid: memory for memory in await self._services.memory.memories(persona_id)}
        if guid in memories and memories[guid].made_by:  # else the user has deleted it, or made it their own
            with suppress(StorageError):
                await self._services.memory.forget_memory(guid)
