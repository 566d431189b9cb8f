"""Instructions for native tool calls in the system prompt; the user may switch them off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.instructions import InstructionFile

FILE_NAME = "tools_note.md"


class ToolInstructions:
    """Instructions for tool calls."""

    def __init__(self, preferences: Preferences, folders: Sequence[Path]) -> None:
        """Set up the instructions; `folders` are those of `InstructionFile`."""
        self._preferences, self._file = preferences, InstructionFile(FILE_NAME, folders)

    def load_text(self) -> str:
        """Return the instructions with unexpanded macros; empty if the user switched them off. Raise FileError."""
        return self._file.read_text() if self._preferences.current.tools_explained else ""
