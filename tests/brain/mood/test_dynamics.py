"""Moods move as they should: smoothly over time, at every word for them there is, and whatever a plug-in does wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from lethe_app.brain.mood.dynamics import MoodDynamics
from lethe_app.brain.mood.model import (
    BUILTIN_MOODLETS,
    CHEER,
    CURIOSITY,
    ENERGY,
    STEPS,
    MoodChange,
    Moodlet,
    MoodMessage,
    describe_mood,
    describe_mood_changes,
)
from lethe_app.domain.mood import Mood, MoodCause

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ADJECTIVES = [(moodlet.id, adjective.word) for moodlet in BUILTIN_MOODLETS for adjective in moodlet.adjectives]


@pytest.fixture
def life() -> MoodDynamics:
    return MoodDynamics(BUILTIN_MOODLETS)


def said(moment: datetime, text: str = "Hm.", **fields: object) -> MoodMessage:
    return MoodMessage(text, moment, **fields)  # type: ignore[arg-type]


def talked(life: MoodDynamics, mood: Mood, messages: int, **fields: object) -> Mood:
    """As many messages, a minute apart."""
    for _message in range(messages):
        mood = life.after_message(mood, said(mood.at + timedelta(minutes=1), **fields))
    return mood


def value(mood: Mood, id_: str) -> float:
    return mood.feelings[id_].value


LIVES: dict[str, Callable[[MoodDynamics, Mood], Mood]] = {
    "exhausted": lambda life, mood: talked(life, mood, 400),
    "tired": lambda life, mood: talked(life, mood, 200),
    "rested": lambda life, mood: life.apply_decay(mood, NOON),
    "energetic": lambda life, mood: life.apply_decay(mood, NOON + 3 * DAY),
    "sad": lambda life, mood: talked(life, mood, 6, harsh="shut up"),
    "moody": lambda life, mood: talked(life, mood, 2, harsh="shut up"),
    "happy": lambda life, mood: talked(life, mood, 3, praise="well done"),
    "joyful": lambda life, mood: talked(life, mood, 8, praise="well done"),
    "disinterested": lambda life, mood: talked(life, mood, 90, answers=True),
    "curious": lambda life, mood: life.apply_decay(mood, NOON + 4 * DAY),
    "inquisitive": lambda life, mood: life.apply_decay(mood, NOON + 20 * DAY),
}
"""A life for every adjective."""


@pytest.mark.parametrize(("id_", "word"), ADJECTIVES)
def test_some_life_leads_to_every_adjective(life: MoodDynamics, id_: str, word: str):
    lived = LIVES[word](life, life.create_mood(NOON))

    assert life.adjectives(lived)[id_] == word


def test_no_two_adjectives_share_a_value_and_the_middle_has_none():
    for moodlet in BUILTIN_MOODLETS:
        for step in range(1001):
            holding = [one.word for one in moodlet.adjectives if one.includes(step / 1000)]
            assert len(holding) <= 1
        assert moodlet.adjective(0.5) == ""


@pytest.mark.parametrize("seed", range(20))
def test_an_absence_is_the_same_however_often_somebody_looks(life: MoodDynamics, seed: int):
    dice = random.Random(seed)
    mood = life.create_mood(NOON)
    for moodlet in BUILTIN_MOODLETS:
        mood = life.set_value(mood, moodlet.id, dice.random(), NOON)
    end = NOON + timedelta(days=dice.uniform(0.1, 30))
    looked = mood
    for moment in sorted(NOON + (end - NOON) * dice.random() for _ in range(9)):
        looked = life.apply_decay(looked, moment)

    for moodlet in BUILTIN_MOODLETS:
        assert value(life.apply_decay(looked, end), moodlet.id) == pytest.approx(value(life.apply_decay(mood, end), moodlet.id))


@pytest.mark.parametrize("moodlet", BUILTIN_MOODLETS, ids=lambda one: one.id)
def test_no_absence_jumps(moodlet: Moodlet):
    for start in (0.0, 0.5, 1.0):
        hours = [moodlet.decay_value(start, timedelta(hours=hour)) for hour in range(24 * 30)]
        assert max(abs(one - other) for one, other in pairwise(hours)) < 0.02


def test_two_weeks_of_absence_lead_to_a_rested_curious_calm_mood(life: MoodDynamics):
    back = life.apply_decay(life.create_mood(NOON), NOON + 14 * DAY)

    assert value(back, "energy") > 0.99
    assert life.adjectives(back)["curiosity"] == "inquisitive"
    assert value(back, "cheer") == pytest.approx(0.6, abs=0.01)


def test_a_persona_met_every_day_is_not_overly_curious(life: MoodDynamics):
    mood = life.create_mood(NOON)
    for day in range(60):
        mood = talked(life, life.apply_decay(mood, NOON + day * DAY), 20)

    assert life.adjectives(mood) == {"energy": "rested", "cheer": "", "curiosity": "curious"}


def test_messages_that_say_nothing_pull_everything_towards_the_middle(life: MoodDynamics):
    mood = life.set_value(life.create_mood(NOON), "cheer", 1.0, NOON)

    after = [value(talked(life, mood, messages), "cheer") for messages in (0, 20, 200)]

    assert after[0] > after[1] > after[2] > 0.5


def test_praise_cheers_and_a_question_answered_stills_curiosity(life: MoodDynamics):
    before = life.create_mood(NOON)

    plain = life.after_message(before, said(NOON))
    praised = life.after_message(before, said(NOON, praise="well done"))
    asked = life.after_message(before, said(NOON, answers=True))

    assert value(praised, "cheer") - value(plain, "cheer") == pytest.approx(0.075)
    assert value(praised, "energy") - value(plain, "energy") == pytest.approx(0.005)
    assert value(asked, "curiosity") - value(plain, "curiosity") == pytest.approx(-0.005)
    assert praised.feelings["cheer"].why == MoodCause.PRAISE


def test_a_clock_put_back_moves_nothing(life: MoodDynamics):
    mood = life.create_mood(NOON)

    assert life.apply_decay(mood, NOON - 30 * DAY).values == mood.values


def test_many_small_moves_are_noticed_together(life: MoodDynamics):
    mood = talked(life, life.set_value(life.create_mood(NOON), "energy", 0.45, NOON), 3)
    assert mood.feelings["energy"].why == MoodCause.HAND

    assert talked(life, mood, 15).feelings["energy"].why == MoodCause.TALK


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_values_stay_between_nothing_and_all(life: MoodDynamics, seed: int):
    dice = random.Random(seed)
    mood = life.create_mood(NOON)
    for _event in range(200):
        moment = mood.at + timedelta(hours=dice.uniform(0, 60))
        if dice.random() < 0.3:
            mood = life.after_session(mood, {one.id: dice.choice(STEPS) for one in BUILTIN_MOODLETS}, moment)
        else:
            mood = life.after_message(mood, said(moment, praise="x" * dice.randint(0, 1), harsh="x" * dice.randint(0, 1)))

        assert all(0 <= one <= 1 for one in mood.values.values())


def test_a_conversation_moves_by_one_of_five_steps_and_no_other(life: MoodDynamics):
    mood = life.create_mood(NOON)

    moved = life.after_session(mood, {"cheer": -0.2, "energy": 0.1, "curiosity": 0.7, "unknown": 0.1}, NOON)

    assert value(moved, "cheer") == pytest.approx(0.3)
    assert value(moved, "energy") == pytest.approx(0.85)
    assert value(moved, "curiosity") == 0.5
    assert moved.feelings["cheer"].why == MoodCause.SESSION


def test_an_adjective_does_not_flicker_at_its_edge():
    assert CHEER.adjective(0.655) == "happy"
    assert CHEER.adjective(0.645) == ""
    assert CHEER.adjective(0.645, "happy") == "happy"
    assert CHEER.adjective(0.6, "happy") == ""
    assert CHEER.adjective(0.655, "") == "happy"
    assert ENERGY.adjective(0.86, "rested") == "rested"
    assert ENERGY.adjective(0.88, "rested") == "energetic"
    assert CURIOSITY.adjective(0.26, "disinterested") == "disinterested"


def test_what_is_told_is_short_and_only_what_is_new():
    now = {"energy": "tired", "cheer": "", "curiosity": "curious"}

    assert describe_mood("Mira", now) == "Mira feels tired and curious."
    assert describe_mood("Mira", {"cheer": ""}) == ""
    assert describe_mood_changes("Mira", {}, now) == "Mira feels tired and curious."
    assert describe_mood_changes("Mira", now, now) == ""
    assert describe_mood_changes("Mira", now, {**now, "cheer": "happy"}) == "Mira feels happy now."
    assert describe_mood_changes("Mira", now, {**now, "energy": ""}) == "Mira no longer feels tired."


@dataclass(frozen=True)
class Broken(Moodlet):
    """Raises where it is asked."""

    fault: str = ""

    def decay_value(self, value: float, elapsed_time: timedelta) -> float:
        if self.fault == "after":
            raise RuntimeError("broken")
        return float("nan") if self.fault == "nan" else super().decay_value(value, elapsed_time)

    def after_message(self, value: float, message: MoodMessage) -> Iterable[MoodChange]:
        if self.fault == "after_message":
            raise RuntimeError("broken")
        return [MoodChange(99.0, "it went mad")] if self.fault == "wild" else ()

    def adjective(self, value: float, before: str = "") -> str:
        if self.fault == "adjective":
            raise RuntimeError("broken")
        return "odd"


@pytest.mark.parametrize("fault", ["after", "nan", "after_message", "adjective"])
def test_a_broken_moodlet_is_left_out_and_the_others_live_on(fault: str, quiet_log):
    life = MoodDynamics([Broken("odd", "Oddity", "how odd", (), fault=fault), *BUILTIN_MOODLETS])

    mood = life.after_message(life.create_mood(NOON), said(NOON + DAY, praise="well done"))
    words = life.adjectives(mood)

    assert set(words) == {"energy", "cheer", "curiosity"}
    assert mood.feelings["cheer"].why == MoodCause.PRAISE
    assert [one.id for one in life.moodlets] == ["energy", "cheer", "curiosity"]
    assert len(quiet_log.records) == 1
    quiet_log.records.clear()


def test_a_wild_moodlet_stays_within_bounds():
    life = MoodDynamics([Broken("odd", "Oddity", "how odd", (), fault="wild")])

    mood = life.after_message(life.create_mood(NOON), said(NOON))

    assert value(mood, "odd") == 1.0
    assert mood.feelings["odd"].why == "it went mad"


def test_a_moodlet_that_comes_later_starts_where_it_should_and_one_that_is_gone_is_kept():
    with_odd = MoodDynamics([*BUILTIN_MOODLETS, Broken("odd", "Oddity", "how odd", (), start=0.3)])
    before = MoodDynamics(BUILTIN_MOODLETS).create_mood(NOON)

    there = with_odd.add_missing_feelings(before)
    gone = MoodDynamics(BUILTIN_MOODLETS).after_message(there, said(NOON + DAY))

    assert value(there, "odd") == 0.3
    assert value(gone, "odd") == 0.3


def test_a_mood_of_an_earlier_version_knows_what_was_announced():
    mood = Mood.model_validate({"at": "2026-03-17T21:12:00Z", "told": {"cheer": "cheerful"}})

    assert mood.announced == {"cheer": "cheerful"}
    assert Mood.model_validate(mood.model_dump(mode="json")) == mood
