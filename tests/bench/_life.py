"""Sixty days of believable talk with things said that last, and a clerk who answers errands by a script."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lethe_app.agents.goals import GoalAnswer, PersonaGoalsAnswer
from lethe_app.agents.journal import JournalEntryAnswer, JournalOccasionAnswer
from lethe_app.agents.self_reflection import SelfReflectionAnswer
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.memories import ConsolidationAnswer, PreferencesAnswer
from lethe_app.errors import ModelError
from lethe_app.services.extraction import structured_output
from tests.bench._setup import SMALL_TALK

_WORDS: dict[str, list[str]] = json.loads(Path(__file__).with_name("sixty_days.json").read_text(encoding="utf-8"))
RELATIVES, NAMES, CITIES, REMARKS = (_WORDS[name] for name in ("relatives", "names", "cities", "remarks"))
THINGS, THEMES, QUALITIES = (_WORDS[name] for name in ("things", "themes", "qualities"))
THEMED = 3
"""Every so many days something is said about a subject that comes back."""


@dataclass(frozen=True)
class Planted:
    """Something said on one day that is asked about later."""

    day: int
    said: str
    asked: str
    expected: str


@dataclass(frozen=True)
class Day:
    """What the user says on one day."""

    lines: tuple[str, ...]
    planted: Planted


def life(days: int, seed: int = 7) -> list[Day]:
    """The same for the same seed."""
    chance = random.Random(seed)
    found: list[Day] = []
    for number in range(days):
        name, city, relative = NAMES[number % len(NAMES)], CITIES[number % len(CITIES)], RELATIVES[number % len(RELATIVES)]
        said = f"My {relative} {name} lives in {city}."
        planted = Planted(number, said, f"Where does my {relative} {name} live?", city)
        filled = [
            remark.format(thing=chance.choice(THINGS), quality=chance.choice(QUALITIES)) for remark in chance.sample(REMARKS, 2)
        ]
        lines = [chance.choice(SMALL_TALK), *filled, said, chance.choice(SMALL_TALK), f"I want to visit {name} soon."]
        if number % THEMED == 0:
            lines[2:2] = themed(number // THEMED)
        found.append(Day(tuple(lines), planted))
    return found


def themed(number: int) -> list[str]:
    """Three things about one subject, others every time."""
    theme = THEMES[number % len(THEMES)]
    what = [THINGS[(number + place) % len(THINGS)] for place in range(3)]
    kinds = [QUALITIES[(number // len(THEMES) + place) % len(QUALITIES)] for place in range(3)]
    return [
        f"I love {kinds[0]} {theme} {what[0]}s.",
        f"I own a {kinds[1]} {theme} {what[1]}.",
        f"I hate {kinds[2]} {theme} {what[2]}s.",
    ]


def scripted(spent: Callable[[int], None]) -> Callable[..., Any]:
    """Takes the place of asking a model; tokens are what the material and the answer would come to, and are told to `spent`."""
    count = [0]

    async def answered(task: str, answer: type[LlmAnswer], material: dict[str, str]) -> LlmAnswer:
        count[0] += 1
        made = _made(answer, count[0])
        if made is None:
            raise ModelError("The script has no answer to that.")
        tokens = (sum(map(len, material.values())) + len(made.model_dump_json())) // 4 + 300  # 300: instructions and examples
        spent(tokens)
        if meter := structured_output._METER.get():
            meter(tokens)
        return made

    return answered


def _made(answer: type[LlmAnswer], number: int) -> LlmAnswer | None:
    """Different every time, as a model's would be."""
    thing, quality = THINGS[number % len(THINGS)], QUALITIES[number % len(QUALITIES)]
    match answer.__name__:
        case JournalOccasionAnswer.__name__:
            return JournalOccasionAnswer(write=True, topic=f"What was said about the {thing}, number {number}.")
        case JournalEntryAnswer.__name__:
            words = f"The {thing} was {quality}, and I kept thinking of it at {number}."
            return JournalEntryAnswer(title=f"The {thing} {number}", paragraphs=[words])
        case PersonaGoalsAnswer.__name__:
            return PersonaGoalsAnswer(
                own=[f"See the {thing} {number} times."], wishes=[f"May the {thing} stay {quality} for {number} days."]
            )
        case GoalAnswer.__name__:
            sentence = f"The {thing} number {number} is to be {quality}."
            return GoalAnswer(
                title=f"The {quality} {thing} {number}", details=sentence, reason=sentence, steps=["Ask about it."]
            )
        case SelfReflectionAnswer.__name__:
            return SelfReflectionAnswer(
                paragraphs=[f"I think of the {thing}, and that it is {quality}, for the {number}th time."]
            )
        case ConsolidationAnswer.__name__:
            return ConsolidationAnswer(verdict="keep", text="", merged=[], dropped=[], filed_under="", tags=[])
        case PreferencesAnswer.__name__:
            return PreferencesAnswer(wishes=[])
    return None
