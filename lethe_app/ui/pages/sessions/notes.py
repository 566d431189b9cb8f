"""Notes of a session, which are part of its prompt, as text with one note per line."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

NOTES_FIELD = "notes"
SEPARATOR = ": "
QUEST = "current_quest"
"""Name of the note of a quest, as rules store it."""


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
