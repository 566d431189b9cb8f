"""A persona's mood in the user's hands: what moves it in a turn, what it was on earlier days, and the user's own hand on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.mood.dynamics import Life, affected, installed, moodlets
from lethe_app.brain.mood.model import Moodlet, MoodMessage, news, sentence
from lethe_app.brain.mood.sentiment import SentimentPhrases, read
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.mood import Feeling, Mood, MoodReading, MoodSample
from lethe_app.domain.persona import Persona
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

MOODS, HISTORY, READINGS = "moods", "mood history", "mood readings"
"""Scopes of the app state, by persona."""
MOST_SAMPLES, MOST_READINGS = 400, 60
QUESTION_MARKS = frozenset("?？؟⁇")
_SAMPLES, _READINGS = TypeAdapter(list[MoodSample]), TypeAdapter(list[MoodReading])


@dataclass(frozen=True)
class Side:
    """One side of a mood as it is shown."""

    id: str
    title: str
    description: str
    adjective: str
    """Empty in the middle."""
    feeling: Feeling
    words: tuple[str, ...]
    """All adjectives it can have, from low to high."""


@dataclass(frozen=True)
class Felt:
    """What a message of the user's does to her mood; `Moods.traces` is what is to be stored of it."""

    mood: Mood
    sentence: str
    """How she feels, for the note at a return; empty in the middle of everything."""

    @property
    def said(self) -> str:
        """What has changed since the model was told, for this turn alone."""
        return self.mood.said


