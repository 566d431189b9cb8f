"""Combo box for the persona of a page; it starts with the persona of the session on display."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.fields import NoWheelComboBox


class Whose(NoWheelComboBox):
    """Combo box of all personas by name. `chosen` is also emitted for the first one, as soon as it is known."""

    chosen = Signal(str)
    """Emitted with the unique name of the persona."""

    def __init__(self, place: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._told = ""
        self.setAccessibleName(self.tr("Persona"))
        self.setToolTip(self.tr("Persona"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(260)
        self.currentIndexChanged.connect(lambda _place: self._tell())
        self._forget: Callable[[], None] = place.services.library.changed.add(lambda _none: self._read_soon())
        first = self._first()
        # The display name is known only after the library has been read.
        if first:
            with QSignalBlocker(self):
                self.addItem(first.capitalize(), first)
        self._read_soon()

    @property
    def persona(self) -> str:
        """Return the unique name of the chosen persona; empty if there is none."""
        return str(self.currentData() or "")

    @property
    def persona_name(self) -> str:
        """Return the display name of the chosen persona."""
        return self.currentText()

    def announce_first(self) -> None:
        """Emit `chosen` for the first persona; call it after connecting."""
        self._tell()

    def choose(self, persona: str) -> None:
        """Choose a persona; it is added if the list has not been read yet."""
        if self.findData(persona) < 0:
            with QSignalBlocker(self):
                self.addItem(persona.capitalize(), persona)
        self.setCurrentIndex(self.findData(persona))

    def close_field(self) -> None:
        """Disconnect from the library."""
        self._forget()

    def _first(self) -> str:
        session = self._place.session()
        return session.persona_id if session is not None else self._place.services.preferences.current.last_persona

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(), lane=f"whose {id(self)}")

    async def _read(self) -> None:
        personas = await self._place.services.library.personas()
        wanted = self.persona or self._first()
        with QSignalBlocker(self):
            # Signals are blocked, because clearing and filling would report personas that nobody chose.
            self.clear()
            for persona in personas:
                self.addItem(persona.name, persona.unique_name)
            self.setCurrentIndex(max(self.findData(wanted), 0) if personas else -1)
        self._tell()

    def _tell(self) -> None:
        if self.persona and self.persona != self._told:
            self._told = self.persona
            self.chosen.emit(self.persona)
