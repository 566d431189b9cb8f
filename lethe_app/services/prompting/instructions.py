"""Instructions in the system prompt that are not part of a preset, each read once from a file that the user may replace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.errors import FileError


class InstructionFile:
    """Text of one file of instructions, with macros unexpanded."""

    def __init__(self, name: str, folders: Sequence[Path]) -> None:
        """Set up the reader. The file of the first folder that has one is used, so the user's own replaces the shipped one."""
        self._name, self._folders = name, folders
        self._text: str | None = None

    def read_text(self) -> str:
        """Return the text. Raise FileError."""
        if self._text is None:
            file = next((folder / self._name for folder in self._folders if (folder / self._name).is_file()), Path(self._name))
            try:
                self._text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(file, f"it cannot be read: {error}") from error
        return self._text
