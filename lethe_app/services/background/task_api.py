"""Implementation of a task's context: what the task can read and do, with every result recorded so that it can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from lethe_app.agents.budget import BudgetSpent
from lethe_app.agents.run_recorder import RunRecorder
from lethe_app.agents.task import ChangeRefused, may_change
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import ChangeState, Made, MadeKind, RecordedChange, TaskRun
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import Recollection
from lethe_app.prompt.task_prompts import TaskPrompt
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.proactive import ProactiveMemory
from lethe_app.services.memory.service import Brain
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.agents.change_log import Changes
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import AppState

T = TypeVar("T", bound=LlmAnswer)
STATE = "task "
"""Prefix of the app state's scope for the state of a task, followed by its name; the key is the persona id."""
HERS = frozenset({"self_edit_field", "schedule", "schedule_prefix"})
"""Fields of a persona that a task may write."""
EDIT, FORGET, REWRITE = "edit", "forget", "rewrite"
"""Kinds of changes made through the context: a memory edited, a memory moved to the trash, the persona's file edited."""


@dataclass(frozen=True)
class Tools:
    """Services that task contexts use; the same for every task."""

    brain: Brain
    lookup: MemoryLookup
    knowing: FactService
    chats: Chats
    guidance: ProactiveMemory
    library: Library
    clerk: StructuredOutput
    changes: Changes
    state: AppState
    preferences: Preferences
    foreign: UntrustedMemories


class Eyes:
    """Implementation of `agents.task.Sight`."""

    def __init__(self, tools: Tools, task: str, cast: Participants, last_run: TaskRun | None) -> None:
        self._tools = tools
        self._task = task
        self._cast = cast
        self._last_run = last_run
        self._id = cast.persona.unique_name

    @property
    def persona(self) -> Persona:
        return self._cast.persona

    @property
    def user(self) -> Persona:
        return self._cast.user

    @property
    def moment(self) -> datetime:
        return now()

    @property
    def settings(self) -> Settings:
        return self._tools.preferences.current

    @property
    def last_run(self) -> TaskRun | None:
        return self._last_run

    async def memories(self) -> Sequence[MemoryUnit]:
        return await self._tools.brain.memories(self._id)

    async def facts(self) -> list[ExtractedFact]:
        known = await self._tools.knowing.all(self._id)
        return [fact for fact in known if not fact.superseded and not fact.in_story]

    async def sessions(self, *, archived: bool | None = None, most: int = 20) -> list[SessionSummary]:
        found = await self._tools.chats.sessions(self._id)
        return [one for one in found if archived is None or one.archived == archived][:most]

    async def session(self, guid: UUID) -> ChatSession:
        return await self._tools.chats.session(guid)

    async def lines(self, guid: UUID, newest: int = 0) -> list[Utterance]:
        if newest:
            return to_utterances(await self._tools.chats.tail(guid, newest))
        return to_utterances(await self._tools.chats.page(guid, 0, len(await self._tools.chats.outline(guid))))

    async def state(self) -> dict[str, object]:
        kept = await self._tools.state.get(STATE + self._task, self._id)
        return kept if isinstance(kept, dict) else {}


