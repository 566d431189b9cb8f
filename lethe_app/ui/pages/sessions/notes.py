"""Card with the notes of a session, one per line, which are part of its prompt."""

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
    """Card with an editable text of notes; it is stored after a pause in typing and shares the page's undo stack."""

    def __init__(self, place: PageContext, undo: QUndoStack, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place, self._lookup, self._undo = place, place.services.lookup, undo
        self._guid: UUID | None = None
        self._text = ""
        self._unsaved: dict[UUID, str] = {}
        self._title = self.tr("Conversation notes")
        words = self.tr("Notes are included in the prompt while this conversation is open and are extended as you chat.")
        card, column = made_card(self._title, words)
        spec = Spec(
            NOTES,
            self.tr("Notes"),
            FieldKind.PROSE,
            self.tr("One note per line, in the form “name: value”."),
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
        """Load and show the notes of a session."""
        self._guid = guid
        self._place.bridge.spawn(self._read(guid), lane="session notes")

    async def _read(self, guid: UUID) -> None:
        await self.save()
        text = as_text(await self._lookup.notes(guid))
        if guid == self._guid and guid not in self._unsaved:
            self._show(text)

    async def save(self) -> None:
        """Store all typed notes now; an error is reported, and kept for another attempt only if that may succeed."""
        self._rest.stop()
        for guid, text in list(self._unsaved.items()):
            try:
                await self._lookup.write_notes(guid, as_notes(text))
            except StorageError as error:
                self._place.window.notifier.report(error)
                if isinstance(error, PASSING):
                    continue
            # Newer text may have been typed while this one was being stored.
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
    """Return the notes as text, one “name: value” per line."""
    return "\n".join(f"{name}{PARTING}{value}" for name, value in notes.items())


def as_notes(text: str) -> dict[str, str]:
    """Return the notes of a text by name; lines without a name become “note”, “note 2” and so on."""
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
