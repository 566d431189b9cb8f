"""Moodlets: the axes of a mood, changed by time, messages and sessions, each with adjectives for ranges of its value.

Time moves a moodlet towards its resting value by half of the way per half-life, so that one absence of two weeks has the
same effect as fourteen of a day. Each message moves it towards its natural value, and the content of the message changes it
further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import isfinite

from lethe_app.domain.mood import MoodCause

HYSTERESIS = 0.02
"""Margin by which a value must leave an adjective's range before the adjective changes (hysteresis)."""
STEPS = (-0.2, -0.1, 0.0, 0.1, 0.2)
"""Changes of a moodlet that a session may cause, from much lower to much higher."""


@dataclass(frozen=True)
class Adjective:
    """Adjective for a range of values, upper bound excluded; the default bound includes 1."""

    word: str
    above: float = 0.0
    below: float = 1.01

    def includes(self, value: float, margin: float = 0.0) -> bool:
        return self.above - margin <= value < self.below + margin


@dataclass(frozen=True)
class MoodMessage:
    """Properties of a user message that affect moods."""

    text: str
    moment: datetime
    praise: str = ""
    """Kind words found in it; empty if there are none."""
    harsh: str = ""
    """Unkind words found in it; empty if there are none."""
    answers: bool = False
    """True if the persona's last message contained a question."""
    begins: bool = False
    """True if the user wrote nothing before it in this session."""


@dataclass(frozen=True)
class MoodChange:
    """Change of a value with its cause: a `MoodCause`, or a plug-in's own words."""

    by: float
    why: str


@dataclass(frozen=True)
class Moodlet:
    """One axis of a mood, with values from 0 to 1. A plug-in provides an instance of this class or of a subclass with hooks
    of its own.
    """

    id: str
    title: str
    description: str
    """Meaning of high and low values, as a sentence for the model."""
    adjectives: tuple[Adjective, ...]
    natural: float = 0.5
    rate: float = 0.005
    """Fraction of the distance to `natural` by which each message moves the value."""
    start: float = 0.5
    rests_at: float | None = None
    """Resting value approached with time; None is `natural`."""
    days: float = 3.0
    """Half-life in days of the distance to the resting value."""
    effects: Mapping[MoodCause, float] = field(default_factory=dict)
    """Changes by what the user says, and by the beginning of a session."""

    def decay_value(self, value: float, elapsed_time: timedelta) -> float:
        """Return the value after `elapsed_time`; a negative duration changes nothing."""
        rest = self.natural if self.rests_at is None else self.rests_at
        remaining: float = 0.5 ** (max(timedelta(), elapsed_time) / timedelta(days=self.days))
        return rest + (value - rest) * remaining

    def approach_natural(self, value: float) -> float:
        """Return the value after the effect that any message has, before its content is considered."""
        return value + (self.natural - value) * self.rate

    def after_message(self, value: float, message: MoodMessage) -> Iterable[MoodChange]:
        """Return the changes caused by the content of a message."""
        causes = {MoodCause.TALK: True, MoodCause.PRAISE: message.praise, MoodCause.HARSH: message.harsh}
        return self._effects_of(cause for cause, applies in (causes | {MoodCause.ASKED: message.answers}).items() if applies)

    def after_session_start(self, value: float) -> Iterable[MoodChange]:
        """Return the changes caused by the beginning of a session."""
        return self._effects_of((MoodCause.NEWS,))

    def _effects_of(self, causes: Iterable[MoodCause]) -> list[MoodChange]:
        return [MoodChange(self.effects[cause], cause) for cause in causes if cause in self.effects]

    def adjective(self, value: float, before: str = "") -> str:
        """Return the adjective of a value, empty in the middle range; `before` is the current one, which persists within the
        margin.
        """
        current = next((one for one in self.adjectives if one.word == before), None)
        if current is not None and current.includes(value, HYSTERESIS):
            return before
        return next((one.word for one in self.adjectives if one.includes(value)), "")


ENERGY_PER_MESSAGE = 0.003
"""Energy that a message costs: about 150 messages in one evening make the persona tired."""
ENERGY = Moodlet(
    "energy",
    "Energy",
    "how awake and strong somebody feels: low is tired, high is rested and full of energy",
    (
        Adjective("exhausted", below=0.1),
        Adjective("tired", 0.1, 0.35),
        Adjective("rested", 0.65, 0.85),
        Adjective("energetic", 0.85),
    ),
    start=0.75,
    rests_at=1.0,
    days=1.75,
    effects={MoodCause.TALK: -ENERGY_PER_MESSAGE, MoodCause.PRAISE: 0.005},
)
CHEER = Moodlet(
    "cheer",
    "Cheer",
    "how glad somebody is: low is sad or moody, high is happy",
    (
        Adjective("sad", below=0.15),
        Adjective("moody", 0.15, 0.35),
        Adjective("happy", 0.65, 0.85),
        Adjective("joyful", 0.85),
    ),
    rests_at=0.6,
    days=2.5,
    effects={MoodCause.PRAISE: 0.075, MoodCause.HARSH: -0.1},
)
CURIOSITY = Moodlet(
    "curiosity",
    "Curiosity",
    "how much somebody wants to know and to hear: low is disinterested, high is curious",
    (
        Adjective("disinterested", below=0.25),
        Adjective("curious", 0.7, 0.85),
        Adjective("inquisitive", 0.85),
    ),
    rests_at=0.88,  # short of 1: whoever is seen every day is curious, and inquisitive after a long absence
    days=3.5,
    effects={MoodCause.ASKED: -0.005, MoodCause.NEWS: 0.02},
)
BUILTIN_MOODLETS: tuple[Moodlet, ...] = (ENERGY, CHEER, CURIOSITY)


def clip_value(value: float) -> float:
    """Return the value clipped to 0..1; raise ValueError if it is not finite."""
    if not isfinite(value):
        raise ValueError("a mood must be a number")
    return min(max(value, 0.0), 1.0)


def describe_mood(name: str, adjectives: Mapping[str, str]) -> str:
    """Return a sentence with the adjectives, such as “Mira feels tired and happy.”; empty if there are none."""
    words = [word for word in adjectives.values() if word]
    return f"{name} feels {_join_words(words)}." if words else ""


def describe_mood_changes(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the changes since the last announced adjectives as text, everything if none were announced; empty if nothing
    changed.
    """
    if not before:
        return describe_mood(name, now)
    new = [word for id_, word in now.items() if word and before.get(id_, "") != word]
    ended = [word for id_, word in before.items() if word and not now.get(id_, "")]
    parts = [
        f"{name} feels {_join_words(new)} now." if new else "",
        f"{name} no longer feels {_join_words(ended)}." if ended else "",
    ]
    return " ".join(filter(None, parts))


def _join_words(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