class TaskApi(Eyes):
    """Implementation of `agents.task.TaskContext`. It is disabled when the run is over, so that a task that continues
    regardless can do nothing more.
    """

    def __init__(
        self,
        tools: Tools,
        task: str,
        cast: Participants,
        last_run: TaskRun | None,
        ledger: RunRecorder,
        tell: Callable[[str], None],
    ) -> None:
        """Create the context; `tell` is called with the text of the current step."""
        super().__init__(tools, task, cast, last_run)
        self._ledger = ledger
        self._tell = tell
        self._is_over = False

    def let_go(self) -> None:
        """Disable the context, because the run is over."""
        self._is_over = True

    @property
    def run_id(self) -> UUID:
        return self._ledger.run.id

    async def ask(self, errand: str | TaskPrompt, answer: type[T], **material: str) -> T:
        self._check()
        if not self._ledger.has_means:
            raise BudgetSpent("The daily token limit is used up; the task continues another day.")
        return await self._tools.clerk.ask(errand, answer, **material)

    async def room(self, errand: str | TaskPrompt, answer: type[LlmAnswer], **material: str) -> int:
        return await self._tools.clerk.room(errand, answer, **material)

    async def portions(
        self, errand: str | TaskPrompt, answer: type[LlmAnswer], lines: Sequence[Utterance], **material: str
    ) -> list[list[Utterance]]:
        return await self._tools.clerk.portions(errand, answer, lines, 0, 0, 0, **material)

    async def count(self, texts: list[str]) -> list[int]:
        return await self._tools.clerk.count(texts)

    async def search(self, text: str, most: int = 3) -> list[Recollection]:
        found = await self._tools.lookup.search(self._id, text, most)
        return await self._tools.foreign.fenced(found, {one.guid: one for one in await self.memories()})

    async def memorize(self, memory: MemoryUnit) -> MemoryUnit:
        self._check()
        before = {one.guid: one for one in await self.memories()}
        if memory.guid in before:
            self._refuse(before[memory.guid])
        planned = made_of(memory)
        await self._ledger.note(planned)  # first: what is noted and not there harms nobody, the reverse could not be undone

        async def tell(record: MemoryUnit) -> None:
            if old := before.get(record.guid):
                await self._changed(EDIT, old, record)
            await self._ledger.amend(planned, made_of(record))

        made = memory.model_copy(update={"made_by": memory.made_by or self._task})
        return (await self._tools.brain.memorize(self._id, made, tell=tell)).record

    async def edit(self, memory: MemoryUnit) -> None:
        self._check()
        old = await self._mine(memory.guid)
        await self._changed(EDIT, old, memory)
        await self._ledger.note(made_of(memory))
        await self._tools.brain.edit(memory, old.made_by)

    async def forget_memory(self, guid: UUID) -> None:
        self._check()
        old = await self._mine(guid)
        change = await self._changed(FORGET, old, None)
        await self._ledger.note(Made(kind=MadeKind.CHANGE, id=str(change.id), title=title_of(old)))
        await self._tools.brain.forget_memory(guid)

    async def leave_note(self, info: str, uid: str = "") -> None:
        self._check()
        note = UserReturnInsert(id=uuid4(), uid=uid or self._task, info=info)
        await self._ledger.note(Made(kind=MadeKind.NOTE, id=str(note.id), title=info))
        await self._tools.guidance.add_note(self._id, note)

    async def edit_persona(self, **fields: object) -> None:
        self._check()
        if foreign := fields.keys() - HERS:
            raise ChangeRefused(f"A task may not change {', '.join(sorted(foreign))} of a persona.")
        old = await self._tools.library.persona(self._id)  # as it is now: the user may have written meanwhile
        new = Persona.model_validate({**old.model_dump(), **fields})
        was, is_now = (one.model_dump(mode="json", include=set(fields)) for one in (old, new))
        change = self._change(REWRITE, json.dumps(was, ensure_ascii=False), json.dumps(is_now, ensure_ascii=False))
        await self._tools.changes.save_changes(change)
        await self._ledger.note(Made(kind=MadeKind.PERSONA, id=self._id, title=self.persona.name))
        await self._tools.library.save_persona(new)

    async def set_state(self, state: Mapping[str, object]) -> None:
        self._check()
        await self._tools.state.set(STATE + self._task, self._id, dict(state) or None)

    async def note_made(self, made: Made) -> None:
        self._check()
        await self._ledger.note(made)

    def progress(self, words: str) -> None:
        if not self._is_over:
            self._tell(words)

    async def _mine(self, guid: UUID) -> MemoryUnit:
        """Return a memory of this persona that a task may change. Raise ChangeRefused."""
        found = next((one for one in await self.memories() if one.guid == guid), None)
        if found is None:
            raise ChangeRefused("This memory no longer exists, or belongs to another persona.")
        self._refuse(found)
        return found

    def _refuse(self, memory: MemoryUnit) -> None:
        if not may_change(memory):
            raise ChangeRefused(f"“{title_of(memory)}” belongs to the user, so tasks may not change it.")

    async def _changed(self, what: str, old: MemoryUnit, new: MemoryUnit | None) -> RecordedChange:
        change = self._change(what, old.model_dump_json(), new.model_dump_json() if new is not None else "")
        await self._tools.changes.save_changes(change)
        return change

    def _change(self, what: str, before: str, after: str) -> RecordedChange:
        values: dict[str, Any] = {"what": what, "reason": self._task, "before": before, "after": after}
        return RecordedChange(run_id=self.run_id, persona_id=self._id, at=now(), state=ChangeState.APPLIED, **values)

    def _check(self) -> None:
        if self._is_over:
            raise ChangeRefused("This run has already ended.")


def made_of(memory: MemoryUnit) -> Made:
    """Return the result record of a memory."""
    return Made(kind=MadeKind.MEMORY, id=str(memory.guid), title=title_of(memory))


def title_of(memory: MemoryUnit) -> str:
    """Return the memory's name, or the beginning of its content."""
    return memory.name or " ".join(memory.content.split())[:60]
