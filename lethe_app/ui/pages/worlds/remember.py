"""Copying of a world entry to the memories of a persona, with undo."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QWidget

from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.service import as_memory
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.fields import FieldKind, Spec
from lethe_app.ui.widgets.form import Form


class Remember(QuestionDialog):
    """Dialog for persona and recall mode; the persona of the open conversation is preselected."""

    def __init__(self, parent: QWidget, theme: Theme, name: str, personas: Sequence[Persona], chosen: str) -> None:
        super().__init__(parent, self.tr("Copy to memories"), self.tr("Copy entry"))
        self.say(self.tr("“{name}” is copied to the memories (Brain) of a persona. The world entry is kept.").format(name=name))
        self._form = Form(self._specs(personas), theme)
        known = [persona.unique_name for persona in personas]
        self._form.show_values(
            {"persona": chosen if chosen in known else next(iter(known), ""), "insertion": MemoryInsertion.TRIGGER}
        )
        self.column.addWidget(self._form)
        self._form.field("persona").setFocus()

    def _specs(self, personas: Sequence[Persona]) -> list[Spec]:
        ways = [
            (MemoryInsertion.TRIGGER, self.tr("when relevant, by meaning or key")),
            (MemoryInsertion.NATURAL, self.tr("once, when relevant")),
            (MemoryInsertion.NATURAL_FORCED, self.tr("once, when relevant or after a while")),
            (MemoryInsertion.USER_RETURN, self.tr("once, when you return after a while")),
            (MemoryInsertion.NONE, self.tr("never")),
        ]
        return [
            Spec("persona", self.tr("Persona"), FieldKind.CHOICE, choices=[(one.unique_name, one.name) for one in personas]),
            Spec("insertion", self.tr("Recall mode"), FieldKind.CHOICE, choices=ways),
        ]

    @property
    def persona(self) -> str:
        return str(self._form.get("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.get("insertion"))


class RememberAction(QObject):
    """Copies an entry to the memories of the persona chosen in a dialog."""

    def __init__(self, place: PageContext, stack: QUndoStack) -> None:
        super().__init__()
        self._place = place
        self._deeds = CommandRunner(stack, place.bridge)

    def ask(self, entry: WorldEntry | None) -> None:
        if entry is not None:
            self._place.bridge.spawn(self._ask(entry), lane="remember")

    async def _ask(self, entry: WorldEntry) -> None:
        place, session = self._place, self._place.session()
        personas = await place.services.library.personas()
        dialog = Remember(
            place.window, place.theme, entry.name or entry.content[:40], personas, session.persona_id if session else ""
        )
        if not await answered(dialog):
            return
        who = next(persona for persona in personas if persona.unique_name == dialog.persona)
        memory, brain, kept = as_memory(entry, dialog.insertion), place.services.brain, list[UUID]()

        async def forth() -> None:
            if kept:
                # Redo restores the same memory from the trash instead of creating another one.
                await brain.restore(kept[0])
            else:
                kept.append((await brain.memorize(who.unique_name, memory, check=False)).record.guid)
            words = self.tr("{name} now remembers “{entry}”.").format(name=who.name, entry=memory.name)
            place.window.notifier.tell(words)

        title = self.tr("copying “{entry}” to {name}").format(name=who.name, entry=memory.name)
        self._deeds.do(title, forth, lambda: brain.forget_memory(kept[0]))
