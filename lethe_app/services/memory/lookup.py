"""Lookup of memories: by search, by the recall of a message not sent yet, and by a stored recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from lethe_app.domain.recall import RecalledMemory, TurnMemory
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.memory.recall import SESSION_NOTES, MemorySelection, parse_notes
from lethe_app.services.memory.recall_context import RecallContexts
from lethe_app.services.memory.search import MemorySearch
from lethe_app.storage.key_value import SessionState

MAX_RESULTS = 50
"""Maximum number of results of one search."""
DEFAULT_RESULTS = 3
"""Default number of results of a search."""


@dataclass(frozen=True)
class MemoryLookup:
    """Read memories; only the notes of a session are written."""

    memory_search: MemorySearch
    indexing: IndexingService
    recall_contexts: RecallContexts
    selection: MemorySelection
    session_state: SessionState

    async def search(
        self, persona_id: str, text: str, count: int = DEFAULT_RESULTS, *, only_sure: bool = False
    ) -> list[RecalledMemory]:
        """Return the memories of a persona nearest to a text, best first; `count` is limited to 1 to 50.

        An empty text gives no results. With `only_sure` the threshold is that of recall for a message. Raise FileError.
        """
        if not text.strip():
            return []
        await self.indexing.index_all_pending()
        context = await self.recall_contexts.build_for_new_session(persona_id, text, is_search=True)
        found, _remark = await self.memory_search.search(context, min(max(count, 1), MAX_RESULTS), only_sure=only_sure)
        return found

    async def preview_recall(self, persona_id: str, text: str, session_id: UUID | None = None) -> TurnMemory:
        """Return what a message would recall, by World Info, keywords and meaning, with reasons. Nothing is changed.

        The message belongs to the given session, or else begins a new one. Raise StorageError and FileError.
        """
        await self.indexing.index_all_pending()
        if session_id is not None:
            context = await self.recall_contexts.build_for_next_message(session_id, text)
        else:
            context = await self.recall_contexts.build_for_new_session(persona_id, text)
        return (await self.selection.select(context))[0]

    async def list_in_prompt(self, session_id: UUID) -> set[UUID]:
        """Return the sessions and memories that are in the prompt of a session's next message word for word, the session itself
        included, so that nothing of them is recalled. Raise StorageError and FileError.
        """
        return (await self.recall_contexts.build_for_next_message(session_id, "")).in_view

    async def load_notes(self, session_id: UUID) -> dict[str, str]:
        """Return the notes on the current session, by key."""
        return parse_notes(await self.session_state.get(session_id, SESSION_NOTES))

    async def write_notes(self, session_id: UUID, notes: Mapping[str, str]) -> None:
        """Replace the notes on a session by the user's; later messages add to them."""
        valid_notes = {key.strip(): value.strip() for key, value in notes.items() if key.strip() and value.strip()}
        await self.session_state.set(session_id, SESSION_NOTES, valid_notes or None)
