"""Moods of personas: changes by messages, history, and settings by the user."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter

from lethe_app.brain.mood.dynamics import MoodDynamics, load_moodlets, mark_changed_by
from lethe_app.brain.mood.model import Moodlet, MoodMessage, describe_mood, describe_mood_changes
from lethe_app.brain.mood.sentiment import SentimentPhrases, load_phrases
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.mood import Feeling, Mood, MoodReading, MoodSample
from lethe_app.domain.persona import Persona
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.key_value import AppState

MoodState = Mapping[tuple[str, str], object]
"""Values of the app state by scope and key, among them those of `mood_state_keys`."""
MOODS, HISTORY, READINGS = "moods", "mood history", "mood readings"
"""Scopes of the app state; the key is the persona."""
MAX_SAMPLES, MAX_READINGS = 400, 60
"""Maximum number of stored samples and readings per persona; the oldest are dropped."""
QUESTION_MARKS = frozenset("?？؟⁇")
_SAMPLES, _READINGS = TypeAdapter(list[MoodSample]), TypeAdapter(list[MoodReading])


@dataclass(frozen=True)
class MoodDimension:
    """One dimension of a mood, for display."""

    id: str
    title: str
    description: str
    adjective: str
    """Empty for a neutral value."""
    feeling: Feeling
    words: tuple[str, ...]
    """All adjectives of the dimension, from low to high."""


@dataclass(frozen=True)
class MoodEffect:
    """Effect of a user message on the persona's mood; `MoodService.build_state_updates` returns the values to store."""

    mood: Mood
    sentence: str
    """Sentence about the mood for the note at the user's return; empty if all dimensions are neutral."""


