"""Deletion of a persona: confirmation, trash, another conversation in its place, and undo."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext


class PersonaDeletion(QObject):
    """Deletes characters and user personas."""

    def __init__(self, place: PageContext) -> None:
        super().__init__()
        self._place, self._services = place, place.services

    async def ask(self, persona: Persona) -> bool:
        """Ask for confirmation, naming the number of conversations, and return the answer."""
        talks = 0 if persona.is_user else len(await self._services.sessions.list(persona.unique_name))
        title = self.tr("Delete “{name}”?").format(name=persona.name)
        words = self.tr("“{name}” will be moved to the Trash, where you can restore it.").format(name=persona.name)
        button = self.tr("Delete ‘{name}’").format(name=persona.name)
        if talks:
            count = counted(talks, self.tr("{n} conversation"), self.tr("{n} conversations"))
            words = self.tr(
                "“{name}” will be moved to the Trash, with {count} and everything remembered from them. You can "
                "restore all of it there."
            ).format(name=persona.name, count=count)
            button = f"{button} ({count})"
        return await answered(ConfirmDialog(self._place.window, title, words, button))

    async def say(self, persona: Persona) -> None:
        """Move the persona's file to the trash and offer undo; its conversations and memories are kept but not listed."""
        name = persona.unique_name
        where, preferences = self._place.session(), self._services.preferences
        was_chosen = preferences.current.user_persona == name
        trashed = await self._services.library.delete_persona(name)
        if was_chosen:
            await preferences.set(user_persona="")
        is_open = where is not None and where.persona_id == name
        if is_open:
            await self.show_another(name)

        async def take_back() -> None:
            restored = await self._services.library.restore_persona(trashed)
            if was_chosen:
                await preferences.set(user_persona=restored)
            if is_open and where is not None:
                self._place.go_to(where.guid, None)

        self._place.window.notifier.tell(
            self.tr("{name} was deleted.").format(name=persona.name),
            button=self.tr("Undo"),
            action=partial(self._spawn, take_back),
        )

    def _spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._place.bridge.spawn(work())

    async def show_another(self, gone: str, instead: str = "") -> None:
        """Open the conversation of `instead`, else the newest one of any persona but `gone`."""
        if instead:
            self._place.go_to((await self._services.sessions.resume(instead)).guid, None)
            return
        others = [one.unique_name for one in await self._services.library.personas() if one.unique_name != gone]
        if others:
            session = await self._newest(others)
            self._place.go_to(session, None)

    async def _newest(self, personas: list[str]) -> UUID:
        newest = [summary for name in personas for summary in (await self._services.sessions.list(name))[:1]]
        if newest:
            return max(newest, key=lambda summary: summary.last_activity).guid
        return (await self._services.sessions.new(personas[0])).guid
