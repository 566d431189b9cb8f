"""Explains in the system prompt how tools are used, where a model calls them by itself; the user may switch that off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.errors import FileError
from lethe_app.services.preferences import Preferences

FILE_NAME = "tools_note.md"


class ToolNote:
    """The explanation of tools, read once from a file."""

    def __init__(self, preferences: Preferences, folders: Sequence[Path]) -> None:
        """The first of `folders` that has the file counts, so that the user's own comes before the one that ships."""
        self._preferences, self._folders = preferences, folders
        self._text: str | None = None

    def load_text(self) -> str:
        """Return the note, macros as they are; empty where the user switched it off. Raises FileError."""
        return self._read() if self._preferences.current.tools_explained else ""

    def _read(self) -> str:
        if self._text is None:
            file = next((folder / FILE_NAME for folder in self._folders if (folder / FILE_NAME).is_file()), Path(FILE_NAME))
            try:
                self._text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(file, f"it cannot be read: {error}") from error
        return self._text
