"""Implementation of a task's context: what the task can read and do, with every result recorded so that it can be undone."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from lethe_app.agents.budget import BudgetSpent
from lethe_app.agents.task import ChangeRefused, may_change
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange, TaskRun
from lethe_app.domain.changes import DREAM_KINDS, ChangedRecords
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import RecalledMemory
from lethe_app.errors import FileError, StorageError
from lethe_app.prompt.task_prompts import TaskPrompt
from lethe_app.services.background.activity_log import ActivityEntry
from lethe_app.services.background.dreams import Dreams
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.proactive import ProactiveMemory
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.memory.working_memory import FROM_WEB, MAX_LIFETIME, WorkingMemory, task_namespace
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState

T = TypeVar("T", bound=LlmAnswer)
STATE_SCOPE = "task "
"""Prefix of the app state's scope for the state of a task, followed by its name; the key is the persona id."""
WRITABLE_FIELDS = frozenset({"self_edit_field", "schedule", "schedule_prefix"})
"""Fields of a persona that a task may write."""
FINDING = "finding"
"""Category of what a task stored in working memory."""
EDIT_MEMORY, FORGET_MEMORY, EDIT_PERSONA = "edit", "forget", "rewrite"
"""Kinds of changes made through the context: a memory edited, a memory moved to the trash, the persona's file edited."""


@dataclass(frozen=True)
class StoredServices:
    """Services for what is stored of personas and sessions."""

    memory: MemoryService
    facts: FactService
    session_store: SessionStore
    library: Library
    app_state: AppState
    preferences: Preferences


@dataclass(frozen=True)
class TaskServices:
    """Services that task contexts use; the same for every task."""

    stored: StoredServices
    memory_lookup: MemoryLookup
    proactive: ProactiveMemory
    structured_output: StructuredOutput
    changes: ChangeLog
    untrusted_memories: UntrustedMemories
    working_memory: WorkingMemory


class StoredTaskView:
    """Implementation of `agents.task.TaskView`."""

    def __init__(self, services: TaskServices, task: str, participants: Participants, last_run: TaskRun | None) -> None:
        self._services = services
        self._task = task
        self.persona, self.user = participants.persona, participants.user
        self.last_run = last_run
        self._persona_id = participants.persona.unique_name
        self.load_session = services.stored.session_store.session

    @property
    def moment(self) -> datetime:
        return now()

    @property
    def settings(self) -> Settings:
        return self._services.stored.preferences.current

    async def list_memories(self) -> Sequence[MemoryUnit]:
        return await self._services.stored.memory.memories(self._persona_id)

    async def list_facts(self) -> list[ExtractedFact]:
        known_facts = await self._services.stored.facts.facts_of(self._persona_id)
        return [fact for fact in known_facts if not fact.superseded and not fact.in_story]

    async def list_sessions(self, *, archived: bool | None = None, limit: int = 20) -> list[SessionSummary]:
        summaries = await self._services.stored.session_store.sessions(self._persona_id)
        return [session for session in summaries if archived is None or session.archived == archived][:limit]

    async def list_utterances(self, guid: UUID, newest: int = 0) -> list[Utterance]:
        session_store = self._services.stored.session_store
        if newest:
            return to_utterances(await session_store.newest_messages(guid, newest))
        return to_utterances(await session_store.page(guid, 0, len(await session_store.outline(guid))))

    async def load_state(self) -> dict[str, object]:
        stored = await self._services.stored.app_state.get(STATE_SCOPE + self._task, self._persona_id)
        return stored if isinstance(stored, dict) else {}