class Moods:
    """`changed` names the persona whose mood is another one now."""

    def __init__(
        self, app_state: AppState, preferences: Preferences, life: Life, praise: SentimentPhrases, harsh: SentimentPhrases
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
        """What a mood is made of."""
        return self._life.moodlets

    @property
    def is_steady(self) -> bool:
        """Does nothing but the user's hand change it?"""
        return self._preferences.current.static_mood

    def is_on(self, persona: Persona) -> bool:
        """Has she moods at all?"""
        return self._preferences.current.mood_handling and persona.mood and not persona.disable_bot_guidance

    # What is shown

    async def mood(self, persona_id: str) -> Mood:
        """How she feels now, time included. Changes nothing."""
        mood = self._life.complete(await self._stored(persona_id) or self._life.fresh(now()))
        return mood if self.is_steady else self._life.at(mood, now())

    def adjectives(self, mood: Mood) -> dict[str, str]:
        """The word for each side of it; empty in the middle."""
        return self._life.adjectives(mood, mood.told)

    async def in_words(self, persona: Persona, session_id: UUID) -> str:
        """How she feels, in the very words that a prompt of that conversation was told or will be told next.

        Empty where she has no moods, and in the middle of everything.
        """
        if not self.is_on(persona):
            return ""
        stored = await self._stored(persona.unique_name)
        if stored is not None and stored.session == session_id:
            return sentence(persona.name, stored.told)
        return sentence(persona.name, self.adjectives(await self.mood(persona.unique_name)))

    async def sides(self, persona_id: str) -> list[Side]:
        """How she feels now, side by side."""
        mood = await self.mood(persona_id)
        words = self.adjectives(mood)
        return [
            Side(
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
        """One sample for each day and conversation, oldest first; the last one is how she feels now."""
        samples, stored, mood = await self._samples(persona_id), await self._stored(persona_id), await self.mood(persona_id)
        if stored is not None and not sample_of(stored).belongs_with(mood.at, mood.session):
            samples.append(sample_of(stored))
        return [*samples, sample_of(mood)]

    async def readings(self, persona_id: str) -> list[MoodReading]:
        """What models made of her conversations, oldest first."""
        try:
            return _READINGS.validate_python(await self._app_state.get(READINGS, persona_id) or [])
        except ValidationError:
            return []

    # What moves it

    async def felt(self, session: ChatSession, cast: Participants, message: Message, history: Sequence[Message]) -> Felt | None:
        """What that message does to her, who has heard `history` before it; None if she has no moods.

        A message that is answered again does nothing more.
        """
        if not self.is_on(cast.persona):
            return None
        stored = await self._stored(session.persona_id)
        before = self._life.complete(stored or self._life.fresh(message.time))
        if before.message == message.id:
            return Felt(before, sentence(cast.persona.name, self._life.adjectives(before, before.told)))
        moved = before.model_copy(update={"at": message.time})
        if not self.is_steady:
            moved = self._life.after_message(before, self._heard(message, history))
        mood = affected(moved, session.guid, message.id)
        words = self._life.adjectives(mood, before.told)
        said = news(cast.persona.name, mood.told, words)
        return Felt(mood.model_copy(update={"told": words, "said": said}), sentence(cast.persona.name, words))

    async def set_mood(self, persona_id: str, id_: str, value: float) -> Feeling:
        """The user's own hand; returns what was there before, for `put_back`."""
        async with self._one_at_a_time:
            mood = await self.mood(persona_id)
            await self._keep(persona_id, self._life.set_value(mood, id_, value, now()))
            return mood.feelings[id_]

    async def put_back(self, persona_id: str, id_: str, feeling: Feeling) -> None:
        """As if the hand had not been there."""
        async with self._one_at_a_time:
            mood = await self.mood(persona_id)
            await self._keep(persona_id, mood.model_copy(update={"feelings": mood.feelings | {id_: feeling}}))

    async def read(self, persona_id: str, reading: MoodReading) -> None:
        """A conversation has left her so; that is noted, and each one counts once."""
        async with self._one_at_a_time:
            readings = await self.readings(persona_id)
            if self.is_steady or any(one.session == reading.session for one in readings):
                return
            mood = self._life.after_session(await self.mood(persona_id), reading.steps, reading.at)
            await self._app_state.set(
                READINGS, persona_id, _READINGS.dump_python([*readings, reading][-MOST_READINGS:], mode="json")
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

    # What is kept

    async def traces(self, persona_id: str, mood: Mood) -> dict[tuple[str, str], object]:
        """What is to be kept of a mood that is hers now, by scope and key.

        How she felt before becomes a sample once another day or conversation has begun.
        """
        kept: dict[tuple[str, str], object] = {(MOODS, persona_id): mood.model_dump(mode="json")}
        before = await self._stored(persona_id)
        if before is not None:
            last = sample_of(before)
            if not last.belongs_with(mood.at, mood.session):
                samples = [*await self._samples(persona_id), last][-MOST_SAMPLES:]
                kept[HISTORY, persona_id] = _SAMPLES.dump_python(samples, mode="json")
        return kept

    async def _keep(self, persona_id: str, mood: Mood) -> None:
        for (scope, key), value in (await self.traces(persona_id, mood)).items():
            await self._app_state.set(scope, key, value)
        self.changed.tell(persona_id)

    async def _stored(self, persona_id: str) -> Mood | None:
        """None where she never had one, or another version wrote it in its own way."""
        try:
            return Mood.model_validate(await self._app_state.get(MOODS, persona_id))
        except ValidationError:
            return None

    async def _samples(self, persona_id: str) -> list[MoodSample]:
        try:
            return _SAMPLES.validate_python(await self._app_state.get(HISTORY, persona_id) or [])
        except ValidationError:
            return []


def sample_of(mood: Mood) -> MoodSample:
    """What is kept of a mood for later."""
    return MoodSample(at=mood.at, session=mood.session, values=mood.values)


def made_moods(app_state: AppState, preferences: Preferences, paths: Paths) -> Moods:
    """With the moodlets of all packages installed, and the lists of words that came with Lethe or are the user's own."""
    folders = (paths.resources / "mood", paths.home / "mood")
    return Moods(app_state, preferences, Life(moodlets(installed())), read(folders, "praise"), read(folders, "harsh"))
