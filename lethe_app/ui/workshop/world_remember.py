"""Asks who should remember what a world entry says, and how it is to come up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona
from lethe_app.ui.dialogs import Asking
from lethe_app.ui.theme import Theme
from lethe_app.ui.workshop.fields import Kind, Spec
from lethe_app.ui.workshop.form import Form


class Remember(Asking):
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
            Spec("persona", self.tr("Who"), Kind.CHOICE, choices=[(one.unique_name, one.name) for one in personas]),
            Spec("insertion", self.tr("How it comes up"), Kind.CHOICE, choices=ways),
        ]

    @property
    def persona(self) -> str:
        return str(self._form.get("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.get("insertion"))
