"""Saved KV cache states of sessions, so that a long session continues without a new prefill when it is opened again.

A state contains the text of its prompt. When anything of a persona is deleted or edited, all states of that persona are
deleted.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from lethe_app.config.settings import Settings
from lethe_app.domain.chat import ChatSession
from lethe_app.llm.client import SAVE_TIMEOUT, ModelClient
from lethe_app.llm.kv_cache.state_store import delete_states, trim_folder
from lethe_app.llm.protocol import StateLocation
from lethe_app.services.preferences import Preferences

MEGABYTE = 1 << 20


class CacheState:
    """Name the files of KV cache states and delete those that are no longer allowed."""

    def __init__(self, client: ModelClient, preferences: Preferences, folder: Path) -> None:
        self._client = client
        self._preferences = preferences
        self._folder = folder
        self._deletions: set[asyncio.Task[None]] = set()
        self.revision = 0
        """Number of deletions since the program started."""
        self._unsubscribe = preferences.changed.add(self._settings_changed)

    def location_of(self, session: ChatSession, revision: int) -> StateLocation | None:
        """Return the storage location of a session's KV cache state; None if the user disabled saving, or for an incognito
        session.

        `revision` is the one before its prompt was built. If something is deleted meanwhile, the state may contain it and is
        not saved.
        """
        limit = self._preferences.current.kept_states * MEGABYTE
        name = of_persona(session.persona_id) + session.guid.hex
        return StateLocation(self._folder, name, limit, revision) if limit and not session.is_incognito else None

    def forget_persona(self, persona_id: str) -> None:
        """Delete the states of a persona, because something that may be in any of them was deleted or changed."""
        self._start_deletion(of_persona(persona_id))

    def forget_all(self) -> None:
        """Delete all states."""
        self._start_deletion("")

    async def clear(self) -> None:
        """Delete all states, and wait until the model process has deleted its own."""
        self.forget_all()
        await self.finish()

    async def close(self) -> None:
        """Save the state of the session in the cache, before the model is unloaded."""
        self._unsubscribe()
        await self.finish()
        await self._client.save_state(time_limit=SAVE_TIMEOUT)

    def _start_deletion(self, part: str) -> None:
        """Delete files with this name part at once, and have the model process delete its copies in the background."""
        delete_states(self._folder, part)
        self.revision += 1
        task = asyncio.get_running_loop().create_task(self._client.delete_states(self._folder, part, self.revision))
        # The event loop keeps only weak references to tasks.
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)

    async def finish(self) -> None:
        """Wait until the model process has deleted its copies of what was forgotten."""
        await asyncio.gather(*self._deletions)

    def _settings_changed(self, settings: Settings) -> None:
        if settings.kept_states:
            trim_folder(self._folder, settings.kept_states * MEGABYTE)
        else:
            self.forget_all()


def of_persona(persona_id: str) -> str:
    """Return the name part shared by the sessions of a persona: a hash, because the persona's name may not suit a file
    system.
    """
    return f"{hashlib.blake2b(persona_id.encode(), digest_size=8).hexdigest()}-"
