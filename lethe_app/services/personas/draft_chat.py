"""Test chats with a persona that is being edited: a copy of the draft takes part in them, and the persona itself is not
changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.services.library import Library
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.key_value import AppState

SCOPE = "rehearsals"
"""Scope of the app state that stores, by id of the copy, the persona it is a copy of."""


@dataclass(frozen=True)
class DraftTest:
    """Draft of a persona and the copy that represents it in test chats."""

    copy_id: str
    draft: Persona
    """The draft as the editor shows it; its `unique_name` is empty if it was never saved."""


@dataclass(frozen=True)
class DeletedDraftTest:
    """Deleted copy, with what `restore_copy` needs to restore it."""

    trashed: Path
    sessions: tuple[UUID, ...]
    copy_id: str
    state: object


@dataclass(frozen=True)
class DraftChat:
    """Manage the copies of drafts. A copy has the draft's name, texts and avatar, and sessions and memories of its own."""

    library: Library
    sessions: SessionService
    app_state: AppState

    async def start_session(self, draft: Persona, label: str, copy_id: str = "") -> ChatSession:
        """Save the draft as a copy and begin a new session with it. A draft that has a copy already reuses it.

        `label` is put into the copy's tagline, so that the copy can be told from the persona in the list; no model reads the
        tagline.
        """
        copy_id = copy_id or await self.copy_of(draft.unique_name)
        tagline = f"{label} · {draft.tagline}" if draft.tagline else label
        copy = await self.library.save_persona(draft.model_copy(update={"unique_name": copy_id, "tagline": tagline}))
        await self.app_state.set(SCOPE, copy.unique_name, {"of": draft.unique_name, "tagline": draft.tagline})
        for summary in await self.sessions.list(copy.unique_name):
            if summary.messages <= 1 and not summary.archived:
                await self.sessions.delete(summary.guid)  # it holds a greeting of an earlier draft, and nothing else
        return await self.sessions.new(copy.unique_name)

    async def draft_of(self, copy_id: str) -> DraftTest | None:
        """Return the draft that this persona is a copy of; None if it is not a copy."""
        state = await self.app_state.get(SCOPE, copy_id)
        if not isinstance(state, dict) or not self.library.is_own(copy_id):
            return None
        copy = await self.library.persona(copy_id)
        return DraftTest(copy_id, copy.model_copy(update={"unique_name": state["of"], "tagline": state["tagline"]}))

    async def copy_of(self, persona_id: str) -> str:
        """Return the id of the copy of this persona; empty if there is none."""
        for copy_id, state in (await self.app_state.values_of(SCOPE)).items():
            if persona_id and isinstance(state, dict) and state["of"] == persona_id and self.library.is_own(copy_id):
                return copy_id
        return ""

    async def keep_copy(self, copy_id: str) -> None:
        """Turn the copy into a persona of its own."""
        await self.app_state.set(SCOPE, copy_id, None)

    async def delete_copy(self, copy_id: str) -> DeletedDraftTest:
        """Move the copy and its sessions to the trash; `restore_copy` restores them."""
        state = await self.app_state.get(SCOPE, copy_id)
        sessions = tuple(summary.guid for summary in await self.sessions.list(copy_id))
        for guid in sessions:
            await self.sessions.delete(guid)
        trashed = await self.library.delete_persona(copy_id)
        await self.app_state.set(SCOPE, copy_id, None)
        return DeletedDraftTest(trashed, sessions, copy_id, state)

    async def restore_copy(self, deleted: DeletedDraftTest) -> None:
        """Restore a deleted copy with its sessions."""
        await self.library.restore_persona(deleted.trashed)
        await self.app_state.set(SCOPE, deleted.copy_id, deleted.state)
        for guid in deleted.sessions:
            await self.sessions.restore(guid)
