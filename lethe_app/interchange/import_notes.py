"""Collector of import notes."""

from __future__ import annotations

from lethe_app.domain.import_notes import ImportNote, NoteKind

MAX_NOTES = 200
"""Maximum number of notes per file; a file with more mistakes is not described line by line."""


class ImportNotes:
    """Collector of the notes of one file. Equal notes are collected once, and at most `MAX_NOTES`."""

    def __init__(self) -> None:
        self._notes: dict[tuple[object, ...], ImportNote] = {}
        self._left_out = 0

    def add(self, kind: NoteKind, location: str = "", **values: str | int) -> None:
        """Add a note about the field at `location`."""
        key = (kind, location, *values.items())
        if key in self._notes:
            return
        if len(self._notes) >= MAX_NOTES:
            self._left_out += 1
            return
        self._notes[key] = ImportNote(kind, location, values)

    @property
    def notes(self) -> list[ImportNote]:
        """Return the notes in the order in which they were added."""
        left_out = [ImportNote(NoteKind.MANY_NOTES, "", {"count": self._left_out})] if self._left_out else []
        return [*self._notes.values(), *left_out]
