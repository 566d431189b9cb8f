"""Actions on the memories behind a reply: pin, edit, forget, object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import LetheError
from lethe_app.services.chat.reply_source_reader import ReplyMemory, ReplySources, SourceKind
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.recallers import STATES
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore

UndoEdit = Callable[[], Awaitable[None]]
TEXT_FIELDS = ("fact", "made_by", "last_seen")
"""Fields of a fact that change when the user edits its text."""


@dataclass(frozen=True)
class ReplyActions:
    """Change memories behind a reply; every change can be undone."""

    fact_store: FactStore
    memory_store: MemoryStore
    session_state: SessionState
    memory: MemoryService
    facts: FactService
    sessions: SessionService
    session_editing: SessionEditing
    objections: ObjectionService

    async def pin(self, source: ReplyMemory, *, pinned: bool) -> None:
        """Set whether the memory is in every prompt of its persona. Raise LetheError for a World Info entry."""
        match source.kind:
            case SourceKind.FACT:
                await self.facts.pin(source.subject, pinned=pinned)
            case SourceKind.CONVERSATION:
                await self.sessions.mark(source.subject, sticky=pinned)
            case SourceKind.MEMORY:
                await self.memory.edit((await self.memory_store.get(source.subject)).model_copy(update={"sticky": pinned}))
            case SourceKind.WORLD:
                raise LetheError("World entries can only be pinned in their world.")

    async def write(self, source: ReplyMemory, text: str) -> UndoEdit:
        """Replace the text of a fact or memory by the user's; return a function that restores its text and author."""
        if source.kind is SourceKind.FACT:
            fact = await self.fact_store.get(source.subject)
            return partial(self._restore_fact_text, fact, await self.facts.edit(source.subject, text))
        if not text.strip():
            raise LetheError("A memory needs text.", "Forget it instead.")
        memory = await self.memory_store.get(source.subject)
        await self.memory.edit(memory.model_copy(update={"content": text.strip()}))
        return partial(self._restore_memory, memory)

    async def _restore_fact_text(self, before: ExtractedFact, after: ExtractedFact) -> None:
        """Restore the text of a fact; what was learnt about it since then is kept."""
        present = await self.fact_store.get(before.guid)
        names = [name for name in TEXT_FIELDS if getattr(present, name) == getattr(after, name)]
        await self.facts.restore_facts([present.model_copy(update={name: getattr(before, name) for name in names})])

    async def _restore_memory(self, before: MemoryUnit) -> None:
        present = await self.memory_store.get(before.guid)
        await self.memory.edit(present.model_copy(update={"content": before.content}), editor=before.made_by)

    async def forget_memory(self, source: ReplyMemory, persona_id: str) -> None:
        """Move the memory to the trash, so that it is no longer recalled; `restore` undoes that. Raise LetheError for a
        World Info entry.
        """
        match source.kind:
            case SourceKind.FACT:
                await self.facts.forget_fact(source.subject)
            case SourceKind.CONVERSATION:
                await self.session_editing.delete(source.subject)
            case SourceKind.MEMORY:
                await self.memory.forget_memory(source.subject)
            case SourceKind.WORLD:
                raise LetheError("World entries can only be deleted in their world.")
        await self.objections.remove_objections_to(persona_id, source.recollection.memory)

    async def restore(self, source: ReplyMemory) -> None:
        """Restore a forgotten memory from the trash."""
        match source.kind:
            case SourceKind.FACT:
                await self.facts.restore(source.subject)
            case SourceKind.CONVERSATION:
                await self.sessions.restore(source.subject)
            case _:
                await self.memory.restore(source.subject)

    async def object_to(self, memory: UUID, sources: ReplySources) -> None:
        """Record the user's objection: the memory is removed from this turn and is recalled less easily in similar turns."""
        if sources.user_message is not None:
            await self.objections.add_objection(sources.persona_id, memory, sources.user_message)
            await self._remove_from_states(sources.user_message.session_id, memory)

    async def _remove_from_states(self, session_id: UUID, memory: UUID) -> None:
        """Remove the memory from the session states that would keep it in the following turns."""
        for key in STATES:
            state = await self.session_state.get(session_id, key)
            entries = state.get("entries", state) if isinstance(state, dict) else {}
            if isinstance(entries, dict) and entries.pop(str(memory), None) is not None:
                await self.session_state.set(session_id, key, state)

    async def withdraw_objection(self, memory: UUID, sources: ReplySources) -> None:
        """Withdraw the user's objection to a memory in this turn."""
        if sources.user_message is not None:
            await self.objections.withdraw_objection(sources.persona_id, memory, sources.user_message.id)
