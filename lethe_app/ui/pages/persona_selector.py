"""Combo box for the persona of a page; it starts with the persona of the session on display."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from lethe_app.services.indexing.worlds import WORLD_PREFIX, owner_of_world
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.fields import NoWheelComboBox


class PersonaSelector(NoWheelComboBox):
    """Combo box of all personas by name. `chosen` is also emitted for the first one, as soon as it is known."""

    chosen = Signal(str)
    """Emitted with the unique name of the persona."""

    def __init__(
        self,
        context: PageContext,
        library: Library,
        preferences: Preferences,
        parent: QWidget | None = None,
        *,
        with_worlds: bool = False,
    ) -> None:
        """Create the combo box. `with_worlds` adds the worlds below the personas, under the owner of what belongs to them."""
        super().__init__(parent)
        self._context, self._library, self._preferences = context, library, preferences
        self._with_worlds = with_worlds
        self._announced_persona_id = ""
        self.setAccessibleName(self.tr("Persona"))
        self.setToolTip(self.tr("Persona"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(260)
        self.currentIndexChanged.connect(lambda _place: self.emit_chosen())
        self.close_field: Callable[[], None] = library.changed.add(lambda _none: self._schedule_reload())
        """Disconnect from the library."""
        default_persona_id = self._default_persona_id()
        # The display name is known only after the library has been read.
        if default_persona_id:
            with QSignalBlocker(self):
                self.addItem(default_persona_id.capitalize(), default_persona_id)
        self._schedule_reload()

    @property
    def persona_id(self) -> str:
        """Return the unique name of the chosen persona; empty if there is none."""
        return str(self.currentData() or "")

    @property
    def persona_name(self) -> str:
        """Return the display name of the chosen persona."""
        return self.currentText()

    def choose_persona(self, persona_id: str) -> None:
        """Choose a persona, or a world if there are any to choose; it is added if the list has not been read yet."""
        if persona_id.startswith(WORLD_PREFIX) and not self._with_worlds:
            return
        if self.findData(persona_id) < 0:
            with QSignalBlocker(self):
                self.addItem(persona_id.capitalize(), persona_id)
        self.setCurrentIndex(self.findData(persona_id))

    def _default_persona_id(self) -> str:
        session = self._context.current_session()
        return session.persona_id if session is not None else self._preferences.current.last_persona

    def _schedule_reload(self) -> None:
        self._context.tasks.start_task(self._reload(), key=f"whose {id(self)}")

    async def _reload(self) -> None:
        personas = await self._library.personas()
        worlds = await self._library.worlds() if self._with_worlds else {}
        selected_id = self.persona_id or self._default_persona_id()
        with QSignalBlocker(self):
            # Signals are blocked, because clearing and filling would report personas that nobody chose.
            self.clear()
            for persona in personas:
                self.addItem(persona.name, persona.unique_name)
            for name, world in worlds.items():
                self.addItem(self.tr("World: {name}").format(name=world.name), owner_of_world(name))
            self.setCurrentIndex(max(self.findData(selected_id), 0) if personas else -1)
        self.emit_chosen()

    def emit_chosen(self) -> None:
        """Emit `chosen` if it was not emitted for this persona; call it once after connecting."""
        if self.persona_id and self.persona_id != self._announced_persona_id:
            self._announced_persona_id = self.persona_id
            self.chosen.emit(self.persona_id)