class MoodService:
    """Compute and store moods. `changed` emits the persona whose mood has changed."""

    def __init__(
        self,
        app_state: AppState,
        preferences: Preferences,
        dynamics: MoodDynamics,
        praise: SentimentPhrases,
        harsh: SentimentPhrases,
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        self._app_state = app_state
        self._preferences = preferences
        self._dynamics = dynamics
        self._praise = praise
        self._harsh = harsh
        self._lock = asyncio.Lock()

    @property
    def moodlets(self) -> Sequence[Moodlet]:
        """Return the dimensions of a mood, with their adjectives."""
        return self._dynamics.moodlets

    @property
    def is_static(self) -> bool:
        """Return whether only the user changes moods."""
        return self._preferences.current.static_mood

    def is_enabled_for(self, persona: Persona) -> bool:
        """Return whether the persona has moods."""
        return self._preferences.current.mood_handling and persona.mood and not persona.disable_bot_guidance

    # Display

    async def load_mood(self, persona_id: str) -> Mood:
        """Return the mood now, including its drift since it was stored. Nothing is changed."""
        mood = self._dynamics.add_missing_feelings(await self.load_stored(persona_id) or self._dynamics.create_mood(now()))
        return mood if self.is_static else self._dynamics.apply_decay(mood, now())

    def adjectives(self, mood: Mood) -> dict[str, str]:
        """Return the adjective of each dimension; empty for a neutral value."""
        return self._dynamics.adjectives(mood, mood.announced)

    async def describe_mood(self, persona: Persona, session_id: UUID) -> str:
        """Return the mood as the sentence that a prompt of the session has or will have next.

        It is empty if the persona has no moods or all dimensions are neutral.
        """
        if not self.is_enabled_for(persona):
            return ""
        stored = await self.load_stored(persona.unique_name)
        if stored is not None and stored.session == session_id:
            return describe_mood(persona.spoken_name, stored.announced)
        return describe_mood(persona.spoken_name, self.adjectives(await self.load_mood(persona.unique_name)))

    async def list_dimensions(self, persona_id: str) -> list[MoodDimension]:
        """Return the mood now, by dimension."""
        mood = await self.load_mood(persona_id)
        words = self.adjectives(mood)
        return [
            MoodDimension(
                moodlet.id,
                moodlet.title,
                moodlet.description,
                words[moodlet.id],
                mood.feelings[moodlet.id],
                tuple(adjective.word for adjective in moodlet.adjectives),
            )
            for moodlet in self.moodlets
            if moodlet.id in words
        ]

    async def load_history(self, persona_id: str) -> list[MoodSample]:
        """Return one sample per day and session, oldest first; the last one is the mood now."""
        samples, stored = await self.load_samples(persona_id), await self.load_stored(persona_id)
        mood = await self.load_mood(persona_id)
        if stored is not None and not build_sample(stored).belongs_with(mood.at, mood.session):
            samples.append(build_sample(stored))
        return [*samples, build_sample(mood)]

    async def load_readings(self, persona_id: str) -> list[MoodReading]:
        """Return what models inferred from the persona's sessions, oldest first."""
        return read_stored(_READINGS.validate_python, await self._app_state.get(READINGS, persona_id)) or []

    # Changes

    def compute_effect(
        self, session: ChatSession, participants: Participants, message: Message, history: Sequence[Message], state: MoodState
    ) -> MoodEffect | None:
        """Return the effect of a message on the persona's mood after `history`; None if the persona has no moods.

        A message whose effect is stored already, as for a regenerated reply, has no further effect.
        """
        if not self.is_enabled_for(participants.persona):
            return None
        stored = read_stored(Mood.model_validate, state.get((MOODS, session.persona_id)))
        before = self._dynamics.add_missing_feelings(stored or self._dynamics.create_mood(message.time))
        if before.message == message.id:
            words = self._dynamics.adjectives(before, before.announced)
            return MoodEffect(before, describe_mood(participants.persona.spoken_name, words))
        updated = before.model_copy(update={"at": message.time})
        if not self.is_static:
            updated = self._dynamics.after_message(before, self._build_mood_message(message, history))
        mood = mark_changed_by(updated, session.guid, message.id)
        words = self._dynamics.adjectives(mood, before.announced)
        changes = describe_mood_changes(participants.persona.spoken_name, mood.announced, words)
        announced = mood.model_copy(update={"announced": words, "said": changes})
        return MoodEffect(announced, describe_mood(participants.persona.spoken_name, words))

    async def set_mood(self, persona_id: str, id_: str, value: float) -> Feeling:
        """Set a dimension to the user's value; return the former one, for `restore_feeling`."""
        async with self._lock:
            mood = await self.load_mood(persona_id)
            await self._save(persona_id, self._dynamics.set_value(mood, id_, value, now()))
            return mood.feelings[id_]

    async def restore_feeling(self, persona_id: str, id_: str, feeling: Feeling) -> None:
        """Restore a dimension to its former value, to undo `set_mood`."""
        async with self._lock:
            mood = await self.load_mood(persona_id)
            await self._save(persona_id, mood.model_copy(update={"feelings": mood.feelings | {id_: feeling}}))

    async def apply_reading(self, persona_id: str, reading: MoodReading) -> None:
        """Apply and store what a model inferred from a session; each session counts once."""
        async with self._lock:
            readings = await self.load_readings(persona_id)
            if self.is_static or any(known.session == reading.session for known in readings):
                return
            mood = self._dynamics.after_session(await self.load_mood(persona_id), reading.steps, reading.at)
            await self._app_state.set(
                READINGS, persona_id, _READINGS.dump_python([*readings, reading][-MAX_READINGS:], mode="json")
            )
            await self._save(persona_id, mood)

    def _build_mood_message(self, message: Message, history: Sequence[Message]) -> MoodMessage:
        utterances = [line for line in history if not line.hidden and line.role in {Role.USER, Role.ASSISTANT}]
        is_reply_last = bool(utterances) and utterances[-1].role is Role.ASSISTANT
        last_reply = utterances[-1].content if is_reply_last else ""
        return MoodMessage(
            text=message.content,
            moment=message.time,
            praise=self._praise.find(message.content),
            harsh=self._harsh.find(message.content),
            answers=not QUESTION_MARKS.isdisjoint(last_reply),
            begins=all(line.role is not Role.USER for line in utterances),
        )

    # Storage

    def build_state_updates(self, persona_id: str, mood: Mood, state: MoodState) -> dict[tuple[str, str], object]:
        """Return the values to store for a new mood, by scope and key.

        The mood before becomes a sample of the history if it belongs to an earlier day or another session.
        """
        updates: dict[tuple[str, str], object] = {(MOODS, persona_id): mood.model_dump(mode="json")}
        before = read_stored(Mood.model_validate, state.get((MOODS, persona_id)))
        if before is not None:
            last = build_sample(before)
            if not last.belongs_with(mood.at, mood.session):
                earlier = read_stored(_SAMPLES.validate_python, state.get((HISTORY, persona_id))) or []
                samples = [*earlier, last][-MAX_SAMPLES:]
                updates[HISTORY, persona_id] = _SAMPLES.dump_python(samples, mode="json")
        return updates

    async def _save(self, persona_id: str, mood: Mood) -> None:
        state = {key: await self._app_state.get(*key) for key in mood_state_keys(persona_id)}
        for (scope, key), value in self.build_state_updates(persona_id, mood, state).items():
            await self._app_state.set(scope, key, value)
        self.changed.notify(persona_id)

    async def load_stored(self, persona_id: str) -> Mood | None:
        """Return the mood as it was stored; None if there is none."""
        return read_stored(Mood.model_validate, await self._app_state.get(MOODS, persona_id))

    async def load_samples(self, persona_id: str) -> list[MoodSample]:
        """Return the stored samples, oldest first, without the mood now."""
        return read_stored(_SAMPLES.validate_python, await self._app_state.get(HISTORY, persona_id)) or []


def mood_state_keys(persona_id: str) -> tuple[tuple[str, str], ...]:
    """Return scope and key of the app state for a persona's mood."""
    return (MOODS, persona_id), (HISTORY, persona_id)


def build_sample(mood: Mood) -> MoodSample:
    """Return the part of a mood that is stored in the history."""
    return MoodSample(at=mood.at, session=mood.session, values=mood.values)


def create_mood_service(app_state: AppState, preferences: Preferences, paths: Paths) -> MoodService:
    """Return the mood service with the moodlets of all installed packages, and the shipped and the user's word lists."""
    folders = (paths.resources / "mood", paths.home / "mood")
    return MoodService(
        app_state,
        preferences,
        MoodDynamics(load_moodlets()),
        load_phrases(folders, "praise"),
        load_phrases(folders, "harsh"),
    )
