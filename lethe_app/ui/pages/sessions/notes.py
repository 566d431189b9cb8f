"""Card with the notes of a session, one per line, which are part of its prompt."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.layouts import build_column

NOTES_FIELD = "notes"
SEPARATOR = ": "
QUEST = "current_quest"
"""Name of the note of a quest, as rules store it."""


class SessionNotes(QWidget):
    """Card with an editable text of notes."""

    edited = Signal(str, str)
    """The text before the change, and the new one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.title = self.tr("Conversation notes")
        words = self.tr("Notes are included in the prompt while this conversation is open and are extended as you chat.")
        card, column = create_card(self.title, words)
        spec = FieldSpec(
            NOTES_FIELD,
            self.tr("Notes"),
            FieldKind.TEXT_AREA,
            self.tr("One note per line, in the form “name: value”."),
            self.tr("Example: “job: nurse”"),
            lines=2,
        )
        self.form = Form([spec], theme)
        self.form.changed.connect(lambda _name, text: self.edited.emit(self._text, str(text)))
        column.addWidget(self.form)
        build_column(card, parent=self)

    def show_text(self, text: str) -> None:
        """Show the notes without emitting `edited`."""
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
