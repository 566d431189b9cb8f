"""Deletion of a persona: confirmation, trash, another conversation in its place, and undo."""

from __future__ import annotations

from PySide6.QtCore import QObject

from lethe_app.domain.persona import Persona
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext


class PersonaDeletion(QObject):
    """Deletes characters and user personas."""

    def __init__(self, context: PageContext, library: Library, preferences: Preferences, sessions: SessionService) -> None:
        super().__init__()
        self._context, self._library, self._preferences, self._sessions = context, library, preferences, sessions

    async def confirm_deletion(self, persona: Persona) -> bool:
        """Ask for confirmation, naming the number of conversations, and return the answer; False for a shipped persona."""
        if await self._library.shipped_persona(persona.unique_name) is not None:
            text = self.tr("{name} comes with Lethe and cannot be deleted.").format(name=persona.name)
            self._context.notifier.notify(text)
            return False
        session_count = 0 if persona.is_user else len(await self._sessions.list(persona.unique_name))
        title = self.tr("Delete “{name}”?").format(name=persona.name)
        text = self.tr("“{name}” will be moved to the Trash, where you can restore it.").format(name=persona.name)
        button = self.tr("Delete “{name}”").format(name=persona.name)
        if session_count:
            count_text = format_count(session_count, self.tr("{n} conversation"), self.tr("{n} conversations"))
            text = self.tr(
                "“{name}” will be moved to the Trash, with {count} and everything remembered from them. You can "
                "restore all of it there."
            ).format(name=persona.name, count=count_text)
            button = f"{button} ({count_text})"
        return await run_dialog(ConfirmDialog(self._context.dialog_parent, title, text, button))

    async def delete_persona(self, persona: Persona) -> None:
        """Move the persona's file to the trash and offer undo; its conversations and memories are kept but not listed."""
        persona_id = persona.unique_name
        session, preferences = self._context.current_session(), self._preferences
        was_chosen = preferences.current.user_persona == persona_id
        trashed = await self._library.delete_persona(persona_id)
        if was_chosen:
            await preferences.set(user_persona="")
        is_open = session is not None and session.persona_id == persona_id
        if is_open:
            await self.open_other_session(persona_id)

        async def undo_deletion() -> None:
            restored = await self._library.restore_persona(trashed)
            if was_chosen:
                await preferences.set(user_persona=restored)
            if is_open and session is not None:
                self._context.open_session(session.guid, None)

        text = self.tr("{name} was deleted.").format(name=persona.name)
        self._context.notifier.notify_undoable(text, self._context.tasks.create_callback(undo_deletion))

    async def open_other_session(self, deleted_id: str, preferred_id: str = "") -> None:
        """Open the conversation of `preferred_id`, else the newest one of any persona but `deleted_id`."""
        if preferred_id:
            self._context.open_session((await self._sessions.resume(preferred_id)).guid, None)
            return
        other_ids = [persona.unique_name for persona in await self._library.personas() if persona.unique_name != deleted_id]
        if other_ids:
            sessions = [summary for name in other_ids for summary in (await self._sessions.list(name))[:1]]
            newest = max(sessions, key=lambda summary: summary.last_activity, default=None)
            guid = newest.guid if newest is not None else (await self._sessions.new(other_ids[0])).guid
            self._context.open_session(guid, None)
