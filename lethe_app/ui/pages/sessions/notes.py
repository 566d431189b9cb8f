"""What was noted of a conversation while it went on, in the user's hands: one thing a line, read by the next prompt."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from PySide6.QtCore import QTimer
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.errors import StorageError
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.sessions.commands import PASSING
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import made_card
from lethe_app.ui.widgets.fields import FieldKind, Spec
from lethe_app.ui.widgets.form import Form

REST_MS = 500
NOTES = "notes"
PARTING = ": "


class SessionNotes(QWidget):
    """A card of its own; what is typed is stored when the user rests, and undone with everything else on the page."""

    def __init__(self, place: PageContext, undo: QUndoStack, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place, self._brain, self._undo = place, place.services.brain, undo
        self._guid: UUID | None = None
        self._text = ""
        self._unsaved: dict[UUID, str] = {}
        self._title = self.tr("Noted as you talked")
        words = self.tr("It stands in the prompt while this conversation goes on; what is said later adds to it.")
        card, column = made_card(self._title, words)
        spec = Spec(
            NOTES,
            self.tr("Notes"),
            FieldKind.PROSE,
            self.tr("One thing a line: what it is, a colon, and how it is."),
            self.tr("home: Porto"),
            lines=2,
        )
        self.form = Form([spec], place.theme)
        self.form.changed.connect(lambda _name, text: self._change(str(text)))
        column.addWidget(self.form)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(card)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    def show_session(self, guid: UUID) -> None:
        """Show those of this conversation as soon as they are read."""
        self._guid = guid
        self._place.bridge.spawn(self._read(guid), lane="session notes")

    async def _read(self, guid: UUID) -> None:
        await self.save()
        text = as_text(await self._brain.notes(guid))
        if guid == self._guid and guid not in self._unsaved:
            self._show(text)

    async def save(self) -> None:
        """Store what was typed. What cannot be stored is told, and tried again if that may help."""
        self._rest.stop()
        for guid, text in list(self._unsaved.items()):
            try:
                await self._brain.write_notes(guid, as_notes(text))
            except StorageError as error:
                self._place.window.notifier.report(error)
                if isinstance(error, PASSING):
                    continue
            if self._unsaved.get(guid) == text:
                del self._unsaved[guid]

    def _change(self, text: str) -> None:
        guid = self._guid
        if guid is None or text == self._text:
            return

        def put(_name: str, value: object) -> None:
            self._unsaved[guid] = str(value)
            self._rest.start()
            if guid == self._guid:
                self._show(str(value))

        self._undo.push(FieldChange(self._title, f"{guid} {NOTES}", self._text, text, put))

    def _show(self, text: str) -> None:
        self._text = text
        self.form.set_field(NOTES, text)


def as_text(notes: Mapping[str, str]) -> str:
    """As the user reads and writes them."""
    return "\n".join(f"{name}{PARTING}{value}" for name, value in notes.items())


def as_notes(text: str) -> dict[str, str]:
    """By name; a line that names nothing is a note, and several of those are counted."""
    notes: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = (part.strip() for part in line.partition(PARTING.strip()))
        if not colon:
            name, value = "note", name
        if value:
            notes[_free(name or "note", notes)] = value
    return notes


def _free(name: str, notes: Mapping[str, str]) -> str:
    number, free = 1, name
    while free in notes:
        number += 1
        free = f"{name} {number}"
    return free
