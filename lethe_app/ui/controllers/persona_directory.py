"""Personas of the library as they were last read, with their avatars and sidebar rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.palette import AVATAR
from lethe_app.ui.shell.sidebar_model import PersonaRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QWidget

    from lethe_app.services.library import Library
    from lethe_app.ui.core.theme import Theme


class PersonaDirectory:
    """Personas by unique name; empty until `read_personas` is called."""

    def __init__(self, library: Library, theme: Theme, window: QWidget) -> None:
        """Create an empty directory; avatars are rendered for the screen of `window`."""
        self._library, self._theme, self._window = library, theme, window
        self.personas: dict[str, Persona] = {}
        """Characters, without the user personas."""
        self._speakers: dict[str, Persona] = {}
        self._avatar_paths: dict[str, Path | None] = {}

    async def read_personas(self) -> None:
        """Read the characters and the user personas again."""
        personas, user_personas = await self._library.personas(), await self._library.user_personas()
        self.personas = {persona.unique_name: persona for persona in personas}
        self._speakers = {persona.unique_name: persona for persona in [*personas, *user_personas]}
        self._avatar_paths = {name: self._library.avatar(persona) for name, persona in self._speakers.items()}

    async def find_persona(self, persona_id: str) -> Persona:
        """Return a character; one that was not read yet is read now. Raise FileError."""
        return self.personas.get(persona_id) or await self._library.persona(persona_id)

    def find_names(self, persona_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the speakers that are known, in the same order."""
        return tuple(self._speakers[persona_id].name for persona_id in persona_ids if persona_id in self._speakers)

    def render_avatar(self, persona: Persona, size: int) -> QPixmap:
        """Return the avatar of a persona, `size` pixels in diameter; a letter if it has no picture."""
        path = self._library.avatar(persona)
        ratio = self._window.devicePixelRatioF()
        return render_avatar(path, persona.unique_name, persona.name, size, self._theme.palette, ratio)

    def render_speaker_avatar(self, speaker: str, name: str) -> QPixmap:
        """Return the avatar of a speaker for the transcript; the initial of `name` if the persona has no picture."""
        path, ratio = self._avatar_paths.get(speaker), self._window.devicePixelRatioF()
        return render_avatar(path, speaker, name, AVATAR, self._theme.palette, ratio)

    def build_persona_row(self, persona: Persona) -> PersonaRow:
        """Return the sidebar row of a persona."""
        return PersonaRow(persona.unique_name, persona.name, persona.tagline, self._library.avatar(persona))
