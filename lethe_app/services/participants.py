"""Participants of a session: personas and user persona, the macro values of their texts, and the worlds bound to a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError
from lethe_app.prompt.group import join_names
from lethe_app.prompt.macros import MacroContext
from lethe_app.prompt.speaker_labels import label_of
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences

SEED_BITS = 0xFFFF_FFFF
DEFAULT_USER = Persona(is_user=True, name="Guest")
"""Placeholder of the user persona until the user has chosen one."""


@dataclass(frozen=True)
class Participants:
    """Participants of a session, and which of them speaks next."""

    persona: Persona
    """Persona that the session belongs to: its memory, mood, tools and notes apply."""
    user: Persona
    guests: tuple[Persona, ...] = ()
    """Other personas that take part."""
    next_speaker: Persona | None = None
    """Persona that speaks next; None means `persona`."""

    @property
    def speaker(self) -> Persona:
        return self.next_speaker or self.persona

    @property
    def group(self) -> tuple[Persona, ...]:
        """All personas that take part, in a fixed order; empty if there is only one."""
        return (self.persona, *self.guests) if self.guests else ()

    def with_speaker(self, unique_name: str) -> Participants:
        """Return a copy in which this persona speaks; if it does not take part, the session's persona speaks."""
        return replace(self, next_speaker=next((persona for persona in self.group if persona.unique_name == unique_name), None))

    def build_macro_context(self, session: ChatSession, moment: datetime) -> MacroContext:
        """Return the macro values of this session at that moment; random macros are seeded by the session and so stay the
        same.
        """
        speaker, user = self.speaker, self.user
        texts = {
            "charbio": speaker.description,
            "userbio": user.bio,
            "personality": speaker.personality,
            "scenario": session.scenario or self.persona.scenario,
            "examples": "\n".join(f"- {line}" for line in speaker.example_dialogs if line.strip()),
            "selfedit": speaker.self_edit_field,
        }
        texts |= {
            "charprompt": speaker.system_prompt,
            "charinstruction": speaker.post_history_instructions,
            "chardepthprompt": speaker.depth_prompt,
            "creatornotes": speaker.creator_notes,
            "charversion": speaker.character_version,
        }
        everyone = (self.persona, *self.guests, user)
        first, labels = label_of(speaker, everyone), [label_of(persona, everyone) for persona in self.group]
        others = [label for label in labels if label != first]
        values = {"notchar": ", ".join([*others, user.name])}
        if self.group:
            values |= {"group": join_names([first, *others]), "mgroup": join_names(labels)}
            values |= {"mchar": label_of(self.persona, everyone)}
            texts |= {"mcharbio": self.persona.description}
        return MacroContext(
            user=user.name,
            char=first,
            moment=moment,
            seed=session.guid.int & SEED_BITS,
            texts=texts,
            values=values,
            greetings=speaker.first_messages,
        )


