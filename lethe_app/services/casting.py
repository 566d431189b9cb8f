"""Who plays in a session: the persona, the user's own self, and what the macros in their texts mean."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import FileError
from lethe_app.prompt.macros import Scene
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences

SEED_BITS = 0xFFFF_FFFF
NOBODY = Persona(is_user=True, name="Guest")
"""The user before they named themselves."""


@dataclass(frozen=True)
class Cast:
    """The two who speak."""

    persona: Persona
    user: Persona

    def scene(self, session: ChatSession, moment: datetime) -> Scene:
        """What macros mean in this session at that moment; the same dice and choices all through it."""
        texts = {"charbio": self.persona.bio, "userbio": self.user.bio, "scenario": session.scenario or self.persona.scenario}
        return Scene(user=self.user.name, char=self.persona.name, moment=moment, seed=session.guid.int & SEED_BITS, texts=texts)


class Casting:
    """Looks the speakers up; a user persona that is gone is replaced by the one chosen now."""

    def __init__(self, library: Library, preferences: Preferences) -> None:
        self._library = library
        self._preferences = preferences

    @property
    def chosen_user(self) -> str:
        """Who the user is in new conversations; empty before they named themselves."""
        return self._preferences.current.user_persona

    async def of_persona(self, persona_id: str) -> Cast:
        """The persona with the user's present self."""
        return Cast(await self._library.persona(persona_id), await self._user(self.chosen_user))

    async def of_session(self, session: ChatSession) -> Cast:
        """The persona with the self the user had when the session began. Raises FileError."""
        return Cast(await self._library.persona(session.persona_id), await self._user(session.user_id))

    async def in_need(self, session: ChatSession) -> Cast:
        """The same while the persona's file cannot be read: she is known by her file's name alone."""
        return Cast(Persona(unique_name=session.persona_id, name=session.persona_id), await self._user(session.user_id))

    async def sampler(self, persona: Persona, usual: SamplerPreset) -> SamplerPreset:
        """`usual`, unless the persona has samplers that suit her and the one chosen in the settings is not among them."""
        settings, own = self._preferences.current, persona.allowed_samplers
        if settings.sampler not in own:
            for name in own:
                with suppress(FileError):  # deleted or broken: the next one, and in the end the usual one
                    preset = await self._library.sampler(name)
                    warmth = settings.temperature_override
                    return preset.model_copy(update={"temperature": warmth}) if warmth >= 0 else preset
        return usual

    async def _user(self, wanted: str) -> Persona:
        for name in dict.fromkeys((wanted, self.chosen_user)):
            if name:
                try:
                    return await self._library.persona(name)
                except FileError:
                    continue  # deleted or broken; the library tells of broken files by itself
        return NOBODY
