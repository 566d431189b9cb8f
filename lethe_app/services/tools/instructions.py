"""Instructions for native tool calls in the system prompt; the user may switch them off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.errors import FileError
from lethe_app.services.preferences import Preferences

FILE_NAME = "tools_note.md"


class ToolInstructions:
    """Instructions for tool calls, read once from a file."""

    def __init__(self, preferences: Preferences, folders: Sequence[Path]) -> None:
        """Set up the reader. The file of the first folder that has one is used, so the user's own replaces the shipped one."""
        self._preferences, self._folders = preferences, folders
        self._text: str | None = None

    def load_text(self) -> str:
        """Return the instructions with unexpanded macros; empty if the user switched them off. Raise FileError."""
        return self._read() if self._preferences.current.tools_explained else ""

    def _read(self) -> str:
        if self._text is None:
            file = next((folder / FILE_NAME for folder in self._folders if (folder / FILE_NAME).is_file()), Path(FILE_NAME))
            try:
                self._text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(file, f"it cannot be read: {error}") from error
        return self._text
