"""Note about an imported file, as data: which field was changed, left out or kept without effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MAX_NOTES = 200
"""Maximum number of notes per file; a file with more mistakes is not described line by line."""


class NoteKind(StrEnum):
    """Kind of an import note; each constant's text lists its values."""

    WRONG_TYPE = "wrong_type"
    """A value of another type than the format says was replaced by the default (`found`, the type's name)."""
    CONVERTED = "converted"
    """A value of another type was converted, such as a number written as text (`found`)."""
    OUT_OF_RANGE = "out_of_range"
    """A number was moved into the range that Lethe supports (`used`)."""
    TRUNCATED = "truncated"
    """A text was longer than `limit` characters and was cut."""
    NO_EFFECT = "no_effect"
    """A value is kept for export, but Lethe does not act on it (`value`)."""
    UNSUPPORTED = "unsupported"
    """A value has no counterpart and was left out."""
    SKIPPED = "skipped"
    """A record could not be read and was left out."""
    NAME_MISSING = "name_missing"
    """There was no name; another one was chosen (`name`)."""
    DUPLICATE_KEY = "duplicate_key"
    """A JSON key occurred twice; the last value was used."""
    REPAIRED_JSON = "repaired_json"
    """The JSON was invalid, such as by a comma too many, and was repaired."""
    NEWER_VERSION = "newer_version"
    """The file says it is of a newer version of its format (`version`)."""
    REMOTE_ASSET = "remote_asset"
    """An asset lies on the internet and is not downloaded (`host`)."""
    UNKNOWN_MACROS = "unknown_macros"
    """Texts contain macros that are not known (`names`)."""
    TEMPLATE_CODE = "template_code"
    """Texts contain code of a template extension (EJS), which is not run."""
    SCRIPTS = "scripts"
    """Scripts or their variables are kept for export, but not run or set (`names`)."""
    UNKNOWN_DECORATOR = "unknown_decorator"
    """A decorator of an entry is not known (`name`)."""
    HIDDEN_LINES = "hidden_lines"
    """Messages that were hidden from the model were left out, and are kept for export (`count`)."""
    NO_ENTRIES = "no_entries"
    """A world has no entries that could be read."""
    MANY_NOTES = "many_notes"
    """Further notes were left out (`count`)."""


@dataclass(frozen=True)
class ImportNote:
    """One note. `location` is the location in the file, such as `data.tags` or `entries[3].order`; empty for the whole file."""

    kind: NoteKind
    location: str = ""
    values: Mapping[str, str | int] = field(default_factory=dict)


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
