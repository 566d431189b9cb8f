"""Lets the user talk with a persona while it is being written: a copy plays the draft, and the persona stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.services.library import Library
from lethe_app.services.sessions.service import Sessions
from lethe_app.storage.key_value import AppState

SCOPE = "rehearsals"
"""Where it is kept which persona is a copy of which: key is the copy."""


@dataclass(frozen=True)
class Rehearsal:
    """A draft and the copy that plays it."""

    copy_id: str
    draft: Persona
    """As it is to be shown in the editor; without `unique_name` if it was never saved."""


@dataclass(frozen=True)
class Dismissal:
    """A copy that was thrown away, with all that is needed to take it back."""

    trashed: Path
    sessions: tuple[UUID, ...]
    copy_id: str
    kept: object


class DraftChat:
    """A copy has its name, words and picture from the draft, and conversations and memories of its own."""

    def __init__(self, library: Library, sessions: Sessions, state: AppState) -> None:
        self._library = library
        self._sessions = sessions
        self._state = state

    async def start_session(self, draft: Persona, mark: str, copy_id: str = "") -> ChatSession:
        """A new conversation with `draft` as it is now. `mark` tells the copy from the persona in the list.

        It stands in the tagline, which no model reads. A draft that was played before is played by the same copy.
        """
        copy_id = copy_id or await self.copy_of(draft.unique_name)
        tagline = f"{mark} · {draft.tagline}" if draft.tagline else mark
        copy = await self._library.save_persona(draft.model_copy(update={"unique_name": copy_id, "tagline": tagline}))
        await self._state.set(SCOPE, copy.unique_name, {"of": draft.unique_name, "tagline": draft.tagline})
        for summary in await self._sessions.list(copy.unique_name):
            if summary.messages <= 1 and not summary.archived:
                await self._sessions.delete(summary.guid)  # it holds a greeting of an earlier draft, and nothing else
        return await self._sessions.new(copy.unique_name)

    async def draft_of(self, copy_id: str) -> Rehearsal | None:
        """The draft that this persona plays; None for one that plays only itself."""
        kept = await self._state.get(SCOPE, copy_id)
        if not isinstance(kept, dict) or not self._library.is_own(copy_id):
            return None
        copy = await self._library.persona(copy_id)
        return Rehearsal(copy_id, copy.model_copy(update={"unique_name": kept["of"], "tagline": kept["tagline"]}))

    async def copy_of(self, persona_id: str) -> str:
        """Who plays drafts of this persona; empty if nobody does."""
        for copy_id, kept in (await self._state.all(SCOPE)).items():
            if persona_id and isinstance(kept, dict) and kept["of"] == persona_id and self._library.is_own(copy_id):
                return copy_id
        return ""

    async def keep_copy(self, copy_id: str) -> None:
        """The copy becomes a persona of its own."""
        await self._state.set(SCOPE, copy_id, None)

    async def dismiss(self, copy_id: str) -> Dismissal:
        """Throw the copy away, and what was said to it. Can be taken back."""
        kept = await self._state.get(SCOPE, copy_id)
        sessions = tuple(summary.guid for summary in await self._sessions.list(copy_id))
        for guid in sessions:
            await self._sessions.delete(guid)
        trashed = await self._library.delete_persona(copy_id)
        await self._state.set(SCOPE, copy_id, None)
        return Dismissal(trashed, sessions, copy_id, kept)

    async def undo_dismissal(self, dismissal: Dismissal) -> None:
        """As if nothing had been thrown away."""
        await self._library.restore_persona(dismissal.trashed)
        await self._state.set(SCOPE, dismissal.copy_id, dismissal.kept)
        for guid in dismissal.sessions:
            await self._sessions.restore(guid)
