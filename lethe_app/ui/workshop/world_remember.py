"""Asks who should remember what a world entry says, and how it is to come up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona
from lethe_app.ui.palette import SPACE_2, SPACE_4, SPACE_6
from lethe_app.ui.theme import Theme
from lethe_app.ui.workshop.fields import Kind, Spec
from lethe_app.ui.workshop.form import Form


class Remember(QDialog):
    """The persona of the open conversation is chosen at first."""

    def __init__(self, parent: QWidget, theme: Theme, name: str, personas: Sequence[Persona], chosen: str) -> None:
        super().__init__(parent)
        title = self.tr("Let a persona remember it")
        self.setWindowTitle(title)
        headline = QLabel(title)
        headline.setProperty("title", True)
        words = QLabel(
            self.tr("“{name}” is copied into the memories of one persona. The entry stays where it is.").format(name=name)
        )
        words.setWordWrap(True)
        words.setMinimumWidth(372)
        self._form = Form(self._specs(personas), theme)
        known = [persona.unique_name for persona in personas]
        self._form.show_values(
            {"persona": chosen if chosen in known else next(iter(known), ""), "insertion": MemoryInsertion.TRIGGER}
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_4)
        for widget in (headline, words, self._form):
            column.addWidget(widget)
        column.addLayout(self._made_buttons())
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

    def _made_buttons(self) -> QHBoxLayout:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setProperty("filled", True)
        cancel.clicked.connect(self.reject)
        self.primary = QPushButton(self.tr("Remember it"))
        self.primary.setProperty("primary", True)
        self.primary.setDefault(True)
        self.primary.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.primary)
        return buttons

    @property
    def persona(self) -> str:
        return str(self._form.get("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.get("insertion"))
