"""Import notes in English; the window translates the templates."""

from __future__ import annotations

from collections.abc import Mapping

from lethe_app.domain.import_notes import ImportNote, NoteKind

TEMPLATES = {
    NoteKind.WRONG_TYPE: "{field} contained no valid value and was left out",
    NoteKind.CONVERTED: "{field} was converted to text",
    NoteKind.OUT_OF_RANGE: "{field} was limited to {used}",
    NoteKind.TRUNCATED: "{field} was cut at {limit} characters",
    NoteKind.NO_EFFECT: "{field} is kept for export, but has no effect",
    NoteKind.UNSUPPORTED: "{field} has no counterpart here and was left out",
    NoteKind.SKIPPED: "{field} could not be read and was left out",
    NoteKind.NAME_MISSING: "The name was missing; it is called {name}",
    NoteKind.DUPLICATE_KEY: "{field} occurred twice; the last value was used",
    NoteKind.REPAIRED_JSON: "The JSON was invalid and was repaired",
    NoteKind.NEWER_VERSION: "The file is of the newer version {version} of its format",
    NoteKind.REMOTE_ASSET: "{field} lies on {host} and was not downloaded",
    NoteKind.UNKNOWN_DECORATOR: "The decorator {name} is not known, or not with its value, and is kept without effect",
    NoteKind.HIDDEN_LINES: "Messages hidden from the model are left out, and kept for export: {count}",
    NoteKind.MANY_NOTES: "{count} further notes were left out",
}


def describe_note(note: ImportNote) -> str:
    """Return a note in English."""
    return fill_note(TEMPLATES[note.kind], note)


def fill_note(template: str, note: ImportNote) -> str:
    """Return a template with the values of a note inserted."""
    return template.format_map({"field": f"“{note.location}”", **note.values})


def describe_ignored(ignored: Mapping[str, int]) -> str:
    """Return files that cannot be imported in English, by what they are."""
    kinds = sorted(ignored.items(), key=lambda pair: not pair[0])
    return ", ".join(f"{count} {kind or 'other file'}{'' if count == 1 else 's'}" for kind, count in kinds)
