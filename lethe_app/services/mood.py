"""Moods of personas: changes by messages, history, and settings by the user."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

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
from lethe_app.storage.key_value import AppState

MoodState = Mapping[tuple[str, str], object]
"""Values of the app state by scope and key, among them those of `keys_of`."""
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
    """Effect of a message of the user on the persona's mood; `MoodService.traces` returns what to store of it."""

    mood: Mood
    sentence: str
    """Sentence about the mood for the note at the user's return; empty if all dimensions are neutral."""

    @property
    def said(self) -> str:
        """Sentence about what has changed since the mood was last stated in a prompt; for this turn only."""
        return self.mood.said


class MoodService:
    """Compute and store moods. `changed` emits the persona whose mood has changed."""

    def __init__(
        self,
        app_state: AppState,
        preferences: Preferences,
        life: MoodDynamics,
        praise: SentimentPhrases,
        harsh: SentimentPhrases,
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        self._app_state = app_state
        self._preferences = preferences
        self._life = life
        self._praise = praise
        self._harsh = harsh
        self._one_at_a_time = asyncio.Lock()

    @property
    def moodlets(self) -> Sequence[Moodlet]:
        """Dimensions of a mood, with their adjectives."""
        return self._life.moodlets

    @property
    def is_steady(self) -> bool:
        """True if only the user changes moods."""
        return self._preferences.current.static_mood

    def is_on(self, persona: Persona) -> bool:
        """Return whether the persona has moods."""
        return self._preferences.current.mood_handling and persona.mood and not persona.disable_bot_guidance

    # Display

    async def mood(self, persona_id: str) -> Mood:
        """Return the mood now, including its drift since it was stored. Nothing is changed."""
        mood = self._life.add_missing_feelings(await self._stored(persona_id) or self._life.create_mood(now()))
        return mood if self.is_steady else self._life.apply_decay(mood, now())

    def adjectives(self, mood: Mood) -> dict[str, str]:
        """Return the adjective of each dimension; empty for a neutral value."""
        return self._life.adjectives(mood, mood.told)

    async def describe_mood(self, persona: Persona, session_id: UUID) -> str:
        """Return the mood as the sentence that a prompt of the session has or will have next.

        It is empty if the persona has no moods or all dimensions are neutral.
        """
        if not self.is_on(persona):
            return ""
        stored = await self._stored(persona.unique_name)
        if stored is not None and stored.session == session_id:
            return describe_mood(persona.name, stored.told)
        return describe_mood(persona.name, self.adjectives(await self.mood(persona.unique_name)))

    async def sides(self, persona_id: str) -> list[MoodDimension]:
        """Return the mood now, by dimension."""
        mood = await self.mood(persona_id)
        words = self.adjectives(mood)
        return [
            MoodDimension(
                one.id,
                one.title,
                one.description,
                words[one.id],
                mood.feelings[one.id],
                tuple(adjective.word for adjective in one.adjectives),
            )
            for one in self.moodlets
            if one.id in words
        ]

    async def history(self, persona_id: str) -> list[MoodSample]:
        """Return one sample per day and session, oldest first; the last one is the mood now."""
        samples, stored, mood = await self._samples(persona_id), await self._stored(persona_id), await self.mood(persona_id)
        if stored is not None and not sample_of(stored).belongs_with(mood.at, mood.session):
            samples.append(sample_of(stored))
        return [*samples, sample_of(mood)]

    async def readings(self, persona_id: str) -> list[MoodReading]:
        """Return what models inferred from the persona's sessions, oldest first."""
        try:
            return _READINGS.validate_python(await self._app_state.get(READINGS, persona_id) or [])
        except ValidationError:
            return []

    # Changes

    def compute_effect(
        self, session: ChatSession, cast: Participants, message: Message, history: Sequence[Message], state: MoodState
    ) -> MoodEffect | None:
        """Return the effect of a message on the persona's mood after `history`; None if the persona has no moods.

        A message whose effect is stored already, as for a regenerated reply, has no further effect.
        """
        if not self.is_on(cast.persona):
            return None
        stored = mood_in(state.get((MOODS, session.persona_id)))
        before = self._life.add_missing_feelings(stored or self._life.create_mood(message.time))
        if before.message == message.id:
            return MoodEffect(before, describe_mood(cast.persona.name, self._life.adjectives(before, before.told)))
        moved = before.model_copy(update={"at": message.time})
        if not self.is_steady:
            moved = self._life.after_message(before, self._heard(message, history))
        mood = mark_changed_by(moved, session.guid, message.id)
        words = self._life.adjectives(mood, before.told)
        said = describe_mood_changes(cast.persona.name, mood.told, words)
        return MoodEffect(mood.model_copy(update={"told": words, "said": said}), describe_mood(cast.persona.name, words))

    async def set_mood(self, persona_id: str, id_: str, value: float) -> Feeling:
        """Set a dimension to the user's value; return the former one, for `restore_feeling`."""
        async with self._one_at_a_time:
            mood = await self.mood(persona_id)
            await self._keep(persona_id, self._life.set_value(mood, id_, value, now()))
            return mood.feelings[id_]

    async def restore_feeling(self, persona_id: str, id_: str, feeling: Feeling) -> None:
        """Restore a dimension, to undo `set_mood`."""
        async with self._one_at_a_time:
            mood = await self.mood(persona_id)
            await self._keep(persona_id, mood.model_copy(update={"feelings": mood.feelings | {id_: feeling}}))

    async def read(self, persona_id: str, reading: MoodReading) -> None:
        """Apply and store what a model inferred from a session; each session counts once."""
        async with self._one_at_a_time:
            readings = await self.readings(persona_id)
            if self.is_steady or any(one.session == reading.session for one in readings):
                return
            mood = self._life.after_session(await self.mood(persona_id), reading.steps, reading.at)
            await self._app_state.set(
                READINGS, persona_id, _READINGS.dump_python([*readings, reading][-MAX_READINGS:], mode="json")
            )
            await self._keep(persona_id, mood)

    def _heard(self, message: Message, history: Sequence[Message]) -> MoodMessage:
        said = [one for one in history if not one.hidden and one.role in {Role.USER, Role.ASSISTANT}]
        hers = said[-1].content if said and said[-1].role is Role.ASSISTANT else ""
        return MoodMessage(
            text=message.content,
            moment=message.time,
            praise=self._praise.find(message.content),
            harsh=self._harsh.find(message.content),
            answers=not QUESTION_MARKS.isdisjoint(hers),
            begins=all(one.role is not Role.USER for one in said),
        )

    # Storage

    def traces(self, persona_id: str, mood: Mood, state: MoodState) -> dict[tuple[str, str], object]:
        """Return the values to store for a new mood, by scope and key.

        The mood before becomes a sample of the history if it belongs to an earlier day or another session.
        """
        kept: dict[tuple[str, str], object] = {(MOODS, persona_id): mood.model_dump(mode="json")}
        before = mood_in(state.get((MOODS, persona_id)))
        if before is not None:
            last = sample_of(before)
            if not last.belongs_with(mood.at, mood.session):
                samples = [*samples_in(state.get((HISTORY, persona_id))), last][-MAX_SAMPLES:]
                kept[HISTORY, persona_id] = _SAMPLES.dump_python(samples, mode="json")
        return kept

    async def _keep(self, persona_id: str, mood: Mood) -> None:
        state = {key: await self._app_state.get(*key) for key in keys_of(persona_id)}
        for (scope, key), value in self.traces(persona_id, mood, state).items():
            await self._app_state.set(scope, key, value)
        self.changed.notify(persona_id)

    async def _stored(self, persona_id: str) -> Mood | None:
        return mood_in(await self._app_state.get(MOODS, persona_id))

    async def _samples(self, persona_id: str) -> list[MoodSample]:
        return samples_in(await self._app_state.get(HISTORY, persona_id))


def keys_of(persona_id: str) -> tuple[tuple[str, str], ...]:
    """Return scope and key of the app state for a persona's mood."""
    return (MOODS, persona_id), (HISTORY, persona_id)


def mood_in(value: object) -> Mood | None:
    """Return the mood in a value of the app state; None if there is none that this version can read."""
    try:
        return Mood.model_validate(value)
    except ValidationError:
        return None


def samples_in(value: object) -> list[MoodSample]:
    """Return the mood samples in a value of the app state, oldest first; none if it cannot be read."""
    try:
        return _SAMPLES.validate_python(value or [])
    except ValidationError:
        return []


def sample_of(mood: Mood) -> MoodSample:
    """Return the part of a mood that is stored in the history."""
    return MoodSample(at=mood.at, session=mood.session, values=mood.values)


def made_moods(app_state: AppState, preferences: Preferences, paths: Paths) -> MoodService:
    """Return the mood service with the moodlets of all installed packages, and the shipped and the user's word lists."""
    folders = (paths.resources / "mood", paths.home / "mood")
    return MoodService(
        app_state,
        preferences,
        MoodDynamics(load_moodlets()),
        load_phrases(folders, "praise"),
        load_phrases(folders, "harsh"),
    )
