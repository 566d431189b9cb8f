"""Copies a world entry into the memories of a persona, and takes the copy away again when that is undone."""

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
    """The persona of the open conversation is chosen at first."""

    def __init__(self, parent: QWidget, theme: Theme, name: str, personas: Sequence[Persona], chosen: str) -> None:
        super().__init__(parent, self.tr("Let a persona remember it"), self.tr("Remember it"))
        self.say(self.tr("“{name}” is copied into the memories of one persona. The entry stays where it is.").format(name=name))
        self._form = Form(self._specs(personas), theme)
        known = [persona.unique_name for persona in personas]
        self._form.show_values(
            {"persona": chosen if chosen in known else next(iter(known), ""), "insertion": MemoryInsertion.TRIGGER}
        )
        self.column.addWidget(self._form)
        self._form.field("persona").setFocus()

    def _specs(self, personas: Sequence[Persona]) -> list[Spec]:
        ways = [
            (MemoryInsertion.TRIGGER, self.tr("when its keys or its meaning come up")),
            (MemoryInsertion.NATURAL, self.tr("once, unasked, when the moment is right")),
            (MemoryInsertion.NATURAL_FORCED, self.tr("once, soon, even if nothing leads there")),
            (MemoryInsertion.USER_RETURN, self.tr("when you come back after a while")),
            (MemoryInsertion.NONE, self.tr("never by itself")),
        ]
        return [
            Spec("persona", self.tr("Who"), FieldKind.CHOICE, choices=[(one.unique_name, one.name) for one in personas]),
            Spec("insertion", self.tr("How it comes up"), FieldKind.CHOICE, choices=ways),
        ]

    @property
    def persona(self) -> str:
        return str(self._form.get("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.get("insertion"))


class RememberAction(QObject):
    """Asks who and how first."""

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
                await brain.restore(kept[0])
            else:
                kept.append((await brain.memorize(who.unique_name, memory, check=False)).record.guid)
            words = self.tr("{name} remembers “{entry}” now.").format(name=who.name, entry=memory.name)
            place.window.notifier.tell(words)

        title = self.tr("{name} remembers “{entry}”").format(name=who.name, entry=memory.name)
        self._deeds.do(title, forth, lambda: brain.forget_memory(kept[0]))
