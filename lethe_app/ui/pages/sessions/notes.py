"""Card with the notes of a session, one per line, which are part of its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.errors import StorageError
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.sessions.commands import RETRYABLE_ERRORS
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form

SAVE_DELAY_MS = 500
NOTES_FIELD = "notes"
SEPARATOR = ": "
QUEST = "current_quest"
"""Name of the note of a quest, as rules store it."""


class SessionNotes(QWidget):
    """Card with an editable text of notes; it is stored after a pause in typing and shares the page's undo stack."""

    def __init__(
        self, context: PageContext, lookup: MemoryLookup, undo_stack: QUndoStack, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._lookup, self._undo_stack = context, lookup, undo_stack
        self._guid: UUID | None = None
        self._text = ""
        self._unsaved: dict[UUID, str] = {}
        self._title = self.tr("Conversation notes")
        words = self.tr("Notes are included in the prompt while this conversation is open and are extended as you chat.")
        card, column = create_card(self._title, words)
        spec = FieldSpec(
            NOTES_FIELD,
            self.tr("Notes"),
            FieldKind.TEXT_AREA,
            self.tr("One note per line, in the form “name: value”."),
            self.tr("Example: “job: nurse”"),
            lines=2,
        )
        self.form = Form([spec], context.theme)
        self.form.changed.connect(lambda _name, text: self._change_text(str(text)))
        column.addWidget(self.form)
        outer_column = QVBoxLayout(self)
        outer_column.setContentsMargins(0, 0, 0, 0)
        outer_column.addWidget(card)
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: context.tasks.start_task(self.save_notes()))

    def show_session(self, guid: UUID) -> None:
        """Load and show the notes of a session."""
        self._guid = guid
        self._context.tasks.start_task(self._load_notes(guid), key="session notes")

    async def _load_notes(self, guid: UUID) -> None:
        await self.save_notes()
        text = format_notes(await self._lookup.load_notes(guid))
        if guid == self._guid and guid not in self._unsaved:
            self._show_text(text)

    async def save_notes(self) -> None:
        """Store all typed notes now; an error is reported, and kept for another attempt only if that may succeed."""
        self._save_timer.stop()
        for guid, text in list(self._unsaved.items()):
            try:
                await self._lookup.write_notes(guid, parse_notes(text))
            except StorageError as error:
                self._context.notifier.report_error(error)
                if isinstance(error, RETRYABLE_ERRORS):
                    continue
            # Newer text may have been typed while this one was being stored.
            if self._unsaved.get(guid) == text:
                del self._unsaved[guid]

    def _change_text(self, text: str) -> None:
        guid = self._guid
        if guid is None or text == self._text:
            return

        def apply_text(_name: str, value: object) -> None:
            self._unsaved[guid] = str(value)
            self._save_timer.start()
            if guid == self._guid:
                self._show_text(str(value))

        self._undo_stack.push(FieldChange(self._title, f"{guid} {NOTES_FIELD}", self._text, text, apply_text))

    def _show_text(self, text: str) -> None:
        self._text = text
        self.form.set_field(NOTES_FIELD, text)


def _labels() -> dict[str, str]:
    """Return the label of each name under which rules store a note."""
    tr = QCoreApplication.translate
    return {"user_name": tr("SessionNotes", "your name"), QUEST: tr("SessionNotes", "current quest")}


def format_notes(notes: Mapping[str, str]) -> str:
    """Return the notes as text, one “name: value” per line."""
    labels = _labels()
    return "\n".join(f"{labels.get(name, name)}{SEPARATOR}{value}" for name, value in notes.items())


def parse_notes(text: str) -> dict[str, str]:
    """Return the notes of a text by name; lines without a name become “note”, “note 2” and so on."""
    notes: dict[str, str] = {}
    names = {label: name for name, label in _labels().items()}
    for line in text.splitlines():
        name, colon, value = (part.strip() for part in line.partition(SEPARATOR.strip()))
        name = names.get(name.lower(), name)
        if not colon:
            name, value = "note", name
        if value:
            notes[_unused_name(name or "note", notes)] = value
    return notes


def _unused_name(name: str, notes: Mapping[str, str]) -> str:
    number, candidate = 1, name
    while candidate in notes:
        number += 1
        candidate = f"{name} {number}"
    return candidate