class TaskApi(StoredTaskView):
    """Implementation of `agents.task.TaskContext`. A task that continues after the end of its run can do nothing more."""

    def __init__(
        self, services: TaskServices, participants: Participants, last_run: TaskRun | None, entry: ActivityEntry
    ) -> None:
        """Create the context of a run."""
        super().__init__(services, entry.work.name, participants, last_run)
        self._entry = entry
        self.report_progress, self.free_tokens = entry.report_progress, services.structured_output.free_tokens

    @property
    def run_id(self) -> UUID:
        return self._entry.run.id

    async def ask(self, task_prompt: str | TaskPrompt, answer: type[T], **values: str) -> T:
        self._check_running()
        if not self._entry.can_spend:
            raise BudgetSpent("The daily token limit is used up; the task continues another day.")
        return await self._services.structured_output.ask(task_prompt, answer, **values)

    async def split_to_fit(
        self, task_prompt: str | TaskPrompt, answer: type[LlmAnswer], utterances: Sequence[Utterance], **values: str
    ) -> list[list[Utterance]]:
        return await self._services.structured_output.split_to_fit(task_prompt, answer, utterances, 0, 0, 0, **values)

    async def count(self, texts: list[str]) -> list[int]:
        return await self._services.structured_output.count(texts)

    async def search_memories(self, text: str, limit: int = 3) -> list[RecalledMemory]:
        recollections = await self._services.memory_lookup.search(self._persona_id, text, limit)
        return await self._services.untrusted_memories.quote_recalled(
            recollections, {memory.guid: memory for memory in await self.list_memories()}
        )

    async def memorize(self, memory: MemoryUnit) -> MemoryUnit:
        self._check_running()
        memories_before = {known_memory.guid: known_memory for known_memory in await self.list_memories()}
        if memory.guid in memories_before:
            self._check_changeable(memories_before[memory.guid])
        planned = build_memory_result(memory)
        await self._entry.add_result(
            planned
        )  # first: what is noted and not there harms nobody, the reverse could not be undone

        async def on_stored(record: MemoryUnit) -> None:
            if old := memories_before.get(record.guid):
                await self._save_change(EDIT_MEMORY, old, record)
            await self._entry.set_results(
                build_memory_result(record) if made == planned else made for made in self._entry.run.made
            )

        attributed = memory.model_copy(update={"made_by": memory.made_by or self._task})
        return await self._services.stored.memory.memorize(self._persona_id, attributed, before_store=on_stored)

    async def edit_memory(self, memory: MemoryUnit) -> None:
        self._check_running()
        old = await self._load_changeable(memory.guid)
        await self._save_change(EDIT_MEMORY, old, memory)
        await self._entry.add_result(build_memory_result(memory))
        await self._services.stored.memory.edit(memory, old.made_by)

    async def forget_memory(self, guid: UUID) -> None:
        self._check_running()
        old = await self._load_changeable(guid)
        change = await self._save_change(FORGET_MEMORY, old, None)
        await self._entry.add_result(ProducedRecord(kind=ProducedKind.CHANGE, id=str(change.id), title=title_of(old)))
        await self._services.stored.memory.forget_memory(guid)

    async def leave_note(self, info: str, uid: str = "") -> None:
        self._check_running()
        note = UserReturnInsert(id=uuid4(), uid=uid or self._task, info=info)
        await self._entry.add_result(ProducedRecord(kind=ProducedKind.NOTE, id=str(note.id), title=info))
        await self._services.proactive.add_note(self._persona_id, note)

    async def save_finding(self, key: str, text: str, addresses: Sequence[str] = ()) -> None:
        self._check_running()
        category, namespace = FROM_WEB if addresses else FINDING, task_namespace(self._task)
        await self._services.working_memory.save_entry(
            self._persona_id, namespace, key, text, lifetime=MAX_LIFETIME, category=category, tags=addresses
        )

    async def edit_persona(self, **fields: object) -> None:
        self._check_running()
        if forbidden := fields.keys() - WRITABLE_FIELDS:
            raise ChangeRefused(f"A task may not change {', '.join(sorted(forbidden))} of a persona.")
        old = await self._services.stored.library.persona(self._persona_id)  # as it is now: the user may have written meanwhile
        new = Persona.model_validate({**old.model_dump(), **fields})
        old_values, new_values = (persona.model_dump(mode="json", include=set(fields)) for persona in (old, new))
        change = self._build_change(
            EDIT_PERSONA, json.dumps(old_values, ensure_ascii=False), json.dumps(new_values, ensure_ascii=False)
        )
        await self._services.changes.save_changes(change)
        await self._entry.add_result(ProducedRecord(kind=ProducedKind.PERSONA, id=self._persona_id, title=self.persona.name))
        await self._services.stored.library.save_persona(new)

    async def save_state(self, state: Mapping[str, object]) -> None:
        self._check_running()
        await self._services.stored.app_state.set(STATE_SCOPE + self._task, self._persona_id, dict(state) or None)

    async def record_result(self, made: ProducedRecord) -> None:
        self._check_running()
        await self._entry.add_result(made)

    async def _load_changeable(self, guid: UUID) -> MemoryUnit:
        """Return a memory of this persona that a task may change. Raise ChangeRefused."""
        memory = next((candidate for candidate in await self.list_memories() if candidate.guid == guid), None)
        if memory is None:
            raise ChangeRefused("This memory no longer exists, or belongs to another persona.")
        self._check_changeable(memory)
        return memory

    def _check_changeable(self, memory: MemoryUnit) -> None:
        if not may_change(memory):
            raise ChangeRefused(f"“{title_of(memory)}” belongs to the user, so tasks may not change it.")

    async def _save_change(self, kind: str, old: MemoryUnit, new: MemoryUnit | None) -> RecordedChange:
        before, after = (
            ChangedRecords(memories=[memory] if memory is not None else []).model_dump_json() for memory in (old, new)
        )
        change = self._build_change(kind, before, after)
        await self._services.changes.save_changes(change)
        return change

    def _build_change(self, kind: str, before: str, after: str) -> RecordedChange:
        values: dict[str, Any] = {"what": kind, "reason": self._task, "before": before, "after": after}
        return RecordedChange(run_id=self.run_id, persona_id=self._persona_id, at=now(), state=ChangeState.APPLIED, **values)

    def _check_running(self) -> None:
        if self._entry.run.outcome is not None:
            raise ChangeRefused("This run has already ended.")


def build_memory_result(memory: MemoryUnit) -> ProducedRecord:
    """Return the result record of a memory."""
    return ProducedRecord(kind=ProducedKind.MEMORY, id=str(memory.guid), title=title_of(memory))


def title_of(memory: MemoryUnit) -> str:
    """Return the memory's name, or the beginning of its content."""
    return memory.name or " ".join(memory.content.split())[:60]


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
            persona = await self._services.stored.library.persona(change.persona_id)
            if persona.model_dump(mode="json", include=set(after)) == after:
                await self._services.stored.library.save_persona(Persona.model_validate({**persona.model_dump(), **before}))

    async def _restore_memories(self, change: RecordedChange) -> None:
        for guid in ChangedRecords.before(change).guids:
            with suppress(StorageError):  # it was restored already, or purged
                await self._services.stored.memory.restore(guid)

    async def _forget_memory(self, persona_id: str, guid: UUID) -> None:
        memories = {memory.guid: memory for memory in await self._services.stored.memory.memories(persona_id)}
        if guid in memories and memories[guid].made_by:  # else the user has deleted it, or made it their own
            with suppress(StorageError):
                await self._services.stored.memory.forget_memory(guid)
