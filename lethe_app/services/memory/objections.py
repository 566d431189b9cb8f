"""Objections of the user to irrelevant recalls: storage, and their effect on later turns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.recall.objections import Objection, create_objection, to_blocked_memory
from lethe_app.domain.chat import Message
from lethe_app.domain.clock import now
from lethe_app.domain.recall import BlockReason, RecalledMemory
from lethe_app.errors import StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.memory.recall import objections_key, parse_objections
from lethe_app.services.memory.search import without_forgotten
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.turn_memories import TurnMemories

MAX_OBJECTIONS = 400
"""Objections stored per persona; above it the oldest are dropped, which have the least effect."""
TAKEN_BACK = "taken back"
"""Prefix of the app state key of a memory that an objection removed from a turn, stored so that the objection can be
withdrawn.
"""


@dataclass(frozen=True)
class ObjectionDetails:
    """Objection with the texts it is about, for display."""

    objection: Objection
    title: str
    text: str
    """Text of the memory as it was recalled; it and the title are empty if that is no longer known."""
    said: str
    """The user's message to which the memory was irrelevant; empty if it is deleted."""
    session: UUID | None
    """Session of that message."""


class ObjectionService:
    """Store objections. An objection removes the memory from its turn, and lowers its likelihood in similar turns."""

    def __init__(self, app_state: AppState, turn_memories: TurnMemories, session_store: SessionStore) -> None:
        self.changed: Listeners[str] = Listeners()
        """Emits the persona when an objection was made or withdrawn."""
        self._app_state = app_state
        self._turn_memories = turn_memories
        self._session_store = session_store

    async def objections_of(self, persona_id: str) -> list[Objection]:
        """Return the objections to memories of this persona, oldest first."""
        return parse_objections(await self._app_state.get(*objections_key(persona_id)))

    async def describe_objections(self, persona_id: str) -> list[ObjectionDetails]:
        """Return the persona's objections with the texts of memory and message, newest first."""
        return [await self._describe(persona_id, objection) for objection in reversed(await self.objections_of(persona_id))]

    async def _describe(self, persona_id: str, objection: Objection) -> ObjectionDetails:
        removed = await self._load_removed(persona_id, objection.memory, objection.message)
        turn, title = await self._turn_memories.get(objection.message), ""
        candidates = turn.blocked if turn is not None else ()
        blocked = next((candidate for candidate in candidates if candidate.memory == objection.memory), None)
        if blocked is not None and (blocked.world or not await self._turn_memories.deleted_among([objection.memory])):
            title = blocked.title
        # A stored copy may outlive the memory; forgotten text must not be displayed again.
        text = ""
        if removed is not None:
            origins = [removed.memory, *(lead.origin for lead in removed.leads)]
            remaining = without_forgotten(removed, await self._turn_memories.deleted_among(origins))
            title, text = (remaining.title, remaining.text) if remaining is not None else ("", "")
        with suppress(StorageError):
            message = await self._session_store.message(objection.message)
            return ObjectionDetails(objection, title, text, message.content, message.session_id)
        return ObjectionDetails(objection, title, text, "", None)

    async def add_objection(self, persona_id: str, memory: UUID, user_message: Message) -> None:
        """Object to a memory in the turn of the user's message `user_message`; regenerated replies do not get it. Raise
        StorageError in an incognito session, of which nothing is stored.
        """
        if (await self._session_store.session(user_message.session_id)).is_incognito:
            raise StorageError("Nothing is stored about an incognito conversation.")
        await self.save_objection(persona_id, create_objection(memory, user_message.id, user_message.content, now()))

    async def save_objection(self, persona_id: str, objection: Objection) -> None:
        """Store an objection again, for redo; one for the same memory and message is replaced."""
        memory, user_message = objection.memory, objection.message
        others = await self._others(persona_id, memory, user_message)
        for old in others[: len(others) + 1 - MAX_OBJECTIONS]:
            await self._app_state.set(scope_of(persona_id), _removed_key(old.memory, old.message), None)
        await self._save_all(persona_id, sorted([*others, objection], key=lambda other: other.moment)[-MAX_OBJECTIONS:])
        await self._remove_from_turn(persona_id, memory, user_message)
        self.changed.notify(persona_id)

    async def _remove_from_turn(self, persona_id: str, memory: UUID, user_message: UUID) -> None:
        turn = await self._turn_memories.get(user_message)
        candidates = turn.recalled if turn is not None else ()
        removed = next((recollection for recollection in candidates if recollection.memory == memory), None)
        if turn is None or removed is None:
            return
        await self._app_state.set(scope_of(persona_id), _removed_key(memory, user_message), removed.model_dump(mode="json"))
        recalled = [recollection for recollection in turn.recalled if recollection is not removed]
        blocked = [to_blocked_memory(removed).model_copy(update={"was_recalled": True}), *turn.blocked]
        await self._turn_memories.save_turn(user_message, turn.model_copy(update={"recalled": recalled, "blocked": blocked}))

    async def withdraw_objection(self, persona_id: str, memory: UUID, user_message: UUID) -> None:
        """Withdraw an objection and restore the memory in its turn."""
        await self._save_all(persona_id, await self._others(persona_id, memory, user_message))
        await self._restore_memory(persona_id, memory, user_message)
        self.changed.notify(persona_id)

    async def _restore_memory(self, persona_id: str, memory: UUID, user_message: UUID) -> None:
        removed = await self._load_removed(persona_id, memory, user_message)
        turn = await self._turn_memories.get(user_message)
        if removed is None or turn is None:
            return
        blocked = [
            blocked_memory
            for blocked_memory in turn.blocked
            if (blocked_memory.memory, blocked_memory.why) != (memory, BlockReason.UNWANTED)
        ]
        await self._turn_memories.save_turn(
            user_message, turn.model_copy(update={"recalled": [*turn.recalled, removed], "blocked": blocked})
        )
        await self._app_state.set(scope_of(persona_id), _removed_key(memory, user_message), None)

    async def remove_objections_to(self, persona_id: str, memory: UUID) -> None:
        """Delete the stored copies of a forgotten memory, so that withdrawing an objection cannot restore its text.
        Objections are kept.
        """
        for key in await self._app_state.values_of(scope_of(persona_id)):
            if key.startswith(f"{TAKEN_BACK} {memory} "):
                await self._app_state.set(scope_of(persona_id), key, None)

    async def _others(self, persona_id: str, memory: UUID, user_message: UUID) -> list[Objection]:
        """Return the objections but that to a memory in the turn of a message."""
        all_objections = await self.objections_of(persona_id)
        return [one for one in all_objections if (one.memory, one.message) != (memory, user_message)]

    async def _save_all(self, persona_id: str, objections: Sequence[Objection]) -> None:
        stored = [objection.model_dump(mode="json") for objection in objections]
        await self._app_state.set(*objections_key(persona_id), stored or None)

    async def _load_removed(self, persona_id: str, memory: UUID, message: UUID) -> RecalledMemory | None:
        stored = await self._app_state.get(scope_of(persona_id), _removed_key(memory, message))
        return read_stored(RecalledMemory.model_validate, stored)


def scope_of(persona_id: str) -> str:
    """Return the scope of the app state for a persona's objections."""
    return objections_key(persona_id)[0]


def _removed_key(memory: UUID, message: UUID) -> str:
    return f"{TAKEN_BACK} {memory} {message}"
