"""What a mood is made of: moodlets that time, words and conversations move, each with adjectives for where it stands.

Time pulls every moodlet towards where rest leads it, by half of the way in every so many days, so that an absence of two weeks
is the same as fourteen of a day. Messages pull it towards its natural value, and what is said moves it besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite

from lethe_app.domain.mood import MoodCause

STEADY = 0.02
"""An adjective holds until its bounds are left by this much, so that it does not flicker."""
STEPS = (-0.2, -0.1, 0.0, 0.1, 0.2)
"""What a conversation may do to a moodlet, from much lower to much higher."""


@dataclass(frozen=True)
class Adjective:
    """A word for a range of values, its upper bound excluded; the highest has none."""

    word: str
    above: float = 0.0
    below: float = 1.01

    def holds(self, value: float, margin: float = 0.0) -> bool:
        return self.above - margin <= value < self.below + margin


@dataclass(frozen=True)
class MoodMessage:
    """A message of the user's, as far as moods care."""

    text: str
    moment: datetime
    praise: str = ""
    """The kind words in it; empty if there are none."""
    harsh: str = ""
    """The unkind ones."""
    answers: bool = False
    """Did her last message hold a question?"""
    begins: bool = False
    """Is it the first that this conversation brings?"""


@dataclass(frozen=True)
class Nudge:
    """A move by so much, and why: a `MoodCause`, or words of a plug-in's own."""

    by: float
    why: str


@dataclass(frozen=True)
class Moodlet:
    """One side of a mood. A plug-in brings one of these, or of a subclass with hooks of its own; values are 0 to 1."""

    id: str
    title: str
    description: str
    """What high and low mean, in a sentence that a model can read."""
    adjectives: tuple[Adjective, ...]
    natural: float = 0.5
    rate: float = 0.005
    """Part of the way to `natural` that each message takes."""
    start: float = 0.5
    rests_at: float | None = None
    """Where time leads; None is `natural`."""
    days: float = 3.0
    """In which time takes half of the way."""

    def after(self, value: float, away: timedelta) -> float:
        """Once time has passed; nothing happens in a negative one."""
        rest = self.natural if self.rests_at is None else self.rests_at
        left: float = 0.5 ** (max(timedelta(), away) / timedelta(days=self.days))
        return rest + (value - rest) * left

    def calmed(self, value: float) -> float:
        """What any message does, before anything in it counts."""
        return value + (self.natural - value) * self.rate

    def after_message(self, value: float, heard: MoodMessage) -> Iterable[Nudge]:
        """What that message does besides."""
        return ()

    def begun(self, value: float) -> Iterable[Nudge]:
        """What a new conversation does."""
        return ()

    def adjective(self, value: float, before: str = "") -> str:
        """The word for a value; empty in the middle, where there is nothing to say. `before` is the one so far."""
        kept = next((one for one in self.adjectives if one.word == before), None)
        if kept is not None and kept.holds(value, STEADY):
            return before
        return next((one.word for one in self.adjectives if one.holds(value)), "")


class Energy(Moodlet):
    """Rest restores it, long talks use it up."""

    def after_message(self, value: float, heard: MoodMessage) -> Iterable[Nudge]:
        yield Nudge(-TIRING, MoodCause.TALK)
        if heard.praise:
            yield Nudge(0.005, MoodCause.PRAISE)


class Cheer(Moodlet):
    """Lives on kindness; time heals it, and calms it."""

    def after_message(self, value: float, heard: MoodMessage) -> Iterable[Nudge]:
        if heard.praise:
            yield Nudge(0.075, MoodCause.PRAISE)
        if heard.harsh:
            yield Nudge(-0.1, MoodCause.HARSH)


class Curiosity(Moodlet):
    """Grows while the user is away, and is stilled by asking."""

    def after_message(self, value: float, heard: MoodMessage) -> Iterable[Nudge]:
        if heard.answers:
            yield Nudge(-0.005, MoodCause.ASKED)

    def begun(self, value: float) -> Iterable[Nudge]:
        yield Nudge(0.02, MoodCause.NEWS)


TIRING = 0.003
"""Of energy that a message takes: an evening of a hundred and fifty makes her tired."""
ENERGY = Energy(
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
)
CHEER = Cheer(
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
)
CURIOSITY = Curiosity(
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
)
OURS: tuple[Moodlet, ...] = (ENERGY, CHEER, CURIOSITY)


def clipped(value: float) -> float:
    """Between 0 and 1; raises ValueError for what is no number."""
    if not isfinite(value):
        raise ValueError("a mood must be a number")
    return min(max(value, 0.0), 1.0)


def sentence(name: str, adjectives: Mapping[str, str]) -> str:
    """“Mira feels tired and happy.”; empty where there is nothing to say."""
    words = [word for word in adjectives.values() if word]
    return f"{name} feels {_listed(words)}." if words else ""


def news(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What has changed since the model was told, which is everything if it was told nothing yet; empty if nothing has."""
    if not before:
        return sentence(name, now)
    new = [word for id_, word in now.items() if word and before.get(id_, "") != word]
    gone = [word for id_, word in before.items() if word and not now.get(id_, "")]
    told = [f"{name} feels {_listed(new)} now." if new else "", f"{name} no longer feels {_listed(gone)}." if gone else ""]
    return " ".join(filter(None, told))


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
