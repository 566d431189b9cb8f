"""Takes leave of a persona: asks by name, moves it to the trash, shows somebody else, and takes it all back if asked."""

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
    """For characters and for the user's own selves."""

    def __init__(self, place: PageContext) -> None:
        super().__init__()
        self._place, self._services = place, place.services

    async def ask(self, persona: Persona) -> bool:
        """Does the user really want it gone?"""
        talks = 0 if persona.is_user else len(await self._services.sessions.list(persona.unique_name))
        title = self.tr("Delete “{name}”?").format(name=persona.name)
        words = self.tr("“{name}” will leave the list and wait in the Trash if you want it back.").format(name=persona.name)
        button = self.tr("Delete ‘{name}’").format(name=persona.name)
        if talks:
            count = counted(talks, self.tr("{n} conversation"), self.tr("{n} conversations"))
            words = self.tr(
                "“{name}” will leave the list, with {count} and all that is remembered of them."
                " They wait in the Trash if you want them back."
            ).format(name=persona.name, count=count)
            button = f"{button} ({count})"
        return await answered(ConfirmDialog(self._place.window, title, words, button))

    async def say(self, persona: Persona) -> None:
        """Move its file to the trash. Conversations and memories stay with it, out of sight."""
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
            button=self.tr("Take it back"),
            action=partial(self._spawn, take_back),
        )

    def _spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._place.bridge.spawn(work())

    async def show_another(self, gone: str, instead: str = "") -> None:
        """Whoever is open is not there any more: go on with `instead`, or with the newest conversation of anybody else."""
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
