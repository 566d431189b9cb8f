"""Copies a world entry into the memories of a persona, and takes the copy away again when that is undone."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack

from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds import as_memory
from lethe_app.ui.dialogs import answered
from lethe_app.ui.workshop.deeds import Deeds
from lethe_app.ui.workshop.place import Place
from lethe_app.ui.workshop.world_remember import Remember


class Remembering(QObject):
    """Asks who and how first."""

    def __init__(self, place: Place, stack: QUndoStack) -> None:
        super().__init__()
        self._place = place
        self._deeds = Deeds(stack, place.bridge)

    def ask(self, entry: WorldEntry | None) -> None:
        if entry is not None:
            self._place.bridge.spawn(self._ask(entry), lane="remember")

    async def _ask(self, entry: WorldEntry) -> None:
        place, session = self._place, self._place.session()
        personas = await place.house.library.personas()
        dialog = Remember(
            place.window, place.theme, entry.name or entry.content[:40], personas, session.persona_id if session else ""
        )
        if not await answered(dialog):
            return
        who = next(persona for persona in personas if persona.unique_name == dialog.persona)
        memory, brain, kept = as_memory(entry, dialog.insertion), place.house.brain, list[UUID]()

        async def forth() -> None:
            if kept:
                await brain.restore(kept[0])
            else:
                kept.append((await brain.memorize(who.unique_name, memory, check=False)).record.guid)
            words = self.tr("{name} remembers “{entry}” now.").format(name=who.name, entry=memory.name)
            place.window.notifier.tell(words)

        title = self.tr("{name} remembers “{entry}”").format(name=who.name, entry=memory.name)
        self._deeds.do(title, forth, lambda: brain.forget(kept[0]))
