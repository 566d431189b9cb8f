"""Explains in the system prompt how tools are used, where a model is offered any; the user may switch that off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError
from lethe_app.prompt.format.tool_calls import equipped, is_equipped
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import Prompting

NAME = "tools_note.md"


class ToolNote:
    """It stands in the part of the prompt that stays, so it is read once."""

    def __init__(self, prompting: Prompting, preferences: Preferences, folders: Sequence[Path]) -> None:
        """The first of `folders` in which the note is found tells it, so that the user's own comes before ours."""
        self._prompting, self._preferences, self._folders = prompting, preferences, folders
        self._text: str | None = None

    async def note_for(self, persona: Persona, model: LoadedModel) -> str:
        """The note, macros as they are; empty where it is not wanted, or where the model does not ask for tools by itself."""
        offered = self._prompting.offered(persona)
        if not offered or not self._preferences.current.tools_explained:
            return ""
        renderer = (await self._prompting.form(model)).renderer
        return self._read() if is_equipped(equipped(renderer, offered)) else ""

    def _read(self) -> str:
        """Once. Raises FileError."""
        if self._text is None:
            file = next((folder / NAME for folder in self._folders if (folder / NAME).is_file()), Path(NAME))
            try:
                self._text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(file, f"it cannot be read: {error}") from error
        return self._text