@dataclass(frozen=True)
class ParticipantService:
    """Look up the participants of sessions. A missing user persona is replaced by the current one."""

    library: Library
    preferences: Preferences

    @property
    def default_user_id(self) -> str:
        """User persona of new sessions; empty if none is chosen."""
        return self.preferences.current.user_persona

    async def load_for_persona(self, persona_id: str) -> Participants:
        """Return the persona with the current user persona. Raise FileError."""
        user_id = self.default_user_id
        return await self.library.run_in_storage_thread(
            lambda: Participants(self.library.read_persona(persona_id), self._read_user(user_id))
        )

    async def load_for_session(self, session: ChatSession) -> Participants:
        """Return the participants of a session. Raise FileError."""
        return await self.library.run_in_storage_thread(lambda: self.read_for_session(session))

    def read_for_session(self, session: ChatSession, speaker: str = "") -> Participants:
        """Return the participants of a session with `speaker` speaking; to be called in the storage thread.

        The user persona is the one that was chosen when the session began. Raise FileError if the persona cannot be read.
        """
        persona, user = self.library.read_persona(session.persona_id), self._read_user(session.user_id)
        participants = Participants(persona, user, self._read_guests(session.guests))
        if speaker and speaker not in {participant.unique_name for participant in (persona, *participants.guests)}:
            participants = replace(participants, guests=(*participants.guests, *self._read_guests([speaker])))
        return participants.with_speaker(speaker) if speaker else participants

    def read_without_persona(self, session: ChatSession) -> Participants:
        """Return the participants if the persona's file cannot be read: its file name replaces the name."""
        return Participants(Persona(unique_name=session.persona_id, name=session.persona_id), self._read_user(session.user_id))

    def read_sampler(self, persona: Persona, default_preset: str) -> SamplerPreset:
        """Return the sampler preset `default_preset` or the persona's own, with the temperature of the settings, if set.

        A persona's own preset is used unless the one chosen in the settings is among the persona's. To be called in the
        storage thread. Raise FileError if `default_preset` cannot be read.
        """
        settings, preset_names = self.preferences.current, persona.allowed_samplers
        for name in preset_names if settings.sampler not in preset_names else ():
            with suppress(FileError):  # deleted or broken: try the next one, and in the end the default
                return self._with_temperature(self.library.read_sampler(name))
        return self._with_temperature(self.library.read_sampler(default_preset))

    def _with_temperature(self, preset: SamplerPreset) -> SamplerPreset:
        temperature = self.preferences.current.temperature_override
        return preset.model_copy(update={"temperature": temperature}) if temperature >= 0 else preset

    def _read_guests(self, names: Sequence[str]) -> tuple[Persona, ...]:
        """Return the personas whose files can be read; the library reports broken files."""
        guests = []
        for name in names:
            with suppress(FileError):
                guests.append(self.library.read_persona(name))
        return tuple(guests)

    def _read_user(self, user_id: str) -> Persona:
        for name in dict.fromkeys((user_id, self.default_user_id)):
            if name:
                with suppress(FileError):  # deleted or broken
                    return self.library.read_persona(name)
        return DEFAULT_USER


@dataclass(frozen=True)
class MacroPosition:
    """Position of a text with macros in a session."""

    session: ChatSession
    participants: Participants
    before: UUID | None = None
    """Message above which the text is; None for the end of the session."""
    is_answer: bool = False
    """True if the text is read for the answer to the user's newest message above it; else it is written after that message."""
    at_beginning: bool = False
    """True for the system prompt, whose values stay those of the session's beginning, so that its tokens remain in the KV
    cache.
    """


FillMacros = Callable[[MacroContext, MacroPosition, Iterable[str]], Awaitable[MacroContext]]
"""Function that completes a macro context with the values its texts need."""


SESSION_WORLDS_KEY = "worlds"
"""Key of the session state: names of the worlds that the user bound to that session alone."""


@dataclass(frozen=True)
class SessionWorlds:
    """Worlds of a session by file name, in the order of their precedence."""

    worlds: Mapping[str, World] = field(default_factory=dict)

    def find_entry(self, guid: UUID) -> tuple[World, WorldEntry] | None:
        """Return the entry with this guid and its world; of several worlds that have it, the first. None if there is none."""
        for world in self.worlds.values():
            for entry in world.entries:
                if entry.guid == guid:
                    return world, read_decorators(entry).entry
        return None

    @property
    def scan_depth(self) -> int:
        """Scan depth: number of messages before the newest one in which keys are looked for."""
        depths = (
            world.scan_depth if entry.scan_depth is None else entry.scan_depth
            for world in self.worlds.values()
            for entry in world.entries
        )
        # Worlds with a minimum number of activations scan further back until it is reached.
        extended_depths = (world.max_depth for world in self.worlds.values() if world.min_activations)
        return max((*depths, *extended_depths), default=0)


def collect_world_names(participants: Participants, stored_names: object, global_worlds: list[str]) -> list[str]:
    """Return the names of the worlds of a session, in the order of their precedence.

    `stored_names` is the session's own list as it is stored; after these come the worlds of the user persona, of the personas,
    and `global_worlds`.
    """
    names = [
        *(name for name in (stored_names if isinstance(stored_names, list) else []) if isinstance(name, str)),
        *participants.user.worlds,
        *(name for persona in (participants.persona, *participants.guests) for name in persona.worlds),
        *global_worlds,
    ]
    return list(dict.fromkeys(names))


def select_worlds(names: list[str], worlds: Mapping[str, World]) -> SessionWorlds:
    """Return the worlds with these names. A missing one is left out, because the library reports broken files."""
    return SessionWorlds({name: worlds[name] for name in names if name in worlds})
