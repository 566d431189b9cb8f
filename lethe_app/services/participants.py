"""Who plays in a session: the persona, the user's own self, and what the macros in their texts mean."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import FileError
from lethe_app.prompt.group import in_a_row
from lethe_app.prompt.macros import MacroContext
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences

SEED_BITS = 0xFFFF_FFFF
NOBODY = Persona(is_user=True, name="Guest")
"""The user before they named themselves."""


@dataclass(frozen=True)
class Participants:
    """Those who speak."""

    persona: Persona
    """Whose conversation it is: her memory, mood, tools and notes are the conversation's."""
    user: Persona
    guests: tuple[Persona, ...] = ()
    """Others who take part."""
    speaks: Persona | None = None
    """Which of them speaks next; the persona if nothing else is said."""

    @property
    def speaker(self) -> Persona:
        return self.speaks or self.persona

    @property
    def group(self) -> tuple[Persona, ...]:
        """All personas who take part, in an order that stays; empty where there is but one."""
        return (self.persona, *self.guests) if self.guests else ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all personas who take part."""
        return (self.persona.name, *(guest.name for guest in self.guests))

    def spoken_by(self, unique_name: str) -> Participants:
        """The same while one of them speaks; one who is not there leaves the word to the persona."""
        return replace(self, speaks=next((one for one in self.group if one.unique_name == unique_name), None))

    def scene(self, session: ChatSession, moment: datetime) -> MacroContext:
        """What macros mean in this session at that moment; the same dice and choices all through it."""
        texts = {"charbio": self.speaker.bio, "userbio": self.user.bio, "scenario": session.scenario or self.persona.scenario}
        if self.group:
            others = [name for name in self.names if name != self.speaker.name]
            texts |= {"group": in_a_row([self.speaker.name, *others]), "mgroup": in_a_row(self.names)}
            texts |= {"mchar": self.persona.name, "mcharbio": self.persona.bio}
        return MacroContext(
            user=self.user.name, char=self.speaker.name, moment=moment, seed=session.guid.int & SEED_BITS, texts=texts
        )


class ParticipantService:
    """Looks the speakers up; a user persona that is gone is replaced by the one chosen now."""

    def __init__(self, library: Library, preferences: Preferences) -> None:
        self._library = library
        self._preferences = preferences

    @property
    def chosen_user(self) -> str:
        """Who the user is in new conversations; empty before they named themselves."""
        return self._preferences.current.user_persona

    async def of_persona(self, persona_id: str) -> Participants:
        """The persona with the user's present self."""
        return Participants(await self._library.persona(persona_id), await self._user(self.chosen_user))

    async def of_session(self, session: ChatSession) -> Participants:
        """The persona with the self the user had when the session began, and whoever was asked in. Raises FileError."""
        persona, user = await self._library.persona(session.persona_id), await self._user(session.user_id)
        return Participants(persona, user, await self._guests(session.guests))

    async def of_reply(self, session: ChatSession, message: Message) -> Participants:
        """The cast in which a reply is written anew: by whoever spoke, also if they have left since."""
        cast = await self.of_session(session)
        if message.speaker and message.speaker not in {one.unique_name for one in (cast.persona, *cast.guests)}:
            cast = replace(cast, guests=(*cast.guests, *await self._guests([message.speaker])))
        return cast.spoken_by(message.speaker)

    async def in_need(self, session: ChatSession) -> Participants:
        """The same while the persona's file cannot be read: she is known by her file's name alone."""
        return Participants(Persona(unique_name=session.persona_id, name=session.persona_id), await self._user(session.user_id))

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

    async def _guests(self, names: Sequence[str]) -> tuple[Persona, ...]:
        """Those whose files can be read; the library tells of broken files by itself."""
        found = []
        for name in names:
            with suppress(FileError):
                found.append(await self._library.persona(name))
        return tuple(found)

    async def _user(self, wanted: str) -> Persona:
        for name in dict.fromkeys((wanted, self.chosen_user)):
            if name:
                try:
                    return await self._library.persona(name)
                except FileError:
                    continue  # deleted or broken; the library tells of broken files by itself
        return NOBODY
