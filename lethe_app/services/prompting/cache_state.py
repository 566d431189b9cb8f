"""What the model has read of conversations is kept, so that a long one answers at once when it is opened again.

It is as private as the conversations: whatever is forgotten of a persona, nothing she was told in that state of mind is kept.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from uuid import UUID

from lethe_app.config.settings import Settings
from lethe_app.domain.chat import ChatSession
from lethe_app.llm.client import PARTING_SECONDS, ModelClient
from lethe_app.llm.kv_cache.state_store import remove, trim
from lethe_app.llm.protocol import KeptAt
from lethe_app.services.preferences import Preferences

MEGABYTE = 1 << 20


class CacheState:
    """Says where the states of conversations lie, and which of them must go."""

    def __init__(self, client: ModelClient, preferences: Preferences, folder: Path) -> None:
        self._client = client
        self._preferences = preferences
        self._folder = folder
        self._forgetting: set[asyncio.Task[None]] = set()
        self._forgotten = 0
        """How often something was forgotten."""
        self._unhear = preferences.changed.add(self._settings_changed)

    def kept_at(self, session: ChatSession) -> KeptAt | None:
        """Where what is read of this conversation is kept; None if the user wants nothing kept.

        To be asked before a prompt is begun: what is forgotten while it is made may be in it, and then it is not kept.
        """
        limit = self._preferences.current.kept_states * MEGABYTE
        name = of_persona(session.persona_id).removesuffix("-") + of_session(session.guid)
        return KeptAt(self._folder, name, limit, self._forgotten) if limit else None

    def forget_persona(self, persona_id: str) -> None:
        """Something of hers was forgotten or changed, and may be in anything she was ever told."""
        self._begin_to_forget(of_persona(persona_id))

    def forget_session(self, session_id: UUID) -> None:
        """Something in this conversation was deleted or changed."""
        self._begin_to_forget(of_session(session_id))

    async def clear(self) -> None:
        """Keep nothing of what there is."""
        self._begin_to_forget("")
        await self._done()

    async def close(self) -> None:
        """Keep the conversation that is read now; the model is about to be let go."""
        self._unhear()
        await self._done()
        await self._client.save_state(within=PARTING_SECONDS)

    def _begin_to_forget(self, part: str) -> None:
        """What lies there is gone when this returns; what the model's process still has is told to it."""
        remove(self._folder, part)
        self._forgotten += 1
        task = asyncio.get_running_loop().create_task(self._client.delete_states(self._folder, part, self._forgotten))
        self._forgetting.add(task)
        task.add_done_callback(self._forgetting.discard)

    async def _done(self) -> None:
        await asyncio.gather(*self._forgetting)

    def _settings_changed(self, settings: Settings) -> None:
        if settings.kept_states:
            trim(self._folder, settings.kept_states * MEGABYTE)
        else:
            self._begin_to_forget("")


def of_persona(persona_id: str) -> str:
    """The part of a name that all her conversations share; what she is called need not suit a file system."""
    return f"{hashlib.blake2b(persona_id.encode(), digest_size=8).hexdigest()}-"


def of_session(session_id: UUID) -> str:
    """The part of a name that is this conversation's own."""
    return f"-{session_id.hex}"
